"""Settings of the memory system that the study varies."""

from __future__ import annotations

SMALL, LARGE = "4KiB", "64KiB"
"""Pages of the operating system that the platform can have."""


def page(size: str) -> tuple[str, ...]:
    """Pages of the system of a size."""
    return (f"memory.page_size={size}",)


def counters(coherent: bool, kind: str, *, on: bool) -> tuple[str, ...]:
    """Migration by access counters of a coherent node: one switch of the driver for managed and system memory."""
    if kind == "explicit" or not coherent:
        return ()
    migration = str(on).lower()
    system = ("memory.system.placement.name=coherent", f"memory.system.placement.migration={migration}")
    return (f"memory.placement.migration={migration}", *(system if kind == "system" else ()))


def threshold(lines: int) -> tuple[str, ...]:
    """Lines after which counters move pages: one parameter of the driver as well."""
    return (f"memory.placement.threshold={lines}", f"memory.system.placement.threshold={lines}")


def left_free(bytes_: int) -> tuple[str, ...]:
    """GPU memory that a balloon leaves to the program."""
    return (f"node.capacity.bytes={bytes_}B",)


def prefetched(buffers: tuple[str, ...], before: str) -> tuple[str, ...]:
    """`cudaMemPrefetchAsync` of whole buffers to the GPU, before the first launch or before each."""
    return tuple(
        setting
        for name in buffers
        for setting in (f"program.buffers.{name}.prefetch=gpu0", f"program.buffers.{name}.prefetch_before={before}")
    )
