"""A placement policy for Octavo: where a page goes when a GPU touches it.

Try it, compare it, change its option:

    octavo run --workload stencil2d --scale 0.0625 --placement my_policy.py
    octavo compare --workload stencil2d --scale 0.0625 --placement on-touch,my_policy.py
    octavo run --workload stencil2d --scale 0.0625 --placement my_policy.py --set memory.placement.moves=8
"""

from __future__ import annotations

from octavo.policies import HOST, Decision, Fault, Page, PlacementPolicy, option


class MyPolicy(PlacementPolicy):
    """A page moves to the GPU that touches it, but after some moves it stays and is accessed remotely."""

    # An option, set by `--set`, in a scenario file or from Python. Types: bool, int, float, str, Literal of words.
    moves: int = option(2, "moves between GPUs after which a page stays", minimum=0)

    def start(self) -> None:
        """Called once, when options and `self.node` are set. One object serves one run."""
        self.moved: dict[int, int] = {}  # moves between GPUs by page number

    def on_fault(self, fault: Fault, page: Page) -> Decision:
        """Called for each fault that the present mappings cannot serve. What it returns is carried out and paid for.

        `fault` has `processor` (a GPU, from 0), `page`, `address` and `write`. `page` is the page's state, read-only:
        `owner`, `resident`, `mapped`, `writable`, `replicated`, `touched`. Other pages: `self.memory.page(number)`.
        """
        if page.owner in (HOST, fault.processor):
            return Decision.MIGRATE
        moved = self.moved.get(fault.page, 0)
        if moved >= self.moves:
            return Decision.MAP_REMOTE
        self.moved[fault.page] = moved + 1
        return Decision.MIGRATE
        # Further decisions: Decision.DUPLICATE (a read-only replica for readers), Decision.SUBSCRIBE (a replica that
        # stores of all holders reach), Decision.at(processor) (a fixed home).

    # More methods, for policies that need them:
    #
    #   needs()                      asks for access counters or reports: return Needs(counter_threshold=256)
    #   on_counter(notification, page)  a GPU accessed a group of pages often: which of notification.group move to it
    #   on_report(counts)            accesses by page and GPU, periodically: which pages move
    #   on_kernel_end()              a kernel ended: which replicas of subscribed pages are given up
    #   may_prefetch(page)           whether a prefetcher may bring a page
    #   on_allocate(pages), on_free(pages)   ranges of page numbers
    #
    # Accesses to tables that a driver would keep in host memory cost time: self.memory.charge(1) for each.
