"""The study's tables, made of advice and runs."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from statistics import fmean
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo_studies.memmap import intervals, systems
from octavo_studies.memmap.applications import APPLICATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from octavo.advice.answer import Advice
    from octavo.advice.exhaustive import Exhausted
    from octavo.advice.facts import Buffer
    from octavo.runs.result import RunResult
    from octavo_studies.memmap.graphs import Graph
    from octavo_studies.memmap.intervals import Intervals

_PAGE = 4096
"""Bytes that a rate of faults refers to, for any page size of the system."""
_COMPARED = (systems.MODEL, systems.OPTIMUM)


@dataclass(frozen=True)
class Case:
    """What is known of an application on one input."""

    application: str
    seed: int
    advice: Advice
    """The model's placements, and the time of every placement."""
    estimated: Sequence[Buffer]
    """What is known of its buffers without a run."""
    advised: float
    """Seconds in managed memory with `cudaMemAdvise`."""
    managed: RunResult
    """The run in managed memory, with its events."""
    cost: tuple[float, float]
    """Seconds of processor time that counting all accesses took, and then the decision."""
    spent: Mapping[str, Intervals]
    """Where the time of every placement goes, by its letters."""

    @property
    def placements(self) -> dict[str, str]:
        """The letters of what is compared."""
        every, structures = self.every, len(self.estimated)
        (model,) = every.points.filter("is_advice")["placements"]
        device, managed = (letter * structures for letter in "dm")
        best = str(every.best["placements"])
        return {systems.DEVICE: device, systems.MANAGED: managed, systems.MODEL: str(model), systems.OPTIMUM: best}

    @property
    def every(self) -> Exhausted:
        """Every placement."""
        assert self.advice.exhausted is not None  # noqa: S101 - the study asks for it
        return self.advice.exhausted

    def speed(self, letters: str) -> float:
        """A placement over all on the device."""
        return self.spent[self.placements[systems.DEVICE]].whole / self.spent[letters].whole


@dataclass(frozen=True)
class Tables:
    """What all cases together say; `octavo_studies.memmap.findings` says what is in them."""

    points: pl.DataFrame
    systems: pl.DataFrame
    intervals: pl.DataFrame
    structures: pl.DataFrame
    graphs: pl.DataFrame


def of(cases: Sequence[Case], inputs: Sequence[Graph]) -> Tables:
    """The tables of all cases; those of graph programs ran on `inputs`."""
    return Tables(
        points=pl.concat([_points(case) for case in cases]),
        systems=_systems(cases),
        intervals=_intervals(cases),
        structures=pl.DataFrame([row for case in cases for row in _structures(case)]),
        graphs=_graphs(cases, inputs),
    )


def costs(cases: Sequence[Case]) -> pl.DataFrame:
    """One row for each application and input: what the model takes on this machine, in seconds of processor time."""
    columns = {"application": [case.application for case in cases], "seed": [case.seed for case in cases]}
    counted, decided = zip(*(case.cost for case in cases), strict=True)
    structures = [len(case.estimated) for case in cases]
    return pl.DataFrame({**columns, "structures": structures, "counted": counted, "decided": decided})


def geometric(values: Iterable[float]) -> float:
    """The geometric mean."""
    logarithms = [log(value) for value in values]
    return exp(sum(logarithms) / len(logarithms))


def _points(case: Case) -> pl.DataFrame:
    """One row for each placement, the fastest first."""
    every = case.every.points
    device = case.spent[case.placements[systems.DEVICE]].whole
    spent = [case.spent[letters] for letters in every["placements"]]
    parts = [pl.Series(name, [getattr(one, name) for one in spent]) for name in intervals.NAMES]
    return every.select(
        pl.lit(case.application).alias("application"),
        pl.lit(case.seed).alias("seed"),
        "placements",
        "seconds",
        *parts,
        (pl.col("seconds") / device).alias("relative"),
        "regret",
        "device_bytes",
        "is_advice",
    )


