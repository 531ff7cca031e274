"""A guard for Octavo: what happens when processors compete for a page.

Try it; compare it with none; change an option:

    octavo run --workload stencil2d --scale 0.0625 --guard my_policy.py
    octavo compare --workload stencil2d --scale 0.0625 --placement on-touch,first-touch --guard my_policy.py
    octavo run --workload stencil2d --scale 0.0625 --guard my_policy.py --set memory.guard.moves=8
"""

from __future__ import annotations

from octavo.policies import HOST, Fault, GuardPolicy, Hint, Page, option

MICROSECOND = 10**6
"""In picoseconds."""


class MyPolicy(GuardPolicy):
    """A processor that gets a page keeps it for a while; after some moves it stays, and others map it there."""

    # Options, set by `--set`, in a scenario file or from Python. Types: bool, int, float, str, Literal of words.
    nap: int = option(20, "microseconds for which others wait after a page has moved", minimum=0)
    moves: int = option(4, "moves after which a page is pinned", minimum=1)

    def start(self) -> None:
        """Called once, when options and `self.node` are set. One object serves one run."""
        self.moved: dict[int, int] = {}
        self.until: dict[int, int] = {}

    def on_move(self, pages: range, to: int) -> None:
        """Called when pages move, whichever strategy decided it. `self.memory.now` is the time in picoseconds."""
        for page in pages:
            self.moved[page] = self.moved.get(page, 0) + 1
            self.until[page] = self.memory.now + self.nap * MICROSECOND

    def on_fault(self, fault: Fault, page: Page) -> Hint | None:
        """Called before a fault is decided. None leaves it to the placement."""
        if page.owner == HOST:
            return None
        if self.moved.get(fault.page, 0) >= self.moves and self.memory.can_map(fault.processor, page.owner):
            return Hint.pin(page.owner)
        if self.memory.now < self.until.get(fault.page, 0):
            return Hint.throttle(self.until[fault.page])
        return None

    def on_free(self, pages: range) -> None:
        """Called when pages are freed; their numbers may be used again."""
        for page in pages:
            self.moved.pop(page, None)
            self.until.pop(page, None)
