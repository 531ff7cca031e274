"""The overview of the page map: rows of pages by columns of time, at several levels."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

import polars as pl

from octavo.report.history import PLANES, among
from octavo.runs import events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from octavo.report.history import History

TILE_ROWS = 128
TILE_COLUMNS = 512
_FIRST_ROWS = 256
"""The most rows on the first level."""
_LEVELS = 3
"""Each level has four times the rows and twice the columns of the one before."""
LAYERS = (*PLANES, "requests", "copies")
"""Content of a tile, one byte a cell: the state of most pages of the row when the column ends. Numbers of requests and
copies are as `activity` writes them."""


def levels(pages: int) -> list[dict[str, int]]:
    """Rows, columns and pages a row of each level; the last has one page a row, or is the finest possible."""
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


def activity(counts: pl.Series) -> pl.Series:
    """Counts in a byte: 0 for none, otherwise 1 + 15 · log₂ of the count, up to 255."""
    found = counts.unique().to_list()
    scaled = [int(min(1.0 + 15.0 * log2(count), 255.0)) if count else 0 for count in found]
    return counts.replace_strict(found, scaled, return_dtype=pl.UInt8)


class Painter:
    """Draws the tiles of a history, level by level."""

    def __init__(self, past: History) -> None:
        self._past = past
        self._changes = {name: _changes(past.events, name) for name in PLANES}

    def tiles(self, level: dict[str, int]) -> Iterator[tuple[int, int, bytes]]:
        """All tiles of a level: the row and column of each, and its layers one after another, row by row."""
        states = [self._most(self._changes[name], level) for name in PLANES]
        layers = [*states, *(self._activity(kinds, level) for kinds in (events.REQUESTS, events.COPIES))]
        texts = [in_bytes(layer) for layer in layers]
        rows, columns = level["rows"], level["columns"]
        for top in range(0, rows, TILE_ROWS):
            starts = [row * columns for row in range(top, min(top + TILE_ROWS, rows))]
            for left in range(0, columns, TILE_COLUMNS):
                parts = (text[start + left : start + left + TILE_COLUMNS] for text in texts for start in starts)
                yield top // TILE_ROWS, left // TILE_COLUMNS, b"".join(parts)

    def _most(self, changes: pl.DataFrame, level: dict[str, int]) -> pl.Series:
        """The state of most pages of a row at the end of a column; the lower one of two equally common states."""
        cells = level["rows"] * level["columns"]
        found, most = pl.zeros(cells, pl.UInt8, eager=True), pl.zeros(cells, pl.Int32, eager=True)
        cell = changes.with_columns(cell=self._cells(level))
        for code in sorted({0, *changes["after"].unique()}):
            steps = [cell.filter(pl.col("after") == code).select("cell", step=pl.lit(1, pl.Int32))]
            steps.append(cell.filter(pl.col("before") == code).select("cell", step=pl.lit(-1, pl.Int32)))
            steps += [self._in_rows(level)] if code == 0 else []
            count = _running(pl.concat(steps), level)
            found, most = pl.select(
                pl.when(count > most).then(pl.lit(code, pl.UInt8)).otherwise(found).alias("found"),
                pl.max_horizontal(count, most).alias("most"),
            ).get_columns()
        return found

    def _in_rows(self, level: dict[str, int]) -> pl.DataFrame:
        """All pages, in the first column of their rows: they begin in state 0."""
        row = pl.int_range(self._past.pages, dtype=pl.Int64) // level["step"]
        return pl.select(cell=row * level["columns"]).group_by("cell").agg(step=pl.len().cast(pl.Int32))

    def _activity(self, kinds: tuple[str, ...], level: dict[str, int]) -> pl.Series:
        chosen = self._past.events.filter(among(kinds)).select(cell=self._cells(level))
        counts = chosen.group_by("cell").agg(step=pl.len().cast(pl.Int32))
        return activity(_dense(counts, level))

    def _cells(self, level: dict[str, int]) -> pl.Expr:
        column = pl.col("time").cast(pl.Int64) * level["columns"] // (self._past.span + 1)
        return pl.col("page") // level["step"] * level["columns"] + column


def _changes(states: pl.DataFrame, name: str) -> pl.DataFrame:
    """The events of all pages that change one layer."""
    same = pl.col("page") == pl.col("page").shift(1, fill_value=-1)
    before = pl.when(same).then(pl.col(name).shift(1)).otherwise(pl.lit(0, pl.UInt8))
    return states.select("page", "time", before=before, after=name).filter(pl.col("before") != pl.col("after"))


def _running(steps: pl.DataFrame, level: dict[str, int]) -> pl.Series:
    """Running sums of the steps in each row of cells."""
    columns = level["columns"]
    rows = steps.group_by(pl.col("cell") // columns).agg(-pl.col("step").sum())
    # The next row starts anew: what this one adds up to is taken away.
    ends = rows.select((pl.col("cell") + 1) * columns, "step").filter(pl.col("cell") < level["rows"] * columns)
    return _dense(pl.concat([steps, ends]).group_by("cell").agg(pl.col("step").sum()), level).cum_sum()


def _dense(counts: pl.DataFrame, level: dict[str, int]) -> pl.Series:
    """One number for each cell."""
    cells = pl.zeros(level["rows"] * level["columns"], pl.Int32, eager=True)
    return cells.scatter(counts["cell"], counts["step"])


def in_bytes(values: pl.Series) -> bytes:
    """Bytes of a column of bytes."""
    return bytes(values.implode().cast(pl.Binary)[0])
