"""Points of a sweep that ran several times: medians with intervals, and which of them are best."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.runs import measures
from octavo.runs.replicates import KEY, interval, tied
from octavo.sweeps.table import FAILED, OK

if TYPE_CHECKING:
    from octavo.runs.replicates import Interval
    from octavo.sweeps.search import Goal

TIME = measures.TIME


def medians(table: pl.DataFrame, replicates: int, metric: str = TIME) -> pl.DataFrame:
    """One row for each point, renumbered, with medians instead of measures.

    `time_ps` and `metric` have their intervals beside them, as `NAME_low` and `NAME_high`; `replicates` is the number
    of runs. A point is `failed` if any of its replicates is.
    """
    if replicates == 1:
        return table
    rows = [_row(part, number, metric) for number, part in _points(table, replicates)]
    return pl.DataFrame(rows, infer_schema_length=None)


def _points(table: pl.DataFrame, replicates: int) -> list[tuple[int, pl.DataFrame]]:
    numbered = table.with_columns(of=pl.col("point") // replicates)
    return [(int(number), part.drop("of")) for (number,), part in numbered.group_by("of", maintain_order=True)]


def _row(part: pl.DataFrame, number: int, metric: str) -> dict[str, Any]:
    first = {**part.drop(KEY).row(0, named=True), "point": number, "replicates": part.height}
    failed = part.filter(pl.col("status") == FAILED)
    if failed.height:
        first |= {"status": FAILED, "error": failed["error"][0], **dict.fromkeys(measures.NAMES)}
    for name in measures.NAMES:
        values = [] if failed.height or part[name].null_count() else part[name].to_list()
        found = interval(values) if values else None
        first[name] = None if found is None else found.median
        if name in (TIME, metric):
            first |= {f"{name}_low": found and found.low, f"{name}_high": found and found.high}
    return first


def once(table: pl.DataFrame) -> pl.DataFrame:
    """Points without repetitions of the same run: a search may request a point again, which runs once."""
    again = pl.col("run").is_not_null() & ~pl.col("run").is_first_distinct()
    return table.filter(~again)


def level(table: pl.DataFrame, metric: str = TIME, most: int | None = None) -> dict[int, list[int]]:
    """By point, those that are level with it: their intervals of a measure overlap its own.

    Points without the measure have no entry; points with the same run as an earlier one have that point's. `most`
    requests only the first few points, which are still compared with all.
    """
    rows = once(table).filter(pl.col(metric).is_not_null()).to_dicts()
    beside = _Beside({row["point"]: measures.times(row, metric) for row in rows})
    first = {row["run"]: row["point"] for row in reversed(rows)}
    shown = table if most is None else table.head(most)
    asked = shown.filter(pl.col(metric).is_not_null()).select("point", "run").rows()
    return {point: beside.overlapping(point if run is None else first[run]) for point, run in asked}


class _Beside:
    """Intervals by point, in an order in which overlapping ones are found without looking at all."""

    def __init__(self, found: dict[int, Interval]) -> None:
        self._found = found
        self._ordered = sorted(found, key=lambda point: found[point].low)
        self._lows = [found[point].low for point in self._ordered]
        self._reached = list(accumulate((found[point].high for point in self._ordered), max))

    def overlapping(self, point: int) -> list[int]:
        """The other points whose intervals overlap that of a point."""
        own = self._found[point]
        begin, end = bisect_left(self._reached, own.low), bisect_right(self._lows, own.high)
        near = self._ordered[begin:end]
        return sorted(other for other in near if other != point and self._found[other].overlaps(own))


def best(table: pl.DataFrame, goal: Goal) -> list[dict[str, Any]]:
    """The best point by its median, the earliest among equals, then those that are level with it.

    Points without the measure, such as a time where the executor has none, are left out; so are repeated ones.
    """
    metric, table = goal.metric, once(table)
    known = (pl.col("status") == OK) & pl.col(metric).is_not_null()
    rows = {str(row["point"]): row for row in table.filter(known).to_dicts()}
    if not rows:
        return []
    found = {name: measures.times(row, metric) for name, row in rows.items()}
    return [rows[name] for name in tied(found, highest=goal.direction == "maximize")]
