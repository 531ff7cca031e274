"""One thing varied: how much is prefetched, and how much memory neighbours have to spare."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from octavo_studies.engine import Found, Run, series
from octavo_studies.harvest import systems
from octavo_studies.harvest.cases import CASES, Case, network

if TYPE_CHECKING:
    from collections.abc import Callable

    from octavo.runs.experiment import Variant
    from octavo.scenarios.scenario import Recipe, Scenario
    from octavo_studies.harvest.study import Study

BLOCKS = (0, 1, 2, 4, 8, 16)
"""Chunks of 2 MiB that are prefetched: up to the published 32 MB."""
SPARE = (5, 10, 20, 30, 40, 50, 60)
"""Percent of a neighbour's memory that is idle, as published."""
BESIDE = "resnet18"
"""What fills the rest of the neighbours' memory (chosen: small tensors, so that it fills any share)."""

Key = tuple[int, str]
"""A value of what is varied, and the label of a system."""


@dataclass(frozen=True)
class Sweep:
    """A parameter, its unit, and every scenario of it."""

    title: str
    unit: str
    base: str
    """The system that others are divided by."""
    each: bool
    """Whether at the same value; at the first one if not."""
    scenarios: Callable[[Study], dict[Key, Scenario]]


def _prefetch(study: Study) -> dict[Key, Scenario]:
    """Case 1: all techniques with so many chunks ahead, the first without any, as in the publication."""
    recipe, memory = study.case(CASES["1"])
    found = {}
    for blocks in BLOCKS:
        system = systems.whole(study.reserve(memory), blocks)
        found[blocks * 2, system.label] = _plain(recipe, system)
    return found


def _spare(study: Study) -> dict[Key, Scenario]:
    """The harvester of case 1, and networks on all other GPUs that leave so much of their memory."""
    case = Case(CASES["1"].harvesting, (network(BESIDE, 128, 1, 2, 3),))
    found: dict[Key, Scenario] = {}
    for percent in SPARE:
        recipe, memory = replace(study, filled=1 - percent / 100).case(case)
        for system in _few(study.ladder(memory)):
            found[percent, system.label] = _plain(recipe, system)
    return found


def _plain(recipe: Recipe, system: Variant) -> Scenario:
    """A system without single events, which take room."""
    return recipe.with_overrides([*system.overrides, "record.events=false"]).resolve()


def _few(ladder: list[Variant]) -> list[Variant]:
    return [system for system in ladder if system.label in (systems.STOCK, "H", systems.WHOLE)]


SWEEPS = {
    "prefetch": Sweep("Prefetched after each batch", "MiB", systems.WHOLE, each=False, scenarios=_prefetch),
    "spare": Sweep("Memory that neighbours have to spare", "%", systems.STOCK, each=True, scenarios=_spare),
}


def vary(study: Study, name: str) -> Found:
    """Run what is not finished yet; errors as `octavo_studies.harvest.study.reproduce`.

    Points have one row for each value, system and job: `value`, `system`, `job`, `role`, `time_ps`, `speedup` over the
    stock driver at the same value, or over the run that prefetches nothing.
    """
    sweep = SWEEPS[name]
    scenarios = sweep.scenarios(study)
    wanted = {
        (value, label): Run(f"{value} {sweep.unit} {label}", scenario, (f"{name}-{value}", label))
        for (value, label), scenario in scenarios.items()
    }
    runs = study.carry_out(study.folder(scenarios.values(), name), wanted)
    harvesting = {job.name for job in CASES["1"].harvesting}
    rows = [
        {"value": value, "system": label, "job": job["name"], "time_ps": job["time_ps"]}
        | {"role": "harvests" if job["name"] in harvesting else "yields"}
        for (value, label), result in runs.results.items()
        for job in result.summary["jobs"]
    ]
    points = pl.DataFrame(rows).with_columns(speedup=_base(sweep) / pl.col("time_ps"))
    return runs.found(sweep.title, points, {"points": points}, lambda found: _draw(found, sweep))


def _base(sweep: Sweep) -> pl.Expr:
    times = pl.col("time_ps").filter(pl.col("system") == sweep.base).first()
    return times.over(*(("value", "job") if sweep.each else ("job",)))


_BASES = {systems.STOCK: "the stock driver", systems.WHOLE: "no prefetch"}


def _draw(found: Found, sweep: Sweep) -> None:
    rows = found.points.filter(pl.col("system") != systems.STOCK)
    named = rows.with_columns(line=pl.format("{}: {} ({})", "system", "job", "role"))
    labels = (f"{sweep.title} in {sweep.unit}", f"speed over {_BASES[sweep.base]}")
    path = found.root / "sensitivity.png"
    series.lines(path, named, "line", "value", "speedup", labels, title=sweep.title)
