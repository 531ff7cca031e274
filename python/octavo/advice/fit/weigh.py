"""What a program takes in too little memory: paging on demand, moved as planned, and streamed by hand."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from octavo.advice.fit import footprint, oversubscription, paging, streaming
from octavo.advice.fit.plan import plan

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from octavo.advice.fit.costs import Costs
    from octavo.advice.fit.oversubscription import Served
    from octavo.advice.fit.plan import Plan
    from octavo.advice.fit.sequence import Point, Step, Story
    from octavo.advice.fit.streaming import Streamed

_UNLIMITED = 1 << 62
_LEAST = 1e-3
"""How far below the model simulations are taken to be at most."""


@dataclass(frozen=True)
class Extra:
    """Seconds that a program takes more than where it fits."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Weighed:
    """Three ways to run, by the model."""

    movable: frozenset[int]
    """Pieces that may leave: managed memory, or all if the explicit memory alone has no room."""
    plan: Plan
    served: Served
    paging: Extra
    moves: Extra
    streaming: Extra | None
    """None where nothing passes through for which it helps."""
    streams: list[Streamed]
    came: float
    """Bytes that paging brings more than where it fits."""

    @property
    def paged(self) -> Weighed:
        """The same where nothing can be streamed."""
        return replace(self, streams=[], streaming=None)

    def without(self, pieces: Iterable[int]) -> Weighed:
        """The same where some buffers cannot be streamed, and so no launch that they pass through."""
        gone = set(pieces)
        if not any(gone & set(each.pieces) for each in self.served.passing):
            return self
        return self.paged


def weigh(story: Story, points: list[Point], room: int, costs: Costs, observed: float | None = None) -> Weighed:
    """Weigh the ways in which a program can run in `room` bytes.

    `observed` is how many seconds paging took more than where it fits, if that was simulated: what passes through takes
    as much longer than the model has it.
    """
    fails = footprint.refused(story, points, room) is not None
    movable = frozenset(number for number, piece in enumerate(story.pieces) if fails or piece.kind == "managed")
    rooms = [room] * len(story.steps) if fails else footprint.rooms(story, points, room)
    steps, sizes = _only(_freeing(story), movable), [piece.size for piece in story.pieces]
    loads = [costs.load(piece.size, stays=piece.kind == "explicit") for piece in story.pieces]
    free = [_UNLIMITED] * len(steps)
    served = oversubscription.served(sizes, steps, rooms)
    moved, alone = plan(loads, served.steps, served.rooms), plan(loads, served.steps, free)
    beyond = paging.on_demand(sizes, steps, rooms).beyond(paging.on_demand(sizes, steps, free))
    paged, through = _paged(beyond, costs), _paged(_through(sizes, steps, served), costs)
    off = max(observed / paged.value, _LEAST) if observed is not None and paged.value else 1.0
    slow = replace(costs, demand=costs.demand / off, evict=costs.evict / off)
    streams = streaming.streamed(sizes, steps, served.passing, slow)
    by_hand = streaming.beyond(sizes, steps, served.passing, costs)
    more = moved.seconds - alone.seconds
    return Weighed(
        movable,
        moved,
        served,
        paged,
        _certain(more + through.value * off),
        _certain(more + by_hand) if any(one.helps for one in streams) else None,
        streams,
        beyond.came,
    )


def _certain(value: float) -> Extra:
    return Extra(value, value, value)


def _through(sizes: Sequence[int], steps: Sequence[Step], served: Served) -> paging.Paged:
    """What passes through, beyond what comes where it fits, too."""
    passing = {each.step: each for each in served.passing}
    pieces = frozenset(piece for each in served.passing for piece in each.pieces)
    kept, rooms = [], []
    for number, step in enumerate(steps):
        if number in passing:
            kept.append(replace(step, uses=frozenset(passing[number].pieces)))
            rooms.append(passing[number].left)
        elif not step.on_device:
            kept.append(replace(step, reads=step.reads & pieces, replaces=step.replaces & pieces))
            rooms.append(_UNLIMITED)
    free = paging.on_demand(sizes, kept, [_UNLIMITED] * len(kept))
    return paging.on_demand(sizes, kept, rooms).beyond(free)


def _freeing(story: Story) -> list[Step]:
    """The steps, each with what is freed between the one before and itself."""
    launches = [step.launch for step in story.steps]
    # Between two launches, a buffer is freed after the last step that is about it.
    last = {piece: at for at, step in enumerate(story.steps) for piece in step.uses | step.reads | step.replaces}
    frees: dict[int, set[int]] = defaultdict(set)
    for change in story.changes:
        if change.freed:
            at = max(bisect_left(launches, change.launch), last.get(change.piece, -1) + 1)
            frees[at].add(change.piece)
    return [replace(step, frees=frozenset(frees[at])) for at, step in enumerate(story.steps)]


def _only(steps: Sequence[Step], pieces: Collection[int]) -> list[Step]:
    """The steps, as far as they are about some pieces."""
    sets = ("uses", "writes", "fills", "reads", "replaces", "frees")
    kept = frozenset(pieces)
    return [replace(step, **{name: getattr(step, name) & kept for name in sets}) for step in steps]


def _paged(beyond: paging.Paged, costs: Costs) -> Extra:
    """What faults take as the driver's tree goes ahead.

    At best they take nothing but the link's time, and what was evicted need not come back at faults of the host. At
    worst each fault is alone, and what is evicted goes as slowly as at faults of the host.
    """
    back = beyond.back / costs.back
    value = beyond.came / costs.demand + beyond.went / costs.evict + max(back, 0.0)
    low = max(beyond.came / costs.link, beyond.went / costs.evict) + back
    high = beyond.came / costs.leaf + beyond.went / min(costs.back, costs.evict) + max(back, 0.0)
    return Extra(*(max(seconds, 0.0) for seconds in (value, low, high)))
