"""Names of calls that stand in the text and that the compiler saw no call in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.transform import names
from octavo.transform.front_end import file_offset

if TYPE_CHECKING:
    from collections.abc import Iterator, Set


def unseen(unit: Any, text: bytes, path: str, seen: Set[int]) -> Iterator[tuple[int, str]]:
    """Calls in definitions of macros, and in code that is not compiled: where they are named, and what is called."""
    for token in unit.get_tokens(extent=unit.cursor.extent):
        if token.kind.name != "IDENTIFIER" or token.spelling not in names.ALL:
            continue
        file, start = file_offset(token.location)
        if file == path and start not in seen and _qualified(text, start) not in seen:
            yield start, token.spelling


def _qualified(text: bytes, start: int) -> int:
    """Where `::name` begins."""
    before = text[:start].rstrip()
    return len(before) - 2 if before.endswith(b"::") else start
