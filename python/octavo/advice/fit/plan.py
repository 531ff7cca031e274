"""Which buffer leaves the GPU and comes when, under a budget: as Bélády has it, for buffers with sizes and costs.

All launches are known. A launch has all that it uses on the device. What it misses comes just before it, and what has
to leave for that leaves then: sooner is never cheaper. So only the choice of who leaves is open, and a choice is what
it costs: copied back if the host lacks it and somebody needs it, fetched again if a launch reads it next. What is
overwritten next, or needed no more, leaves free.

Who leaves next is chosen by several rules, the cheapest plan of which is taken. Then each stay between two uses that
the plan ends at a cost is tried to be kept, as long as that makes the plan cheaper.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from octavo.advice.fit.sequence import Step

Way = Literal["to-device", "to-host", "dropped"]
_MOST_WORK = 5_000_000
"""Steps times buffers that are gone through to make a plan cheaper, at most; chosen: some seconds."""
_LARGE = 500_000
"""The same of one program, from which on only the first two rules are tried; chosen."""


@dataclass(frozen=True)
class Load:
    """A buffer."""

    size: int
    """Bytes."""
    fetch: float
    """Seconds to the device."""
    leave: float
    """Seconds to the host."""
    stays: bool = True
    """Whether the host keeps what comes to the device, as of copies; managed memory moves."""


@dataclass(frozen=True)
class Move:
    """A buffer comes or leaves before a step; dropped if nothing is copied."""

    step: int
    piece: int
    way: Way
    seconds: float


@dataclass(frozen=True)
class Plan:
    """Moves in order."""

    moves: tuple[Move, ...]
    held: tuple[tuple[int, ...], ...]
    """What is on the device while each step runs."""
    seconds: float
    """Of all moves."""


class _Next(NamedTuple):
    """What becomes of a buffer from an event of its own on."""

    needed: bool
    """Whether what is in it is read."""
    copied: bool
    """Whether data that the device has written must later be copied to the host, if the buffer stays."""
    fetched: bool
    """Whether a launch needs it from the host, if it leaves."""
    launch: float
    """The step that next uses it on the device; never if that is infinite, or if the host replaces it before."""


_NOTHING = _Next(needed=False, copied=False, fetched=False, launch=inf)


class _Future:
    """All events of each buffer, in order, and what is behind each."""

    def __init__(self, loads: Sequence[Load], steps: Sequence[Step]) -> None:
        self._at: list[list[int]] = [[] for _ in loads]
        self._then: list[list[_Next]] = [[_NOTHING] for _ in loads]
        for number in reversed(range(len(steps))):
            step = steps[number]
            for piece in step.uses | step.reads | step.replaces:
                self._at[piece].append(number)
                later = self._then[piece][-1] if loads[piece].stays or piece not in step.reads else _NOTHING
                self._then[piece].append(_before(step, number, piece, later))
        for piece in range(len(loads)):
            self._at[piece].reverse()
            self._then[piece].reverse()

    def after(self, step: int, piece: int) -> _Next:
        """What becomes of a buffer from a step on."""
        return self._then[piece][bisect_left(self._at[piece], step)]


def _before(step: Step, number: int, piece: int, later: _Next) -> _Next:
    """The same one event earlier."""
    if piece in step.replaces:
        read = piece in step.reads
        return _Next(needed=read, copied=read, fetched=False, launch=inf)
    if piece in step.reads:
        return _Next(needed=True, copied=True, fetched=later.fetched, launch=later.launch)
    if piece in step.fills:
        return _Next(needed=False, copied=False, fetched=False, launch=number)
    return _Next(needed=True, copied=later.copied and piece not in step.writes, fetched=True, launch=number)


class _Stay(NamedTuple):
    """A buffer's stay until the step that next uses it."""

    piece: int
    until: float


class _Leaver(NamedTuple):
    """A buffer that may leave."""

    piece: int
    size: int
    cost: float
    """Seconds that it takes more than if it stayed."""
    away: float
    """Steps until it is used."""


_Rule: TypeAlias = "Callable[[_Leaver], tuple[float, ...]]"
_RULES: tuple[_Rule, ...] = (
    lambda one: (-one.away, one.cost),
    lambda one: (one.cost / (one.size * one.away), one.cost),
    lambda one: (one.cost / one.size, -one.away),
    lambda one: (one.cost / one.away, -one.size),
    lambda one: (one.cost, -one.away),
)
"""Who leaves first: the one with the least of these."""


def plan(loads: Sequence[Load], steps: Sequence[Step], rooms: Sequence[int]) -> Plan:
    """The plan for launches each of which fits into the room that it has.

    Args:
        loads: the buffers.
        steps: launches and what the host does in between.
        rooms: bytes for them at each step.

    """
    future = _Future(loads, steps)
    work = len(steps) * len(loads)
    crowded = sum(load.size for load in loads) > min(rooms, default=0)
    rules = _RULES[: 1 if not crowded else 2 if work > _LARGE else len(_RULES)]

    def of(rule: _Rule, kept: frozenset[_Stay]) -> Plan:
        return _Planner(loads, future, rule, kept).through(steps, rooms)

    nothing: frozenset[_Stay] = frozenset()
    best, rule = min(((of(rule, nothing), rule) for rule in rules), key=lambda pair: pair[0].seconds)
    tries = _MOST_WORK // max(work, 1)
    kept = _kept(best, lambda kept: of(rule, kept), lambda move: _stay(move, future), tries)
    return _Planner(loads, future, rule, kept, note=True).through(steps, rooms)


