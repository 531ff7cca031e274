"""Calls as they stand in the text: whether they can be changed, and how."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from octavo.transform import names
from octavo.transform.edits import Edit
from octavo.transform.uses import REFERENCES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from octavo.transform.tree import Node

_DEVICE = frozenset({"CUDAGLOBAL_ATTR", "CUDADEVICE_ATTR"})
_NAME = re.compile(rb"(?:::\s*)?(\w+)")
_REST = re.compile(rb"(?:\s|/\*.*?\*/|//[^\n]*\n)*\)", re.DOTALL)


class Sites:
    """All calls of the runtime that deal with memory, by how they are written."""

    def __init__(self, text: bytes, root: Node) -> None:
        self._text = text
        self.calls = [node for node in root.walk() if node.kind == "CALL_EXPR" and self.name(node) in names.ALL]
        """In the order of the tree."""
        self._times = Counter(call.start for call in self.calls)

    def objection(self, call: Node) -> str | None:
        """Why a call cannot be changed where it stands, if it cannot."""
        if self._spelled(call) != call.name or not self._text[: call.end].endswith(b")"):
            return "a macro writes it"
        if self._times[call.start] > 1:
            return "a macro uses it more than once"
        function = call.function
        if function is not None and any(each.kind in _DEVICE for each in function.children):
            return "it is code of the device"
        if call.name in names.ALLOCATE:
            return self._allocation(call)
        return self._copy(call) if call.name in names.COPY else None

    def _allocation(self, call: Node) -> str | None:
        given = call.arguments
        pointer = given[0].bare()
        if pointer.kind != "UNARY_OPERATOR" or pointer.children[0].bare().kind not in REFERENCES:
            return "it does not say which variable gets the memory"
        flags = given[2:]
        if call.name == "cudaMallocHost" and flags:
            return "it has flags"
        if flags and self._written(flags[0]) != b"cudaMemAttachGlobal":
            return "the memory is not for all devices from the start"
        return None if _REST.match(self._text, given[-1].end, call.end) else "a macro writes its arguments"

    def _copy(self, call: Node) -> str | None:
        direction = call.arguments[names.COPY[call.name]]
        if not self._written(direction).startswith(b"cudaMemcpy") or direction.bare().kind != "DECL_REF_EXPR":
            return "from where to where it copies is not written out"
        return None

    def open(self, call: Node) -> bool:
        """Whether the direction of a copy is already `cudaMemcpyDefault`."""
        return call.name in names.COPY and self._written(call.arguments[names.COPY[call.name]]) == b"cudaMemcpyDefault"

    def edits(self, call: Node, more: bytes = b"") -> Iterator[Edit]:
        """What makes a call ask for the placement; `more` are the further arguments of an allocation."""
        if call.name in names.REPLACED:
            found = _NAME.match(self._text, call.start)
            if found is None:
                raise AssertionError(call.name)
            yield Edit(call.start, found[0], names.REPLACED[call.name].encode())
        if call.name in names.ALLOCATE:
            yield Edit(call.arguments[-1].end, b"", more)
        if call.name in names.COPY:
            direction = call.arguments[names.COPY[call.name]].bare()
            old = self._text[direction.start : direction.end]
            if old != b"cudaMemcpyDefault":
                yield Edit(direction.start, old, b"cudaMemcpyDefault")

    def _spelled(self, call: Node) -> str | None:
        found = _NAME.match(self._text, call.start)
        return found[1].decode("utf-8", "replace") if found else None

    def _written(self, node: Node) -> bytes:
        bare = node.bare()
        return self._text[bare.start : bare.end]

    def name(self, call: Node) -> str:
        """The name of the function that is called, as written if a template leaves it open."""
        return call.name or self._spelled(call) or ""
