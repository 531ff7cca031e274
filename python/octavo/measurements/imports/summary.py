"""Totals of a profile, for `summary.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.arrays import np
from octavo.measurements.activity.mapping import PAGE_BYTES, PICOSECONDS
from octavo.measurements.imports.allocations import UNKNOWN
from octavo.runs import events as kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.measurements.imports.allocations import Allocation, Places
    from octavo.measurements.imports.profile import Profile


def summary(
    profile: Profile, events: pl.DataFrame, allocations: Sequence[Allocation], owner: Places, span: int
) -> dict[str, Any]:
    """Totals.

    Args:
        profile: what was read.
        events: the table.
        allocations: address ranges for what was in no known allocation among them.
        owner: number of the first allocation that each event is about.
        span: nanoseconds from the first to the last thing that happened.

    """
    known = [one for one in allocations if one.kind != UNKNOWN]
    counts = _counts(events, pl.Series(owner >= len(known)))
    outside = counts.filter("outside")
    return {
        "source": profile.source,
        "time_ps": span * PICOSECONDS,
        "launches": profile.kernels.height,
        "footprint_bytes": _footprint(allocations),
        "capacity_bytes": None,
        "page_bytes": PAGE_BYTES,
        "gpus": _gpus(profile, events),
        "unified_memory": _activity(counts),
        "attribution": {
            "allocations": len(known),
            "rows": events.height,
            "rows_outside": int(outside["rows"].sum()),
            "outside": _activity(outside),
        },
        "other_memory_bytes": dict(sorted(profile.other_memory.items())),
        "missing": profile.missing,
    }


def _counts(events: pl.DataFrame, outside: pl.Series) -> pl.DataFrame:
    """`rows`, `faults` and `bytes` by kind, by which ends are GPUs, and for rows outside known allocations."""
    ends = ((pl.col("from") > 0).alias("from_gpu"), (pl.col("to") > 0).alias("to_gpu"))
    sums = (pl.len().cast(pl.Int64).alias("rows"), pl.col("faults", "bytes").sum().cast(pl.Int64))
    return (
        events.group_by("kind", *ends, outside.alias("outside"))
        .agg(*sums)
        .sort("kind", "from_gpu", "to_gpu", "outside")
    )


def _activity(counts: pl.DataFrame) -> dict[str, Any]:
    moved = pl.col("kind").is_in(kinds.TRANSFERS)
    faulted = pl.col("kind").is_in(kinds.GPU_FAULTS)
    by_kind = counts.group_by(pl.col("kind").cast(pl.String)).agg(pl.col("rows", "bytes").sum()).sort("kind")
    return {
        "gpu_faults": _sum(counts, "faults", faulted),
        "fault_groups": _sum(counts, "rows", faulted),
        "cpu_faults": _sum(counts, "rows", pl.col("kind") == "cpu_fault"),
        "h2d_bytes": _sum(counts, "bytes", moved, ~pl.col("from_gpu"), pl.col("to_gpu")),
        "d2h_bytes": _sum(counts, "bytes", moved, pl.col("from_gpu"), ~pl.col("to_gpu")),
        "d2d_bytes": _sum(counts, "bytes", moved, pl.col("from_gpu"), pl.col("to_gpu")),
        "rows_by_kind": dict(by_kind.select("kind", "rows").iter_rows()),
        "bytes_by_kind": {kind: size for kind, size in by_kind.select("kind", "bytes").iter_rows() if size},
    }


def _sum(counts: pl.DataFrame, column: str, *conditions: pl.Expr) -> int:
    return int(counts.filter(*conditions)[column].sum())


def _footprint(allocations: Sequence[Allocation]) -> int:
    """The most bytes that any of them covers; addresses that were reused count once."""
    if not allocations:
        return 0
    order = sorted(allocations, key=lambda one: one.address)
    starts = np.array([one.address for one in order], np.int64)
    ends = np.maximum.accumulate(np.array([one.address + one.bytes for one in order], np.int64))
    before = np.concatenate([starts[:1], np.maximum(ends[:-1], starts[1:])])
    return int(np.maximum(ends - before, 0).sum())


def _gpus(profile: Profile, events: pl.DataFrame) -> list[dict[str, Any]]:
    """GPUs that are known, or that had any event."""
    seen = {int(one) - 1 for name in ("from", "to") for one in events[name].unique() if one > 0}
    seen |= {int(one) for one in profile.kernels["gpu"].unique() if one >= 0}
    numbers = sorted(seen | profile.gpus.keys())
    return [{"gpu": number, "name": profile.gpus.get(number)} for number in numbers]
