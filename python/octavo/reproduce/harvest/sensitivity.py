"""One thing varied: how much is prefetched, and how much memory neighbours have to spare."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.files.links import inside
from octavo.reproduce.harvest import systems
from octavo.reproduce.harvest.cases import CASES, Case, network
from octavo.runs import pictures
from octavo.runs.comparison import SAVED, experiment_folder, save_report
from octavo.runs.execute import Point, execute
from octavo.runs.experiment import RUNS, Variant
from octavo.runs.slugs import slug
from octavo.scenarios.scenario import digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from octavo.reproduce.harvest.study import Study
    from octavo.scenarios.scenario import Recipe, Scenario

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
    scenarios: Callable[[Study], dict[Key, Scenario]]


@dataclass(frozen=True)
class Varied:
    """What was found."""

    root: Path
    points: pl.DataFrame
    """One row for each value, system and job: `value`, `system`, `job`, `role`, `time_ps`, `speedup` over the stock
    driver at the same value, or the only one there is."""

    def to_dict(self) -> dict[str, Any]:
        """The values as JSON holds them."""
        return {"points": self.points.to_dicts()}


def _prefetch(study: Study) -> dict[Key, Scenario]:
    """Case 1: all techniques with so many chunks ahead, beside the stock driver."""
    recipe, memory = study.case(CASES["1"])
    stock, *_ = study.ladder(memory)
    found = {(0, stock.label): _plain(recipe, stock)}
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
    "prefetch": Sweep("Prefetched after each batch", "MiB", _prefetch),
    "spare": Sweep("Memory that neighbours have to spare", "%", _spare),
}


def vary(study: Study, name: str) -> Varied:
    """Run what is not finished yet; errors as `octavo.reproduce.harvest.study.reproduce`."""
    sweep = SWEEPS[name]
    scenarios = sweep.scenarios(study)
    key = digest(scenarios.values())
    root = study.output or Path("runs") / f"harvest-{name}-{key}"
    points = [
        Point(f"{value} {sweep.unit} {label}", scenario, inside(root, RUNS, f"{name}-{value}", slug(label)))
        for (value, label), scenario in scenarios.items()
    ]
    with experiment_folder(root, key, force=study.force, draws=True, writes=SAVED):
        done = execute(points, workers=study.workers, force=study.force, watch=study.watch)
        harvesting = {job.name for job in CASES["1"].harvesting}
        rows = [
            {"value": value, "system": label, "job": job["name"], "time_ps": job["time_ps"]}
            | {"role": "harvests" if job["name"] in harvesting else "yields"}
            for (value, label), result in zip(scenarios, done, strict=True)
            for job in result.summary["jobs"]
        ]
        found = Varied(root, pl.DataFrame(rows).with_columns(speedup=_stock() / pl.col("time_ps")))
        _draw(found, sweep)
        save_report(root, key, found.points, found.to_dict())
    return found


def _stock() -> pl.Expr:
    times = pl.col("time_ps").filter(pl.col("system") == systems.STOCK).first()
    return times.over("value", "job").fill_null(times.over("job"))


def _draw(found: Varied, sweep: Sweep) -> None:
    series = {
        f"{system}: {job} ({role})": (rows["value"].to_list(), rows["speedup"].to_list())
        for (system, job, role), rows in found.points.filter(pl.col("system") != systems.STOCK).group_by(
            "system", "job", "role", maintain_order=True
        )
    }
    labels = (f"{sweep.title} in {sweep.unit}", "speed over the stock driver")
    pictures.lines(found.root / "sensitivity.png", series, labels, title=sweep.title)
