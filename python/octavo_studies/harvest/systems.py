"""The memory systems that are compared: the stock driver, and techniques added one by one."""

from __future__ import annotations

from octavo.runs.experiment import Variant

STOCK = "stock driver"
"""What all others are compared with: victims go to the host when a page needs their room."""

WHOLE = "H+PE+LP+PLF+MPF"
"""All techniques together."""

JUDGED = (STOCK, "H", "H+PE", "H+PE+LP", "H+PE+LP+PLF", WHOLE)
"""The systems that remarks of the publication are judged by."""

FEWEST = (STOCK, "H", WHOLE)
"""The stock driver, neighbours' memory, and all techniques."""

DRIVER = "memory.preset=stock-driver"
"""What every system is made from. Comes before changes to every scenario, which it would undo."""

BATCH = "node.driver.service.size=128"
"""Faults that the publication's driver serves in a batch; a driver of today serves twice as many."""

_PAIRS = ",".join(f"{{gpus=[{one},{other}],count=1}}" for one in range(4) for other in range(one + 1, 4))
LINKS = {
    "board": (),
    "all-pairs": (
        f"node.links=[{_PAIRS}]",
        "node.gpu_link.bandwidth=40.1GB/s",
        "node.host_link.bandwidth=12.3GB/s",
    ),
}
"""How the GPUs are linked: as the board is wired, or one link of the published throughput between any two, beside the
published throughput of a GPU's link to the host."""

CHOSEN = ("memory.preset", "memory.placement", "memory.prefetch", "memory.host_frames", "memory.demotion")
"""What the systems choose themselves."""

_COMMON = ("memory.placement=on-touch", "memory.prefetch.threshold=1", "memory.host_frames=base")
"""The driver of the publication, of 2021: a block that it evicted comes back whole, and its host pages are of 4 KiB."""


def ladder(reserve: int, blocks: int) -> list[Variant]:
    """Every system, the stock driver first.

    Args:
        reserve: bytes of a GPU that are kept free, or removable on those that lend.
        blocks: blocks of 2 MiB that are prefetched after a batch of faults.

    """
    spare, early = _spare(reserve), ("memory.demotion.name=reserve", f"memory.demotion.free={reserve}B")
    pre_evicted = (*_COMMON, *spare, "memory.demotion.pre_eviction=true")
    large = (*pre_evicted, "memory.host_frames=large")
    parallel = (*large, "memory.demotion.parallel_fetch=true")
    return [
        Variant(STOCK, _COMMON),
        Variant("host, pre-evicted", (*_COMMON, *early)),
        Variant("host, pre-evicted, prefetched", (*_COMMON, *early, *_ahead("local-path", blocks))),
        Variant("H", (*_COMMON, *spare)),
        Variant("H, fewest pending", (*_COMMON, *spare, "memory.demotion.neighbour=fewest-pending")),
        Variant("H+PE", pre_evicted),
        Variant("H+PE+LP", large),
        Variant("H+PE+LP+PLF", parallel),
        Variant("H+PE+LP+PLF+LPF", (*parallel, *_ahead("local-path", blocks))),
        whole(reserve, blocks),
    ]


def whole(reserve: int, blocks: int) -> Variant:
    """All techniques; without prefetch if no blocks are prefetched. Arguments as of `ladder`."""
    options = ("memory.demotion.pre_eviction=true", "memory.host_frames=large", "memory.demotion.parallel_fetch=true")
    return Variant(WHOLE, (*_COMMON, *_spare(reserve), *options, *_ahead("multi-path", blocks)))


def _spare(reserve: int) -> tuple[str, ...]:
    return ("memory.demotion.name=spare-memory", f"memory.demotion.reserve={reserve}B")


def _ahead(name: str, blocks: int) -> tuple[str, ...]:
    return (f'memory.prefetch={{name="{name}",blocks={blocks}}}',) if blocks else ()
