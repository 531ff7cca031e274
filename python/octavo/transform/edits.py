"""Changes of a text by byte offsets: what lies between them stays as it was."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, order=True)
class Edit:
    """`old`, which stands at byte `start`, becomes `new`."""

    start: int
    old: bytes
    new: bytes

    @property
    def end(self) -> int:
        """The first byte after what is replaced."""
        return self.start + len(self.old)


def apply(text: bytes, edits: Sequence[Edit]) -> bytes:
    """The text with all edits made.

    Raises:
        ValueError: two of them overlap, or one does not find what it replaces.

    """
    pieces, position = [], 0
    for edit in sorted(edits):
        if edit.start < position or text[edit.start : edit.end] != edit.old:
            raise ValueError(f"an edit at byte {edit.start} does not fit the text")
        pieces += [text[position : edit.start], edit.new]
        position = edit.end
    return b"".join([*pieces, text[position:]])


def unified_diff(name: str, before: bytes, after: bytes) -> str:
    """A diff as `patch -p1` takes it; bytes that are no UTF-8 are shown as replacement characters."""
    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{name.lstrip('/')}", f"b/{name.lstrip('/')}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: bytes) -> list[str]:
    """Lines with their ends; only a line feed ends one, as for `patch`."""
    pieces = text.decode("utf-8", "replace").split("\n")
    return [f"{piece}\n" for piece in pieces[:-1]] + [piece for piece in pieces[-1:] if piece]
