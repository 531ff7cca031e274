"""The memory systems that are compared, as changes to a scenario on the published GPU."""

from __future__ import annotations

from octavo.runs.experiment import Variant

STATED = "mosaic-30sm"
"""The machine that the publication states."""
NODE = "mosaic-30sm-published-simulator"
"""The study's machine: what the publication states, and beyond that what its authors' simulator does."""
UNITS = 30
"""Streaming multiprocessors of the published GPU, divided equally among the applications."""

MEMORY = ("program.frames=allocation", "program.alignment=256B")
"""Sections 4.1 and 4.2 of the publication: an application allocates all of its memory before it launches, in one region
of addresses. `cudaMalloc` packs allocations 256 bytes apart."""
DATA = {
    "fault": "by faults, page by page over the bus",
    "launch": "over the bus before the first launch",
    "allocation": "from allocation, without the bus",
}
"""When data arrive."""
FAULT, LAUNCH, ALLOCATION = (f"program.data={name}" for name in DATA)

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
    return Variant(system.label, (*system.overrides, FAULT))


def at_launch(system: Variant) -> Variant:
    """A system whose pages come over the bus before the first launch."""
    return Variant(f"{system.label}, at launch", (*system.overrides, LAUNCH))


def without_paging(system: Variant) -> Variant:
    """A system whose pages are there from allocation."""
    return Variant(f"{system.label}, no paging", (*system.overrides, ALLOCATION))


def changed(system: Variant, label: str, *overrides: str) -> Variant:
    """A system with further changes."""
    return Variant(f"{system.label} {label}", (*system.overrides, *overrides))
