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
    rb"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#[ \t]*include[^\n]*"
    rb"|(?P<word>[A-Za-z_]\w*)",
    re.DOTALL | re.MULTILINE,
)
"""A comment, a literal, an inclusion or a word."""
_REFERENCES = frozenset({"DECL_REF_EXPR", "MEMBER_REF_EXPR", "MEMBER_REF", "TYPE_REF", "OVERLOADED_DECL_REF"})
_MOST = 50
"""Our choice: errors that are listed; what follows them is their consequence."""


class UnreadCode:
    """What clang made nothing of in a file. Without an error there is nothing of that kind."""

    def __init__(
        self, text: bytes, root: Node, problems: Sequence[Problem], omitted: Sequence[tuple[int, int]]
    ) -> None:
        """`omitted` are the bytes, from and to, that the preprocessor leaves out: nobody expects them to be read."""
        self._text = text
        self._functions = [node for node in root.walk() if node.kind in FUNCTIONS]
        self._problems = [each for each in problems if each.path == root.name]
        self._elsewhere = [each for each in problems if each.path != root.name]
        self._words: dict[bytes, list[int]] = {}
        if problems:
            self._collect(self._named(root), omitted)

    def _collect(self, seen: set[int], omitted: Sequence[tuple[int, int]]) -> None:
        """Words of host code that no node of the tree begins or ends with."""
        for found in _IGNORED.finditer(self._text):
            start = found.start()
            if found["word"] is None or start in seen or found.end() in seen:
                continue
            if not self._on_device(start) and not any(first <= start < last for first, last in omitted):
                self._words.setdefault(found["word"], []).append(start)

    def _named(self, root: Node) -> set[int]:
        """Bytes where a name begins or ends that the tree stands for.

        What clang takes for a declaration, with an error in it, may be something else: `FREE_LATER(p)`.
        """
        wrong = [each.offset for each in self._problems]
        found: set[int] = set()
        for node in root.walk():
            if node.kind.endswith(("_DECL", "_METHOD")):
                plain = node.kind in FUNCTIONS or not any(node.start <= each <= node.end for each in wrong)
                found |= {node.target} if plain and node.target is not None else set()
            elif node.kind in _REFERENCES:
                found.add(node.end)
        return found

    def uses(self, declared: Node, scope: Node | None) -> Iterator[tuple[int, str]]:
        """Where a variable's name stands in code that does not parse, in a function or anywhere; the error there."""
        for start in self._words.get(declared.name.encode(), ()):
            if start != declared.target and (scope is None or scope.start <= start < scope.end):
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
