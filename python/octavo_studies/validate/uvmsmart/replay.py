"""UVMSmart's documented rules about pages, one access after another and without time: small, slow and obvious.

A fault is over before the next access: nothing is in flight, nothing staged, no access is outstanding. What the
simulator does because transfers take time is not here: faults that mature in one cycle, victims that are touched before
they leave. The places that are named are functions of `gmmu_t` in `src/gpgpu-sim/gpu-sim.cc` of
DebashisGanguly/gpgpu-sim_UVMSmart, or say where else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo_studies.validate.uvmsmart.trees import LEAF, ROOT, Tree, roots

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

PREFETCHERS = {"none": 0, "tree-neighborhood": 1, "sequential-local": 2}
"""Octavo's names, and the numbers of `-hardware_prefetch` (constructor); 3, which draws lots, is left out."""
EVICTORS = {"lru-block": 0, "tree-neighborhood": 1, "sequential-local": 2, "lfu-block": 4, "lru-page": 5}
"""Octavo's names, and the numbers of `-eviction_policy` (constructor); 3, which draws lots, is left out."""


class StuckError(Exception):
    """Nothing can leave, and nothing more can come: the simulator would go round for ever."""


@dataclass
class Counts:
    """What the simulator counts of pages."""

    faults: int = 0
    """Far faults (`mf_page_fault_outstanding`)."""
    migrated: int = 0
    """Pages that came (`Page_validate`)."""
    evicted: int = 0
    """Pages that left (`Page_evict_dirty` and `Page_evict_not_dirty`: clean ones are written, too)."""
    thrashed: int = 0
    """Pages that came again, each time (`Page_tot_thrash`)."""


