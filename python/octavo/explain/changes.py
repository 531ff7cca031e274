"""Changes that a scenario can have, one at a time: other placements, values at another size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.errors import ScenarioError
from octavo.quantities import split
from octavo.scenarios import catalogue
from octavo.scenarios.scenario import value_at

if TYPE_CHECKING:
    from collections.abc import Iterator

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
PLACEMENT = "memory.placement="
"""The beginning of the override that selects another placement."""
_NOT_MANAGED = "interleaved"
"""The placement of memory that never moves: no alternative for memory that moves."""


def changes(recipe: Recipe, scenario: Scenario) -> Iterator[tuple[str, tuple[str, Scenario]]]:
    """Every change that leads to a different scenario: its name, and how it is written."""
    values = scenario.values
    others = [name for name in catalogue.names("placements") if name not in (scenario.placement, _NOT_MANAGED)]
    written = {label: [_scaled(values, key, factor) for key in keys] for label, keys, factor in _SCALED}
    written |= {f"`{name}` instead of `{scenario.placement}`": [f"{PLACEMENT}{name}"] for name in others}
    if values["memory"].get("prefetch", {}).get("name") == "none":
        written["the `tree` prefetcher"] = ["memory.prefetch=tree"]
    for label, found in written.items():
        overrides = [each for each in found if each is not None]
        if not overrides:
            continue
        try:
            changed = recipe.with_overrides([*overrides, "record.events=false"]).resolve()
        except ScenarioError:
            continue
        yield label, (" --set ".join(overrides), changed)


def _scaled(values: dict[str, Any], key: str, factor: float) -> str | None:
    """A value at another size; None if the scenario has no such value, or it is no number."""
    value, number, unit = value_at(values, key), 0.0, ""
    if isinstance(value, (int, float)):
        number = value
    elif isinstance(value, str):
        number, unit = split(value)
    return f"{key}={number * factor:g}{unit}" if number else None
