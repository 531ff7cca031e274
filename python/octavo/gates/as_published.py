"""What nodes of publications and other simulators do not reach, and why: their machines are as they were described."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_MGPUSIM = {
    "memory stream": "all walks, of 4 KiB pages, go over PCIe to one MMU, as in MGPUSim",
    "arithmetic": "the SIMDs of a unit share four places in front of their decoder, as in MGPUSim",
}
_GRIT = {
    "memory stream": "eight walkers with 100 cycles a level (published), and 64 misses in each of eight L2 banks",
    "memory load": "a load in 4 KiB pages waits for a walk with 100 cycles a level (published)",
    "lines of the host": "a GPU has 16 remote lines in flight",
    "lines of a peer": "a GPU has 16 remote lines in flight",
}
_MOSAIC = {"memory stream": "walks of 4 KiB pages read page tables in the GPU's memory (published)"}

REASONS: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("r9nano", "r9nano-4"), _MGPUSIM),
    **dict.fromkeys(("grit-2gpu", "grit-4gpu", "grit-8gpu", "grit-16gpu"), _GRIT),
    "mosaic-30sm": _MOSAIC,
}
"""By preset and quantity. Each was found by changing these keys, with which the quantity is reached."""
