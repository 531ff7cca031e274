"""Changes that a scenario can have, one at a time: other placements, values at another size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.errors import ScenarioError
from octavo.quantities import split
from octavo.scenarios import catalogue
from octavo.scenarios.scenario import value_at

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from octavo.scenarios.scenario import Recipe, Scenario

_SCALED = (
    ("driver service halved", ("node.driver.service.service",), 0.5),
    ("GPU links twice as fast", ("node.gpu_link.bandwidth",), 2),
    ("host links twice as fast", ("node.host_link.bandwidth", "node.host_link.to_host"), 2),
    ("twice the walkers of each GPU", ("node.walker.walkers",), 2),
    ("twice the second-level TLB", ("node.l2_tlb.entries",), 2),
    ("twice the remote lines in flight", ("node.remote.lines_in_flight",), 2),
)
"""Values that are tried at another size: their name, those of their keys that exist, and the factor; our choice."""
_AGAINST = {
    "gap": {"launches without gaps": {"node.compute.kernel_overhead": 0}},
    "pipeline": {"twice the SIMDs": {"node.compute.simds_per_unit": 2}},
    "gather": {"twice the lines of a gather at once": {"node.compute.tags_at_once": 2}},
    "barrier": {"barriers without cycles of their own": {"node.compute.barrier": 0}},
    "load": {
        "twice the loads in flight": {"node.compute.loads_ahead": 2},
        "twice the first-level cache": {"node.l1.size": 2},
        "twice the second-level cache": {"node.l2.size": 2},
    },
    "queue": {
        "twice the banks of second-level caches": {"node.l2.banks": 2},
        "twice the banks of GPU memory": {"node.dram.banks": 2},
    },
}
"""Values that are tried against a stall: by its name, that of the change, and the factor of each key; our choice."""
_KNOWN = ("walk", "translations that are always known", "node.ideal_tlb=true")
"""The stall, the name and the override of TLBs that have every mapped page."""
TRIED = 0.05
"""The share of the kernels' time from which on a stall is tried to be removed; our choice."""
PLACEMENT = "memory.placement="
"""The beginning of the override that selects another placement."""
_NOT_MANAGED = "interleaved"
"""The placement of memory that never moves: no alternative for memory that moves."""


def changes(
    recipe: Recipe, scenario: Scenario, stalls: Mapping[str, float] | None = None
) -> Iterator[tuple[str, tuple[str, Scenario]]]:
    """Every change that leads to a different scenario: its name, and how it is written.

    `stalls` are shares of the kernels' time: those that take much of it have changes of their own.
    """
    values = scenario.values
    others = [name for name in catalogue.names("placements") if name not in (scenario.placement, _NOT_MANAGED)]
    written = {label: [_scaled(values, key, factor) for key in keys] for label, keys, factor in _SCALED}
    written |= {f"`{name}` instead of `{scenario.placement}`": [f"{PLACEMENT}{name}"] for name in others}
    if values["memory"].get("prefetch", {}).get("name") == "none":
        written["the `tree` prefetcher"] = ["memory.prefetch=tree"]
    written |= _against(values, {stall for stall, share in (stalls or {}).items() if share >= TRIED})
    for label, found in written.items():
        overrides = [each for each in found if each is not None]
        if not overrides:
            continue
        try:
            changed = recipe.with_overrides([*overrides, "record.events=false"]).resolve()
        except ScenarioError:
            continue
        yield label, (" --set ".join(overrides), changed)


def _against(values: dict[str, Any], stalls: Collection[str]) -> dict[str, list[str | None]]:
    """Changes against some stalls."""
    found = {
        label: [_scaled(values, key, factor) for key, factor in keys.items()]
        for stall, tries in _AGAINST.items()
        if stall in stalls
        for label, keys in tries.items()
    }
    stall, label, override = _KNOWN
    if stall in stalls and not values["node"].get("ideal_tlb"):
        found[label] = [override]
    return found


def _scaled(values: dict[str, Any], key: str, factor: float) -> str | None:
    """A value at another size; None if the scenario has no such value, or it is no number."""
    value, number, unit = value_at(values, key), 0.0, ""
    if isinstance(value, (int, float)):
        number = value
    elif isinstance(value, str):
        number, unit = split(value)
    return f"{key}={number * factor:g}{unit}" if number else None
