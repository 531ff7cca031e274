"""Faults and moved pages of profiles over time, from their events: profiles have no samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import events

if TYPE_CHECKING:
    from octavo.report.runs import Run

MOVED = {
    "migrations": ("migration", "user_migration", "counter_migration"),
    "duplications": ("duplication",),
    "collapses": ("write_collapse",),
    "prefetched": ("prefetch",),
    "evictions": ("eviction",),
}
"""Columns of bins that count pages, and the kinds of events that they count."""


def in_bins(run: Run, bins: int) -> pl.DataFrame:
    """`time_ps`, the end of each bin, `faults` of GPUs (pages of the profile's smallest size), and `MOVED` in pages."""
    table = run.result.table("events")
    events.check(table)
    width = max(-(-max(int(run.summary["time_ps"]), 1) // bins), 1)
    number = (pl.col("time_ps") // width).clip(0, bins - 1)
    kind = pl.col("kind").cast(pl.String)
    counts = [
        pl.col("pages").filter(kind.is_in(kinds)).sum().cast(pl.Int64).alias(name)
        for name, kinds in {"faults": events.GPU_FAULTS, **MOVED}.items()
    ]
    found = table.group_by(bin=number.cast(pl.Int64)).agg(*counts)
    every = pl.DataFrame({"bin": range(bins)}, schema={"bin": pl.Int64})
    return (
        every.join(found, on="bin", how="left", maintain_order="left")
        .fill_null(0)
        .select(time_ps=(pl.col("bin") + 1) * width, faults="faults", **{name: name for name in MOVED})
    )
