"""Programs that exceed the GPU's memory: in strips with all on the device, or with some structures on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.advice import pipeline
from octavo.files.links import inside
from octavo.runs.execute import Point, execute
from octavo.runs.experiment import RUNS
from octavo.runs.result import RunResult
from octavo.scenarios.scenario import Recipe
from octavo_studies.memmap.systems import PLACEMENTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octavo.scenarios.scenario import Scenario
    from octavo_studies.engine import Study

SHARE = 60
"""Memory, per cent of the footprint. Our choice: the publication names none."""
PROGRAMS = ("AES", "FIR", "HIST", "BS", "KNN", "KM", "GA")
"""Applications with a structure that strips can cut; the others' kernels touch all of theirs in any order, or take too
long."""
_LIMIT = ("node.capacity.bytes=0B", f"node.capacity.footprint_percent={SHARE}")
_SCHEMA = {
    "application": pl.String,
    "strips_ms": pl.Float64,
    "strips_launches": pl.Int64,
    "managed": pl.Float64,
    "model": pl.Float64,
    "optimum": pl.Float64,
    "placements": pl.String,
    "launches": pl.Int64,
}


def run(study: Study, scenarios: Mapping[tuple[str, int], Scenario], root: Path) -> pl.DataFrame:
    """One row for each of `PROGRAMS` that the study runs: milliseconds and launches in strips, and speeds over that.

    `launches` are those of the fastest placement (`placements`: a letter a buffer, d or m). A speed is none where a
    placement does not fit: what it puts on the device is then more than there is.
    """
    chosen = {name: scenario for (name, seed), scenario in scenarios.items() if name in PROGRAMS and seed == 0}
    rows = [_row(study, name, scenario, root) for name, scenario in chosen.items()]
    return pl.DataFrame(rows, schema=_SCHEMA)


def _row(study: Study, name: str, scenario: Scenario, root: Path) -> dict[str, Any]:
    limited = Recipe(scenario.toml, "scenario", _LIMIT).resolve()
    cut = Recipe(limited.toml, "scenario", ("program.kind=explicit",)).resolve()
    (strips,) = execute([Point(f"{name} in strips", cut, inside(root, RUNS, f"{name}-strips"))], **study.how)
    folder = inside(root, RUNS, f"{name}-limited")
    advice = pipeline.advise(limited, placements=PLACEMENTS, runs=0, exhaustive=True, output=folder, **study.how)
    assert advice.exhausted is not None  # noqa: S101 - asked for
    every = advice.exhausted.points
    best = every.row(0, named=True)
    speeds = {row["placements"]: strips.seconds / row["seconds"] for row in every.drop_nulls("seconds").to_dicts()}
    (model,) = every.filter("is_advice")["placements"]
    fastest = RunResult.load(folder / RUNS / best["placements"])
    return {
        "application": name,
        "strips_ms": strips.seconds * 1e3,
        "strips_launches": int(strips.totals["launches"]),
        "managed": speeds.get("m" * len(model)),
        "model": speeds.get(model),
        "optimum": speeds[best["placements"]],
        "placements": best["placements"],
        "launches": int(fastest.totals["launches"]),
    }
