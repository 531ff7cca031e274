"""Base classes of policies, one for each kind of strategy."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, Final

from octavo._core import Memory, Needs, Occupancy, Residency
from octavo.policies.options import Configurable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octavo._core import (
        AccessCount,
        CounterNotification,
        Decision,
        Fault,
        Hint,
        Move,
        Node,
        Page,
        Service,
        Shortage,
        Unsubscribe,
        Yield,
    )

HOST: Final = -1
"""The host among processors; GPUs are numbered from 0."""


class Policy(Configurable):
    """What every policy has. Options are annotated class attributes: see `octavo.policies.option`.

    One object is made for each run. It must decide the same way whenever it sees the same: no clocks, no unseeded
    random numbers, no order of sets.
    """

    node: Node
    """Sizes of the node; set before `start` is called."""

    _reserved: ClassVar[tuple[str, ...]] = (*Configurable._reserved, "node")

    def start(self) -> None:
        """Called once, before anything else, when options and `node` are set; prepare state here."""


class PlacementPolicy(Policy):
    """Decides where pages live. It is asked once about each fault.

    It moves nothing itself: mechanisms carry out its decisions for pages in any state.
    """

    memory: Memory = Memory()
    """The other pages; available while a method is called (except `needs` and `may_prefetch`)."""

    def needs(self) -> Needs:
        """What the node should count or report; by default nothing. Called once, after `start`."""
        return Needs()

    @abstractmethod
    def on_fault(self, fault: Fault, page: Page) -> Decision:
        """Decide about a fault that the current mappings cannot serve.

        `page` is the state of the faulting page, which is part of no unfinished plan.
        """

    def on_counter(self, notification: CounterNotification, page: Page) -> int | range | None:
        """Choose the pages that move to a GPU whose access counter reached the threshold of `needs`.

        Return a page of `notification.group`, a range of them, or None (the default). Pages that are busy, replicated
        or already there are skipped. `page` is the one whose access was counted last.
        """
        return None

    def on_report(self, counts: Sequence[AccessCount]) -> Iterable[Move]:
        """Choose the pages that move after a periodic report that `needs` requested; by default none.

        `counts` has one entry for each page and GPU with accesses since the last report, by page and GPU. Moves of
        pages that are busy, replicated, already there or that have no room are ignored.
        """
        return ()

    def on_kernel_end(self) -> Iterable[Unsubscribe]:
        """Choose the replicas in broadcast mode to drop when a kernel has ended; by default none."""
        return ()

    def may_prefetch(self, page: Page) -> bool:
        """Whether a prefetcher may fetch this page, which has one copy, to a GPU that migrates pages of its block.

        By default only pages on the host; called for each page that a prefetcher requests.
        """
        return page.owner == HOST

    def on_allocate(self, pages: range) -> None:
        """Called when pages were allocated; they are on the host."""

    def on_free(self, pages: range) -> None:
        """Called when pages are about to be freed."""


class PrefetchPolicy(Policy):
    """Chooses more pages of a 2 MiB block to fetch when some of it migrates. They move before any fault is woken."""

    serves_blocks: ClassVar[bool] = True
    """Whether faults of one GPU on one block are served together; if not, the policy is never asked."""

    @abstractmethod
    def pages(self, service: Service) -> Iterable[int]:
        """Choose the numbers of the pages of `service.block` to fetch.

        This is a request. Pages are skipped if they are there already, busy, replicated or contested, if the placement
        wants them to stay, or if no room can be made for them.
        """

    def on_free(self, pages: range) -> None:
        """Called when these pages are no longer part of an allocation."""


class EvictionPolicy(Policy):
    """Chooses which pages a full memory evicts. A replica is dropped, a sole copy is written to the host."""

    residency: Residency = Residency()
    """Which pages are where; available while a method is called (except `on_restore`)."""

    def on_use(self, processor: int, page: int) -> None:
        """Called when a page was fetched into a GPU's memory, or a fault on it was served: what a driver sees."""

    def on_access(self, processor: int, page: int, times: int) -> None:
        """Called with the number of accesses to a page in a GPU's memory since the last call for it.

        Called before anything that can make room, in the order of last accesses. Overriding it costs speed, since runs
        then count accesses.
        """

    @abstractmethod
    def victims(self, processor: int, wanted: int) -> Iterable[int]:
        """Choose at least `wanted` pages in a GPU's memory, each once, in the order in which they are evicted.

        Only pages that are `residency.evictable` count; if there are fewer than `wanted`, return all of them.
        `on_evict` reports which of them are evicted: all, or none if they are too few.
        """

    def on_evict(self, processor: int, pages: Sequence[int]) -> None:
        """Called when these victims are evicted."""

    def on_restore(self, processor: int, page: int) -> None:
        """Called when a victim is back because a plan failed; evict it next. Never happens in a simulation."""


