"""Costs and sizes of the node that do not shrink with the program: below scale 1 they weigh more, or less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.quantities import bytes_of, count, cycle

if TYPE_CHECKING:
    from octavo.runs.pressure import Pressure
    from octavo.runs.result import RunResult
    from octavo.runs.totals import Summary

_LAUNCHES = 0.05
"""The least share of launches in the time above which they are mentioned; our choice."""
_LARGE_PAGE = 2 << 20
"""Bytes that a large entry of a TLB maps."""


def fixed(result: RunResult, pressure: Pressure) -> list[str]:
    """Describe what is out of proportion to the program at its scale; nothing at scale 1, or without time.

    Launches cost as much as at scale 1, and their number is about the same. Caches and TLBs are as large as at scale 1,
    so more of the program may fit into them than at scale 1.

    Raises:
        OutputError: the result cannot be read.

    """
    whole = pressure.whole
    if whole is None or whole <= pressure.footprint or not result.has_time:
        return []
    node = result.scenario.values["node"]
    reached = [
        f"the program fits into {where} ({_size(size)}), at scale 1 it does not"
        for where, size in _reaches(node)
        if pressure.footprint <= size * pressure.gpus < whole
    ]
    share = _launching(node, result.summary)
    launching = [f"launches take {share:.0%} of the time, and do not shrink"] if share >= _LAUNCHES else []
    return [*launching, *reached]


def _reaches(node: dict[str, Any]) -> list[tuple[str, int]]:
    """Bytes that one GPU's second-level cache holds, and that large entries of its second-level TLB map, if any."""
    cache = [("the L2 cache", bytes_of(node["l2"]["size"]))]
    large = node["l2_tlb"].get("large")
    return [*cache, ("the reach of the L2 TLB", int(large["entries"]) * _LARGE_PAGE)] if large else cache


def _launching(node: dict[str, Any], summary: Summary) -> float:
    """The share of the run's time that goes to starting kernels: launches of a GPU follow one another."""
    each = count(node["compute"].get("kernel_overhead", "0cycles"), "cycles") * cycle(node["clock"])
    return summary["launches"] * each / summary["time_ps"] if summary["time_ps"] else 0.0


def _size(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MiB"
