"""Built-in strategies written again in Python: held to the originals byte for byte, and measured beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from octavo.policies import (
    HOST,
    CounterNotification,
    Decision,
    EvictionPolicy,
    Fault,
    Move,
    Needs,
    Page,
    PlacementPolicy,
    PrefetchPolicy,
    Service,
    option,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octavo.policies import AccessCount


class OnTouch(PlacementPolicy):
    """`on-touch`."""

    def on_fault(self, fault: Fault, page: Page) -> Decision:
        return Decision.MIGRATE

    def may_prefetch(self, page: Page) -> bool:
        return True


class FirstTouch(PlacementPolicy):
    """`first-touch`."""

    def on_fault(self, fault: Fault, page: Page) -> Decision:
        return Decision.MIGRATE if page.owner == HOST else Decision.MAP_REMOTE


class AccessCounter(PlacementPolicy):
    """`access-counter`."""

    threshold: int = option(256, "remote lines", minimum=1, maximum=65_535)
    moves: Literal["page", "group"] = "page"
    host_pages: Literal["map", "migrate"] = "map"

    def needs(self) -> Needs:
        return Needs(counter_threshold=self.threshold)

    def on_fault(self, fault: Fault, page: Page) -> Decision:
        migrates = page.owner == HOST and self.host_pages == "migrate"
        return Decision.MIGRATE if migrates else Decision.MAP_REMOTE

    def on_counter(self, notification: CounterNotification, page: Page) -> int | range:
        return notification.page if self.moves == "page" else notification.group


class Duplication(PlacementPolicy):
    """`duplication`."""

    downgrade_drain: bool = False

    def on_fault(self, fault: Fault, page: Page) -> Decision:
        return Decision.DUPLICATE_AND_DRAIN if self.downgrade_drain else Decision.DUPLICATE


class Ideal(PlacementPolicy):
    """`ideal`."""

    def needs(self) -> Needs:
        return Needs(free_store_faults=True)

    def on_fault(self, fault: Fault, page: Page) -> Decision:
        return Decision.EVERYWHERE


class Interleaved(PlacementPolicy):
    """`interleaved`."""

    def needs(self) -> Needs:
        return Needs(free_faults=True)

    def on_fault(self, fault: Fault, page: Page) -> Decision:
        before = sum(min(len(pages), max(0, fault.page - pages.start)) for pages in self.memory.allocations())
        return Decision.at((self.node.gpus - 1 + before) % self.node.gpus)


class HotPages(PlacementPolicy):
    """No built-in: moves pages by reports, to meet that part of the contract."""

    lines: int = option(4, "lines a period from which a page moves", minimum=1)

    def needs(self) -> Needs:
        return Needs(report_cycles=2000)

    def on_fault(self, fault: Fault, page: Page) -> Decision:
        self.memory.set_scheme(fault.page, "access_counter")
        return Decision.MAP_REMOTE

    def on_report(self, counts: Sequence[AccessCount]) -> Iterable[Move]:
        return (Move(count.page, count.processor) for count in counts if count.lines >= self.lines)


class Nothing(PrefetchPolicy):
    """`none`."""

    serves_blocks = False

    def pages(self, service: Service) -> Iterable[int]:
        return ()


class SequentialLocal(PrefetchPolicy):
    """`sequential-local`."""

    def pages(self, service: Service) -> Iterable[int]:
        size = self.node.counter_group_pages
        groups = {page // size for page in service.faulted}
        wanted = {page for group in groups for page in range(group * size, (group + 1) * size)}
        return wanted.intersection(service.extent).difference(service.resident)


class LruPage(EvictionPolicy):
    """`lru-page`."""

    def start(self) -> None:
        self.queues: list[dict[int, None]] = [{} for _ in range(self.node.gpus)]

    def on_use(self, processor: int, page: int) -> None:
        self.queues[processor].pop(page, None)
        self.queues[processor][page] = None

    def victims(self, processor: int, wanted: int) -> Iterable[int]:
        evictable = (page for page in self.queues[processor] if self.residency.evictable(processor, page))
        return [page for _, page in zip(range(wanted), evictable, strict=False)]

    def on_evict(self, processor: int, pages: Sequence[int]) -> None:
        for page in pages:
            del self.queues[processor][page]


COPIES = {
    "placement": {
        "on-touch": OnTouch,
        "first-touch": FirstTouch,
        "access-counter": AccessCounter,
        "duplication": Duplication,
        "ideal": Ideal,
        "interleaved": Interleaved,
    },
    "prefetch": {"none": Nothing, "sequential-local": SequentialLocal},
    "eviction": {"lru-page": LruPage},
}
