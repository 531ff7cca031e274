"""The probes' access patterns on a simulated node: the workload `touch` under the memory system that a probe meets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo import api

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octavo.scenario import Scenario

LARGE_PAGE = 2 << 20
"""What the driver maps memory of its own with, and the span of one of its blocks."""
PAGE = 4 << 10
"""What demand is counted in."""
_QUIET: Mapping[str, object] = {"record.events": False, "record.interval": "0ns"}
RESIDENT: Mapping[str, object] = {"memory.placement": "interleaved", "memory.page_size": "2MiB"}
"""Memory that the program asked for on the GPU: it is there from the start and never moves."""
PINNED: Mapping[str, object] = {
    "memory.placement": {"name": "access-counter", "threshold": 65535, "host_pages": "map"},
    "memory.page_size": "64KiB",
}
"""Host memory that the GPU maps and accesses line by line: more accesses than any pattern here has would move it."""
MANAGED: Mapping[str, object] = {"memory.preset": "uvm"}
"""Memory that moves on demand, as the production driver moves it."""


@dataclass(frozen=True)
class Node:
    """A node and changes to it."""

    name: str | Path
    """A preset, or a file."""
    changes: Mapping[str, object]
    """Values by dotted key below `node`."""

    def scenario(self, touch: Mapping[str, object], memory: Mapping[str, object]) -> Scenario:
        """A scenario of `touch` with options; one GPU of the node runs it.

        Raises:
            ScenarioError: an option or a value of the node cannot be used.

        """
        values = {f"node.{key}": value for key, value in self.changes.items()}
        options = {f"workload.{key}": value for key, value in touch.items()}
        return api.scenario(
            workload="touch", node=self.name, overrides={**values, "node.gpus": 1, **memory, **options, **_QUIET}
        )

    def launches(self, touch: Mapping[str, object], memory: Mapping[str, object]) -> list[float]:
        """Seconds of each launch of `touch`, launch overhead included; errors as `octavo.run`."""
        kernels = api.run(self.scenario(touch, memory)).table("kernels")
        return [1e-12 * (end - begin) for begin, end in kernels.select("began_ps", "ended_ps").iter_rows()]


def launch_overhead(node: Node) -> float:
    """Seconds of an empty launch."""
    return node.launches({"bytes": 64, "touches": 0, "groups": 1, "wavefronts": 1}, RESIDENT)[0]


def stream_bandwidth(node: Node, size: int, operation: str = "copy") -> float:
    """Bytes a second read and written, by as many threads as the GPU holds, over `size` bytes of each buffer."""
    touch = {"bytes": size, "width": 16, "operation": operation, "wavefronts": 4, "groups": _groups(node)}
    seconds = node.launches(touch, RESIDENT)[0]
    return (2 if operation == "copy" else 1) * size / seconds


def chase_latency(node: Node, footprint: int, stride: int, loads: int = 20_000) -> float:
    """Seconds of each of `loads` dependent loads behind a walk through all places, which fills caches and TLBs.

    A footprint with more than `loads` places is walked through for part of its places, none of which is met twice.
    """
    places = footprint // stride
    warm = places if places <= loads else 0
    chase = {"bytes": footprint, "stride": stride, "width": 8, "order": "random"}
    alone = {"groups": 1, "wavefronts": 1, "lanes": 1, "in_flight": 1}
    first, both = (
        node.launches({**chase, **alone, "touches": touches}, RESIDENT)[0]
        for touches in (max(warm, 1), max(warm, 1) + loads)
    )
    return (both - first) / loads


def line_access_bandwidth(node: Node, size: int, warps: int, write: bool = False) -> float:
    """Bytes a second of accesses to pinned host memory, 16 bytes a thread, four of each thread in flight."""
    touch = {"bytes": size, "width": 16, "operation": "write" if write else "read"}
    # Two warps are one wavefront of 64; a lone warp is half of one.
    shape = {"groups": math.ceil(warps / 2), "wavefronts": 1, "lanes": 64 if warps > 1 else 32}
    seconds = node.launches({**touch, **shape, "launches": 2}, PINNED)
    return size / seconds[1]


def demand_seconds(node: Node, size: int, stride: int, blocks: int, order: str = "ascending") -> float:
    """Seconds until one thread of each of `blocks` blocks has touched its part of a fresh range, a page at a time."""
    touch = {"bytes": size, "stride": stride, "width": 8, "order": order}
    return node.launches({**touch, "groups": blocks, "wavefronts": 1, "lanes": 1, "in_flight": 1}, MANAGED)[0]


def _groups(node: Node) -> int:
    """Groups of four wavefronts that fill every multiprocessor."""
    compute = node.scenario({}, RESIDENT).values["node"]["compute"]
    return int(compute["units"] * compute["simds_per_unit"] * compute["wavefronts_per_simd"]) // 4
