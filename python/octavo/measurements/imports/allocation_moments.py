"""An allocator's log in moments: each begins with the allocations of a time, and lasts until the next ones.

Frees are at the ends of moments, so the order of all is kept, and what is allocated at a moment is the most until the
next one. Of longer logs moments are put together: the one with most of some in a row stands for all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from octavo.measurements.imports.allocations import ALWAYS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octavo.measurements.imports.allocations import Allocation

_SMALL = "small allocations"


@dataclass(frozen=True)
class Block:
    """Memory that is allocated before a moment and freed before another."""

    name: str
    bytes: int
    first: int
    end: int | None
    """None if it is not freed."""
    began: int
    """When it was allocated, in nanoseconds after the log began."""
    allocations: int = 1

    @property
    def named(self) -> str:
        """Its name, and how many others it stands for."""
        return self.name if self.allocations == 1 else f"{self.name} +{self.allocations - 1:,}"


@dataclass(frozen=True)
class Timeline:
    """Blocks and moments of one GPU."""

    blocks: list[Block]
    began: list[int]
    """When each moment began, in nanoseconds after the first one."""
    end: int
    """When the log ends."""
    left_out: int = 0
    """Allocations that live between two moments alone."""

    @property
    def nanoseconds(self) -> list[int]:
        """How long each moment is."""
        return [then - now for now, then in pairwise([*self.began, max(self.end, self.began[-1] + 1)])]

    @property
    def names(self) -> list[str]:
        """What each moment is called: as the largest block that is new, or else the largest one that is there."""
        found: list[tuple[bool, int, str]] = [(False, 0, "")] * len(self.began)
        for block in self.blocks:
            for moment in range(block.first, self.last(block) + 1):
                found[moment] = max(found[moment], (moment == block.first, block.bytes, block.named))
        return [name for *_, name in found]

    @property
    def peak(self) -> int:
        """The most bytes at once."""
        return max(held(self.blocks, len(self.began)))

    def last(self, block: Block) -> int:
        """The last moment at which a block is there."""
        return (len(self.began) if block.end is None else block.end) - 1


def held(blocks: Iterable[Block], moments: int) -> list[int]:
    """Allocated bytes at each moment."""
    changes = [0] * (moments + 1)
    for block in blocks:
        changes[block.first] += block.bytes
        changes[moments if block.end is None else block.end] -= block.bytes
    return list(accumulate(changes[:-1]))


def timeline(found: Sequence[Allocation], begin: int, end: int) -> Timeline:
    """All allocations of a GPU, one by one; the log is from `begin` to `end`."""
    lives = [one for one in found if one.begin < one.end]
    # What the first row frees was there before it. At the same time, who frees comes first.
    changes = [(max(one.begin, begin - 1), 1, number) for number, one in enumerate(lives)]
    changes += [(one.end, 0, number) for number, one in enumerate(lives) if one.end < ALWAYS]
    first, ends = [0] * len(lives), list[int | None]([None] * len(lives))
    times: list[int] = []
    for time, allocates, number in sorted(changes):
        if not allocates:
            ends[number] = len(times)
            continue
        if not times or time > times[-1]:
            times.append(time)
        first[number] = len(times) - 1
    began = [max(time - begin, 0) if at else 0 for at, time in enumerate(times)]
    at = [max(one.begin - begin, 0) for one in lives]
    spans = zip(lives, first, ends, at, strict=True)
    blocks = [Block(one.name, one.bytes, start, last, time) for one, start, last, time in spans]
    return Timeline([_within(block, len(began)) for block in blocks], began, end - begin)


def _within(block: Block, moments: int) -> Block:
    return replace(block, end=None) if block.end == moments else block


def shortened(whole: Timeline, moments: int, blocks: int) -> Timeline:
    """The same in at most so many moments and blocks, with the same peak."""
    if len(whole.began) > moments:
        whole = _at(whole, _chosen(whole, moments))
    if len(whole.blocks) > blocks:
        whole = replace(whole, blocks=_together(whole.blocks))
    return whole if len(whole.blocks) <= blocks else replace(whole, blocks=_pooled(whole, blocks))


def _chosen(whole: Timeline, moments: int) -> list[tuple[int, int]]:
    """Of moments in a row at which equally many bytes are allocated: the first one, and the one with most."""
    come = [0] * len(whole.began)
    for block in whole.blocks:
        come[block.first] += block.bytes
    each = -(-sum(come) // moments)
    parts: dict[int, list[int]] = defaultdict(list)
    for moment, total in enumerate(accumulate(come)):
        parts[(total - 1) // each].append(moment)
    most = held(whole.blocks, len(whole.began))
    return [(part[0], max(part, key=most.__getitem__)) for part in parts.values()]


def _at(whole: Timeline, chosen: list[tuple[int, int]]) -> Timeline:
    """What of it there is at some moments."""
    places = [moment for _, moment in chosen]
    blocks = []
    for block in whole.blocks:
        first = bisect_left(places, block.first)
        end = len(places) if block.end is None else bisect_left(places, block.end)
        if first < end:
            blocks.append(_within(replace(block, first=first, end=end), len(places)))
    began = [whole.began[first] for first, _ in chosen]
    return Timeline(blocks, began, whole.end, len(whole.blocks) - len(blocks))


def _together(blocks: Iterable[Block]) -> list[Block]:
    """Blocks that live as long are one, by the name of the largest."""
    groups: dict[tuple[int, int | None], list[Block]] = defaultdict(list)
    for block in blocks:
        groups[block.first, block.end].append(block)
    return [_sum(group, max(group, key=lambda block: block.bytes).name) for group in groups.values()]


def _sum(group: Sequence[Block], name: str) -> Block:
    count = sum(block.allocations for block in group)
    return replace(group[0], name=name, bytes=sum(block.bytes for block in group), allocations=count)


def _pooled(whole: Timeline, most: int) -> list[Block]:
    """The largest blocks, and one throughout for all others, of the bytes that the largest lack at the peak."""
    order = sorted(whole.blocks, key=lambda block: block.bytes, reverse=True)
    large, small = order[: most - 1], order[most - 1 :]
    left = whole.peak - max(held(large, len(whole.began)))
    count = sum(block.allocations for block in small)
    pool = [Block(_SMALL, left, 0, None, 0, count)] if left else []
    return [*sorted(large, key=lambda block: block.first), *pool]
