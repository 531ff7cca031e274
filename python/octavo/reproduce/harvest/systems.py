"""The memory systems that are compared: the stock driver, and techniques added one by one."""

from __future__ import annotations

from octavo.runs.experiment import Variant

STOCK = "stock driver"
"""What all others are compared with: victims go to the host when a page needs their room."""

_COMMON = ("memory.preset=stock-driver", "memory.placement=on-touch", "memory.prefetch.threshold=1")


def ladder(reserve: int) -> list[Variant]:
    """Every system, the stock driver first; `reserve` is in bytes."""
    spare = ("memory.demotion.name=spare-memory", f"memory.demotion.reserve={reserve}B")
    return [
        Variant(STOCK, _COMMON),
        Variant("host, pre-evicted", (*_COMMON, "memory.demotion.name=reserve", f"memory.demotion.free={reserve}B")),
        Variant("H", (*_COMMON, *spare)),
        Variant("H, fewest pending", (*_COMMON, *spare, "memory.demotion.neighbour=fewest-pending")),
        Variant("H+PE", (*_COMMON, *spare, "memory.demotion.pre_eviction=true")),
    ]
