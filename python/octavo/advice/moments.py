"""When managed memory of a recorded program should move, and what that is worth.

A recording says which launches use which allocations, how long they ran, what the host touched in between, and what has
left the host for the launches. So each round trip has its bytes, and often its measured time; the machine's rates give
the rest.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from octavo.advice.facts import BLOCK, swept

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from octavo.advice.systems import SystemConstants

_MOST_OF_LAUNCHES = 0.95
"""The largest share of the launches' time that may be attributed to faults if no launch without faults was seen; our
choice."""
SMALLEST = 64 << 10
"""Bytes below which the recorder does not look at pages (`crates/octavo-interpose/src/pages.rs`): they stay."""
_RATES = {
    "demand": ("managed_advise_none_gpu_read", "managed_demand_bandwidth_to_gpu_sequential"),
    "made": ("managed_first_touch_bandwidth_gpu",),
    "back": ("managed_demand_bandwidth_to_cpu_sequential",),
    "to_device": ("managed_prefetch_bandwidth_to_gpu",),
    "to_device_call": ("managed_prefetch_overhead_to_gpu",),
    "to_host": ("managed_prefetch_bandwidth_to_cpu",),
    "to_host_call": ("managed_prefetch_overhead_to_cpu",),
}
"""Names of measured values of a machine file; the first that exists is taken."""


@dataclass(frozen=True)
class Rates:
    """How fast managed memory moves: bytes a second, and seconds a call."""

    demand: float
    """To the device at its faults."""
    made: float
    """Made on the device at its faults."""
    back: float
    """To the host at its faults."""
    to_device: float
    to_device_call: float
    to_host: float
    to_host_call: float

    @classmethod
    def of(cls, constants: SystemConstants) -> Rates:
        """Rates of a machine: measured where possible, otherwise derived from its node's costs of faults."""
        system = constants.system
        faults = swept(BLOCK // 4096)
        group = system.fault_wait + system.fault_group + system.fault_block
        host = faults * system.host_fault + BLOCK / system.on_demand_back
        found = {
            "demand": BLOCK / (faults * (group + system.fault) + BLOCK / system.on_demand),
            "made": BLOCK / (faults * (group + system.made)),
            "back": BLOCK / host,
            "to_device": system.on_demand,
            "to_device_call": system.prefetch_call,
            "to_host": system.on_demand_back,
            "to_host_call": system.prefetch_call,
        }
        for rate, names in _RATES.items():
            known = next((constants.measured[name] for name in names if name in constants.measured), None)
            found[rate] = found[rate] if known is None else known.value
        return cls(**found)


@dataclass(frozen=True)
class Moves:
    """Moves of a buffer's memory, and what they are worth in seconds of all its allocations.

    It goes to the device before launches that use it, at first and whenever the host has touched it since.
    """

    to_host_after: frozenset[int] = frozenset()
    """To the host before it waits after so many launches."""
    read_mostly: bool = False
    """Both sides read it in turns, and nobody was seen to write it."""
    discard_before_fill: bool = False
    """The program overwrites all of it while its content is no longer needed."""
    faults: float = 0.0
    """Seconds that the device's faults take now."""
    returned: float = 0.0
    """Seconds that the host's faults take now, and with the moves."""
    returned_left: float = 0.0
    moving: float = 0.0
    """What the moves take."""
    came: float = 0.0
    went_back: float = 0.0
    """Bytes that faults of the device and of the host move now."""
    calls: int = 0
    """How often it moves to the device."""
    host_first: bool = False
    """Whether the host touches it before the device."""
    host_touches_again: bool = False
    """Whether the host touches it between launches."""

    @property
    def gain(self) -> float:
        """Seconds."""
        return self.faults + self.returned - self.returned_left - self.moving


@dataclass
class _Trip:
    """A use of an allocation by launches between two waits."""

    launches: list[int]
    """Numbers of launches that use it."""
    host: float
    """The share that was on the host; 0 if it did not exist yet, or was on the device already."""
    new: bool
    """Whether no processor had touched it before."""
    left: float = 0.0
    """Share that went to the device."""
    seconds: float = 0.0
    """What its faults take."""
    touched: float = 0.0
    """Share that the host touched after it, before the next use."""
    written: bool = False
    after: int | None = None
    """The launches of the process up to the next wait; none if the host did not wait."""


@dataclass
class _Seen:
    """Observations of one allocation."""

    size: int
    moves_itself: bool
    """Whether the program prefetches it."""
    trips: list[_Trip] = field(default_factory=list)
    open: bool = False
    """Whether launches have used it since a wait for them."""
    stream: int = 0
    """Where the last of them ran."""
    host: float = 0.0
    """The share that is on the host."""
    looked: bool = False
    """Whether its pages were observed."""
    filled: bool = False


@dataclass(frozen=True)
class _Launch:
    kernel: int
    seconds: float | None


class History:
    """The steps of a recording, by allocation."""

    def __init__(self, profile: Mapping[str, Any]) -> None:
        self.allocations: dict[int, _Seen] = {
            number: _Seen(int(each["bytes"]), moves_itself=each["prefetched"]["calls"] > 0)
            for number, each in enumerate(profile["allocations"])
            if each["kind"] == "managed" and each["bytes"] > 0
        }
        self.launches: list[_Launch] = []
        for step in profile["steps"]:
            getattr(self, f"_{step['step']}")(step)
        self._measure()

    def _launch(self, step: Mapping[str, Any]) -> None:
        number = len(self.launches)
        self.launches.append(_Launch(step["kernel"], None if step["ns"] is None else step["ns"] * 1e-9))
        for seen in self._of(step["buffers"]):
            if not seen.open:
                seen.trips.append(_Trip([], seen.host, new=not seen.trips and not seen.host))
                seen.open = True
            seen.trips[-1].launches.append(number)
            seen.stream = step["stream"]

    def _wait(self, step: Mapping[str, Any]) -> None:
        for seen in self.allocations.values():
            if seen.open and step["stream"] in (None, seen.stream):
                seen.trips[-1].after = len(self.launches)
                seen.open = False

    def _left(self, step: Mapping[str, Any]) -> None:
        for seen in self._of([step["allocation"]]):
            seen.looked = True
            seen.host = max(seen.host - step["share"], 0.0)
            if seen.trips:
                seen.trips[-1].left = step["share"]

    def _touched(self, step: Mapping[str, Any]) -> None:
        for seen in self._of([step["allocation"]]):
            seen.looked = True
            seen.host = min(seen.host + step["share"], 1.0)
            if seen.trips:
                seen.trips[-1].touched, seen.trips[-1].written = step["share"], step["written"]

    def _filled(self, step: Mapping[str, Any]) -> None:
        for seen in self._of([step["allocation"]]):
            seen.filled |= step["bytes"] >= seen.size

    def _copied(self, step: Mapping[str, Any]) -> None:
        """Copies have directions of their own; managed memory that they write is not read-mostly."""
        for seen in self._of([step["to"]]):
            if seen.trips:
                seen.trips[-1].written = True

    def _of(self, numbers: Sequence[int | None]) -> Iterator[_Seen]:
        return (self.allocations[number] for number in numbers if number in self.allocations)

    def _measure(self) -> None:
        """Find out what round trips are worth, from launches that are slower when something has to come."""
        self.coming: dict[int, list[tuple[_Seen, _Trip]]] = defaultdict(list)
        for seen in self.allocations.values():
            for trip in seen.trips:
                if trip.left or trip.new:
                    self.coming[trip.launches[0]].append((seen, trip))
        busy = {number for trips in self.coming.values() for _, trip in trips for number in trip.launches}
        warm: dict[int, list[float]] = defaultdict(list)
        for number, launch in enumerate(self.launches):
            if launch.seconds is not None and number not in busy:
                warm[launch.kernel].append(launch.seconds)
        self.warm = {kernel: median(seconds) for kernel, seconds in warm.items()}

    def priced(self, rates: Rates) -> None:
        """Estimate the time of all faults of the device: by rates, and for one launch at most by its own time."""
        for trips in self.coming.values():
            for seen, trip in trips:
                trip.seconds = seen.size / rates.made if trip.new else seen.size * trip.left / rates.demand
            limit, exact = self._limit({number for _, trip in trips for number in trip.launches})
            total = sum(trip.seconds for _, trip in trips)
            if limit is not None and total and (exact or total > limit):
                for _, trip in trips:
                    trip.seconds *= limit / total

    def _limit(self, numbers: set[int]) -> tuple[float | None, bool]:
        """Seconds that launches take beyond those without faults, and whether this is known; none without times."""
        launches = [self.launches[number] for number in numbers]
        seconds = [launch.seconds for launch in launches if launch.seconds is not None]
        if len(seconds) < len(launches):
            return None, False
        # Where one launch brings everything, the next ones show what it takes without.
        first = self.launches[min(numbers)]
        known = [self.warm.get(launch.kernel) for launch in launches]
        if all(each is not None for each in known):
            return max(sum(seconds) - sum(each or 0.0 for each in known), 0.0), True
        again = [launch.seconds for launch in launches[1:] if launch.kernel == first.kernel]
        if len(launches) > 1 and len(again) == len(launches) - 1:
            return max(sum(seconds) - len(seconds) * median(map(float, filter(None, seconds))), 0.0), True
        return _MOST_OF_LAUNCHES * sum(seconds), False


def moves(profile: Mapping[str, Any], constants: SystemConstants) -> dict[int, Moves]:
    """When each managed allocation of a recording should move; those that were not observed are left out.

    Raises:
        KeyError: the recording is damaged; also TypeError and AttributeError.

    """
    history, rates = History(profile), Rates.of(constants)
    history.priced(rates)
    used = ((number, seen) for number, seen in history.allocations.items() if seen.trips)
    return {
        number: _stays(rates) if seen.moves_itself or not seen.looked else _moves(seen, rates)
        for number, seen in used
        if seen.looked or seen.moves_itself or seen.size < SMALLEST
    }


def _stays(rates: Rates) -> Moves:
    """For memory that is too small to look at, or that the program moves itself: nothing is gained."""
    return Moves(moving=rates.to_device_call, calls=1)


def _moves(seen: _Seen, rates: Rates) -> Moves:
    backs = [seen.size * trip.touched / rates.back for trip in seen.trips]
    again = [trip for trip in seen.trips if trip.touched]
    faults = sum(trip.seconds for trip in seen.trips)
    stays = Moves(
        faults=faults,
        returned=sum(backs),
        came=seen.size * sum(trip.left or float(trip.new) for trip in seen.trips),
        went_back=seen.size * sum(trip.touched for trip in again),
        host_first=not seen.trips[0].new,
        host_touches_again=len(again) > 1,
    )
    choices = [_brought(seen, stays, rates, backs)]
    if again and len(seen.trips) > 1 and not any(trip.written for trip in again):
        choices.append(_mostly_read(seen, stays, rates))
    return max(choices, key=lambda choice: choice.gain)


def _brought(seen: _Seen, stays: Moves, rates: Rates, backs: Sequence[float]) -> Moves:
    """Moved to the device before launches, and to the host where it touches most of it."""
    call = rates.to_host_call + seen.size / rates.to_host
    returns = [back > call and trip.after is not None for trip, back in zip(seen.trips, backs, strict=True)]
    # What goes back as a whole comes as a whole.
    before = [False, *returns[:-1]]
    comes = [
        0.0 if trip.new else seen.size * (1.0 if whole else trip.host) / rates.to_device
        for trip, whole in zip(seen.trips, before, strict=True)
    ]
    calls = sum(trip.new or trip.host > 0 for trip in seen.trips)
    return replace(
        stays,
        to_host_after=frozenset(trip.after or 0 for trip, goes in zip(seen.trips, returns, strict=True) if goes),
        discard_before_fill=seen.filled,
        returned_left=sum(back for back, goes in zip(backs, returns, strict=True) if not goes),
        moving=sum(comes) + calls * rates.to_device_call + sum(returns) * call,
        calls=calls,
    )


def _mostly_read(seen: _Seen, stays: Moves, rates: Rates) -> Moves:
    """Copied to the device once, and kept on both sides."""
    moving = rates.to_device_call + seen.size * seen.trips[0].host / rates.to_device
    return replace(stays, read_mostly=True, moving=moving, calls=1)


_SUMS = ("faults", "returned", "returned_left", "moving", "came", "went_back", "calls")


def together(each: Sequence[Moves]) -> Moves:
    """The moves of allocations from one call site."""
    sums = {name: sum(getattr(one, name) for one in each) for name in _SUMS}
    return Moves(
        to_host_after=frozenset().union(*(one.to_host_after for one in each)),
        read_mostly=all(one.read_mostly for one in each),
        discard_before_fill=any(one.discard_before_fill for one in each),
        host_first=any(one.host_first for one in each),
        host_touches_again=any(one.host_touches_again for one in each),
        **sums,
    )
