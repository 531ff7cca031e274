"""The host access penalty, the driver's prefetchers, sparsity of graphs, and the choice under a budget.

`docs/advise.md` explains the symbols and equations, and what the publication (MemMap, PACT 2020) cannot mean as
printed.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import octavo._core as _core
from octavo.errors import AdviceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_T = TypeVar("_T")
Host = Literal["on-demand", "prefetched", "pinned"]
"""How host-placed data come to the device: page by page at faults (managed memory), by the program's prefetches before
launches (managed memory, too), or line by line (pinned memory)."""
Toucher = Literal["host", "device"]

_EACH = 2**63 - 1
"""At least one copy for each fault, whatever the number of faults."""


@dataclass(frozen=True)
class AllocationCosts:
    """Seconds that memory of a kind costs to allocate and to free, both together."""

    call: float
    each: float = 0.0
    """Each piece."""
    below_chunk: float = 0.0
    """The cost for memory below 2 MiB, with all its parts; 0 if it is the same as for larger memory."""

    def to_model(self) -> dict[str, str]:
        """The values in the model's form."""
        return {name: _time(value) for name, value in vars(self).items()}


@dataclass(frozen=True)
class System:
    """Constants of a machine; bytes, bytes a second, seconds."""

    peak: float
    """Arithmetic peak, operations a second."""
    device: float
    """Bandwidth of device memory."""
    on_demand: float
    """Bandwidth at which pages come over the interconnect."""
    copy: float
    """Bandwidth of bulk copies to the device."""
    copy_back: float
    """Bandwidth of bulk copies to the host."""
    on_demand_back: float
    """Bandwidth at which pages come back at faults of the host."""
    by_lines: float
    """Bandwidth, useful bytes a second, at which lines of pinned memory come."""
    multiprocessors: int
    warp: int
    """Lanes of a warp."""
    warps: int
    """Warps that fit a multiprocessor."""
    line: int
    """Bytes of a line."""
    latency: float
    """Latency of a line in host memory."""
    page: int
    """Bytes of a page."""
    capacity: int
    """Bytes of device memory."""
    fault_wait: float
    """Time from a fault until an idle driver serves it, together with all faults that have arrived by then."""
    fault_group: float
    """Serving a group of faults, besides its blocks and each of them."""
    fault_block: float
    """Each block of 2 MiB that a group has faults of."""
    fault: float
    """Each fault of a group whose page comes from the host, besides its bytes."""
    made: float
    """Each fault of a group whose page is made on the device."""
    fault_stale: float
    """Each fault of a group whose page has come meanwhile."""
    prefetch: float
    """A copy by the driver's prefetcher, besides the fault's copy and without its bytes."""
    fault_unmap: float
    """Giving up a page on the host that moves to the device."""
    most_faults: int
    """Most faults of a group."""
    host_fault: float
    """A fault of the host on a page that the device has, besides the copy."""
    launch: float
    copy_call: float
    prefetch_call: float
    """The cost of a call that prefetches, beyond what it moves."""
    device_memory: AllocationCosts
    """Allocating and freeing device memory, by chunks of 2 MiB."""
    pinned_memory: AllocationCosts
    """Allocating and freeing pinned memory, for each 4 KiB, without clearing it."""
    managed_memory: AllocationCosts
    """Allocating and freeing managed memory, without its pages."""
    first_touch: float
    """The host's first touch of a page, besides clearing it."""
    zeroing: float
    """The rate at which the host clears pages."""
    unmap: float
    """Giving a page of the host back."""

    def told(self) -> Iterator[tuple[str, str, float]]:
        """The values for people, each with its constant and its own name: bytes, bytes a second, seconds."""
        for name, value in vars(self).items():
            if isinstance(value, AllocationCosts):
                yield from ((name, f"{name}.{part}", of_part) for part, of_part in vars(value).items())
            else:
                yield name, name, value

    def to_model(self) -> dict[str, Any]:
        """The values in the model's form."""
        return {
            "roofline": {
                "peak": self.peak,
                **{name: _bandwidth(getattr(self, name)) for name in ("device", "on_demand", "copy")},
            },
            "by_lines": _bandwidth(self.by_lines),
            "back": {"copy": _bandwidth(self.copy_back), "on_demand": _bandwidth(self.on_demand_back)},
            **{name: getattr(self, name) for name in ("multiprocessors", "warp", "warps")},
            **{name: _bytes(getattr(self, name)) for name in ("line", "page", "capacity")},
            "latency": _time(self.latency),
            "faults": {
                "group": _time(self.fault_wait + self.fault_group),
                "block": _time(self.fault_block),
                "fault": _time(self.fault),
                "made": _time(self.made),
                "stale": _time(self.fault_stale),
                "prefetch": _time(self.prefetch),
                "unmap": _time(self.fault_unmap),
                "most": self.most_faults,
                "host": _time(self.host_fault),
            },
            "calls": {
                "launch": _time(self.launch),
                "copy": _time(self.copy_call),
                "prefetch": _time(self.prefetch_call),
                "device": self.device_memory.to_model(),
                "pinned": self.pinned_memory.to_model(),
                "managed": self.managed_memory.to_model(),
                "first_touch": _time(self.first_touch),
                "unmap": _time(self.unmap),
                "zeroing": _bandwidth(self.zeroing),
            },
        }


