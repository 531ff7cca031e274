"""What a program has allocated over time, and which allocation a GPU refuses."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.advice.fit.sequence import Point

if TYPE_CHECKING:
    from octavo.advice.fit.sequence import Story


@dataclass(frozen=True)
class Refused:
    """The first allocation that has no room."""

    piece: str
    bytes: int
    launch: int
    """Launches before it."""
    seconds: float | None
    """When, if that is known."""
    total: int
    """Explicit bytes with it."""
    most: int
    """The most explicit bytes at once if nothing were refused."""


def over_time(story: Story) -> list[Point]:
    """What is allocated after each change."""
    live: Counter[str] = Counter()
    points = []
    for change in story.changes:
        piece = story.pieces[change.piece]
        live[piece.kind] += -piece.size if change.freed else piece.size
        points.append(Point(change.launch, change.seconds, live["explicit"], live["managed"]))
    return points


def peak(points: list[Point]) -> Point:
    """When most is allocated."""
    return max(points, key=lambda point: point.all, default=Point(0, None, 0, 0))


def refused(story: Story, points: list[Point], room: int) -> Refused | None:
    """The first explicit allocation beyond this much memory."""
    most = max((point.explicit for point in points), default=0)
    for change, point in zip(story.changes, points, strict=True):
        piece = story.pieces[change.piece]
        if piece.kind == "explicit" and point.explicit > room:
            return Refused(piece.name, piece.size, change.launch, change.seconds, point.explicit, most)
    return None


def rooms(story: Story, points: list[Point], room: int) -> list[int]:
    """What explicit memory leaves to managed memory at each step."""
    left, at, found = room, 0, []
    for step in story.steps:
        while at < len(points) and points[at].launch <= step.launch:
            left = room - points[at].explicit
            at += 1
        found.append(left)
    return found
