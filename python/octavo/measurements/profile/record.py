"""The record of all samples: rows of tables, and the state of each process and mapping."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from octavo.measurements.profile.proc import Mapping, Stat, Status

PEAKS = ("resident", "proportional", "anonymous", "huge", "swap")
"""Maxima that are kept for a mapping: of each value, at any time."""


@dataclass
class Process:
    """A process, as far as samples show it; times are nanoseconds since the program began."""

    number: int
    """In the order in which they were seen, from 1."""
    pid: int
    parent: int
    """The number of its parent, 0 if it is unknown."""
    name: str
    began: int
    ended: int
    minor: int = 0
    major: int = 0
    most: int = 0


@dataclass
class Seen:
    """A mapping, as far as samples show it; `most` has `PEAKS`."""

    process: int
    name: str
    address: int
    bytes: int
    began: int
    ended: int
    most: dict[str, int]
    held: dict[str, int] = field(default_factory=dict)
    """Bytes in each memory at the last look."""


class Record:
    """All samples so far."""

    def __init__(self) -> None:
        self.memory: list[tuple[int, str, int]] = []
        """Time, memory, bytes."""
        self.processes: list[tuple[int, int, int, int, int, int, int, int, int]] = []
        """Time, process; resident, anonymous, file, shared, swapped bytes; minor and major faults since the last
        row."""
        self.mappings: list[tuple[int, int, str, int, str, int]] = []
        """Time, process, mapping, address, memory, bytes: a row for each change."""
        self.notes: Counter[str] = Counter()
        self._family: dict[tuple[int, int], Process] = {}
        self._seen: dict[tuple[int, int], Seen] = {}
        self._gone: list[Seen] = []

    @property
    def family(self) -> list[Process]:
        """All processes."""
        return list(self._family.values())

    @property
    def seen(self) -> list[Seen]:
        """All mappings, by process and address."""
        return sorted([*self._gone, *self._seen.values()], key=lambda one: (one.process, one.address, one.began))

    def process(self, time: int, stat: Stat) -> Process:
        """A process at one time."""
        key = stat.pid, stat.started
        if key not in self._family:
            parents = [one.number for (pid, _), one in self._family.items() if pid == stat.parent]
            number, parent = len(self._family) + 1, parents[-1] if parents else 0
            self._family[key] = Process(number, stat.pid, parent, stat.name, time, time)
        found = self._family[key]
        found.ended = time
        if stat.alive:
            found.name = stat.name  # It changes when a process runs another program.
        return found

    def sample(self, time: int, process: Process, stat: Stat, memory: Status) -> None:
        """The memory of a process at one time."""
        since = stat.minor - process.minor, stat.major - process.major
        held = memory.resident, memory.anonymous, memory.file, memory.shared, memory.swap
        self.processes.append((time, process.number, *held, *since))
        process.minor, process.major, process.most = stat.minor, stat.major, max(process.most, memory.most)

    def look(self, time: int, process: Process, found: list[tuple[Mapping, dict[str, int]]]) -> None:
        """The memory of a process's mappings at one time, in each memory."""
        there = set()
        for mapping, held in found:
            key = process.number, mapping.address
            there.add(key)
            if key in self._seen and self._seen[key].name != mapping.name:
                self._end(key, time)
            one = self._seen.get(key)
            if one is None:
                one = Seen(process.number, mapping.name, mapping.address, 0, time, time, dict.fromkeys(PEAKS, 0))
                self._seen[key] = one
            one.ended, one.bytes = time, max(one.bytes, mapping.bytes)
            one.most = {name: max(most, getattr(mapping, name)) for name, most in one.most.items()}
            self._change(time, one, held)
        for key in [key for key in self._seen if key[0] == process.number and key not in there]:
            self._end(key, time)

    def leave(self, time: int, there: set[int]) -> None:
        """Only processes with these numbers still exist: the mappings of others have ended."""
        for key in [key for key in self._seen if key[0] not in there]:
            self._end(key, time)

    def _end(self, key: tuple[int, int], time: int) -> None:
        one = self._seen.pop(key)
        self._change(time, one, {})
        self._gone.append(one)

    def _change(self, time: int, one: Seen, held: dict[str, int]) -> None:
        for memory in {**one.held, **held}:
            now = held.get(memory, 0)
            if now != one.held.get(memory, 0):
                self.mappings.append((time, one.process, one.name, one.address, memory, now))
        one.held = held