@dataclass(frozen=True)
class FaultGroups:
    """The groups and blocks in which the driver served the faults of a data structure."""

    groups: float
    """The groups in which it has faults; of groups that it shares, its part."""
    blocks: int
    """Blocks of 2 MiB that groups have faults of, counted for each group."""


@dataclass(frozen=True)
class Ahead:
    """Prefetches that the program asks for before launches."""

    calls: int = 0
    copies: int = 0
    """Copies that they need, each within one block of 2 MiB."""
    bytes: int = 0
    """The data that come from the host."""


@dataclass(frozen=True)
class Structure:
    """Constants of one data structure; bytes unless said otherwise."""

    size: int
    lines: int
    """Lines that cross the interconnect if it is pinned: each miss of all caches of the device."""
    sigma: float = 1.0
    """The share of its pages that the device touches; above 0, at most 1."""
    rho: float = 1.0
    """Migrations over distinct pages requested; at least 1."""
    alpha: float = 1.0
    """Operations for each byte touched."""
    occupancy: float = 1.0
    """Resident warps over those that fit; above 0, at most 1."""
    required: float | None = None
    """Bytes a second that one multiprocessor asks for; what the roofline allows it if left out."""
    fault_concurrency: int = 1
    """Distinct pages that faults in flight wait for."""
    fault_groups: FaultGroups | None = None
    """The groups and blocks that served its faults, if these were counted."""
    prefetched_pages: int = 0
    """Pages that come without a fault of their own."""
    prefetches: int = 0
    """Copies that bring them from the host, each for adjacent pages."""
    stale_faults: int = 0
    """The faults whose page has arrived by the time they are served."""
    fault_runs: int | None = None
    """Copies that bring the pages of its faults, each for adjacent pages; one for each fault if left out."""
    first: Toucher = "host"
    """The processor that touches its pages first."""
    host_faults: int | None = None
    """Faults of the host as it goes through all of it, with its pages elsewhere; one a page of 4 KiB if left out."""
    returned: int = 0
    """Bytes that come back page by page when the host touches them after the device."""
    return_faults: int = 0
    """Faults of the host that bring it back."""
    return_prefetches: int = 0
    """Copies that the driver's prefetcher adds to theirs."""
    ahead: Ahead = field(default_factory=Ahead)
    """Bytes that prefetches before launches bring if it is managed and prefetched."""
    write_shared: bool = False
    """Host and device write it in concurrent or near phases: pages on demand thrash."""
    thrashing: float = 0.0
    """Seconds that its faults are held up in all because it thrashes."""
    copied_in: int = 0
    """Bytes that the host copies to the device if it is in device memory."""
    copied_out: int = 0
    copies: int = 0
    """Calls that copy."""
    seen_by_host: bool = True
    """Whether the host ever touches it."""

    def to_model(self) -> dict[str, Any]:
        """The values in the model's form."""
        sizes = {name: _bytes(getattr(self, name)) for name in ("size", "lines", "copied_in", "copied_out")}
        required = None if self.required is None else _bandwidth(self.required)
        host_faults = -(-self.size // 4096) if self.host_faults is None else self.host_faults
        times = {"thrashing": _time(self.thrashing), "required": required}
        told = asdict(self)
        told["fault_runs"] = _EACH if self.fault_runs is None else self.fault_runs
        told["ahead"]["bytes"] = _bytes(told["ahead"]["bytes"])
        returns = {
            "bytes": _bytes(told.pop("returned")),
            "faults": told.pop("return_faults"),
            "prefetches": told.pop("return_prefetches"),
        }
        return {**told, **sizes, **times, "host_faults": host_faults, "returns": returns}


def _bytes(count: float) -> str:
    return f"{round(count)}B"


def _bandwidth(rate: float) -> str:
    return f"{round(rate)}B/s"


def _time(seconds: float) -> str:
    return f"{round(seconds * 1e12)}ps"


@dataclass(frozen=True)
class Penalty:
    """What host placement costs and saves, term by term; seconds, except `volume` (bytes) and `concurrency`."""

    volume: int
    latency: float
    concurrency: float
    hidden: float
    hidden_by_prefetch: float
    exposed: float
    faults: float
    prefetches: float
    thrashing: float
    first_touch: float
    returned: float
    having: float
    launches: float
    copy: float
    thrashes: bool
    phi: float
    """The costs of host placement minus what it saves. Below 0, the host is the better place, unless it thrashes."""
    advises_host: bool
    copies: float = 0.0
    """Copies of the program, where a recording gives them."""

    @property
    def terms(self) -> dict[str, float]:
        """The terms whose sum is φ."""
        names = ("exposed", "faults", "prefetches", "thrashing", "first_touch", "returned", "having")
        known = {"copies": self.copies} if self.copies else {}
        saved = {"launches": -self.launches, "copy": -self.copy}
        return {**{name: getattr(self, name) for name in names}, **known, **saved}


def moved_alone(**terms: float) -> Penalty:
    """A penalty of which only these terms are known, in seconds."""
    nothing = dict.fromkeys((name for name, kind in Penalty.__annotations__.items() if kind == "float"), 0.0)
    phi = sum(terms.values())
    return Penalty(**{**nothing, **terms, "phi": phi}, volume=0, thrashes=False, advises_host=phi < 0)


@dataclass(frozen=True)
class Fetches:
    """The result of touching pages one after another."""

    faults: int
    prefetched: int
    useful: int
    """Prefetched pages that were touched later."""
    each: list[int] = field(repr=False)
    """Pages that each fault brought, itself counted."""


@dataclass(frozen=True)
class GraphSparsity:
    """The part of a graph that a traversal touches."""

    reached: float
    """Vertices."""
    vertices: float
    """σ, by pages, of an array with an element for each vertex."""
    edges: float
    """σ, by pages, of an array with an element for each edge."""


@dataclass(frozen=True)
class Choice:
    """The structures chosen for device memory."""

    chosen: list[bool]
    gain: float
    exact: bool
    """Whether nothing gains more; otherwise the search was cut off."""


def penalty(
    system: System, structure: Structure, host: Host = "on-demand", readings: str | Mapping[str, str] = "sound"
) -> Penalty:
    """The host access penalty of a structure.

    Args:
        system: the machine.
        structure: the data structure.
        host: how it comes to the device if it is host-placed.
        readings: `sound`, `published` (as printed, even if units do not match), or some by name on top of the sound
            ones, such as `{"latency": "alone"}`.

    Raises:
        AdviceError: a constant is out of its range, or there is no such reading.

    Examples:
        >>> from dataclasses import replace
        >>> from octavo.advice import systems
        >>> machine = systems.from_node("cuda-sm90").system
        >>> rare = Structure(1 << 30, lines=1 << 20, sigma=0.05, fault_concurrency=64, copied_in=1 << 30, copies=1)
        >>> penalty(machine, rare).advises_host, penalty(machine, replace(rare, sigma=1.0)).advises_host
        (True, False)

    """
    chosen = json.loads(_asked(lambda: _core.penalty_readings(readings))) if isinstance(readings, str) else readings
    question = {
        "system": system.to_model(),
        "structure": structure.to_model(),
        "host": host,
        "readings": dict(chosen),
    }
    return Penalty(**json.loads(_asked(lambda: _core.host_access_penalty(json.dumps(question)))))


def prefetched(
    touches: Sequence[int],
    pages: range,
    prefetcher: Literal["none", "doubling", "tree"] = "tree",
    *,
    page_bytes: int = 4096,
    threshold: int = 51,
) -> Fetches:
    """Simulate touches of pages in order, by number; no page is present at first.

    Args:
        touches: pages in the order in which they are touched.
        pages: pages of the allocation; nothing outside comes.
        prefetcher: `doubling` as published, where `touches` come from one multiprocessor; `tree` as the stock driver
            has it; or `none`.
        page_bytes: bytes of a page, for the tree.
        threshold: per cent of a subtree that bring the rest of it, for the tree.

    Raises:
        AdviceError: there is no such prefetcher.

    Examples:
        >>> prefetched(range(512), range(512)).each
        [16, 16, 32, 64, 128, 256]

    """
    span = (pages.start, pages.stop)
    return Fetches(*_asked(lambda: _core.prefetch_replay(prefetcher, list(touches), span, page_bytes, threshold)))


def graph_sparsity(
    offsets: Sequence[int],
    targets: Sequence[int],
    *,
    element: int = 4,
    page: int = 4096,
    source: int | None = None,
) -> GraphSparsity:
    """The part of a graph in compressed sparse rows that a traversal touches.

    Args:
        offsets: first edge of each vertex, and the number of edges at the end.
        targets: where each edge leads.
        element: bytes of an element for each vertex, and of one for each edge.
        page: bytes of a page.
        source: where the traversal begins, which is then done; estimated from the degrees if left out.

    Raises:
        AdviceError: the rows are no graph.

    Examples:
        >>> graph_sparsity([0, 1, 2, 2, 2], [1, 0], element=4096)
        GraphSparsity(reached=2.0, vertices=0.5, edges=1.0)

    """
    return GraphSparsity(*_asked(lambda: _core.graph_sparsity(list(offsets), list(targets), element, page, source)))


def choose(candidates: Sequence[tuple[int, float]], budget: int) -> Choice:
    """The candidates (bytes in device memory, seconds gained there) of the largest gain that fit a budget in bytes."""
    return Choice(*_core.budget_choice(list(candidates), budget))


def _asked(ask: Callable[[], _T]) -> _T:
    try:
        return ask()
    except (ValueError, OverflowError) as error:
        raise AdviceError(str(error), code="unexpected-value") from None
