"""What it takes to stream a buffer by hand: in tiles, of which the next is copied while the launch works on one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.advice.facts import BLOCK
from octavo.advice.fit.oversubscription import window

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from octavo.advice.fit.costs import Costs
    from octavo.advice.fit.oversubscription import Passing
    from octavo.advice.fit.sequence import Step

SPARSE = 0.5
"""Share of a buffer that launches touch, below which streaming all of it is no answer; chosen."""


@dataclass(frozen=True)
class Streamed:
    """One buffer, over all launches at which it passes through."""

    piece: int
    launches: int
    tile: int
    """Bytes."""
    kept: int
    """Bytes of it that stay on the device."""
    seconds: float
    """Of the launches, with what moves for them. It shares them with other buffers that pass through."""
    paging: float
    """The same, paging on demand."""
    share: float
    """What launches touch of it."""

    @property
    def helps(self) -> bool:
        """Whether to stream it: most of it is touched, and it takes less."""
        return self.share >= SPARSE and self.seconds < self.paging


def streamed(sizes: Sequence[int], steps: Sequence[Step], passing: Sequence[Passing], costs: Costs) -> list[Streamed]:
    """Each buffer that passes through anywhere; `steps` are those of the program."""
    found: dict[int, list[Streamed]] = {}
    for each in passing:
        step = steps[each.step]
        kept, tile = _cut(each)
        seconds = _launch(sizes, step, each, kept, tile, costs)
        paged = step.seconds + demanded(sizes, step, each, costs, found)
        for piece in each.pieces:
            one = Streamed(piece, 1, tile, kept, seconds, paged, step.share.get(piece, 1.0))
            found.setdefault(piece, []).append(one)
    return [_together(piece, each) for piece, each in found.items()]


def beyond(sizes: Sequence[int], steps: Sequence[Step], passing: Sequence[Passing], costs: Costs) -> float:
    """Seconds that streamed launches take more than where it fits: there, too, faults bring everything once."""
    total = 0.0
    there: set[int] = set()
    begun = 0
    for each in passing:
        for before in steps[begun : each.step]:
            there = (there - before.replaces - before.frees) | (before.uses if before.on_device else set())
        begun, step = each.step, steps[each.step]
        came = sum(_touched(sizes, piece, step) for piece in set(each.pieces) - each.new - there)
        total += _launch(sizes, step, each, *_cut(each), costs) - step.seconds - came / costs.demand
    return total


def demanded(sizes: Sequence[int], step: Step, passing: Passing, costs: Costs, known: Collection[int]) -> float:
    """Seconds that buffers take at a launch which pages them through; of those `known`, some is there to leave."""
    moved = {piece: _touched(sizes, piece, step) for piece in passing.pieces}
    came = sum(amount for piece, amount in moved.items() if piece not in passing.new)
    free = 0 if passing.pieces[0] in known else passing.left
    return came / costs.demand + max(sum(moved.values()) - free, 0.0) / costs.evict


def _touched(sizes: Sequence[int], piece: int, step: Step) -> float:
    return sizes[piece] * step.share.get(piece, 1.0)


def _cut(passing: Passing) -> tuple[int, int]:
    """Bytes of each buffer that stay, and of a tile: one is worked on while the next one comes."""
    room, count = window(passing.left), len(passing.pieces)
    return (passing.left - room) // count, max(_whole(room // (2 * count)), 1)


def _whole(size: int) -> int:
    return size // BLOCK * BLOCK if size >= BLOCK else size


def _launch(sizes: Sequence[int], step: Step, passing: Passing, kept: int, tile: int, costs: Costs) -> float:
    """Seconds of a launch cut into tiles: copies run beside it, but for the first tile in and the last one out."""
    comes = [max(sizes[piece] - kept, 0) for piece in passing.pieces if piece not in step.fills | passing.new]
    goes = [max(sizes[piece] - kept, 0) for piece in passing.pieces if piece in step.writes]
    tiles = max(1, *(-(-size // tile) for size in (*comes, *goes)))
    into, out = sum(comes) / costs.stream_in, sum(goes) / costs.stream_out
    calls = tiles * (costs.launch + costs.copy_call * (bool(comes) + bool(goes)))
    first = (into + out) / tiles
    return max(step.seconds, into, out) + first + calls


def _together(piece: int, each: Sequence[Streamed]) -> Streamed:
    seconds, paging = sum(one.seconds for one in each), sum(one.paging for one in each)
    tile, kept = min(one.tile for one in each), min(one.kept for one in each)
    return Streamed(piece, len(each), tile, kept, seconds, paging, max(one.share for one in each))
