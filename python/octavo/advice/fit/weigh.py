"""What a program takes in too little memory: paging on demand, moved as planned, and streamed by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from octavo.advice.fit import crowded, footprint, paging, streaming
from octavo.advice.fit.plan import plan

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from octavo.advice.fit.costs import Costs
    from octavo.advice.fit.crowded import Passing, Served
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


def weigh(story: Story, points: list[Point], room: int, costs: Costs, observed: float | None = None) -> Weighed:
    """Weigh the ways in which a program can run in `room` bytes.

    `observed` is how many seconds paging took more than where it fits, if that was simulated: what passes through takes
    as much longer than the model has it.
    """
    fails = footprint.refused(story, points, room) is not None
    movable = frozenset(number for number, piece in enumerate(story.pieces) if fails or piece.kind == "managed")
    rooms = [room] * len(story.steps) if fails else footprint.rooms(story, points, room)
    steps, sizes = _only(story.steps, movable), [piece.size for piece in story.pieces]
    loads = [costs.load(piece.size, stays=piece.kind == "explicit") for piece in story.pieces]
    free = [_UNLIMITED] * len(steps)
    served = crowded.served(sizes, steps, rooms)
    moved, alone = plan(loads, served.steps, served.rooms), plan(loads, steps, free)
    beyond = paging.on_demand(sizes, steps, rooms).beyond(paging.on_demand(sizes, steps, free))
    paged = _paged(beyond, costs)
    off = max(observed / paged.value, _LEAST) if observed is not None and paged.value else 1.0
    slow = replace(costs, demand=costs.demand / off, evict=costs.evict / off)
    more = moved.seconds - alone.seconds
    # Where it fits, too, faults bring what passes through once.
    more -= _at_first(sizes, steps, served.passing, costs)
    through = sum(streaming.demanded(sizes, steps[each.step], each, slow) for each in served.passing)
    streams = streaming.streamed(sizes, steps, served.passing, slow)
    by_hand = more + streaming.beyond(sizes, steps, served.passing, slow)
    return Weighed(
        movable,
        moved,
        served,
        paged,
        Extra(more + through, more + through, more + through),
        Extra(by_hand, by_hand, by_hand) if any(one.helps for one in streams) else None,
        streams,
        beyond.came,
    )


def _at_first(sizes: Sequence[int], steps: Sequence[Step], passing: Sequence[Passing], costs: Costs) -> float:
    """Seconds that faults take longer than the plan says to bring what passes through for the first time."""
    known: set[int] = set()
    total = 0.0
    for each in passing:
        for piece in set(each.pieces) - each.new - known:
            came = sizes[piece] * steps[each.step].share.get(piece, 1.0)
            total += max(came / costs.demand - costs.load(sizes[piece]).fetch, 0.0)
        known.update(each.pieces)
    return total


def _only(steps: Sequence[Step], pieces: Collection[int]) -> list[Step]:
    """The steps, as far as they are about some pieces."""
    sets = ("uses", "writes", "fills", "reads", "replaces")
    kept = frozenset(pieces)
    return [replace(step, **{name: getattr(step, name) & kept for name in sets}) for step in steps]


def _paged(beyond: paging.Paged, costs: Costs) -> Extra:
    """What faults take as the driver's tree goes ahead; at best nothing but the link's time, at worst each is alone."""
    back = beyond.back / costs.back
    went = beyond.went / costs.evict
    value = beyond.came / costs.demand + went + back
    return Extra(
        max(value, 0.0),
        max(max(beyond.came / costs.link, went) + back, 0.0),
        max(beyond.came / costs.leaf + went + back, 0.0),
    )
