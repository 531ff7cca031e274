"""The rules with Octavo's differences put in, one after the other: what Octavo's distance from the rules is made of."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from octavo.validate.uvmsmart.replay import Replay
from octavo.validate.uvmsmart.trees import LEAF

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octavo.validate.uvmsmart.trees import Tree


class Unpadded(Replay):
    """Nothing beyond the end of an allocation comes, leaves, or is waited for: no such page is there."""

    def __init__(self, allocations: Sequence[tuple[int, int]], **options: object) -> None:
        """As the rules'."""
        super().__init__(allocations, **options)  # type: ignore[arg-type]
        self._known = {page for first, pages in allocations for page in range(first, first + pages)}

    def _pages(self, tree: Tree, leaf: int) -> Sequence[int]:
        return [page for page in super()._pages(tree, leaf) if page in self._known]


class Stepwise(Unpadded):
    """The page that faulted gets its room and comes; then it is decided what comes with it, run by run.

    What has come for a fault does not leave for the rest of it, and what finds no room stays away.
    """

    def __init__(self, allocations: Sequence[tuple[int, int]], **options: object) -> None:
        """As the rules'."""
        super().__init__(allocations, **options)
        self._fresh: set[int] = set()

    def _fault(self, page: int) -> None:
        self.counts.faults += 1
        self._fresh = set()
        was_full = bool(self._left)
        self._step([page])
        if was_full and self._when_full is not None:
            self._prefetch, self._when_full = self._when_full, None
        self._recount(page)
        beside = [other for other in self._coming(page) if other not in self._there]
        self._recount(page)
        for run in _runs(beside):
            if self._can_hold(len(run)):
                self._step(run)
        self._fresh = set()

    def _step(self, run: Sequence[int]) -> None:
        self._bring(run)
        self._fresh.update(run)
        self._recount(run[0])

    def _can_hold(self, count: int) -> bool:
        """Whether so many more pages fit beside what has come for this fault."""
        return self._capacity is None or count + len(self._fresh) <= self._capacity

    def _recount(self, page: int) -> None:
        """Each basic block of a page's tree counts if something of it is there."""
        tree = self._tree(page)
        leaves = range(len(tree.valid))
        tree.valid = [LEAF * any(one in self._there for one in tree.leaf_pages(leaf)) for leaf in leaves]

    def _whole(self, unit: int) -> bool:
        tree = self._tree(unit)
        if self._eviction == "lru-page":
            return unit not in self._fresh
        blocks = self._eviction in ("lru-block", "lfu-block")
        leaves = range(len(tree.valid)) if blocks else [tree.leaf(unit)]
        busy = any(page in self._fresh for leaf in leaves for page in tree.leaf_pages(leaf))
        return not busy and super()._whole(unit)


def _runs(pages: Iterable[int]) -> list[list[int]]:
    """Pages in ascending order by runs of neighbours."""
    groups = groupby(enumerate(pages), lambda numbered: numbered[1] - numbered[0])
    return [[page for _, page in group] for _, group in groups]
