"""How long faults waited, and for what, from the histograms of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

if TYPE_CHECKING:
    from octavo.runs.result import RunResult

TABLE: Final = "fault_waits"
TOTAL = "total"
_ORDER = ("walk", "message", "queue", "service", "drain", "copy", "other", "replay", TOTAL)
"""Parts of a wait in the order in which faults go through them; then the whole."""


@dataclass(frozen=True)
class Wait:
    """What a fault waited for: one part of the wait, or the whole."""

    part: str
    share: float
    """Share of the time that all faults waited together."""
    mean_ps: float
    p50_ps: float
    p95_ps: float
    p99_ps: float
    """Half, 95 % and 99 % of the faults waited at most this long; within 3 %, the width of the histograms' ranges."""


def waits(result: RunResult) -> list[Wait]:
    """The parts in their order, the whole last; empty for a run without faults.

    Raises:
        OutputError: the table is damaged.

    """
    if TABLE not in result.tables:
        return []
    table = result.table(TABLE)
    found = {part: table.filter(pl.col("part") == part).sort("from_ps") for part in _ORDER}
    total = max(int(found[TOTAL]["sum_ps"].sum()), 1)
    return [_wait(part, rows, total) for part, rows in found.items()]


def _wait(part: str, rows: pl.DataFrame, total: int) -> Wait:
    summed, faults = int(rows["sum_ps"].sum()), max(int(rows["faults"].sum()), 1)
    p50, p95, p99 = (percentile(rows, share) for share in (0.5, 0.95, 0.99))
    return Wait(part, summed / total, summed / faults, p50, p95, p99)


def percentile(rows: pl.DataFrame, share: float) -> float:
    """The mean of the range that contains the longest wait of the given share of faults."""
    needed = share * int(rows["faults"].sum())
    reached = rows.filter(pl.col("faults").cum_sum() >= needed)
    if reached.is_empty():
        return 0.0
    first = reached.row(0, named=True)
    return float(first["sum_ps"] / first["faults"])