class Replay:
    """Pages of 4 KiB of one GPU's memory under a prefetcher and an evictor.

    Allocations are `(first page, pages)`, each beginning on a boundary of 2 MiB; `capacity` is in pages, None for no
    limit, and `reserve` of them are kept free (`-percentage_of_free_page_buffer`). From the first fault that does not
    fit on, `when_full` prefetches, if it is given (`update_hardware_prefetcher_oversubscribed`).
    """

    def __init__(
        self,
        allocations: Iterable[tuple[int, int]],
        *,
        capacity: int | None,
        prefetch: str,
        eviction: str,
        when_full: str | None = None,
        reserve: int = 0,
    ) -> None:
        """Nothing is there."""
        trees = [Tree(*root) for allocation in allocations for root in roots(*allocation)]
        self._trees = {tree.first // ROOT: tree for tree in trees}
        self._capacity, self._prefetch, self._eviction, self._when_full = capacity, prefetch, eviction, when_full
        self._reserve = reserve
        self._there: set[int] = set()
        self._left: set[int] = set()
        self._dirty: set[int] = set()
        """Pages that were written since they came (`set_page_dirty`)."""
        self._uses: dict[int, int] = {}
        """How often each unit was used since it came, the one used longest ago first (`valid_pages`)."""
        self.counts = Counts()

    def access(self, page: int, times: int = 1, *, store: bool = False) -> None:
        """Accesses to a page, in a row."""
        if page not in self._there:
            self._fault(page)
        if store:
            self._dirty.add(page)
        self._use(page, times)

    def synchronise(self) -> None:
        """Written pages go home, and count for nothing (`cudaDeviceSynchronize` in `cuda_runtime_api.cc`).

        UVMSmart also forgets the order of uses, and the resident pages of its trees. The replay keeps both.
        """
        for page in self._dirty:
            self._there.remove(page)
        units = {self._unit(page) for page in self._dirty}
        for tree in {id(tree): tree for tree in map(self._tree, self._dirty)}.values():
            for leaf in range(len(tree.valid)):
                tree.valid[leaf] = LEAF * any(page in self._there for page in tree.leaf_pages(leaf))
        for unit in units:
            if not any(page in self._there for page in self._unit_pages(unit)):
                self._uses.pop(unit, None)
        self._dirty.clear()

    def _unit_pages(self, unit: int) -> Sequence[int]:
        """The pages that leave together."""
        if self._eviction == "lru-page":
            return [unit]
        tree = self._tree(unit)
        if self._eviction in ("lru-block", "lfu-block"):
            return range(tree.first, tree.first + tree.pages)
        return tree.leaf_pages(tree.leaf(unit))

    def _use(self, page: int, times: int) -> None:
        """`refresh_valid_pages`, which a TLB hit and a replayed access call (`shader.cc`), and each page that comes."""
        unit = self._unit(page)
        self._uses[unit] = self._uses.pop(unit, 0) + times

    def _unit(self, page: int) -> int:
        """First page of what leaves together (`get_eviction_base_addr`, `get_eviction_granularity`)."""
        if self._eviction == "lru-page":
            return page
        if self._eviction in ("lru-block", "lfu-block"):
            return self._tree(page).first
        return page - page % LEAF

    def _tree(self, page: int) -> Tree:
        return self._trees[page // ROOT]

    def _fault(self, page: int) -> None:
        """`do_hardware_prefetch`, then room (`page_eviction_procedure`), then the transfers, in ascending order."""
        self.counts.faults += 1
        coming = self._coming(page)
        if self._missing(len(coming) + self._reserve) and self._when_full is not None:
            self._prefetch, self._when_full = self._when_full, None
        self._bring(coming)

    def _bring(self, coming: Sequence[int]) -> None:
        self._make_room(len(coming))
        for new in coming:
            self._there.add(new)
            self.counts.migrated += 1
            self.counts.thrashed += new in self._left
            self._left.discard(new)
            self._use(new, 1)

    def _make_room(self, coming: int) -> None:
        """Units leave until pages fit beside the reserve, or into it if nothing can leave."""
        while self._missing(coming + self._reserve):
            if not self._evict():
                if self._missing(coming):
                    raise StuckError
                return

    def _missing(self, coming: int) -> bool:
        """Whether this many pages do not fit (`should_evict_page`, `memory.cc`)."""
        return self._capacity is not None and len(self._there) + coming > self._capacity

    def _coming(self, page: int) -> list[int]:
        """The pages that come with a fault, ascending (`do_hardware_prefetch`)."""
        tree = self._tree(page)
        leaf = tree.leaf(page)
        if self._prefetch == "none":
            tree.valid[leaf] += 1
            return [page]
        tree.valid[leaf] = LEAF
        leaves = {leaf}
        if self._prefetch == "tree-neighborhood":
            leaves |= tree.fill()
        pages = (page for leaf in sorted(leaves) for page in self._pages(tree, leaf))
        return [page for page in pages if page not in self._there]

    def _evict(self) -> bool:
        """One unit leaves, and what leaves with it (`page_eviction_procedure`); whether any can."""
        leaving = self._victims()
        for page in leaving:
            self._there.remove(page)
            self._left.add(page)
            self._dirty.discard(page)
            self._uses.pop(self._unit(page), None)
        self.counts.evicted += len(leaving)
        return bool(leaving)

    def _victims(self) -> Sequence[int]:
        unit = next((unit for unit in self._order() if self._whole(unit)), None)
        if unit is None:
            return []
        tree = self._tree(unit)
        if self._eviction == "lru-page":
            tree.valid[tree.leaf(unit)] -= 1
            return [unit]
        if self._eviction in ("lru-block", "lfu-block"):
            tree.valid = [0] * len(tree.valid)
            return [page for leaf in range(len(tree.valid)) for page in self._pages(tree, leaf)]
        return self._leaves(tree, tree.leaf(unit))

    def _leaves(self, tree: Tree, chosen: int) -> list[int]:
        """A basic block, and with `tree-neighborhood` the nodes that are less than half there without it."""
        tree.valid[chosen] = 0
        leaves = {chosen}
        if self._eviction == "tree-neighborhood":
            whole = {leaf for leaf in range(len(tree.valid)) if self._whole(tree.leaf_pages(leaf)[0])}
            leaves |= tree.empty(whole - leaves)
        return [page for leaf in sorted(leaves) for page in self._pages(tree, leaf)]

    def _pages(self, tree: Tree, leaf: int) -> Sequence[int]:
        """The pages of a basic block that come and leave: all of them, even beyond the end of the allocation."""
        return tree.leaf_pages(leaf)

    def _whole(self, unit: int) -> bool:
        """Whether every page of a unit is resident (`is_block_evictable`)."""
        if self._eviction == "lru-page":
            return True
        tree = self._tree(unit)
        blocks = self._eviction in ("lru-block", "lfu-block")
        leaves = range(len(tree.valid)) if blocks else [tree.leaf(unit)]
        return all(page in self._there for leaf in leaves for page in self._pages(tree, leaf))

    def _order(self) -> Iterator[int]:
        """Units, the next to leave first (`sort_valid_pages`)."""
        if self._eviction in ("lru-page", "lru-block"):
            return iter(self._uses)
        if self._eviction == "lfu-block":
            # Of equals, the one used longest ago: a stable sort keeps their order.
            return iter(sorted(self._uses, key=lambda unit: self._uses[unit]))
        return self._by_tree()

    def _by_tree(self) -> Iterator[int]:
        """Trees by their newest use, the oldest first; within each, the basic block used longest ago first."""
        leaves: dict[int, list[int]] = {}
        for unit in self._uses:
            root = unit // ROOT
            leaves[root] = [*leaves.pop(root, []), unit]
        return (unit for units in leaves.values() for unit in units)