def _stay(move: Move, future: _Future) -> _Stay:
    return _Stay(move.piece, future.after(move.step, move.piece).launch)


def _kept(
    best: Plan, make: Callable[[frozenset[_Stay]], Plan], ended: Callable[[Move], _Stay], tries: int
) -> frozenset[_Stay]:
    """Stays that are to be kept: as long as one more makes the plan cheaper."""
    kept: frozenset[_Stay] = frozenset()
    while True:
        leaving = (ended(move) for move in best.moves if move.way != "to-device")
        for stay in dict.fromkeys(stay for stay in leaving if stay.until < inf and stay not in kept):
            if tries <= 0:
                return kept
            tries -= 1
            other = make(kept | {stay})
            if other.seconds < best.seconds * (1 - 1e-9):
                best, kept = other, kept | {stay}
                break
        else:
            return kept


class _Planner:
    """What is on the device as steps are gone through."""

    def __init__(
        self,
        loads: Sequence[Load],
        future: _Future,
        rule: _Rule,
        kept: frozenset[_Stay],
        *,
        note: bool = False,
    ) -> None:
        """`note` says whether what is on the device is noted at each step."""
        self._loads, self._future, self._rule, self._kept, self._note = loads, future, rule, kept, note
        self._written: dict[int, bool] = {}
        """What is on the device, and whether the host lacks it: it was written there, or moved."""
        self._taken = 0
        """Bytes of it."""
        self._on_host: set[int] = set()
        """What the host has as it is."""
        self._moves: list[Move] = []

    def through(self, steps: Sequence[Step], rooms: Sequence[int]) -> Plan:
        """The plan."""
        held = []
        for number, (step, room) in enumerate(zip(steps, rooms, strict=True)):
            self._host(number, step)
            if step.on_device:
                self._make_room(number, step, room)
                self._bring(number, step)
            held += [tuple(sorted(self._written))] if self._note else []
        return Plan(tuple(self._moves), tuple(held), sum(move.seconds for move in self._moves))

    def _host(self, number: int, step: Step) -> None:
        for piece in sorted(step.reads):
            if self._written.get(piece):
                self._copy_back(number, piece)
            if not self._loads[piece].stays:
                self._drop(piece)
        for piece in sorted(step.replaces):
            self._on_host.add(piece)
            self._drop(piece)

    def _drop(self, piece: int) -> None:
        if self._written.pop(piece, None) is not None:
            self._taken -= self._loads[piece].size

    def _copy_back(self, number: int, piece: int) -> None:
        self._moves.append(Move(number, piece, "to-host", self._loads[piece].leave))
        self._on_host.add(piece)
        self._written[piece] = False

    def _make_room(self, number: int, step: Step, room: int) -> None:
        missing = sum(self._loads[piece].size for piece in step.uses if piece not in self._written)
        over = missing + self._taken - room
        if over > 0:
            others = [self._leaver(number, piece) for piece in self._written if piece not in step.uses]
            for piece in _chosen(sorted(others, key=self._order(number)), over):
                self._leave(number, piece)

    def _order(self, number: int) -> Callable[[_Leaver], tuple[float, ...]]:
        """What costs nothing first, what is to be kept last."""

        def order(one: _Leaver) -> tuple[float, ...]:
            kept = _Stay(one.piece, number + one.away) in self._kept
            return (kept, one.cost > 0, *self._rule(one), one.piece)

        return order

    def _leaver(self, number: int, piece: int) -> _Leaver:
        load, then = self._loads[piece], self._future.after(number, piece)
        copied = self._written[piece] and then.needed and not then.copied
        cost = load.leave * copied + load.fetch * then.fetched
        return _Leaver(piece, load.size, cost, then.launch - number)

    def _leave(self, number: int, piece: int) -> None:
        if self._written[piece] and self._future.after(number, piece).needed:
            self._copy_back(number, piece)
        else:
            self._moves.append(Move(number, piece, "dropped", 0.0))
        self._drop(piece)

    def _bring(self, number: int, step: Step) -> None:
        for piece in sorted(step.uses - self._written.keys()):
            comes = piece in self._on_host and piece not in step.fills
            if comes:
                self._moves.append(Move(number, piece, "to-device", self._loads[piece].fetch))
            self._written[piece] = comes and not self._loads[piece].stays
            self._taken += self._loads[piece].size
        self._written |= dict.fromkeys(step.writes | step.fills, True)
        self._on_host -= {piece for piece in step.uses if self._written[piece]}


def _chosen(ordered: Sequence[_Leaver], over: int) -> Iterator[int]:
    """Those who leave, in this order, until there is room; who need not leave after all stays, the dearest first."""
    leaving: list[_Leaver] = []
    for one in ordered:
        if over <= 0:
            break
        leaving.append(one)
        over -= one.size
    for one in sorted(leaving, key=lambda one: -one.cost):
        if one.size <= -over and one.cost > 0:
            leaving.remove(one)
            over += one.size
    return (one.piece for one in leaving)
