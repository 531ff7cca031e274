"""What the host says about itself: what measured values of its memory depend on."""

from __future__ import annotations

import mmap
import os
import platform
import re
from pathlib import Path
from typing import Any

_SYSTEM = Path("/sys")


def describe(pci_bus_id: str | None, system: Path = _SYSTEM) -> dict[str, Any]:
    """Processor, kernel, bytes of a page, and what Linux says of huge pages and of the GPU's place; as far as known.

    `numa_node` is the node of memory that the GPU hangs on, `numa_nodes` how many there are. Buffers lie where their
    thread runs, so that on several nodes copies depend on where that is.
    """
    found = {
        "host": _processor(),
        "kernel": platform.release(),
        "page_bytes": mmap.PAGESIZE,
        "transparent_huge_pages": _huge_pages(system),
        "numa_nodes": _count_nodes(system),
        "numa_node": _node_of(pci_bus_id, system),
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    }
    return {key: value for key, value in found.items() if value is not None}


def _processor() -> str:
    """The processor's name; Python's own answer is empty on most Linux systems."""
    text = _read(Path("/proc/cpuinfo")) or ""
    names = re.findall(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return names[0] if names else platform.processor() or platform.machine()


def _huge_pages(system: Path) -> str | None:
    """The mode in brackets: `always`, `madvise` or `never`."""
    text = _read(system / "kernel/mm/transparent_hugepage/enabled") or ""
    chosen = re.search(r"\[(\w+)\]", text)
    return chosen.group(1) if chosen else None


def _count_nodes(system: Path) -> int | None:
    return len(list(system.glob("devices/system/node/node[0-9]*"))) or None


def _node_of(pci_bus_id: str | None, system: Path) -> int | None:
    """The kernel writes -1 where there is one node or none."""
    text = _read(system / "bus/pci/devices" / (pci_bus_id or "none").lower() / "numa_node")
    node = int(text) if text and re.fullmatch(r"-?\d+\s*", text) else -1
    return node if node >= 0 else None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return None
