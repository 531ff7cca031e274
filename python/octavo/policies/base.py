"""Base classes of policies, one for each kind of strategy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Final

from octavo._core import Memory, Needs, Occupancy, Residency
from octavo.policies.options import Declared

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


class Policy(ABC):
    """What every policy has. Options are annotated class attributes: see `octavo.policies.option`.

    One object is made for each run. It must decide the same way whenever it sees the same: no clocks, no unseeded
    random numbers, no order of sets.
    """

    node: Node
    """Sizes of the node; set before `start` is called."""

    _declared: ClassVar[dict[str, Declared]] = {}

    def __init_subclass__(cls, **arguments: object) -> None:
        """Keep what options were declared with, and leave their defaults in the class."""
        super().__init_subclass__(**arguments)
        cls._declared = {name: value for name, value in vars(cls).items() if isinstance(value, Declared)}
        for name, value in cls._declared.items():
            setattr(cls, name, value.default)

    def start(self) -> None:  # noqa: B027 - optional
        """Called once, before anything else, when options and `node` are set: the place to prepare state."""


class PlacementPolicy(Policy):
    """Decides where pages live. It is asked once about each fault.

    It moves nothing itself: mechanisms carry out its decisions for pages in any state.
    """

    memory: Memory = Memory()
    """The other pages, to be looked at while a method is called (`needs` and `may_prefetch` aside)."""

    def needs(self) -> Needs:
        """What the node has to count, report or forgive; nothing unless overridden. Called once, after `start`."""
        return Needs()

    @abstractmethod
    def on_fault(self, fault: Fault, page: Page) -> Decision:
        """What to do about a fault that the present mappings cannot serve.

        `page` is the state of the faulting page, which no unfinished plan names.
        """

    def on_counter(self, notification: CounterNotification, page: Page) -> int | range | None:
        """Which pages move to a GPU whose access counter reached the threshold that `needs` asked for.

        A page of `notification.group`, a range of them, or None (unless overridden). Pages that are busy, replicated or
        already there are passed over. `page` is the one whose access was the last to be counted.
        """
        return None

    def on_report(self, counts: Sequence[AccessCount]) -> Iterable[Move]:
        """Which pages move after a periodic report that `needs` asked for; none unless overridden.

        `counts` has one entry for each page and GPU with accesses since the last report, by page and GPU. Moves of
        pages that are busy, replicated, already there or that have no room are ignored.
        """
        return ()

    def on_kernel_end(self) -> Iterable[Unsubscribe]:
        """Which replicas in broadcast mode are given up when a kernel has ended; none unless overridden."""
        return ()

    def may_prefetch(self, page: Page) -> bool:
        """Whether a prefetcher may bring this page, which has one copy, to a GPU that migrates pages of its block.

        Only pages on the host, unless overridden; called for each page that a prefetcher wishes for.
        """
        return page.owner == HOST

    def on_allocate(self, pages: range) -> None:
        """Pages were allocated; they are on the host. Nothing unless overridden."""

    def on_free(self, pages: range) -> None:
        """Pages are about to be freed. Nothing unless overridden."""


class PrefetchPolicy(Policy):
    """Chooses more pages of a 2 MiB block to bring when pages of it migrate. They move before any fault is woken."""

    serves_blocks: ClassVar[bool] = True
    """Whether faults of one GPU on one block are served together; a policy that says no is never asked."""

    @abstractmethod
    def pages(self, service: Service) -> Iterable[int]:
        """Numbers of the pages of `service.block` to bring.

        This is a wish. Pages are passed over if they are there already, busy, replicated or contested, or if the
        placement wants them to stay. Pages for which no room can be made stay where they are.
        """

    def on_free(self, pages: range) -> None:
        """These pages are no longer part of an allocation. Nothing unless overridden."""


class EvictionPolicy(Policy):
    """Chooses which pages leave a full memory. A replica is dropped, a sole copy written to the host."""

    residency: Residency = Residency()
    """Which pages are where, to be looked at while a method is called (`on_restore` aside)."""

    def on_use(self, processor: int, page: int) -> None:
        """A page was brought into a GPU's memory, or a fault on it was served from there: what a driver sees."""

    def on_access(self, processor: int, page: int, times: int) -> None:
        """A page in a GPU's memory was accessed this many times since this was last told of it.

        Told before anything that can make room, in the order of last accesses. Overriding it costs speed: runs keep
        count of accesses then.
        """

    @abstractmethod
    def victims(self, processor: int, wanted: int) -> Iterable[int]:
        """Numbers of at least `wanted` pages in a GPU's memory, in the order in which they leave, each of them once.

        Only pages that are `residency.evictable`; if there are fewer than `wanted`, as many as there are. `on_evict`
        tells which of them leave: all, or none when they are too few to be of use.
        """

    def on_evict(self, processor: int, pages: Sequence[int]) -> None:
        """These victims leave. Nothing unless overridden."""

    def on_restore(self, processor: int, page: int) -> None:
        """A victim is back because a plan failed; it should be the next to leave. Never happens in a simulation."""


