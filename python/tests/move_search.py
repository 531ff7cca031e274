"""The cheapest plan of moves by search: everything that may be on a GPU before each launch is looked at."""

from __future__ import annotations

import random
from itertools import combinations
from math import inf
from typing import TYPE_CHECKING

from octavo.advice.fit.plan import Load
from octavo.advice.fit.sequence import Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

State = tuple[frozenset[tuple[int, bool]], frozenset[int]]
"""What is on the device, each with whether it was written there, and what the host has."""


def cheapest(loads: Sequence[Load], steps: Sequence[Step], rooms: Sequence[int]) -> float:
    """Return the seconds of the cheapest plan."""
    states: dict[State, float] = {(frozenset(), frozenset()): 0.0}
    for number, room in enumerate(rooms):
        after: dict[State, float] = {}
        for (held, on_host), cost in states.items():
            for state, more in _next(loads, steps, number, (dict(held), set(on_host)), room):
                after[state] = min(cost + more, after.get(state, inf))
        states = after
    return min(states.values())


def _next(
    loads: Sequence[Load], steps: Sequence[Step], number: int, state: tuple[dict[int, bool], set[int]], room: int
) -> Iterator[tuple[State, float]]:
    step, (held, on_host) = steps[number], state
    cost = sum(loads[piece].leave for piece in step.reads if held.get(piece))
    on_host |= {piece for piece in step.reads if held.get(piece)} | step.replaces
    gone = step.replaces | {piece for piece in step.reads if not loads[piece].stays}
    held = {piece: written and piece not in step.reads for piece, written in held.items() if piece not in gone}
    if not step.on_device:
        yield (frozenset(held.items()), frozenset(on_host)), cost
        return
    for gone in _subsets([piece for piece in held if piece not in step.uses]):
        stays = {piece: written for piece, written in held.items() if piece not in gone}
        if sum(loads[piece].size for piece in stays.keys() | step.uses) > room:
            continue
        for copied in _subsets([piece for piece in gone if held[piece]]):
            if any(held[piece] and piece not in copied and _is_needed(steps, number, piece) for piece in gone):
                continue
            moved = cost + sum(loads[piece].leave for piece in copied)
            yield _launched(loads, step, stays, on_host | set(copied), moved)


def _launched(
    loads: Sequence[Load], step: Step, held: dict[int, bool], on_host: set[int], cost: float
) -> tuple[State, float]:
    missing = step.uses - held.keys()
    comes = {piece for piece in missing if piece in on_host and piece not in step.fills}
    cost += sum(loads[piece].fetch for piece in comes)
    moved = {piece for piece in comes if not loads[piece].stays} | step.writes
    held = held | dict.fromkeys(missing, False) | dict.fromkeys(moved, True)
    return (frozenset(held.items()), frozenset(on_host - moved)), cost


def _is_needed(steps: Sequence[Step], number: int, piece: int) -> bool:
    """Whether anybody reads what is in a buffer, from a step on."""
    for step in steps[number:]:
        if piece in step.reads:
            return True
        if piece in step.replaces | step.fills | step.uses:
            return piece in step.uses - step.fills
    return False


def _subsets(pieces: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return (some for count in range(len(pieces) + 1) for some in combinations(pieces, count))


def anything(seed: int) -> tuple[list[Load], list[Step], list[int]]:
    """Return buffers, steps and rooms of a random program that is crowded."""
    draw = random.Random(seed)  # noqa: S311 - a test
    count = draw.randint(3, 7)
    loads = []
    for _ in range(count):
        size, stays = draw.randint(1, 8), draw.random() < 0.5
        loads.append(Load(size, size * draw.choice([1.0, 1.0, 3.0]), size * draw.choice([1.0, 2.0, 0.3]), stays))
    steps = [Step("begin", replaces=_some(draw, count, 0.7))]
    steps += [_step(draw, count) for _ in range(draw.randint(6, 15))]
    steps.append(Step("end", reads=_some(draw, count, 0.4)))
    most = max(sum(loads[piece].size for piece in step.uses) for step in steps)
    everything = sum(load.size for load in loads)
    return loads, steps, [most + draw.randint(0, max(everything - most, 0) // 2)] * len(steps)


def _step(draw: random.Random, count: int) -> Step:
    if draw.random() < 0.2:
        replaces = _some(draw, count, 0.2)
        return Step("host", reads=_some(draw, count, 0.25) - replaces, replaces=replaces)
    uses = frozenset(draw.sample(range(count), draw.randint(1, 3)))
    writes = frozenset(piece for piece in sorted(uses) if draw.random() < 0.4)
    fills = frozenset(piece for piece in sorted(writes) if draw.random() < 0.3)
    return Step("launch", on_device=True, uses=uses, writes=writes, fills=fills)


def _some(draw: random.Random, count: int, share: float) -> frozenset[int]:
    return frozenset(piece for piece in range(count) if draw.random() < share)
