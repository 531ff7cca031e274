"""Uses of a variable that the syntax tree does not show, found by its name in the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from octavo.transform.tree import Node
    from octavo.transform.unread import UnreadCode

_OPEN = frozenset({"FUNCTION_TEMPLATE", "CLASS_TEMPLATE", "CLASS_TEMPLATE_PARTIAL_SPECIALIZATION", "LAMBDA_EXPR"})
"""Where a member may be named through a type that is not known yet."""
_BINDING = re.compile(rb"\bauto\s*&{0,2}\s*\[")
_PARENTHESIS = re.compile(rb"[()]")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_TOKEN = re.compile(rb"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|(?P<word>[A-Za-z_]\w*)", re.DOTALL)
"""A comment, a literal or a word."""
_NOT_COMPILED = "code that is not compiled with these settings uses it"


class Hidden:
    """What stands in the text of a file beside its tree."""

    def __init__(
        self,
        text: bytes,
        root: Node,
        unseen: Sequence[int],
        skipped: Sequence[tuple[int, int]],
        unread: UnreadCode,
    ) -> None:
        """`unseen` are where calls of the runtime are named that are not compiled, `skipped` what is not compiled."""
        self._text = text
        self._open = [(node.start, node.end) for node in root.walk() if node.kind in _OPEN]
        self._unseen = [(start, set(_WORD.findall(text, start, _end(text, start)))) for start in unseen]
        self._skipped = [(start, _words(text, start, end)) for start, end in skipped]
        self._unread = unread

    def objections(self, declared: Node) -> Iterator[tuple[int, str]]:
        """Where something may be done with a variable, and what."""
        name = declared.name.encode()
        scope = None if declared.kind == "FIELD_DECL" else declared.function
        yield from self._unread.uses(declared, scope)
        for start, words in self._unseen:
            if name in words:
                yield start, _NOT_COMPILED
        for start, named in self._skipped:
            if name in named and (scope is None or scope.start <= start < scope.end):
                yield start + named[name], _NOT_COMPILED
        if declared.kind == "FIELD_DECL":
            yield from self._of_member(declared, name)

    def _of_member(self, declared: Node, name: bytes) -> Iterator[tuple[int, str]]:
        if declared.parent is not None and declared.parent.kind == "UNION_DECL":
            yield declared.start, "it shares its place with other members of a union"
        if found := _BINDING.search(self._text):
            yield found.start(), "a structured binding may name it"
        for start, end in self._open:
            if found := re.search(rb"\b" + re.escape(name) + rb"\b", self._text[start:end]):
                yield start + found.start(), "a template or a lambda may use it"


def _words(text: bytes, start: int, end: int) -> dict[bytes, int]:
    """The words between two bytes that stand in no comment and no literal, and where the first of each stands."""
    found: dict[bytes, int] = {}
    for each in _TOKEN.finditer(text[start:end]):
        if each["word"] is not None:
            found.setdefault(each["word"], each.start())
    return found


def _end(text: bytes, start: int) -> int:
    """Where the call ends that begins at `start`."""
    depth = 0
    for found in _PARENTHESIS.finditer(text, start):
        depth += 1 if found[0] == b"(" else -1
        if depth <= 0:
            return found.end()
    return len(text)
