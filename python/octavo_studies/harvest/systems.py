"""The memory systems that are compared: the stock driver, and techniques added one by one."""

from __future__ import annotations

from octavo.runs.experiment import Variant

STOCK = "stock driver"
"""What all others are compared with: victims go to the host when a page needs their room."""

WHOLE = "H+PE+LP+PLF+MPF"
"""All techniques together."""

DRIVER = "memory.preset=stock-driver"
"""What every system is made from. Comes before changes to every scenario, which it would undo."""

COSTS = (
    "node.compute.kernel_overhead=3000cycles",
    "node.driver.service.batch=20us",
    "node.driver.service.block=0ns",
    "node.driver.service.request=1us",
    "node.remote.header=24B",
)
"""What launches, batches and lines of the host cost on the publication's machine, of 2021: chosen, since its driver was
not measured. The node itself has what an H100 and its driver of today cost."""

CHOSEN = ("memory.preset", "memory.placement", "memory.prefetch", "memory.host_frames", "memory.demotion")
"""What the systems choose themselves."""

_RELEASE = "node.driver.release=595.45"
"""The release whose mechanisms made the tables of docs/studies-several-gpus.md; the node's own has a fixed lapse."""
_COMMON = ("memory.placement=on-touch", "memory.prefetch.threshold=1", "memory.host_frames=base", _RELEASE)
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
