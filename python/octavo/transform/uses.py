"""Uses of a pointer in a program, one at a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.transform import names
from octavo.transform.tree import TRANSPARENT, Node

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

REFERENCES = frozenset({"DECL_REF_EXPR", "MEMBER_REF_EXPR"})
_COMPARED = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})
_UNUSED = ("IF_STMT", "WHILE_STMT", "FOR_STMT", "DO_STMT", "COMPOUND_STMT")
"""Where a pointer is at most compared with null: conditions, statements of their own."""
_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)


@dataclass(frozen=True)
class Fine:
    """It is only looked at, or set to null."""


@dataclass(frozen=True)
class Touched:
    """The host reads or writes what it points to."""


@dataclass(frozen=True)
class Launched:
    """A kernel is given it."""

    call: Node


@dataclass(frozen=True)
class Site:
    """The runtime allocates, frees, copies or fills it."""

    call: Node


@dataclass(frozen=True)
class Passed:
    """A function of this file is given it, as this parameter."""

    parameter: int


@dataclass(frozen=True)
class Lost:
    """From here on, its owner is unknown."""

    why: str


_UNKNOWN = "<dependent type>"
"""The type of an expression that does not parse, outside of templates."""
_UNCLEAR = Lost("it is used in a way that is not understood")
Use = Fine | Touched | Launched | Site | Passed | Lost


class Judge:
    """Tells what is done with a pointer where it is named."""

    def __init__(self, text: bytes, functions: Mapping[int, Node]) -> None:
        """`functions` are those with a body, by where they are declared."""
        self._text = text
        self._functions = functions

    def use(self, reference: Node) -> Use:
        """What is done with the pointer that `reference` names."""
        if closed := next((node for node in reference.ancestors() if node.kind in _CLOSED), None):
            return Lost(_CLOSED[closed.kind])
        if any(node.kind == "CXX_UNARY_EXPR" for node in reference.ancestors()):  # sizeof(*p) reads nothing.
            return Fine()
        return Lost("it stands in an expression that does not parse") if _broken(reference) else self._value(reference)

    def _value(self, node: Node) -> Use:
        """What becomes of the value of an expression."""
        parent = node.parent
        if parent is None:
            return _UNCLEAR
        if parent.kind in TRANSPARENT:
            return self._value(parent)
        understood: dict[str, Callable[[Node, Node], Use]] = {
            "CALL_EXPR": self._given,
            "BINARY_OPERATOR": self._operand,
            "UNARY_OPERATOR": self._unary,
            "ARRAY_SUBSCRIPT_EXPR": self._element,
            "MEMBER_REF_EXPR": lambda *_: Touched(),
            **dict.fromkeys(_UNUSED, lambda *_: Fine()),
        }
        if parent.kind in understood:
            return understood[parent.kind](parent, node)
        return Lost(_ELSEWHERE[parent.kind]) if parent.kind in _ELSEWHERE else _UNCLEAR

    def _operand(self, parent: Node, node: Node) -> Use:
        sign = self.operator(parent)
        left = parent.children[0] is node
        if sign in _COMPARED:
            return Fine()
        if sign in {"+", "-"}:
            return self._value(parent) if "*" in parent.type else Fine()
        if sign == "=" and left:
            return Fine() if self.null(parent.children[1]) else Lost("another pointer is assigned to it")
        if sign == "=":
            return Lost("it is assigned to another pointer")
        return Lost(f"it is an operand of `{sign}`")

    def _unary(self, parent: Node, _node: Node) -> Use:
        sign = self._sign(parent)
        if sign == "&":
            return self._address(parent)
        if sign in {"*", "!"}:
            return Touched() if sign == "*" else Fine()
        return Lost("it is moved along")

    def _address(self, taken: Node) -> Use:
        outer = taken
        while outer.parent is not None and outer.parent.kind in TRANSPARENT:
            outer = outer.parent
        call = outer.parent
        if call is not None and call.kind == "CALL_EXPR" and call.name in names.ALLOCATE | names.LEFT:
            if call.name in names.LEFT:
                return Lost(f"{call.name} allocates it: {names.LEFT[call.name]}")
            return Site(call)
        return Lost("its address is taken")

    def _element(self, parent: Node, node: Node) -> Use:
        """`p[i]`, which the host touches, or `&p[i]`, which is a pointer again."""
        if parent.children[0] is not node:
            return _UNCLEAR
        outer = parent
        while outer.parent is not None and outer.parent.kind in TRANSPARENT:
            outer = outer.parent
        above = outer.parent
        if above is not None and above.kind == "UNARY_OPERATOR" and self._sign(above) == "&":
            return self._value(above)
        return Touched()

    def _given(self, call: Node, node: Node) -> Use:
        if call.launch is None and not _names_what_it_calls(call):
            return Lost("a constructor or an operator is given it")
        return self._argument(call, node)

    def _argument(self, call: Node, node: Node) -> Use:
        if not any(node is each for each in call.arguments):
            return _UNCLEAR
        if call.launch is not None:
            return Launched(call)
        if call.name in names.FREE or call.name in names.COPY or call.name in names.FILL:
            return Site(call)
        if call.name in names.TUNE:
            return Lost(f"the program says itself where it is to lie, with {call.name}")
        if call.name in names.READS:
            return Touched()
        return self._passed(call, next(index for index, each in enumerate(call.arguments) if each is node))

    def _passed(self, call: Node, index: int) -> Use:
        function = self._functions.get(call.target) if call.target is not None else None
        if function is None:
            called = f"`{call.name}`" if call.name else "a call"
            return Lost(f"{called}, which is not a function of this file, is given it")
        if function.kind == "FUNCTION_TEMPLATE" or function.virtual:
            sort = "a virtual method" if function.virtual else "a template"
            return Lost(f"`{call.name}`, {sort}, is given it")
        parameters = [each for each in function.children if each.kind == "PARM_DECL"]
        target = parameters[index].target if index < len(parameters) else None
        if target is None:
            return Lost(f"`{call.name}` is given it among other arguments")
        if "*" not in parameters[index].type or "&" in parameters[index].type:
            return Lost(f"`{call.name}` does not take it as a pointer of its own")
        return Passed(target)

    def operator(self, node: Node) -> str:
        """The text between two operands. In a macro it is not the operator."""
        between = self._text[node.children[0].end : node.children[1].start]
        return _COMMENT.sub(b"", between).decode("utf-8", "replace").strip(" \t\r\n()")

    def _sign(self, node: Node) -> str:
        """The operator before or after one operand."""
        before = self._text[node.start : node.children[0].start] or self._text[node.children[0].end : node.end]
        return _COMMENT.sub(b"", before).decode("utf-8", "replace").strip(" \t\r\n()")

    def null(self, node: Node) -> bool:
        """Whether an expression is a null pointer."""
        bare = node.bare()
        text = self._text[bare.start : bare.end]
        return bare.kind in {"CXX_NULL_PTR_LITERAL_EXPR", "GNU_NULL_EXPR"} or text in {b"0", b"NULL", b"nullptr"}


def _broken(reference: Node) -> bool:
    """Whether clang made no sense of what is done with a value: it keeps the parts of such an expression."""
    for node in reference.ancestors():
        if node.kind == "CALL_EXPR" and node.type != _UNKNOWN:
            return False
        if node.type == _UNKNOWN or (node.kind == "UNEXPOSED_EXPR" and len(node.children) > 1):
            return True
        if node.kind in _UNUSED or node.kind == "DECL_STMT":
            return False
    return False


def _names_what_it_calls(call: Node) -> bool:
    """Whether a call begins with the name of a function: constructors' and operators' calls do not."""
    called = call.children[0].bare()
    return called.kind in REFERENCES and called.name == call.name and called.target == call.target


_CLOSED = {
    "LAMBDA_EXPR": "a lambda has it",
    "FUNCTION_TEMPLATE": "a template uses it",
    "CLASS_TEMPLATE": "a template uses it",
}
_ELSEWHERE = {
    "VAR_DECL": "another variable begins with its value",
    "RETURN_STMT": "a function returns it",
    "INIT_LIST_EXPR": "it is stored in a struct or an array",
    "CONDITIONAL_OPERATOR": "another pointer may be taken instead of it",
    "CONSTRUCTOR": "an object keeps it",
    "CXX_DELETE_EXPR": "the program deletes it",
}
