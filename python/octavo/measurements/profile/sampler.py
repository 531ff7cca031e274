"""One sample after another, until a program and all processes that it left behind have ended.

Totals of processes take microseconds. For mappings and NUMA nodes the kernel visits every page, which takes
milliseconds for each GiB of small pages. So they are read only as often as the permitted share of the time allows.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.measurements.profile import proc as kernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.measurements.profile.family import Family
    from octavo.measurements.profile.memories import Memory
    from octavo.measurements.profile.nvml import Gpus
    from octavo.measurements.profile.proc import Mapping, Stat
    from octavo.measurements.profile.record import Process, Record

_MOST_SHARE = 0.05
"""The share of one core's time that looking at pages may take; our choice."""


@dataclass(frozen=True)
class Sights:
    """The parts of the system to sample."""

    memories: Sequence[Memory]
    gpus: Gpus | None


class Sampler:
    """Samples a family of processes and records the samples."""

    def __init__(self, family: Family, sights: Sights, record: Record, began: int, every: int) -> None:
        """Begin; times are nanoseconds of the monotonic clock."""
        self._family = family
        self._sights = sights
        self._record = record
        self._began = began
        self._every = every
        self._next_look = began
        self.taken = 0
        self.looks = 0
        """Samples of mappings and nodes."""
        self.longest_gap = 0
        self.last = began
        """When the last sample was taken."""

    @property
    def due(self) -> float:
        """Seconds until the next sample: at the next multiple of the interval."""
        now = time.monotonic_ns()
        return ((now - self._began) // self._every * self._every + self._every - (now - self._began)) * 1e-9

    def sample(self) -> list[Stat]:
        """Take a sample, and return which processes existed."""
        now = time.monotonic_ns()
        members = self._family.members()
        at = now - self._began
        alive = [(self._record.process(at, stat), stat) for stat in members]
        resident = sum(self._totals(at, process, stat) for process, stat in alive)
        by_node = self._look(at, alive) if now >= self._next_look else None
        self._remember(at, resident, by_node, [stat.pid for stat in members])
        self._family.reap(members)
        self.taken += 1
        self.longest_gap, self.last = max(self.longest_gap, now - self.last), now
        return [stat for stat in members if stat.alive]

    def _totals(self, at: int, process: Process, stat: Stat) -> int:
        """Resident bytes of a process."""
        status = kernel.status(stat.pid)
        if status is None:
            return 0
        self._record.sample(at, process, stat, status)
        return status.resident

    def _look(self, at: int, alive: Sequence[tuple[Process, Stat]]) -> dict[str, int]:
        """Bytes in each memory by pages; the next look waits until the share of time allows it."""
        begun = time.monotonic_ns()
        total = dict.fromkeys((one.name for one in self._sights.memories), 0)
        for process, stat in alive:
            found = self._mappings(stat)
            self._record.look(at, process, found)
            for _, held in found:
                for memory, size in held.items():
                    total[memory] += size
        self._record.leave(at, {process.number for process, _ in alive})
        self.looks += 1
        ended = time.monotonic_ns()
        self._next_look = ended + int((ended - begun) * (1 / _MOST_SHARE - 1))
        return total

    def _mappings(self, stat: Stat) -> list[tuple[Mapping, dict[str, int]]]:
        """Mappings with their bytes in each memory; empty for a process that is gone."""
        mappings = kernel.mappings(stat.pid) if stat.alive else []
        if mappings is None:
            self._record.notes["looks at mappings of processes that had just ended, or that may not be read"] += 1
            return []
        names = {one.node: one.name for one in self._sights.memories}
        nodes = kernel.pages_by_node(stat.pid) if len(names) > 1 else None
        if nodes is None:
            name = self._sights.memories[0].name
            return [(mapping, {name: mapping.resident} if mapping.resident else {}) for mapping in mappings]
        return [
            (mapping, {names[node]: size for node, size in nodes.get(mapping.address, {}).items() if node in names})
            for mapping in mappings
        ]

    def _remember(self, at: int, resident: int, by_node: dict[str, int] | None, pids: Sequence[int]) -> None:
        """Rows of `memory_intervals`: with one memory at every sample, with several where pages were looked at."""
        if len(self._sights.memories) == 1:
            by_node = {self._sights.memories[0].name: resident}
        if by_node is None:
            return
        gpus = self._sights.gpus
        for number, used in enumerate(gpus.used(pids) if gpus is not None else []):
            by_node[f"gpu{number}"] = by_node.get(f"gpu{number}", 0) + used
        self._record.memory += [(at, memory, size) for memory, size in by_node.items()]
