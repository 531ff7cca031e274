"""What paging on demand moves: the driver evicts what was used least recently, whatever comes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.advice.fit.sequence import Step


@dataclass(frozen=True)
class Paged:
    """Bytes that move."""

    came: float
    """To the device at its faults."""
    went: float
    """To the host, to make room."""
    back: float
    """To the host at its faults."""

    def beyond(self, other: Paged) -> Paged:
        """What moves more than elsewhere."""
        return Paged(self.came - other.came, self.went - other.went, self.back - other.back)


def on_demand(sizes: Sequence[int], steps: Sequence[Step], rooms: Sequence[int]) -> Paged:
    """Go through a program whose launches touch their buffers in order."""
    memory = _Memory(sizes)
    for step, room in zip(steps, rooms, strict=True):
        memory.host(step)
        if step.on_device:
            memory.launch(step, room)
    return Paged(memory.came, memory.went, memory.back)


class _Memory:
    """The device's memory; what was used last is last."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._held: dict[int, float] = {}
        self._last: dict[int, int] = {}
        """When each was used last."""
        self._clock = 0
        self._exists: set[int] = set()
        """What has been written anywhere: the first touch of other memory brings nothing."""
        self.came = self.went = self.back = 0.0

    def host(self, step: Step) -> None:
        """What is freed is gone; the host touches what it reads and writes."""
        for piece in step.frees:
            self._held.pop(piece, None)
        for piece in step.reads | step.replaces:
            self.back += self._held.pop(piece, 0.0)
            self._exists.add(piece)

    def launch(self, step: Step, room: int) -> None:
        """The device touches what a launch uses."""
        needed = {piece: self._sizes[piece] * step.share.get(piece, 1.0) for piece in sorted(step.uses)}
        total = sum(needed.values())
        if total <= room:
            for piece in needed:
                self._touch(piece, needed, room)
        else:
            # Each byte that comes pushes one out; the tails of all stay.
            self.came += sum(need for piece, need in needed.items() if piece in self._exists)
            self.went += max(sum(self._held.values()) + total - room, 0.0)
            self._held = {piece: need * room / total for piece, need in needed.items()}
            self._last |= dict.fromkeys(needed, self._clock)
        self._exists.update(needed)

    def _touch(self, piece: int, needed: dict[int, float], room: int) -> None:
        """A launch touches its share of a buffer: any part of it, where that is not all."""
        size, have = self._sizes[piece], self._held.pop(piece, 0.0)
        free, older = room - have - sum(self._held.values()), self._older(piece, needed)
        missing = needed[piece] * (1 - have / size)
        if 0.0 < have < size and size - have > free + older:
            # What it needs next is the oldest, and leaves for what it needs now.
            missing = needed[piece]
            own = min(have, max(missing - free - older, 0.0))
            self.went += own
            free, have = free + own, have - own
        self.came += missing if piece in self._exists else 0.0
        self._make_room(missing - free, needed)
        self._held[piece] = min(have + missing, size)
        self._last[piece] = self._clock = self._clock + 1

    def _older(self, piece: int, needed: dict[int, float]) -> float:
        """Bytes that leave before the rest of a piece does."""
        last = self._last.get(piece, 0)
        return sum(held for other, held in self._held.items() if other not in needed and self._last[other] < last)

    def _make_room(self, over: float, needed: dict[int, float]) -> None:
        for piece in [piece for piece in self._held if piece not in needed]:
            gone = min(self._held[piece], max(over, 0.0))
            over -= gone
            self.went += gone
            self._held[piece] -= gone
            if not self._held[piece]:
                del self._held[piece]
