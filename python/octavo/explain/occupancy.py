"""Average use of GPU memory, walkers and remote lines in flight over a run's GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.quantities import count, cycle

if TYPE_CHECKING:
    from collections.abc import Mapping

MEMORY, WALKERS, REMOTE = "GPU memory", "page-table walkers", "remote lines in flight"


def occupied(node: Mapping[str, Any], summary: Mapping[str, Any], time_ps: int) -> dict[str, float]:
    """Share of each that is in use while kernels run, for `time_ps`.

    Memory: lines read and written, times the time that one line occupies its bank. Walkers: levels read, times the time
    of one; left out where levels are read from memory. Remote lines: by Little's law, the number in flight is the sum
    of their times over the time of the run. Lines that wait for a place count, too, so the share can exceed 1. Left out
    if their number has no limit.
    """
    accesses, gpus, one = summary["accesses"], int(node["gpus"]), cycle(node["clock"])
    dram, walker, limit = node["dram"], node["walker"], int(node["remote"]["lines_in_flight"])
    lines = accesses["dram_reads"] + accesses["dram_writes"]
    found = {MEMORY: lines * count(dram["line_cycles"], "cycles") * one / (int(dram["banks"]) * gpus * time_ps)}
    if not walker.get("in_memory"):
        walkers = int(walker["walkers"]) * (gpus if walker["scope"] == "per-gpu" else 1)
        found[WALKERS] = accesses["walk_levels"] * count(walker["level"], "cycles") * one / (walkers * time_ps)
    if limit:
        found[REMOTE] = summary["breakdown"]["remote_access_ps"] / (limit * gpus * time_ps)
    return found
