"""Traffic of each kernel between the levels of memory, on nodes whose host and GPUs are coherent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from octavo.runs import levels

if TYPE_CHECKING:
    from octavo.report.runs import Run

TABLE: Final = "traffic"
_KERNELS = 40
"""The most kernels of a run that the page lists: those that took longest."""


def by_kernel(run: Run) -> list[dict[str, Any]]:
    """One row for each kernel: launches, time, and bytes through each level, of all its launches."""
    if TABLE not in run.result.tables:
        return []
    time = (pl.col("ended_ps") - pl.col("began_ps")).sum().alias("time_ps")
    table = run.result.table(TABLE)
    told = [
        pl.sum_horizontal(pl.col(name).sum() for name in names).alias(level) for level, names in levels.LEVELS.items()
    ]
    kernels = table.group_by("kernel", maintain_order=True).agg(pl.len().alias("launches"), time, *told)
    longest = kernels.sort("time_ps", descending=True, maintain_order=True).head(_KERNELS)
    return [{"run": run.number, **row} for row in longest.to_dicts()]
