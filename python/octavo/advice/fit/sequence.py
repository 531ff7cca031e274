"""What a program does with a GPU's memory, in order: its allocations, launches, and what the host does in between."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

NOBODY: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Piece:
    """An allocation that takes memory of the GPU."""

    name: str
    size: int
    """Bytes."""
    kind: Literal["explicit", "managed"]
    """Explicit memory is on the GPU while it exists; managed memory can leave."""


@dataclass(frozen=True)
class Change:
    """An allocation comes into being, or is freed."""

    piece: int
    freed: bool
    launch: int
    """Launches before it."""
    seconds: float | None = None
    """When, if that is known."""


@dataclass(frozen=True)
class Step:
    """A launch, or what the host does between two. Pieces are named by their numbers."""

    name: str
    on_device: bool = False
    """Whether it is the device's: a launch, or a copy or a fill within its memory."""
    uses: frozenset[int] = NOBODY
    """What the device touches."""
    writes: frozenset[int] = NOBODY
    """Of these, those that it writes."""
    fills: frozenset[int] = NOBODY
    """Of these, those that it overwrites as a whole: what was in them is not needed."""
    reads: frozenset[int] = NOBODY
    """What the host reads."""
    replaces: frozenset[int] = NOBODY
    """What the host writes: what is on the device holds no more."""
    frees: frozenset[int] = NOBODY
    """What is freed before it."""
    launch: int = 0
    """Launches before it."""
    seconds: float = 0.0
    """What a launch takes where all is in place."""
    share: Mapping[int, float] = field(default_factory=dict)
    """The share of each piece that the device touches; 1 for pieces that are not listed."""


@dataclass(frozen=True)
class Story:
    """A program."""

    name: str
    pieces: tuple[Piece, ...]
    changes: tuple[Change, ...]
    """In order."""
    steps: tuple[Step, ...]
    """In order."""
    seconds: float | None = None
    """What the whole program takes, if that is known."""
    notes: tuple[str, ...] = ()
    """What was assumed."""


@dataclass(frozen=True)
class Point:
    """What is allocated after a change."""

    launch: int
    seconds: float | None
    explicit: int
    managed: int
    """Bytes."""

    @property
    def all(self) -> int:
        """Bytes."""
        return self.explicit + self.managed
