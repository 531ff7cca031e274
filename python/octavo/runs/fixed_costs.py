"""Costs and sizes of the node that do not shrink with the program: below scale 1 they weigh more, or less."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.quantities import bytes_of, count, cycle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_COUNTS = 0.05
"""The least share of the time that a cost takes for it to be named; chosen."""
_LARGE_PAGE = 2 << 20
"""Bytes of what a large entry of a TLB maps, and of the driver's blocks."""
_MANY = 32
"""Blocks from which on their size decides little; chosen."""


def fixed(values: Mapping[str, Any], totals: Mapping[str, Any] | None, footprint: int, whole: int) -> list[str]:
    """Say what of the node is out of proportion to a program that is smaller than its whole.

    Launches cost as much as at scale 1, and their number is about the same. Caches and TLBs are as large as at scale 1,
    so more of the program may fit into them than at scale 1.

    Args:
        values: a scenario that is spelled out.
        totals: what its run came to, if it ran.
        footprint: bytes of the program as it runs.
        whole: bytes of the program at scale 1.

    """
    node = values["node"]
    reached = [
        f"the program fits into {where} ({_size(size)}), at scale 1 it does not"
        for where, size in _reaches(node)
        if footprint <= size * node["gpus"] < whole
    ]
    if totals is None or not totals.get("time_ps"):
        return reached
    reached += _blocks(values, totals, footprint, whole)
    shares = {what: taken / totals["time_ps"] for what, taken in _costs(node, totals)}
    told = [f"{what} {share:.0%} of the time, and do not shrink" for what, share in shares.items() if share >= _COUNTS]
    return [*told, *reached]


def _reaches(node: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Bytes that one GPU's second-level cache holds, and that its second-level TLB maps by large entries, if any."""
    cache = [("the L2 cache", bytes_of(node["l2"]["size"]))]
    large = node["l2_tlb"].get("large")
    return [*cache, ("the reach of the L2 TLB", int(large["entries"]) * _LARGE_PAGE)] if large else cache


def _blocks(values: Mapping[str, Any], totals: Mapping[str, Any], footprint: int, whole: int) -> list[str]:
    """How few blocks a program has by which the driver fetches and evicts; batches of faults are as large as always.

    Smaller blocks and batches would have as many calls as at scale 1, each at its whole cost: times of programs at 1/64
    would be further from those at 1/4.
    """
    service = values["node"]["driver"]["service"]
    of_driver = values["memory"]["prefetch"]["name"] == "tree" and service["model"] == "batch"
    blocks, at_whole = -(-footprint // _LARGE_PAGE), -(-whole // _LARGE_PAGE)
    if not of_driver or not totals["manager"]["far_faults"] or blocks >= _MANY:
        return []
    return [
        f"the driver's blocks of 2 MiB and batches of {service['size']} faults do not shrink: the program has {blocks} "
        f"block{'s' * (blocks > 1)}, at scale 1 {at_whole:,}"
    ]


def _costs(node: Mapping[str, Any], totals: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Picoseconds of what a program does as often as at scale 1: launches of a GPU follow one another."""
    each = count(node["compute"].get("kernel_overhead", "0cycles"), "cycles") * cycle(node["clock"])
    yield "launches take", totals["launches"] * each
    yield "starts of CUDA take", float(totals.get("phases", {}).get("context_ps", 0))


def _size(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MiB"