def _systems(cases: Sequence[Case]) -> pl.DataFrame:
    """One row for each application: speed-ups over all on the device, averaged over its graphs, regrets and spread."""
    rows = []
    for name in dict.fromkeys(case.application for case in cases):
        speeds = [_speeds(case) for case in cases if case.application == name]
        average = {system: geometric(each[system] for each in speeds) for system in speeds[0]}
        what = {"application": name, "pattern": APPLICATIONS[name].pattern, "inputs": len(speeds)}
        rows.append({**what, "placements": _points(_first(cases, name)).height, **average})
    return pl.DataFrame(rows)


def _first(cases: Sequence[Case], name: str) -> Case:
    return next(case for case in cases if case.application == name)


def _speeds(case: Case) -> dict[str, float]:
    """Each system over all on the device; besides, the slowest placement, and the model's time over the fastest's."""
    spent, at = case.spent, case.placements
    device, model = spent[at[systems.DEVICE]], spent[at[systems.MODEL]]
    best = min(one.whole for one in spent.values())
    apart = {}
    for part in intervals.PARTS:
        alone = {letters: getattr(one, part) for letters, one in spent.items()}
        apart[f"{systems.MODEL}_{part}"] = alone[at[systems.DEVICE]] / alone[at[systems.MODEL]]
        apart[f"{systems.OPTIMUM}_{part}"] = alone[at[systems.DEVICE]] / min(alone.values())
    return {
        "milliseconds": device.whole * 1e3,
        systems.DEVICE: 1.0,
        systems.MANAGED: case.speed(at[systems.MANAGED]),
        systems.ADVISED: device.whole / case.advised,
        systems.MODEL: case.speed(at[systems.MODEL]),
        systems.OPTIMUM: case.speed(at[systems.OPTIMUM]),
        **apart,
        "spread": max(one.whole for one in spent.values()) / best,
        "model_over_optimum": model.whole / best,
    }


def _intervals(cases: Sequence[Case]) -> pl.DataFrame:
    """One row for each application and system: milliseconds of each interval, means over its inputs."""
    rows = []
    for name in dict.fromkeys(case.application for case in cases):
        of_name = [case for case in cases if case.application == name]
        for system in _first(cases, name).placements:
            spent = [case.spent[case.placements[system]] for case in of_name]
            parts = {part: fmean(getattr(one, part) for one in spent) * 1e3 for part in intervals.NAMES}
            rows.append({"application": name, "system": system, **parts, "whole": sum(parts.values())})
    return pl.DataFrame(rows)


def _graphs(cases: Sequence[Case], inputs: Sequence[Graph]) -> pl.DataFrame:
    """One row for each graph: what it is, the least σ found on it, and speed-ups, means over the graph programs."""
    rows = []
    for seed, graph in enumerate(inputs):
        on = [case for case in cases if case.seed == seed and APPLICATIONS[case.application].on_graphs]
        if on:
            sparsest = min(row["sigma"] for case in on for row in _structures(case))
            found = {system: geometric(case.speed(case.placements[system]) for case in on) for system in _COMPARED}
            found["optimum_moved"] = geometric(_speeds(case)["optimum_moved"] for case in on)
            rows.append({"seed": seed, "graph": graph.label, "degree": graph.degree, "least_sigma": sparsest, **found})
    return pl.DataFrame(rows)


def _structures(case: Case) -> list[dict[str, Any]]:
    """One row for each data structure: σ and ρ as estimated and as found, and how often it faults."""
    counted = {row["allocation"]: row for row in case.managed.rows("allocations")}
    measured = {each.buffer.name: each for each in case.advice.plan.buffers}
    rows = []
    for buffer in case.estimated:
        told = measured[buffer.name]
        faults = counted[buffer.name]["read_fault"] + counted[buffer.name]["write_fault"]
        row = {"application": case.application, "seed": case.seed, "structure": buffer.name, "bytes": buffer.size}
        row |= {"model": told.placement, "optimum": case.every.best[buffer.name]}
        for name in ("sigma", "rho"):
            row |= {f"{name}_estimated": buffer.facts[name].value, name: told.buffer.facts[name].value}
        row |= {"gpu_faults": faults, "faults_per_page": faults / -(-buffer.size // _PAGE)}
        rows.append(row | {"used": buffer.facts["used"].value, "phi_ms": told.costs["managed"].value * 1e3})
    return rows
