"""Bounds of launches as they can be written before: at an allocation, from what is known there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.transform.uses import REFERENCES, Judge

if TYPE_CHECKING:
    from octavo.transform.tree import Node

_VARIABLES = frozenset({"VAR_DECL", "PARM_DECL"})
_PLAIN = frozenset({
    "UNEXPOSED_EXPR", "PAREN_EXPR", "CSTYLE_CAST_EXPR", "CXX_STATIC_CAST_EXPR", "CXX_FUNCTIONAL_CAST_EXPR",
    "BINARY_OPERATOR", "DECL_REF_EXPR", "INTEGER_LITERAL", "CXX_UNARY_EXPR", "TYPE_REF",
})  # fmt: skip
"""What an expression may be made of; calls of dim3 beside them."""
_KEEPS = frozenset({"*", "+", "-", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "||", "/", "%"})
"""Operators on two values that change neither of them."""
_LOOPS = frozenset({"FOR_STMT", "WHILE_STMT", "DO_STMT", "CXX_FOR_RANGE_STMT"})
_LOOKS = (b"*", b"!", b"-", b"+", b"~")
"""Operators on one value that leave it as it is; where a macro has the operator, it may be any."""
_DEEPEST = 8
"""Our choice: depth of variables that are made from variables; programs have fewer."""


class Unknown(Exception):  # noqa: N818 - no error of the user's
    """An expression has no value that is known there."""


class Bounds:
    """Writes expressions for another place of the same function."""

    def __init__(self, text: bytes, root: Node, judge: Judge) -> None:
        self._text = text
        self._judge = judge
        self._declared = {node.target: node for node in root.walk() if node.kind in _VARIABLES}
        self._changes: dict[int, list[Node]] = {}
        for node in root.walk():
            if (target := self._writes(node)) is not None:
                self._changes.setdefault(target, []).append(node)

    def launch(self, call: Node, at: Node) -> tuple[bytes, bytes] | None:
        """Grid and block of a launch as they can be written at `at`, or nothing if they are not known there."""
        between = call.launch
        if between is None or between.function is not at.function or call.start < at.start:
            return None
        if b"<<<" not in b"".join(self._text[call.start : call.end].split()):  # A macro launches.
            return None
        sizes = between.children[1:3]
        try:
            grid, block = (self._written(size, at, 0) for size in sizes)
        except (Unknown, ValueError):
            return None
        return grid, block

    def _written(self, node: Node, at: Node, depth: int) -> bytes:
        """An expression as it reads at `at`: variables that are not there yet become what they are made from."""
        if depth > _DEEPEST:
            raise Unknown
        made = self._constructed(node, at, depth)
        if made is not None:
            return made
        pieces, position, seen = [], node.start, -1
        for each in node.walk():
            if each.kind == "DECL_REF_EXPR":
                if each.start == seen:  # A macro uses it again.
                    continue
                if each.start < position:
                    raise Unknown
                seen = each.start
                pieces += [self._text[position : each.start], self._variable(each, at, depth)]
                position = each.end
            elif (each.kind not in _PLAIN and each.name != "dim3") or not self._harmless(each):
                raise Unknown
        return b"".join([*pieces, self._text[position : node.end]])

    def _harmless(self, node: Node) -> bool:
        """Whether an operation may be done where the launch would not happen: it may not divide by zero."""
        if node.kind != "BINARY_OPERATOR" or node.constant is not None:
            return True
        sign = self._judge.operator(node)
        return sign in _KEEPS and (sign not in {"/", "%"} or bool(node.children[1].constant))

    def _constructed(self, node: Node, at: Node, depth: int) -> bytes | None:
        """The numbers that a dim3 is made from: one, or all. A copy has its original's numbers."""
        while node.kind == "UNEXPOSED_EXPR" and len(node.children) == 1:
            node = node.children[0]
        if node.name != "dim3" or node.kind != "CALL_EXPR":
            return None
        parts = [each for each in node.children if each.kind != "TYPE_REF" and each.start < each.end]
        if not parts:
            raise Unknown
        texts = [self._written(part, at, depth + 1) for part in parts]
        return texts[0] if len(texts) == 1 else b"dim3(" + b", ".join(texts) + b")"

    def _variable(self, reference: Node, at: Node, depth: int) -> bytes:
        written = self._text[reference.start : reference.end]
        if written != reference.name.encode():
            raise Unknown
        if reference.target is None:  # An enumerator or a constant of a header.
            return written
        declared = self._declared.get(reference.target)
        if declared is None or "&" in declared.type or not self._settled(reference.target, at):
            raise Unknown
        if self._in_reach(declared, at):
            if not self._has_value(declared, at):
                raise Unknown
            return written
        made_from = _made_from(declared)
        if declared.kind != "VAR_DECL" or len(made_from) != 1 or declared.function is not at.function:
            raise Unknown
        text = self._written(made_from[0], at, depth + 1)
        return text if text.isalnum() or text.startswith(b"dim3(") or _closed(text) else b"(" + text + b")"

    def _settled(self, target: int, at: Node) -> bool:
        """Whether a variable keeps its value from `at` on: what changes it stands before, and in no loop with it."""
        loops = {id(node) for node in at.ancestors() if node.kind in _LOOPS}
        return all(
            change.end <= at.start
            and change.function is at.function
            and not any(id(node) in loops for node in change.ancestors())
            for change in self._changes.get(target, ())
        )

    def _has_value(self, declared: Node, at: Node) -> bool:
        """Whether every path to `at` initialises the variable, in its declaration or in an earlier statement."""
        function = declared.function
        if declared.kind == "PARM_DECL" or function is None or _made_from(declared):
            return True
        if any(node.kind == "LABEL_STMT" for node in function.walk()):
            return False
        around = {id(node) for node in at.ancestors() if node.kind == "COMPOUND_STMT" and not _switch(node.parent)}
        return any(
            change.kind == "BINARY_OPERATOR" and change.end <= at.start and id(change.parent) in around
            for change in self._changes.get(declared.target or -1, ())
        )

    def _in_reach(self, declared: Node, at: Node) -> bool:
        """Whether a variable is declared before, in a block around."""
        if declared.start > at.start:
            return False
        scope = declared.parent
        while scope is not None and scope.kind == "DECL_STMT":
            scope = scope.parent
        return scope is not None and any(node is scope for node in at.ancestors())

    def _writes(self, node: Node) -> int | None:
        """The variable that an expression changes, or may change."""
        if node.kind == "COMPOUND_ASSIGNMENT_OPERATOR":
            return self._named(node.children[0])
        if node.kind == "BINARY_OPERATOR" and len(node.children) == 2 and self._judge.operator(node) not in _KEEPS:
            return self._named(node.children[0])
        if node.kind == "UNARY_OPERATOR" and node.children:
            written = self._text[node.start : node.end].strip()
            if not written.startswith(_LOOKS) or written.startswith((b"++", b"--")) or written.endswith((b"++", b"--")):
                return self._named(node.children[0])
        return self._given_away(node)

    def _given_away(self, node: Node) -> int | None:
        """A variable that a call gets by reference."""
        call = node.parent
        if node.kind not in REFERENCES or call is None or call.kind != "CALL_EXPR":
            return None
        if call.parameters and not any("&" in each and "const" not in each for each in call.parameters):
            return None
        return self._named(node)  # By value there would be a conversion between them.

    def _named(self, node: Node) -> int | None:
        """The variable at the root of `x`, `x.y` or `x[i]`."""
        bare = node.bare()
        while bare.kind in {"MEMBER_REF_EXPR", "ARRAY_SUBSCRIPT_EXPR"} and bare.children:
            bare = bare.children[0].bare()
        return bare.target if bare.kind == "DECL_REF_EXPR" else None


def _made_from(declared: Node) -> list[Node]:
    """What a variable begins with."""
    return [each for each in declared.children if each.kind not in {"TYPE_REF", "NAMESPACE_REF"}]


def _switch(node: Node | None) -> bool:
    return node is not None and node.kind == "SWITCH_STMT"


def _closed(text: bytes) -> bool:
    """Whether a text stands in parentheses that belong together."""
    depth = 0
    for position, each in enumerate(text):
        depth += (each == ord("(")) - (each == ord(")"))
        if depth == 0:
            return text.startswith(b"(") and position == len(text) - 1
    return False
