"""The memory systems that are compared, as changes to a scenario on the published GPU."""

from __future__ import annotations

from octavo.runs.experiment import Variant

STATED = "mosaic-30sm"
"""The machine that the publication states."""
NODE = "mosaic-30sm-published-simulator"
"""The study's machine: what the publication states, and beyond that what its authors' simulator does."""
UNITS = 30
"""Streaming multiprocessors of the published GPU, divided equally among the applications."""

PAGING = "memory.placement=first-touch"
"""Pages come over the bus when they are first touched."""
NO_PAGING = "memory.placement=interleaved"
"""Pages are in the GPU's memory from the start."""

GPU_MMU = Variant("GPU-MMU", ("memory.sizing=base", "memory.allocator=free-list"))
"""Base pages alone, handed out on demand."""
LARGE = Variant("2 MiB pages", ("memory.sizing=large",))
"""Large pages alone."""
MOSAIC = Variant("Mosaic", ("memory.sizing=mosaic", "memory.allocator=cocoa"))
"""Base pages that are translated as large ones where whole blocks of them are there."""
IDEAL = Variant("ideal TLB", (*GPU_MMU.overrides, "node.ideal_tlb=true"))
"""The upper bound: every access finds its translation."""

SHARED = (GPU_MMU, MOSAIC, IDEAL)
"""What applications that share the GPU are compared under."""


def with_paging(system: Variant) -> Variant:
    """A system whose pages come over the bus."""
    return Variant(system.label, (*system.overrides, PAGING))


def without_paging(system: Variant) -> Variant:
    """A system whose pages are there from the start."""
    return Variant(f"{system.label}, no paging", (*system.overrides, NO_PAGING))


def changed(system: Variant, label: str, *overrides: str) -> Variant:
    """A system with further changes."""
    return Variant(f"{system.label} {label}", (*system.overrides, *overrides))
