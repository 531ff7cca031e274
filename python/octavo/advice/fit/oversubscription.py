"""Launches that use more than there is room for: what stays on the device, and what passes through."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.advice.fit.sequence import Step

WINDOW = 64 << 20
"""Bytes of the device that is passed through, at most; chosen: copying a quarter of it takes a hundred times what the
call does."""


@dataclass(frozen=True)
class Passing:
    """Buffers that pass through at a launch."""

    step: int
    pieces: tuple[int, ...]
    left: int
    """Bytes of the device for all of them, the window included."""
    new: frozenset[int] = frozenset()
    """Those of them that nobody had written before: nothing of them comes."""


@dataclass(frozen=True)
class Served:
    """Steps each of which fits, and what passes through at those that did not."""

    steps: list[Step]
    rooms: list[int]
    passing: list[Passing]


def served(sizes: Sequence[int], steps: Sequence[Step], rooms: Sequence[int]) -> Served:
    """Let the largest buffers of launches without room pass through: they are on the host before and after."""
    found, exists = Served([], [], []), set[int]()
    for number, (step, room) in enumerate(zip(steps, rooms, strict=True)):
        new = step.uses - exists
        exists |= step.uses | step.replaces
        if sum(sizes[piece] for piece in step.uses) <= room:
            found.steps.append(step)
            found.rooms.append(room)
            continue
        stays = _smallest(sizes, step, room)
        taken = sum(sizes[piece] for piece in stays)
        through = step.uses - stays
        found.passing.append(Passing(number, tuple(sorted(through)), max(room - taken, 0), through & new))
        found.steps.append(_without(step, through, stays))
        found.rooms.append(taken)
    return found


def window(room: int) -> int:
    """Bytes that others pass through."""
    return min(room // 2, WINDOW)


def _smallest(sizes: Sequence[int], step: Step, room: int) -> frozenset[int]:
    """The smallest buffers of a launch, beside which there is a window."""
    left, stays = room - window(room), []
    for piece in sorted(step.uses, key=lambda piece: (sizes[piece], piece)):
        left -= sizes[piece]
        if left < 0:
            break
        stays.append(piece)
    return frozenset(stays)


def _without(step: Step, through: frozenset[int], stays: frozenset[int]) -> Step:
    """The step for a plan: the host reads and has what passes through."""
    kept: dict[str, Any] = {"uses": stays, "writes": step.writes & stays, "fills": step.fills & stays}
    return replace(step, **kept, reads=through - step.fills, replaces=through)