class DemotionPolicy(Policy):
    """Decides where sole copies go that leave a GPU's memory, and how much of each memory is kept free.

    A GPU that gets them keeps them for others: no processor maps them. A processor that touches one fetches it back.
    The host gets copies of them in the background.
    """

    occupancy: Occupancy = Occupancy()
    """How full the GPUs' memories are, to be looked at in `destination`."""

    def destination(self, source: int, pages: int) -> int:
        """Where the victims of one 2 MiB block of a GPU's memory go, of which `pages` are sole copies.

        HOST, unless overridden, or another GPU. They go to the host instead if pages of the block stay behind, or if
        that GPU has not so many pages that are spare or removable.
        """
        return HOST

    def reserve(self) -> int:
        """Pages of each GPU's memory that should be free, or hold what is kept for others; none unless overridden.

        Victims leave ahead of need when fewer are, but never for more than half of a memory. Called once, after
        `start`.
        """
        return 0


class SharingPolicy(Policy):
    """Decides whose pages leave a full memory; which of them, the evictor of that job decides."""

    @abstractmethod
    def yields(self, shortage: Shortage) -> Iterable[Yield]:
        """The jobs that give up pages, in this order, each once.

        Pages leave until there are as many as are `wanted`, or every job has given up what it may. Then the job that
        needs room waits.
        """


class GuardPolicy(Policy):
    """Steps in when processors fight over a page: it goes before advice and the placement.

    It moves nothing itself. Times are picoseconds; `self.memory.now` says when a call happens.
    """

    memory: Memory = Memory()
    """The pages, to be looked at in `on_fault`, `on_move` and `on_deadline`."""

    @abstractmethod
    def on_fault(self, fault: Fault, page: Page) -> Hint | None:
        """What to do about a fault on a managed page that has one copy; None if nothing.

        The guard decides about a throttled fault again when its time has come.
        """

    def on_move(self, pages: range, to: int) -> None:
        """Pages of one block move for a fault, a counter, a report or a prefetcher. Nothing unless overridden."""

    def on_overrule(self, pages: range) -> None:
        """Pages move because the program said so, or replicas are made or go. Nothing unless overridden."""

    def on_free(self, pages: range) -> None:
        """These pages are no longer part of an allocation. Nothing unless overridden."""

    def keeps(self, page: int) -> bool:
        """Whether prefetchers, counters and reports leave a page where it is; never, unless overridden.

        Asked about any page of an allocation: about those to be moved, and about all in the block of a fault.
        """
        return False

    def deadline(self) -> int | None:
        """When `on_deadline` is to be called; never, unless overridden. Asked after each other call."""
        return None

    def on_deadline(self) -> Iterable[int]:
        """The deadline has come, and the next is later: which pages' remote mappings go; none unless overridden.

        Pages that are `busy` are passed over: name them again later.
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
