"""Names of calls that stand in the text and that the compiler saw no call in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.transform import names
from octavo.transform.front_end import file_offset
from octavo.transform.result import Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Set


def unseen(unit: Any, text: bytes, path: str, seen: Set[int]) -> Iterator[Skipped]:
    """Calls in definitions of macros, and in code that is not compiled."""
    for token in unit.get_tokens(extent=unit.cursor.extent):
        if token.kind.name != "IDENTIFIER" or token.spelling not in names.ALL:
            continue
        file, start = file_offset(token.location)
        if file != path or start in seen or _qualified(text, start) in seen:
            continue
        before = text.rfind(b"\n", 0, start) + 1
        why = "it is part of a macro, or of code that is not compiled with these settings"
        yield Skipped(text.count(b"\n", 0, start) + 1, start - before + 1, token.spelling, None, why)


def _qualified(text: bytes, start: int) -> int:
    """Where `::name` begins."""
    before = text[:start].rstrip()
    return len(before) - 2 if before.endswith(b"::") else start
