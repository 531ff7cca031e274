"""Totals of a profile, for `summary.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from octavo import events as kinds
from octavo.activity.mapping import PAGE_BYTES, PICOSECONDS
from octavo.imports.allocations import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.imports.allocations import Allocation, Numbers
    from octavo.imports.profile import Profile


def summary(
    profile: Profile, events: pl.DataFrame, allocations: Sequence[Allocation], owner: Numbers, span: int
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
    outside = events.filter(pl.Series(owner >= len(known)))
    return {
        "source": profile.source,
        "time_ps": span * PICOSECONDS,
        "launches": profile.kernels.height,
        "footprint_bytes": _footprint(allocations),
        "capacity_bytes": None,
        "page_bytes": PAGE_BYTES,
        "gpus": _gpus(profile, events),
        "unified_memory": _activity(events),
        "attribution": {
            "allocations": len(known),
            "rows": events.height,
            "rows_outside": outside.height,
            "outside": _activity(outside),
        },
        "other_memory_bytes": dict(sorted(profile.other_memory.items())),
        "missing": profile.missing,
    }


def _activity(events: pl.DataFrame) -> dict[str, Any]:
    moved = events.filter(pl.col("kind").is_in(kinds.TRANSFERS))
    gpu = events.filter(pl.col("kind").is_in(kinds.GPU_FAULTS))
    rows = events.group_by(pl.col("kind").cast(pl.String)).agg(pl.len(), pl.col("bytes").sum()).sort("kind")
    return {
        "gpu_faults": int(gpu["faults"].sum()),
        "fault_groups": gpu.height,
        "cpu_faults": int((events["kind"] == "cpu_fault").sum()),
        "h2d_bytes": _bytes(moved, pl.col("from") == 0, pl.col("to") > 0),
        "d2h_bytes": _bytes(moved, pl.col("from") > 0, pl.col("to") == 0),
        "d2d_bytes": _bytes(moved, pl.col("from") > 0, pl.col("to") > 0),
        "rows_by_kind": dict(rows.select("kind", "len").iter_rows()),
        "bytes_by_kind": {kind: size for kind, size in rows.select("kind", "bytes").iter_rows() if size},
    }


def _bytes(moved: pl.DataFrame, *conditions: pl.Expr) -> int:
    return int(moved.filter(*conditions)["bytes"].sum())


def _footprint(allocations: Sequence[Allocation]) -> int:
    """Bytes that any of them has; addresses that were used again count once."""
    if not allocations:
        return 0
    order = sorted(allocations, key=lambda one: one.address)
    starts = np.array([one.address for one in order], np.int64)
    ends = np.maximum.accumulate(np.array([one.address + one.bytes for one in order], np.int64))
    before = np.concatenate([starts[:1], np.maximum(ends[:-1], starts[1:])])
    return int(np.maximum(ends - before, 0).sum())


def _gpus(profile: Profile, events: pl.DataFrame) -> list[dict[str, Any]]:
    """GPUs that are known or that anything happened on."""
    seen = {int(one) - 1 for name in ("from", "to") for one in events[name].unique() if one > 0}
    seen |= {int(one) for one in profile.kernels["gpu"].unique() if one >= 0}
    numbers = sorted(seen | profile.gpus.keys())
    return [{"gpu": number, "name": profile.gpus.get(number)} for number in numbers]
