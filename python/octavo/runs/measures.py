"""The numbers that comparisons are made of, from the summary of a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octavo.runs.result import RunResult

CAUSES = (
    "local",
    "host",
    "migration",
    "remote_access",
    "duplication",
    "write_collapse",
    "eviction",
    "prefetch",
    "walk",
)
"""What the time of accesses is spent on, as the engine names it."""

SHORT = {"remote_access": "remote", "duplication": "duplicate", "write_collapse": "collapse", "migration": "migrate"}
"""Shorter names of causes, for narrow tables."""

SCHEMES = ("on_touch", "access_counter", "duplication")
"""Schemes a page can have under GRIT."""

_COUNTS = (
    "far_faults",
    "protection_faults",
    "migrations",
    "duplications",
    "collapses",
    "remote_maps",
    "prefetched",
    "evictions_written",
    "evictions_dropped",
)

NAMES = (
    "time_ps",
    "faults",
    *_COUNTS,
    "lines",
    "remote_gpu_lines",
    "remote_host_lines",
    *(f"{cause}_ps" for cause in CAUSES),
    *(f"pages_{scheme}" for scheme in SCHEMES),
)
"""Every measure of a run, in the order of `row`."""


def row(workload: str, variant: str, result: RunResult) -> dict[str, Any]:
    """One run as a row: times in picoseconds, counts, and pages by scheme at the end."""
    summary = result.summary
    manager = summary["manager"]
    counts = {name: manager[name] for name in _COUNTS}
    accesses = summary["accesses"]
    return {
        "workload": workload,
        "variant": variant,
        "time_ps": summary["time_ps"],
        "faults": counts["far_faults"] + counts["protection_faults"],
        **counts,
        "lines": accesses["load_lines"] + accesses["store_lines"],
        "remote_gpu_lines": accesses["remote_gpu_lines"],
        "remote_host_lines": accesses["remote_host_lines"],
        **{f"{cause}_ps": summary["breakdown"][f"{cause}_ps"] for cause in CAUSES},
        **{f"pages_{scheme}": manager["pages_by_scheme"][scheme] for scheme in SCHEMES},
    }


def with_speedup(points: pl.DataFrame, baseline: str) -> pl.DataFrame:
    """Add `speedup`: the baseline variant's time on the same workload over each time."""
    base = points.filter(pl.col("variant") == baseline).select("workload", base_ps="time_ps")
    return (
        points.join(base, on="workload", how="left", maintain_order="left")
        .with_columns(speedup=pl.col("base_ps") / pl.col("time_ps"))
        .drop("base_ps")
    )


def shares(point: dict[str, Any]) -> dict[str, float]:
    """Share of each cause in the time of a point's accesses; they add up to 1 (or all are 0)."""
    total = sum(point[f"{cause}_ps"] for cause in CAUSES)
    return {cause: point[f"{cause}_ps"] / total if total else 0.0 for cause in CAUSES}


def geometric_mean(values: Iterable[float]) -> float:
    """Geometric mean of positive numbers."""
    logarithms = [math.log(value) for value in values]
    return math.exp(math.fsum(logarithms) / len(logarithms))
