"""Reach of the TLBs and their misses, from the totals and the node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.quantities import bytes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.report.runs import Run


def translation(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """One row for each simulated run: reach in bytes, first-level misses over translations, and how they ended.

    A miss hits the second level, walks, or needs no walk because a fault of its GPU on the page is under way.
    """
    return [_row(run) for run in runs if run.simulated]


def _row(run: Run) -> dict[str, Any]:
    accesses, values = run.summary["accesses"], run.values
    page = bytes_of(values["memory.page_size"])
    asked = accesses["translations"]
    missed = asked - accesses["l1_tlb_hits"]
    return {
        "run": run.number,
        "group": run.group,
        "variant": run.variant,
        "page_bytes": page,
        "l1_reach": int(values["node.l1_tlb.entries"]) * page,
        "l2_reach": int(values["node.l2_tlb.entries"]) * page,
        "footprint": run.summary["footprint_bytes"],
        "translations": asked,
        "l1_miss": missed / asked if asked else 0.0,
        "l2_hit": accesses["l2_tlb_hits"] / missed if missed else 0.0,
        "walked": accesses["walks"] / missed if missed else 0.0,
        "joined": (missed - accesses["l2_tlb_hits"] - accesses["walks"]) / missed if missed else 0.0,
        "walks": accesses["walks"],
        "levels_a_walk": accesses["walk_levels"] / accesses["walks"] if accesses["walks"] else 0.0,
    }
