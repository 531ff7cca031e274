"""The study's tables, made of advice and runs."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo_studies.memmap import systems
from octavo_studies.memmap.applications import APPLICATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octavo.advice.answer import Advice
    from octavo.advice.facts import Buffer
    from octavo.runs.result import RunResult

_PAGE = 4096
"""Bytes that a rate of faults refers to, for any page size of the system."""


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


def of(cases: Sequence[Case]) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """One table each: placements, applications under each system, data structures."""
    points = pl.concat([_points(case) for case in cases])
    return points, _systems(cases), pl.DataFrame([row for case in cases for row in _structures(case)])


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
    assert case.advice.exhausted is not None  # noqa: S101 - the study asks for it
    every = case.advice.exhausted.points
    device = _seconds_of(case, "d")
    return every.select(
        pl.lit(case.application).alias("application"),
        pl.lit(case.seed).alias("seed"),
        "placements",
        "seconds",
        (pl.col("seconds") / device).alias("relative"),
        "regret",
        "device_bytes",
        "is_advice",
    )


def _seconds_of(case: Case, letter: str) -> float:
    """Seconds with all buffers in one placement."""
    assert case.advice.exhausted is not None  # noqa: S101 - as above
    every = case.advice.exhausted.points
    return float(every.filter(pl.col("placements") == letter * len(case.estimated))["seconds"][0])


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
    assert case.advice.exhausted is not None  # noqa: S101 - as above
    every = case.advice.exhausted
    device, best = _seconds_of(case, "d"), float(every.best["seconds"])
    model = float(every.points.filter("is_advice")["seconds"][0])
    return {
        "milliseconds": device * 1e3,
        systems.DEVICE: 1.0,
        systems.MANAGED: device / _seconds_of(case, "m"),
        systems.ADVISED: device / case.advised,
        systems.MODEL: device / model,
        systems.OPTIMUM: device / best,
        "spread": max(every.points["seconds"].to_list()) / best,
        "model_over_optimum": model / best,
    }


def _structures(case: Case) -> list[dict[str, Any]]:
    """One row for each data structure: σ and ρ as estimated and as found, and how often it faults."""
    assert case.advice.exhausted is not None  # noqa: S101 - as above
    counted = {row["allocation"]: row for row in case.managed.rows("allocations")}
    measured = {each.buffer.name: each for each in case.advice.plan.buffers}
    rows = []
    for buffer in case.estimated:
        told = measured[buffer.name]
        faults = counted[buffer.name]["read_fault"] + counted[buffer.name]["write_fault"]
        row = {"application": case.application, "seed": case.seed, "structure": buffer.name, "bytes": buffer.size}
        row |= {"model": told.placement, "optimum": case.advice.exhausted.best[buffer.name]}
        for name in ("sigma", "rho"):
            row |= {f"{name}_estimated": buffer.facts[name].value, name: told.buffer.facts[name].value}
        row |= {"gpu_faults": faults, "faults_per_page": faults / -(-buffer.size // _PAGE)}
        rows.append(row | {"used": buffer.facts["used"].value, "phi_ms": told.costs["managed"].value * 1e3})
    return rows
