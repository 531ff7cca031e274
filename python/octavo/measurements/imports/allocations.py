"""Which allocation an address belonged to at a given time: addresses are reused once they are freed."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from octavo.arrays import np
from octavo.measurements.activity.mapping import PAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]
    Places = npt.NDArray[np.int32]
    """Types of numbers of rows and allocations: there are many of them, and memory is limited."""

ALWAYS = (1 << 63) - 1
"""Memory that is never freed ends at this time; memory from before the recording was allocated at minus this time."""
UNKNOWN = "unknown"
"""Kind of memory if it was not recorded."""
_GAP = 2 << 20
"""Ranges without an allocation are one if less than the driver's blocks of 2 MiB lies between them."""


@dataclass(frozen=True)
class Change:
    """An allocation or a free; times are nanoseconds."""

    time: int
    address: int
    bytes: int
    allocates: bool
    kind: str
    """Kind of memory, such as `managed`."""
    name: str | None = None
    """Name of the variable, if it has one."""


@dataclass(frozen=True)
class Allocation:
    """Memory between its allocation and its free."""

    name: str
    kind: str
    address: int
    bytes: int
    begin: int
    end: int

    @property
    def first_page(self) -> int:
        """Number of its first page in the address space."""
        return self.address // PAGE_BYTES

    @property
    def pages(self) -> int:
        """How many pages it touches."""
        return (self.address + self.bytes - 1) // PAGE_BYTES - self.first_page + 1


@dataclass(frozen=True)
class Parts:
    """The parts of allocations that rows touch; a row that spans several allocations has several parts."""

    row: Places
    allocation: Places
    first: Numbers
    """First page, counted in the address space."""
    pages: Numbers
    bytes: Numbers


