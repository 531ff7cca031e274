"""The memory systems that are compared: the stock driver, and techniques added one by one."""

from __future__ import annotations

from octavo.runs.experiment import Variant

STOCK = "stock driver"
"""What all others are compared with: victims go to the host when a page needs their room."""

_COMMON = (
    "memory.preset=stock-driver",
    "memory.placement=on-touch",
    "memory.prefetch.threshold=1",
    "memory.host_frames=base",
)
"""The driver of the publication, of 2021: a block that it evicted comes back whole, and its host pages are of 4 KiB."""


def ladder(reserve: int, blocks: int) -> list[Variant]:
    """Every system, the stock driver first.

    Args:
        reserve: bytes of a GPU that are kept free, or removable on those that lend.
        blocks: blocks of 2 MiB that are prefetched after a batch of faults.

    """
    spare = ("memory.demotion.name=spare-memory", f"memory.demotion.reserve={reserve}B")
    early = ("memory.demotion.name=reserve", f"memory.demotion.free={reserve}B")
    pre_evicted = (*_COMMON, *spare, "memory.demotion.pre_eviction=true")
    large = (*pre_evicted, "memory.host_frames=large")
    parallel = (*large, "memory.demotion.parallel_fetch=true")

    def path(name: str) -> str:
        return f'memory.prefetch={{name="{name}",blocks={blocks}}}'

    return [
        Variant(STOCK, _COMMON),
        Variant("host, pre-evicted", (*_COMMON, *early)),
        Variant("host, pre-evicted, prefetched", (*_COMMON, *early, path("local-path"))),
        Variant("H", (*_COMMON, *spare)),
        Variant("H, fewest pending", (*_COMMON, *spare, "memory.demotion.neighbour=fewest-pending")),
        Variant("H+PE", pre_evicted),
        Variant("H+PE+LP", large),
        Variant("H+PE+LP+PLF", parallel),
        Variant("H+PE+LP+PLF+LPF", (*parallel, path("local-path"))),
        Variant("H+PE+LP+PLF+MPF", (*parallel, path("multi-path"))),
    ]
