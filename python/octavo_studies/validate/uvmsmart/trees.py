"""Trees over allocations: what UVMSmart prefetches and evicts by.

The places that are named are functions of `gmmu_t` in `src/gpgpu-sim/gpu-sim.cc` of DebashisGanguly/gpgpu-sim_UVMSmart,
or say where else.
"""

from __future__ import annotations

LEAF = 16
"""Pages of 4 KiB in a basic block of 64 KiB (`MIN_PREFETCH_SIZE`)."""
ROOT = 512
"""Pages in the largest tree, of 2 MiB (`MAX_PREFETCH_SIZE`)."""


def roots(first: int, pages: int) -> list[tuple[int, int]]:
    """First page and pages of the trees of an allocation that begins on a boundary of 2 MiB.

    What is left beside whole trees of 2 MiB gets one of 64 KiB times a power of two (`cudaMallocManaged` in
    `libcuda/cuda_runtime_api.cc`, with `initialize_large_page`).
    """
    whole, rest = divmod(pages, ROOT)
    found = [(first + index * ROOT, ROOT) for index in range(whole)]
    if rest:
        size = LEAF
        while size < rest:
            size *= 2
        found.append((first + whole * ROOT, size))
    return found


class Tree:
    """Pages of each basic block that are there or on their way (`valid_size` of the leaves of `lp_tree_node`)."""

    def __init__(self, first: int, pages: int) -> None:
        """Nothing is there."""
        self.first, self.pages = first, pages
        self.valid = [0] * (pages // LEAF)

    def leaf(self, page: int) -> int:
        """The basic block of a page, by its place in the tree (`get_basic_block`)."""
        return (page - self.first) // LEAF

    def leaf_pages(self, leaf: int) -> range:
        """The pages of a basic block."""
        return range(self.first + leaf * LEAF, self.first + (leaf + 1) * LEAF)

    def fill(self) -> set[int]:
        """Fills nodes that are more than half full, the lower ones first; the leaves that come for it.

        `traverse_and_fill_lp_tree`: what fills a node counts for those above.
        """
        come: set[int] = set()
        for leaves in self._nodes():
            valid = sum(self.valid[leaf] for leaf in leaves)
            if valid != len(leaves) * LEAF and 2 * valid > len(leaves) * LEAF:
                absent = {leaf for leaf in leaves if self.valid[leaf] == 0}
                come |= absent
                for leaf in absent:
                    self.valid[leaf] = LEAF
        return come

    def empty(self, evictable: set[int]) -> set[int]:
        """Empties nodes that are less than half full, the lower ones first; the leaves that leave for it.

        `traverse_and_remove_lp_tree`: whole leaves leave, of those that can.
        """
        leave: set[int] = set()
        for leaves in self._nodes():
            valid = sum(self.valid[leaf] for leaf in leaves)
            if valid != 0 and 2 * valid < len(leaves) * LEAF:
                going = {leaf for leaf in leaves if self.valid[leaf] == LEAF} & evictable
                leave |= going
                for leaf in going:
                    self.valid[leaf] = 0
        return leave

    def _nodes(self) -> list[range]:
        """The leaves of each inner node, the lower nodes first: no rule looks at nodes beside it."""
        sizes = [2**level for level in range(1, len(self.valid).bit_length())]
        return [range(first, first + size) for size in sizes for first in range(0, len(self.valid), size)]
