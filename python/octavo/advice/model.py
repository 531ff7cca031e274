"""The host access penalty, the driver's prefetchers, sparsity of graphs, and the choice under a budget.

Symbols, equations, and what of the publication (MemMap, PACT 2020) cannot be meant as printed: `docs/advise.md`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeVar

import octavo._core as _core
from octavo.advice.inputs import Structure, System, Toucher
from octavo.errors import AdviceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "Choice",
    "Fetches",
    "GraphSparsity",
    "Host",
    "Penalty",
    "Structure",
    "System",
    "Toucher",
    "choose",
    "graph_sparsity",
    "penalty",
    "prefetched",
]

_T = TypeVar("_T")
Host = Literal["on-demand", "pinned"]
"""How host-placed data come to the device: page by page at faults (managed memory), or line by line (pinned memory)."""


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
    thrashing: float
    first_touch: float
    returned: float
    having: float
    launches: float
    copy: float
    thrashes: bool
    phi: float
    """The sum: costs less what host placement saves. Below 0, the host is the better place, unless it thrashes."""
    advises_host: bool

    @property
    def terms(self) -> dict[str, float]:
        """What φ is the sum of."""
        names = ("exposed", "faults", "thrashing", "first_touch", "returned", "having")
        return {**{name: getattr(self, name) for name in names}, "launches": -self.launches, "copy": -self.copy}


@dataclass(frozen=True)
class Fetches:
    """What happened to pages touched one after another."""

    faults: int
    prefetched: int
    useful: int
    """Prefetched pages that were touched later."""
    each: list[int] = field(repr=False)
    """Pages that each fault brought, itself counted."""


@dataclass(frozen=True)
class GraphSparsity:
    """What of a graph a traversal touches."""

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
    """Touch pages in order, by number, none of them present at first.

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
    """What of a graph in compressed sparse rows a traversal touches.

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
        raise AdviceError(str(error)) from None
