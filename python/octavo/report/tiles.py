"""The page map from afar: rows of pages by columns of time, at several levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from octavo.report.history import PLANES, among
from octavo.runs import events

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from octavo.report.history import Bytes, History, Numbers

TILE_ROWS = 128
TILE_COLUMNS = 512
_FIRST_ROWS = 256
"""At most that many rows on the first level."""
_LEVELS = 3
"""Each level has four times the rows and twice the columns of the one before."""
LAYERS = (*PLANES, "requests", "copies")
"""What a tile holds, one byte a cell: the state most pages of the row are in when the column ends, and how many
requests and copies there were, as `activity` writes it."""


@dataclass(frozen=True)
class _Changes:
    """Events of all pages that change one layer."""

    page: Numbers
    time: Numbers
    before: Bytes
    after: Bytes


def levels(pages: int) -> list[dict[str, int]]:
    """Rows, columns and pages of a row of each level; the last has one page a row, or is the finest there is."""
    step = 1
    while -(-pages // step) > _FIRST_ROWS:
        step *= 4
    found = []
    for level in range(_LEVELS):
        found.append({"step": step, "rows": -(-pages // step), "columns": TILE_COLUMNS << level})
        if step == 1:
            break
        step //= 4
    return found


def activity(counts: npt.NDArray[Any]) -> Bytes:
    """Counts in a byte: 0 for none, otherwise 1 + 15 · log₂ of the count, up to 255."""
    scaled = 1.0 + 15.0 * np.log2(np.maximum(counts, 1))
    return np.where(counts > 0, np.minimum(scaled, 255.0), 0.0).astype(np.uint8)


class Painter:
    """Paints the tiles of a history, level by level."""

    def __init__(self, past: History) -> None:
        self._past = past
        self._page = np.repeat(np.arange(past.pages), past.counts)
        self._changes = {name: self._changes_of(past.planes[name]) for name in PLANES}

    def tiles(self, level: dict[str, int]) -> Iterator[tuple[int, int, bytes]]:
        """Every tile of a level: its row and column among tiles, and its layers one after another, row by row."""
        states = [self._most(self._changes[name], level) for name in PLANES]
        layers = np.stack([*states, *(self._activity(kinds, level) for kinds in (events.REQUESTS, events.COPIES))])
        for top in range(0, level["rows"], TILE_ROWS):
            for left in range(0, level["columns"], TILE_COLUMNS):
                part = layers[:, top : top + TILE_ROWS, left : left + TILE_COLUMNS]
                yield top // TILE_ROWS, left // TILE_COLUMNS, part.tobytes()

    def _changes_of(self, states: Bytes) -> _Changes:
        before = np.concatenate([[0], states[:-1]]).astype(np.uint8)[: len(states)]
        before[self._past.starts[self._past.counts > 0]] = 0
        chosen = np.flatnonzero(states != before)
        return _Changes(self._page[chosen], self._past.time[chosen].astype(np.int64), before[chosen], states[chosen])

    def _most(self, changes: _Changes, level: dict[str, int]) -> Bytes:
        """The state that most pages of a row are in at the end of a column; the lower of two equally common ones."""
        rows, columns = level["rows"], level["columns"]
        cell = self._cells(changes.page, changes.time, level)
        found, most = np.zeros((rows, columns), np.uint8), np.zeros((rows, columns), np.int32)
        in_row = np.bincount(np.arange(self._past.pages) // level["step"], minlength=rows)
        for code in np.union1d([0], np.unique(changes.after)):
            gained = np.bincount(cell[changes.after == code], minlength=rows * columns)
            lost = np.bincount(cell[changes.before == code], minlength=rows * columns)
            difference = (gained - lost).reshape(rows, columns)
            difference[:, 0] += in_row if code == 0 else 0
            count = np.cumsum(difference, axis=1, dtype=np.int32)
            more = count > most
            found[more], most[more] = code, count[more]
        return found

    def _activity(self, kinds: tuple[str, ...], level: dict[str, int]) -> Bytes:
        chosen = np.flatnonzero(among(self._past.kind, kinds))
        cell = self._cells(self._page[chosen], self._past.time[chosen].astype(np.int64), level)
        counts = np.bincount(cell, minlength=level["rows"] * level["columns"])
        return activity(counts).reshape(level["rows"], level["columns"])

    def _cells(self, page: Numbers, time: Numbers, level: dict[str, int]) -> Numbers:
        return page // level["step"] * level["columns"] + time * level["columns"] // (self._past.span + 1)
