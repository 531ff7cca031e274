"""The syntax tree of one file as plain nodes with byte offsets, free of libclang."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from octavo.transform.front_end import constant, file_offset

if TYPE_CHECKING:
    from collections.abc import Iterator

TRANSPARENT = frozenset(
    {
        "UNEXPOSED_EXPR",
        "PAREN_EXPR",
        "CSTYLE_CAST_EXPR",
        "CXX_STATIC_CAST_EXPR",
        "CXX_REINTERPRET_CAST_EXPR",
        "CXX_CONST_CAST_EXPR",
        "CXX_FUNCTIONAL_CAST_EXPR",
    }
)
"""Nodes that pass on the value of what is in them."""
FUNCTIONS = frozenset({
    "FUNCTION_DECL", "CXX_METHOD", "CONSTRUCTOR", "DESTRUCTOR", "CONVERSION_FUNCTION",
    "FUNCTION_TEMPLATE", "LAMBDA_EXPR",
})  # fmt: skip
_LAUNCHES = frozenset({"cudaConfigureCall", "__cudaPushCallConfiguration"})
"""The function that the front end calls for the bounds between <<< and >>>."""


@dataclass(eq=False)
class Node:
    """A declaration, statement or expression; two of them are equal if they are one."""

    kind: str
    """The kind as libclang names it."""
    name: str
    start: int
    end: int
    """Bytes of the file; of what a macro writes, where the macro is used."""
    target: int | None
    """Where what it names is declared, if that is in this file."""
    type: str
    """Its type, as clang spells it without typedefs."""
    parent: Node | None
    parameters: tuple[str, ...] = ()
    """For a call: the types of the parameters."""
    static: bool = False
    """Whether a variable has internal linkage, so that no other file sees it."""
    virtual: bool = False
    """For a method: the method that is called shows only when the program runs."""
    constant: int | None = None
    """Of an operation on two integers, and of what it is made of: the value, if the compiler knows it."""
    children: list[Node] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """The node and all below it, in the order of the file."""
        left = [self]
        while left:
            node = left.pop()
            yield node
            left += reversed(node.children)

    def ancestors(self) -> Iterator[Node]:
        """From its parent up."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    @property
    def function(self) -> Node | None:
        """The function that it stands in."""
        return next((node for node in self.ancestors() if node.kind in FUNCTIONS), None)

    @property
    def launch(self) -> Node | None:
        """For a call of a kernel: the part between <<< and >>>."""
        if self.kind != "CALL_EXPR":
            return None
        return next((node for node in self.children if node.kind == "CALL_EXPR" and node.name in _LAUNCHES), None)

    @property
    def arguments(self) -> list[Node]:
        """For a call: its arguments."""
        taken = self.children[1:]
        return [node for node in taken if node is not self.launch]

    def bare(self) -> Node:
        """What is in it, without parentheses and casts."""
        node = self
        while node.kind in TRANSPARENT and (inner := [each for each in node.children if each.kind != "TYPE_REF"]):
            node = inner[-1]
        return node


_HOST, _DEVICE = "CUDAHOST_ATTR", frozenset({"CUDAGLOBAL_ATTR", "CUDADEVICE_ATTR"})


def on_device(function: Node) -> bool:
    """Whether a function is a kernel or runs on the device alone."""
    kinds = {each.kind for each in function.children}
    return bool(kinds & _DEVICE) and _HOST not in kinds


def build(unit: Any, path: str) -> Node:
    """The nodes of what is declared in the file `path` itself."""
    root = Node("FILE", path, 0, 0, None, "", None)
    for cursor in unit.cursor.get_children():
        if not cursor.kind.is_preprocessing() and file_offset(cursor.extent.start)[0] == path:
            root.children.append(_tree(cursor, path, root))
    return root


def _tree(cursor: Any, path: str, parent: Node) -> Node:
    """A node with all below it, however deep."""
    top = _node(cursor, path, parent)
    left = [(cursor, top)]
    while left:
        cursor, node = left.pop()
        # Text in another file comes from default arguments of a call.
        written = [child for child in cursor.get_children() if file_offset(child.extent.start)[0] == path]
        node.children = [_node(child, path, node) for child in written]
        left += zip(written, node.children, strict=True)
    return top


def _node(cursor: Any, path: str, parent: Node) -> Node:
    kind = _kind(cursor)
    start, end = file_offset(cursor.extent.start)[1], file_offset(cursor.extent.end)[1]
    node = Node(kind, cursor.spelling, start, end, _target(cursor, path), cursor.type.get_canonical().spelling, parent)
    if kind == "CALL_EXPR" and cursor.referenced is not None and cursor.referenced.type.kind.name == "FUNCTIONPROTO":
        node.parameters = tuple(each.spelling for each in cursor.referenced.type.argument_types())
    if kind == "VAR_DECL":
        node.static = cursor.linkage.name in {"INTERNAL", "NO_LINKAGE"}
    node.virtual = kind == "CXX_METHOD" and cursor.is_virtual_method()
    if "BINARY_OPERATOR" in {kind, parent.kind}:
        node.constant = constant(cursor)
    return node


def _kind(cursor: Any) -> str:
    try:
        return str(cursor.kind.name)
    except ValueError:  # Kinds that are newer than the Python side of libclang.
        return "UNKNOWN"


def _target(cursor: Any, path: str) -> int | None:
    declared = cursor if cursor.kind.is_declaration() else cursor.referenced
    if declared is None or not declared.kind.is_declaration():
        return None
    if declared.kind.name in FUNCTIONS:
        declared = declared.get_definition() or declared
    file, offset = file_offset(declared.location)
    return offset if file == path else None