@dataclass
class _Live:
    """Memory that is allocated at one time; ranges do not overlap, so starts and ends are in the same order."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)

    def between(self, start: int, end: int) -> slice:
        """The positions of those that contain bytes from `start` to `end`."""
        return slice(bisect_right(self.ends, start), bisect_left(self.starts, end))

    def add(self, start: int, end: int, number: int) -> None:
        at = bisect_left(self.starts, start)
        self.starts.insert(at, start)
        self.ends.insert(at, end)
        self.numbers.insert(at, number)

    def remove(self, places: slice) -> None:
        del self.starts[places], self.ends[places], self.numbers[places]


def lifetimes(changes: Iterable[Change], notes: Counter[str]) -> list[Allocation]:
    """Pair allocations with their ends, in the order in which they began.

    An allocation at an address that is still in use ends the earlier one, whose free was not recorded. Memory that is
    freed without a recorded allocation existed before the recording began.
    """
    live, found = _Live(), _Lifetimes()
    for change in sorted(changes, key=lambda change: (change.time, change.allocates)):
        if change.allocates:
            _allocate(change, live, found, notes)
        else:
            _free(change, live, found, notes)
        found.use(change)
    order = sorted(range(len(found.changes)), key=lambda number: found.spans[number][0])
    return _named([(found.changes[number], *found.spans[number]) for number in order])


@dataclass(frozen=True)
class _Lifetimes:
    changes: list[Change] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    """When each begins and ends."""
    used: _Live = field(default_factory=_Live)
    """All addresses that have been allocated so far."""

    def add(self, change: Change, begin: int, end: int) -> int:
        self.changes.append(change)
        self.spans.append((begin, end))
        return len(self.spans) - 1

    def close(self, number: int, time: int) -> None:
        self.spans[number] = (self.spans[number][0], time)

    def use(self, change: Change) -> None:
        start, end = change.address, change.address + change.bytes
        places = self.used.between(start, end)
        start, end = min([start, *self.used.starts[places]]), max([end, *self.used.ends[places]])
        self.used.remove(places)
        self.used.add(start, end, 0)

    def is_fresh(self, change: Change) -> bool:
        """Whether none of its addresses are known so far."""
        places = self.used.between(change.address, change.address + change.bytes)
        return change.bytes > 0 and places.start >= places.stop


def _allocate(change: Change, live: _Live, found: _Lifetimes, notes: Counter[str]) -> None:
    end = change.address + change.bytes
    taken = live.between(change.address, end)
    for number in live.numbers[taken]:
        found.close(number, change.time)
        notes["allocations whose end was not recorded; they end where their address is used again"] += 1
    live.remove(taken)
    live.add(change.address, end, found.add(change, change.time, ALWAYS))


def _free(change: Change, live: _Live, found: _Lifetimes, notes: Counter[str]) -> None:
    at = bisect_left(live.starts, change.address)
    if at < len(live.starts) and live.starts[at] == change.address:
        found.close(live.numbers[at], change.time)
        notes["frees of another size than was allocated at their address, which counts"] += (
            0 < change.bytes != live.ends[at] - live.starts[at]
        )
        live.remove(slice(at, at + 1))
    elif found.is_fresh(change):
        notes["allocations whose beginning was not recorded; they are taken to be there from the start"] += 1
        found.add(change, -ALWAYS, change.time)
    else:
        notes["frees of unknown memory, left out"] += 1


def _named(found: Sequence[tuple[Change, int, int]]) -> list[Allocation]:
    """Names of variables; numbers for variables without a name, and after names that are repeated."""
    count: Counter[str] = Counter()
    named = []
    for change, begin, end in found:
        name = change.name or change.kind
        count[name] += 1
        if change.name is None or count[name] > 1:
            name = f"{name} {count[name]}"
        named.append(Allocation(name, change.kind, change.address, change.bytes, begin, end))
    return named


def unknown_ranges(address: Numbers, size: Numbers) -> list[Allocation]:
    """Allocations that were not recorded: the touched addresses, joined across gaps below 2 MiB."""
    order = np.argsort(address, kind="stable")
    starts, ends = address[order], np.maximum.accumulate((address + size)[order])
    if not len(starts):
        return []
    first = np.flatnonzero(np.concatenate([[True], starts[1:] >= ends[:-1] + _GAP]))
    last = np.concatenate([first[1:], [len(starts)]]) - 1
    spans = zip(starts[first].tolist(), ends[last].tolist(), strict=True)
    return [
        Allocation(f"range {number}", UNKNOWN, start, end - start, -ALWAYS, ALWAYS)
        for number, (start, end) in enumerate(spans, 1)
    ]


def attribute(allocations: Sequence[Allocation], time: Numbers, address: Numbers, size: Numbers) -> Parts:
    """Which allocations rows touch; rows outside all allocations that were alive at their time have no part.

    Args:
        allocations: those alive at any one time do not overlap.
        time: of each row in nanoseconds, rising.
        address: first byte of each row.
        size: bytes of each row, at least 1.

    """
    live = _Live()
    parts: list[Parts] = []
    changes = _changes(allocations)
    edges = [0, *np.searchsorted(time, [moment for moment, _, _ in changes], side="left").tolist(), len(time)]
    for (begin, end), change in zip(pairwise(edges), [*changes, None], strict=True):
        if begin < end:
            parts.append(_batch(live, begin, address[begin:end], size[begin:end]))
        if change is not None:
            _apply(live, allocations, change)
    return _joined(parts)


def _changes(allocations: Sequence[Allocation]) -> list[tuple[int, bool, int]]:
    """Ends and beginnings in order of time, ends first: the time, whether it is a beginning, and which allocation."""
    changes: list[tuple[int, bool, int]] = []
    for number, one in enumerate(allocations):
        if one.begin < one.end:
            changes += [(one.begin, True, number), (one.end, False, number)]
    return sorted(changes)


def _apply(live: _Live, allocations: Sequence[Allocation], change: tuple[int, bool, int]) -> None:
    _, begins, number = change
    one = allocations[number]
    if begins:
        live.add(one.address, one.address + one.bytes, number)
    else:
        live.remove(live.between(one.address, one.address + one.bytes))


def _batch(live: _Live, offset: int, address: Numbers, size: Numbers) -> Parts:
    """Rows between two changes; only the part of the address space that they touch is searched."""
    end = address + size
    near = live.between(int(address.min()), int(end.max()))
    starts, ends = np.array(live.starts[near], np.int64), np.array(live.ends[near], np.int64)
    numbers = np.array(live.numbers[near], np.int64)
    low = np.searchsorted(ends, address, side="right")
    count = np.maximum(np.searchsorted(starts, end, side="left") - low, 0)
    row = np.repeat(np.arange(len(address)), count)
    at = np.repeat(low, count) + np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    begin, stop = np.maximum(address[row], starts[at]), np.minimum(end[row], ends[at])
    first = begin // PAGE_BYTES
    places = (row + offset).astype(np.int32), numbers[at].astype(np.int32)
    return Parts(*places, first, (stop - 1) // PAGE_BYTES - first + 1, stop - begin)


def _joined(parts: Sequence[Parts]) -> Parts:
    def join(name: str, of: type[np.signedinteger[Any]] = np.int64) -> npt.NDArray[Any]:
        columns: list[Any] = [getattr(part, name) for part in parts]
        return np.concatenate(columns) if columns else np.zeros(0, of)

    return Parts(join("row", np.int32), join("allocation", np.int32), join("first"), join("pages"), join("bytes"))