class DemotionPolicy(Policy):
    """Decides where evicted sole copies go, and how much of each GPU's memory is kept free.

    A GPU that receives them keeps them for others: no processor maps them, and a processor that touches one fetches it
    back. The host gets copies of them in the background.
    """

    occupancy: Occupancy = Occupancy()
    """Free and used memory of the GPUs; available in `destination`."""

    def destination(self, source: int, pages: int) -> int:
        """Choose where the victims of one 2 MiB block of a GPU's memory go, of which `pages` are sole copies.

        Return HOST (the default) or another GPU. They go to the host instead if pages of the block stay behind, or if
        that GPU has fewer spare or removable pages.
        """
        return HOST

    def reserve(self) -> int:
        """The number of pages of each GPU's memory that should be free or kept for others; by default 0.

        When there are fewer, pages are evicted ahead of need, but never more than half of a memory. Called once, after
        `start`.
        """
        return 0


class SharingPolicy(Policy):
    """Decides which jobs' pages a full memory evicts; each job's evictor chooses the pages."""

    @abstractmethod
    def yields(self, shortage: Shortage) -> Iterable[Yield]:
        """Choose the jobs that give up pages, in order, each once.

        Pages are evicted until the number `wanted` is reached, or every job has given up what it may. Then the job that
        needs room waits.
        """


class GuardPolicy(Policy):
    """Intervenes when processors fight over a page, before advice and the placement are asked.

    It moves nothing itself. Times are in picoseconds; `self.memory.now` is the time of a call.
    """

    memory: Memory = Memory()
    """The pages; available in `on_fault`, `on_move` and `on_deadline`."""

    @abstractmethod
    def on_fault(self, fault: Fault, page: Page) -> Hint | None:
        """Decide about a fault on a managed page that has one copy; None does nothing.

        The guard decides about a throttled fault again when its wait is over.
        """

    def on_move(self, pages: range, to: int) -> None:
        """Called when pages of one block move for a fault, a counter, a report or a prefetcher."""

    def on_overrule(self, pages: range) -> None:
        """Called when pages move at the program's request, or replicas appear or disappear."""

    def on_free(self, pages: range) -> None:
        """Called when these pages are no longer part of an allocation."""

    def keeps(self, page: int) -> bool:
        """Whether prefetchers, counters and reports leave a page where it is; by default never.

        Called for pages that are about to move, and for all pages in the block of a fault.
        """
        return False

    def deadline(self) -> int | None:
        """The time at which to call `on_deadline`; by default never. Called after each other method."""
        return None

    def on_deadline(self) -> Iterable[int]:
        """Choose the pages whose remote mappings to remove at the deadline; by default none.

        Pages that are `busy` are skipped: name them again later. The next deadline must be later.
        """
        return ()


KINDS: Final[dict[str, type[Policy]]] = {
    "placement": PlacementPolicy,
    "prefetch": PrefetchPolicy,
    "eviction": EvictionPolicy,
    "demotion": DemotionPolicy,
    "sharing": SharingPolicy,
    "guard": GuardPolicy,
}
"""The base class of each kind of strategy, by the name that scenarios use."""
