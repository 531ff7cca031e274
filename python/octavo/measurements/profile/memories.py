"""The memories of this machine under the names in tables of simulated runs, such as `host`, `host1` and `gpu0`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

NODES = Path("/sys/devices/system/node")
_KIBIBYTE = 1024


@dataclass(frozen=True)
class Memory:
    """A NUMA node with memory."""

    name: str
    """What tables call it."""
    node: int
    """Its number in the system."""
    capacity: int
    """Bytes."""


def memories(gpu_nodes: Mapping[int, int], nodes: Path = NODES) -> list[Memory]:
    """All NUMA nodes with memory: those with processors first, then by number; a single one if the system has none.

    The description of a node keeps the size that a virtual machine had at first, even if its memory has grown. So a
    single node stands for all memory.

    Args:
        gpu_nodes: of GPUs whose memory is a NUMA node, the node's number and theirs.
        nodes: where the system describes them.

    """
    found = [_described(path) for path in nodes.glob("node[0-9]*")] or [(0, _physical(), True)]
    filled = sorted((not cores, number, size) for number, size, cores in found if size)
    if len(filled) == 1:
        filled = [(False, filled[0][1], _physical())]
    host = [number for _, number, _ in filled if number not in gpu_nodes]
    return [Memory(_name(number, host, gpu_nodes), number, size) for _, number, size in filled]


def _name(number: int, host: list[int], gpu_nodes: Mapping[int, int]) -> str:
    if number in gpu_nodes:
        return f"gpu{gpu_nodes[number]}"
    place = host.index(number)
    return f"host{place}" if place else "host"


def _described(path: Path) -> tuple[int, int, bool]:
    """Number, bytes, and whether it has processors."""
    try:
        total = re.search(r"MemTotal:\s*(\d+) kB", (path / "meminfo").read_text())
        cores = (path / "cpulist").read_text().strip()
    except OSError:
        return int(path.name[4:]), 0, False
    return int(path.name[4:]), int(total[1]) * _KIBIBYTE if total else 0, bool(cores)


def _physical() -> int:
    """All memory of this machine, according to `/proc/meminfo`."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
