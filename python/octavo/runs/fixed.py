"""What does not shrink with a program: costs and sizes of the node that weigh more, or less, below scale 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.quantities import bytes_of, count, cycle

if TYPE_CHECKING:
    from octavo.runs.pressure import Pressure
    from octavo.runs.result import RunResult
    from octavo.runs.totals import Summary

_LAUNCHES = 0.05
"""The least share of the time that launches take for them to be named; chosen."""
_LARGE_PAGE = 2 << 20
"""Bytes of what a large entry of a TLB maps."""


def fixed(result: RunResult, pressure: Pressure) -> list[str]:
    """Say what of the node is out of proportion to the program at its scale; nothing at scale 1, nor without time.

    Launches cost as much as at scale 1, and there are about as many. Caches and TLBs are as large as at scale 1, so a
    part of the program may fit into them that does not at scale 1.

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
    """Bytes that one GPU's second-level cache holds, and that its second-level TLB maps by large entries, if any."""
    cache = [("the L2 cache", bytes_of(node["l2"]["size"]))]
    large = node["l2_tlb"].get("large")
    return [*cache, ("the reach of the L2 TLB", int(large["entries"]) * _LARGE_PAGE)] if large else cache


def _launching(node: dict[str, Any], summary: Summary) -> float:
    """Share of the run's time that starting kernels takes: launches of a GPU follow one another."""
    each = count(node["compute"].get("kernel_overhead", "0cycles"), "cycles") * cycle(node["clock"])
    return summary["launches"] * each / summary["time_ps"] if summary["time_ps"] else 0.0


def _size(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MiB"
