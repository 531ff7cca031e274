"""What nodes of publications and other simulators do not reach, and why: their machines are as they were described."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Known:
    """What a node reaches of what it promises, and why."""

    ratio: float
    """Simulated over promised, to three digits."""
    reason: str

    def explains(self, ratio: float) -> bool:
        """Whether a ratio is this one, but for 5 %."""
        return abs(ratio / self.ratio - 1) <= 0.05


_IN_FLIGHT = "a GPU has 16 remote lines in flight"
_MGPUSIM = {
    "memory stream": Known(0.370, "all walks, of 4 KiB pages, go over PCIe to one MMU, as in MGPUSim"),
    "arithmetic": Known(0.347, "the SIMDs of a unit share four places in front of their decoder, as in MGPUSim"),
}
_GRIT = {
    "memory stream": Known(
        0.311, "eight walkers, 100 cycles a level (published), and 64 misses in each of eight L2 banks"
    ),
    "memory load": Known(1.16, "a load in 4 KiB pages waits for a walk with 100 cycles a level (published)"),
    "lines of the host": Known(0.0348, _IN_FLIGHT),
    "lines of a peer": Known(0.00919, _IN_FLIGHT),
}
_MOSAIC = {"memory stream": Known(0.569, "walks of 4 KiB pages read page tables in the GPU's memory (published)")}

KNOWN: Mapping[str, Mapping[str, Known]] = {
    **dict.fromkeys(("r9nano", "r9nano-4"), _MGPUSIM),
    **dict.fromkeys(("grit-2gpu", "grit-4gpu", "grit-8gpu", "grit-16gpu"), _GRIT),
    "mosaic-30sm": _MOSAIC,
}
"""By preset and quantity. Each was found by changing these keys, with which the quantity is reached."""
