"""Which values without a source decide a run: those behind a significant share of its time."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from octavo.quantities import count, cycle, split
from octavo.runs import measures
from octavo.scenarios.about import About, about, listed, together
from octavo.scenarios.scenario import value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario

LEAST = 0.05
"""The least share of the time above which a value counts as deciding; our choice."""


@dataclass(frozen=True)
class Decided:
    """A chosen value, and the part of the run that it decides."""

    key: str
    """Below `node`."""
    part: str
    """What takes the time."""
    share: float
    """At most this share of the run's time: parts may overlap, and other values may decide them, too."""


def decided(result: RunResult) -> list[Decided]:
    """The chosen values that decide a run, largest share first; empty for a run without time.

    Raises:
        OutputError: the result cannot be read.

    """
    return of(result.scenario, result.totals)


def of(scenario: Scenario, summary: Mapping[str, Any]) -> list[Decided]:
    """The same for a scenario and the summary and tables of its run."""
    if "time_ps" not in summary:
        return []
    values = scenario.values
    node, chosen = values["node"], set(about(values).chosen)
    spent = (part for part in _parts(node, scenario.kind, summary) if part.key in chosen and part.share >= LEAST)
    return [part for part in _largest(spent) if _counts(value_at(node, part.key))]


def by_node(results: Iterable[RunResult]) -> dict[About, list[Decided]]:
    """The nodes of results, and of each the values that decide any of its results, with their largest share."""
    deciding: dict[About, list[Decided]] = {}
    for result in results:
        deciding.setdefault(about(result.scenario.values), []).extend(of(result.scenario, result.totals))
    return {
        node: _largest(value for one in same for value in deciding[one]) for node, same in together(deciding).items()
    }


def documents(nodes: Mapping[About, Sequence[Decided]]) -> list[dict[str, Any]]:
    """The same for JSON, with all of these values, the part of the run that each decides, and its share of the time."""
    return [{**node.to_dict(), "decided": [asdict(value) for value in values]} for node, values in nodes.items()]


def _largest(found: Iterable[Decided]) -> list[Decided]:
    """Each value once, with its largest share, the largest first."""
    largest: dict[str, Decided] = {}
    for value in found:
        if value.key not in largest or largest[value.key].share < value.share:
            largest[value.key] = value
    return sorted(largest.values(), key=lambda one: (-one.share, one.key))


def _counts(value: object) -> bool:
    """Whether a value is above zero: a cost of zero, or a missing limit, decides nothing."""
    return bool(split(value)[0] if isinstance(value, str) else value)


def sentence(found: Sequence[Decided]) -> str | None:
    """One sentence about these values; None if there are none."""
    if not found:
        return None
    keys = tuple(dict.fromkeys(f"node.{one.key}" for one in found))
    return f"values that no source gives decide up to {found[0].share:.0%} of the time: {listed(keys)}."


def _parts(node: Mapping[str, Any], kind: str, summary: Mapping[str, Any]) -> Iterator[Decided]:
    """Every value that takes a known part of the time, and its share."""
    time = max(int(summary["time_ps"]), 1)
    yield from (
        Decided(key, part, min(taken / time, 1.0)) for part, costs in _costs(node, summary) for key, taken in costs
    )
    point = measures.of_summary("", "", summary)
    phases = measures.phases(point) if "phases" in summary else {}
    for phase, keys in _OF_PHASE.items():
        told = [key for key in keys if _concerns(key, kind)]
        yield from (Decided(key, phase.replace("_", " "), phases.get(phase, 0) / time) for key in told)
    kernels = phases["kernels"] / time if phases else 1.0
    for cause, share in measures.shares(point).items():
        yield from (Decided(key, cause.replace("_", " "), share * kernels) for key in _OF_CAUSE.get(cause, ()))


def _costs(node: Mapping[str, Any], summary: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    """Picoseconds of launches, page-table entries and the driver's service, each by its key."""
    launch = count(node["compute"].get("kernel_overhead", "0cycles"), "cycles") * cycle(node["clock"])
    yield "launches", [("compute.kernel_overhead", summary["launches"] * launch)]
    entries = sum(summary["manager"][name] for name in _MAPPED)
    entry = count(node["driver"]["entry_write"], "cycles") * cycle(node["clock"])
    yield "entries of page tables", [("driver.entry_write", entries * entry)]
    service, manager = node["driver"]["service"], summary["manager"]
    faults = manager["far_faults"] + manager["protection_faults"]
    if service["model"] == "pool":
        served = faults / int(service["servers"])
        yield "faults' service", [("driver.service.service", served * count(service["service"], "ps"))]
        return
    side_by_side = int(node["gpus"]) if service.get("scope") == "per-gpu" else 1
    batches = summary.get("batches", 0) / side_by_side
    each = {"batch": batches, "interrupt": batches, "block": batches, "request": faults / side_by_side}
    costs = [(f"driver.service.{key}", often * count(service.get(key, "0ns"), "ps")) for key, often in each.items()]
    yield "faults' service", costs


_MAPPED = ("migrations", "duplications", "remote_maps", "prefetched")
"""Counts of pages whose entries the driver writes."""
_KINDS = {"device": "explicit", "pinned": "pinned", "managed": "managed", "system": "system"}
"""Kinds of programs, by the costs of their memory."""


def _calls(what: str) -> list[str]:
    return [f"host.costs.{kind}.{what}.{part}" for kind in _KINDS for part in ("call", "each")]


_OF_PHASE: Mapping[str, Sequence[str]] = {
    "allocation": [*_calls("allocate"), "host.costs.context"],
    "deallocation": [*_calls("free"), "host.costs.unmap_page"],
    "host_initialisation": [
        "host.costs.minor_fault",
        "host.costs.zeroing",
        "host.cpu.lines_in_flight",
        "host.cpu.memory_bandwidth",
        "host.cpu.memory_latency",
    ],
    "host_results": ["host.costs.driver_fault", "host.cpu.memory_bandwidth", "coherence.cpu_latency"],
    "copies": [
        "host.costs.copy_call",
        "host.costs.staging.to_gpu",
        "host.costs.staging.to_host",
        "host_link.bandwidth",
        "host_link.to_host",
    ],
}
"""Values that decide each phase of a whole program."""


def _concerns(key: str, kind: str) -> bool:
    """Whether a cost belongs to the program's kind of memory, or to all kinds."""
    of = key.split(".")[2] if key.startswith("host.costs.") else ""
    return of not in _KINDS or _KINDS[of] in kind.split("+")


_LINK = ("host_link.bandwidth", "host_link.latency", "copy_engines.setup")
_OF_CAUSE: Mapping[str, Sequence[str]] = {
    "local": ["l1.latency", "l2.latency", "l2.crossbar", "l2.banks", "dram.latency", "dram.banks"],
    "host": ["coherence.first_touch", "coherence.first_touch_cores"],
    "migration": [*_LINK, "host_link.to_host"],
    "eviction": ["host_link.to_host", "host_link.latency", "copy_engines.setup", "host.costs.frame"],
    "prefetch": _LINK,
    "remote_access": [
        *_LINK[:2],
        "host.memory_latency",
        "gpu_link.bandwidth",
        "gpu_link.latency",
        "remote.lines_in_flight",
    ],
    "walk": ["walker.level", "walker.walkers", "l2_tlb.entries", "coherence.walk", "coherence.walkers"],
}
"""Values that decide what accesses wait for, while kernels run."""
