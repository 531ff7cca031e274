"""An eviction policy for Octavo: which pages leave a full memory.

Try it in memories that each hold a fifth of the footprint; compare it; change its option:

    octavo run --workload stencil2d --scale 0.0625 --eviction my_policy.py --set node.capacity.footprint_percent=20
    octavo compare --workload stencil2d --scale 0.0625 --eviction my_policy.py --set node.capacity.footprint_percent=20
    octavo run --workload stencil2d --scale 0.0625 --eviction my_policy.py --set node.capacity.footprint_percent=20 \
        --set memory.eviction.refresh=false
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.policies import EvictionPolicy, option

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class MyPolicy(EvictionPolicy):
    """The page that was used least recently leaves, or the page that came first."""

    # An option, set by `--set`, in a scenario file or from Python. Types: bool, int, float, str, Literal of words.
    refresh: bool = option(True, "whether a use makes a page the last to leave, or only its arrival does")

    def start(self) -> None:
        """Called once, when options and `self.node` are set. One object serves one run."""
        # For each GPU its pages in the order in which they leave; dictionaries keep the order of insertion.
        self.queues: list[dict[int, None]] = [{} for _ in range(self.node.gpus)]

    def on_use(self, processor: int, page: int) -> None:
        """Called when a page was brought into a GPU's memory, or a fault on it was served from there."""
        queue = self.queues[processor]
        if self.refresh:
            queue.pop(page, None)
        queue[page] = None

    def victims(self, processor: int, wanted: int) -> Iterable[int]:
        """Called when a GPU's memory is full. Returns at least `wanted` pages, or as many as there are.

        Pages can leave on their own, by moving to another GPU, and pages of unfinished plans cannot leave: only those
        that are `self.residency.evictable` may be returned.
        """
        queue, chosen, gone = self.queues[processor], list[int](), list[int]()
        for page in queue:
            if len(chosen) == wanted:
                break
            if self.residency.evictable(processor, page):
                chosen.append(page)
            elif not self.residency.may_return(processor, page):
                gone.append(page)
        for page in gone:
            del queue[page]
        return chosen

    def on_evict(self, processor: int, pages: Sequence[int]) -> None:
        """Called when victims leave: all that were named, or none if they were too few."""
        for page in pages:
            del self.queues[processor][page]
