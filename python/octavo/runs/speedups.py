"""Speed-ups, and the intervals of replicates, as columns of the points of an experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import measures
from octavo.runs.replicates import interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.runs.result import RunResult


def with_speedup(points: pl.DataFrame, baseline: str) -> pl.DataFrame:
    """Add `speedup`: the baseline variant's time on the same workload over each time; nothing without time."""
    base = points.filter(pl.col("variant") == baseline).select("workload", base_ps="time_ps")
    return (
        points.join(base, on="workload", how="left", maintain_order="left")
        .with_columns(speedup=pl.col("base_ps") / pl.col("time_ps"))
        .drop("base_ps")
    )


def with_intervals(points: pl.DataFrame, replicates: Mapping[tuple[str, str], Sequence[RunResult]]) -> pl.DataFrame:
    """Replace times by medians, and add `time_ps_low`, `time_ps_high` and `replicates`; nothing if all ran once.

    Counts and shares still come from the first replicate.

    Raises:
        DamagedError: a result is not what was written.

    """
    if not replicates:
        return points
    found = [
        interval(int(result.summary["time_ps"]) for result in replicates[key])
        for key in points.select("workload", "variant").rows()
    ]
    return points.with_columns(
        time_ps=pl.Series([round(one.median) for one in found]),
        time_ps_low=pl.Series([one.low for one in found], dtype=pl.Int64),
        time_ps_high=pl.Series([one.high for one in found], dtype=pl.Int64),
        replicates=pl.Series([one.count for one in found]),
    )


def with_speedup_intervals(points: pl.DataFrame, baseline: str) -> pl.DataFrame:
    """Add `speedup_low` and `speedup_high`: the bounds from the intervals of both times; nothing if all ran once."""
    if "replicates" not in points.columns:
        return points
    low, high = f"time_ps{measures.LOW}", f"time_ps{measures.HIGH}"
    base = points.filter(pl.col("variant") == baseline).select("workload", base_low=low, base_high=high)
    own = pl.col("variant") == baseline
    return (
        points.join(base, on="workload", how="left", maintain_order="left")
        .with_columns(
            speedup_low=pl.when(own).then(1.0).otherwise(pl.col("base_low") / pl.col(high)),
            speedup_high=pl.when(own).then(1.0).otherwise(pl.col("base_high") / pl.col(low)),
        )
        .drop("base_low", "base_high")
    )
