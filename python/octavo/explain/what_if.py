"""Remedies: the same scenario with one thing changed, run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.errors import InterruptedRun, OutputError, ScenarioError, SimulationError
from octavo.explain.quantities import split
from octavo.runs.execute import Point, execute
from octavo.runs.experiment import slug
from octavo.runs.held import SCENARIO_FILE, is_finished
from octavo.scenarios import catalogue
from octavo.scenarios.scenario import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from octavo.runs.execute import Progress
    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario

_SCALED = (
    ("driver service halved", ("node.driver.service.service",), 0.5),
    ("GPU links twice as fast", ("node.gpu_link.bandwidth",), 2),
    ("host links twice as fast", ("node.host_link.bandwidth", "node.host_link.to_host"), 2),
    ("twice the walkers of each GPU", ("node.walker.walkers",), 2),
    ("twice the second-level TLB", ("node.l2_tlb.entries",), 2),
    ("twice the remote lines in flight", ("node.remote.lines_in_flight",), 2),
)
"""Values that are tried at another size: what it is called, those of its keys that are there, the factor; chosen."""
BOUND = "ideal"
"""The placement that no other can beat."""
_NOT_MANAGED = "interleaved"
"""The placement of memory that never moves: no alternative for memory that does."""


@dataclass(frozen=True)
class Remedy:
    """One change, and what became of it."""

    label: str
    override: str
    """The change as `--set` takes it; with ` --set ` between values that change together."""
    time_ps: int
    change: float
    """Time relative to the run as it was, minus 1: -0.48 is 48 % less."""
    bound: bool
    """Whether it is no remedy but the limit of what placement can reach."""
    folder: str


def tried(
    result: RunResult,
    root: str | Path,
    *,
    workers: int | None = None,
    watch: Callable[[Progress], None] | None = None,
) -> list[Remedy]:
    """Run every change that the scenario can have; largest gain first.

    A change that cannot be simulated, such as a placement that the node has no memory for, is left out.

    Raises:
        OutputError: the folder cannot be written.
        InterruptedRun: Ctrl-C; what is finished is kept.

    """
    scenario = result.scenario
    found = dict(_changes(Recipe(scenario.toml, str(result.folder / SCENARIO_FILE)), scenario))
    points = [
        Point(label, scenario, Path(root) / slug(f"{label}-{scenario.digest}"))
        for label, (_, scenario) in found.items()
    ]
    try:
        finished = _finished(points, workers, watch)
    except OutputError as error:
        if "--force" in (error.hint or ""):
            error.hint = "remove the folder of that run: the same command then runs it again"
        raise
    before = int(result.summary["time_ps"])
    remedies = [
        Remedy(
            label=label,
            override=found[label][0],
            time_ps=time,
            change=time / before - 1,
            bound=found[label][0].endswith(f"={BOUND}"),
            folder=str(one.folder),
        )
        for label, one in finished.items()
        if (time := int(one.summary["time_ps"]))
    ]
    return sorted(remedies, key=lambda one: one.time_ps)


def _finished(
    points: list[Point], workers: int | None, watch: Callable[[Progress], None] | None
) -> dict[str, RunResult]:
    """The results of the points that can be simulated."""
    try:
        return dict(zip([point.label for point in points], execute(points, workers=workers, watch=watch), strict=True))
    except InterruptedRun:
        raise
    except SimulationError:
        done = [point for point in points if is_finished(point.folder)]
        return dict(zip([point.label for point in done], execute(done, workers=workers), strict=True))


def _changes(recipe: Recipe, scenario: Scenario) -> Iterator[tuple[str, tuple[str, Scenario]]]:
    """Every change that makes another scenario of this one: its name, and how it is written."""
    values = scenario.values
    others = [name for name in catalogue.names("placements") if name not in (scenario.placement, _NOT_MANAGED)]
    written = {label: [_scaled(values, key, factor) for key in keys] for label, keys, factor in _SCALED}
    written |= {f"`{name}` instead of `{scenario.placement}`": [f"memory.placement={name}"] for name in others}
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
    """A value at another size; nothing where the scenario has none, or none that is a number."""
    found: Any = values
    for part in key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    try:
        number, unit = split(found)
    except ValueError:
        return None
    return f"{key}={number * factor:g}{unit}" if number else None
