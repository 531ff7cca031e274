"""Every combination of what the publication leaves open: averages as bands, and in how much of them each remark holds.

No combination is chosen, by its averages or otherwise. Uniform schemes have the same options as GRIT's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.report.publications import published
from octavo.runs import measures, pictures
from octavo.runs.experiment import Variant
from octavo.runs.speedups import with_speedup
from octavo_studies.engine.remarks import HOLDS, VERDICTS
from octavo_studies.grit.remarks import MAIN, REMARKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from octavo_studies.engine import Found
    from octavo_studies.grit.study import Study

PLACEMENTS = ("on-touch", "access-counter", "duplication", "grit", "ideal")
_SCHEMES = ("access-counter", "grit")
_COPIES = ("duplication", "grit")


@dataclass(frozen=True)
class Axis:
    """One thing that is open, its values, and the placements that it concerns."""

    name: str
    key: str
    values: tuple[str, ...]
    of: tuple[str, ...] = PLACEMENTS


AXES = (
    Axis("service", "node.driver.service", ("0.3125us", "1.25us", "5us")),
    Axis("lines in flight", "node.remote.lines_in_flight", ("4", "16", "64"), _SCHEMES),
    Axis("host pages under counters", "memory.placement.host_pages", ("migrate", "map"), _SCHEMES),
    Axis("replicas of host pages", "memory.placement.host_replicas", ("false", "true"), _COPIES),
    Axis("capacity", "node.capacity.scope", ("per-gpu", "total")),
    Axis("dispatch", "node.dispatch", ("even-split", "unit-multiples")),
)
"""What the publication does not say. Service times and lines span a factor of 16 around what other models have; every
dispatch in contiguous ranges is as near to the published sharing."""
AVERAGES = {
    f"{one} over {other}": (one, other)
    for one, other in (
        ("duplication", "on-touch"),
        ("access-counter", "on-touch"),
        ("grit", "on-touch"),
        ("grit", "access-counter"),
        ("grit", "duplication"),
        ("ideal", "grit"),
    )
}
"""Averages: speeds of one placement over another."""

Point = dict[str, str]
"""A value of each axis."""


def ensemble(study: Study, *, ends: bool) -> Found:
    """Run the grid and leave its tables and picture; errors as `Experiment.run`.

    `points` has one row for each combination: a value of each axis, and `AVERAGES`. `bands` has for each average the
    lowest, the highest, the quartiles and what is published. `remarks` has for each remark that the runs can judge the
    share of all combinations by verdict.

    Args:
        study: the kernels.
        ends: whether axes of more than two values take the first and the last.

    """
    grid = list(_grid(ends=ends))
    variants = {label: variant for point in grid for label, variant in _variants(point).items()}
    runs, outcome = study.compare("ensemble", list(variants.values()))
    tables = [_at(outcome.points, point) for point in grid]
    points = pl.DataFrame([{**point, **_averages(table)} for point, table in zip(grid, tables, strict=True)])
    document = {
        "source_of_published": published().source,
        "bands": pl.DataFrame([_band(name, points[name]) for name in AVERAGES]),
        "remarks": _held(tables) if not study.workloads else [],
        "points": points,
    }
    return runs.found(f"Averages over {len(grid)} combinations of what is open", points, document, _draw)


def _grid(*, ends: bool) -> Iterator[Point]:
    values = [(axis.values[0], axis.values[-1]) if ends else axis.values for axis in AXES]
    for chosen in product(*values):
        yield {axis.name: value for axis, value in zip(AXES, chosen, strict=True)}


def _variants(point: Point) -> dict[str, Variant]:
    """The run of each placement; those that an axis does not concern share their runs over it."""
    found = {}
    for placement in PLACEMENTS:
        concerned = [axis for axis in AXES if placement in axis.of]
        label = " ".join((placement, *(point[axis.name] for axis in concerned)))
        settings = tuple(_setting(axis.key, point[axis.name]) for axis in concerned)
        found[label] = Variant(label, (f"memory.placement={placement}", *settings))
    return found


def _setting(key: str, value: str) -> str:
    if key == "node.driver.service":
        return f'{key}={{model="pool", service="{value}", servers=1}}'
    return f"{key}={value}"


def _at(points: pl.DataFrame, point: Point) -> pl.DataFrame:
    """The runs of one combination, as the main study has them."""
    names = dict(zip(_variants(point), PLACEMENTS, strict=True))
    here = points.filter(pl.col("variant").is_in(list(names))).with_columns(pl.col("variant").replace(names))
    return with_speedup(here, PLACEMENTS[0])


def _averages(table: pl.DataFrame) -> dict[str, float]:
    mean = {name: measures.geometric_mean(table.filter(variant=name)["speedup"]) for name in PLACEMENTS}
    return {name: mean[one] / mean[other] for name, (one, other) in AVERAGES.items()}


def _band(name: str, values: pl.Series) -> dict[str, Any]:
    known = {
        **{f"{scheme} over on-touch": speed for scheme, speed in published().averages.items()},
        **{f"grit over {scheme}": 1 + gain for scheme, gain in published().gain_of_grit_over.items()},
    }
    quartiles = {f"{share:.0%}": values.quantile(share, "linear") for share in (0.25, 0.5, 0.75)}
    return {
        "average": name,
        "lowest": values.min(),
        **quartiles,
        "highest": values.max(),
        "published": known.get(name),
    }


def _held(tables: list[pl.DataFrame]) -> list[dict[str, Any]]:
    judged = [REMARKS.judged({MAIN: table}) for table in tables]
    by_code = [name for name, judge in REMARKS.judges.items() if judge.parts == (MAIN,)]
    return [_shares(name, [row for rows in judged for row in rows if row["id"] == name]) for name in by_code]


def _shares(name: str, rows: list[Mapping[str, str]]) -> dict[str, Any]:
    shares = {word: sum(row["verdict"] == word for row in rows) / len(rows) for word in VERDICTS[:3]}
    return {"id": name, "remark": REMARKS.said[name]["remark"], **shares}


def _draw(found: Found) -> None:
    boxes = {name: found.points[name].to_list() for name in AVERAGES}
    pictures.boxes(found.root / "ensemble.png", boxes, ylabel="average speed", title=found.title, line_at=1.0)
    if found.remarks:
        parts = {word: [row[word] for row in found.remarks] for word in VERDICTS[:3]}
        names = [row["id"] for row in found.remarks]
        title = "Share of all combinations by verdict"
        pictures.shares(found.root / "remarks.png", names, parts, xlabel=f"share ({HOLDS} first)", title=title)
