"""Code that does not parse: where it is, and which names in it no part of the syntax tree stands for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from octavo.transform.result import Unread
from octavo.transform.tree import FUNCTIONS, on_device

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from octavo.transform.front_end import Problem
    from octavo.transform.tree import Node

_IGNORED = re.compile(
    rb"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#[ \t]*include[^\n]*|(?P<word>[A-Za-z_]\w*)",
    re.DOTALL | re.MULTILINE,
)
"""A comment, a literal, an inclusion or a word."""
_MOST = 50
"""Chosen: errors that are listed; what follows them is their consequence."""


class UnreadCode:
    """What clang made nothing of in a file. Without an error there is nothing of that kind."""

    def __init__(self, text: bytes, root: Node, problems: Sequence[Problem]) -> None:
        self._text = text
        self._functions = [node for node in root.walk() if node.kind in FUNCTIONS]
        self._problems = [each for each in problems if each.path == root.name]
        self._elsewhere = [each for each in problems if each.path != root.name]
        self._words: dict[bytes, list[int]] = {}
        if problems:
            self._collect(_named(root))

    def _collect(self, seen: set[int]) -> None:
        """Words of host code that no node of the tree begins or ends with."""
        for found in _IGNORED.finditer(self._text):
            start = found.start()
            if found["word"] is None or start in seen or found.end() in seen:
                continue
            if not self._on_device(start):
                self._words.setdefault(found["word"], []).append(start)

    def uses(self, name: bytes, scope: tuple[int, int]) -> Iterator[tuple[int, str]]:
        """Where a name stands in code that does not parse, between two bytes, and the error there."""
        for start in self._words.get(name, ()):
            if scope[0] <= start < scope[1]:
                yield start, f"code that does not parse uses it: {self.why(start)}"

    def why(self, offset: int) -> str:
        """The error that is nearest to a byte, in the words of clang."""
        line = self._text.count(b"\n", 0, offset) + 1
        near = min(
            self._problems or self._elsewhere,
            key=lambda each: (abs(each.line - line), abs(each.offset - offset)),
            default=None,
        )
        return near.message if near is not None else "clang makes nothing of it"

    def __bool__(self) -> bool:
        return bool(self._problems or self._elsewhere)

    def listed(self) -> Iterator[Unread]:
        """Errors in the file's code of the host, one for each line, and headers that were not found."""
        last = 0
        for each in self._problems[:_MOST]:
            if each.line != last and not self._on_device(each.offset):
                yield Unread(each.line, each.column, self._function(each.offset), each.message)
            last = each.line
        for each in self._elsewhere:
            if "file not found" in each.message:
                yield Unread(0, 0, None, f"{each.message} (in {each.path})")

    def _on_device(self, offset: int) -> bool:
        return any(node.start <= offset < node.end and on_device(node) for node in self._functions)

    def _function(self, offset: int) -> str | None:
        return next((node.name for node in self._functions if node.start <= offset < node.end and node.name), None)


def _named(root: Node) -> set[int]:
    """Bytes where a name begins or ends that the tree stands for."""
    found: set[int] = set()
    for node in root.walk():
        if node.kind.endswith(("_DECL", "_METHOD")):
            found |= {node.target} if node.target is not None else set()
        elif node.kind in {"DECL_REF_EXPR", "MEMBER_REF_EXPR", "MEMBER_REF", "TYPE_REF", "OVERLOADED_DECL_REF"}:
            found.add(node.end)
    return found
