"""Relative performance of the three kinds: as published, and in the ways that the publication does not compare.

As published, access counters are off, and the CPU's part (its initialisation and its reading of results) is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo_studies.engine import Found, Row, Runs, each, series
from octavo_studies.grace_hopper import phases
from octavo_studies.grace_hopper.part import Part, milliseconds, over, shown
from octavo_studies.grace_hopper.study import EXPLICIT

if TYPE_CHECKING:
    from octavo.runs.result import RunResult
    from octavo_studies.grace_hopper.study import Key, Study

BASES = {"explicit": "explicit copies", "managed": "managed memory", "system": "system memory"}
"""What speeds are relative to: the first of these that is run, by kind."""
WITHOUT, WITH = "computation", "with allocation"
COUNTERS = {"off": False, "on": True}
SPEEDS = {"with_allocation": WITH, "time": "with the CPU's part"}
"""Measures that variants show as speeds, and their names."""


def _base(study: Study) -> str:
    return next(kind for kind in BASES if kind in study.kinds)


def _row(key: Key, result: RunResult) -> Row:
    return dict(zip(("program", "kind", "counters"), key, strict=False)) | phases.times(result) | phases.moved(result)


def _points(study: Study, rows: pl.DataFrame) -> pl.DataFrame:
    """Computation alone, and with what allocating, freeing and the context take; both as speeds."""
    times = ("computation_ps", "allocation_ps", "deallocation_ps", "context_ps")
    points = rows.with_columns(pl.sum_horizontal(times).alias("with_allocation_ps"))
    base = pl.col("kind") == _base(study)
    names: tuple[str, ...] = ("computation", "with_allocation")
    if "counters" in rows.columns:
        base, names = base & (pl.col("counters") == "off"), tuple(SPEEDS)
    return points.with_columns(over(f"{name}_ps", base, "program").alias(f"{name}_speed") for name in names)


def _draw(found: Found, _runs: Runs[Key]) -> None:
    how = {"xlabel": "relative speed", "line_at": 1.0}
    for name, column in (("computation", WITHOUT), ("with-allocation", WITH)):
        path, title = found.root / f"{name}.png", f"{found.title}: {column}"
        series.bars(path, found.shown, "program", "kind", column, title=title, **how)


relative = Part(
    "kinds",
    title=lambda study: f"Speed over {BASES[_base(study)]}, access counters off",
    wanted=lambda study: {
        (program, kind): study.counters(kind, on=False) for program in study.programs for kind in study.kinds
    },
    rows=each(_row),
    points=_points,
    tables=shown(
        "program",
        "kind",
        *map(milliseconds, ("context", "allocation", "computation")),
        milliseconds("deallocation", "de-allocation"),
        pl.col("computation_speed").alias(WITHOUT),
        pl.col("with_allocation_speed").alias(WITH),
    ),
    draw=_draw,
)
"""Every program under every kind."""


def _draw_variants(found: Found, _runs: Runs[Key]) -> None:
    # A colour belongs to a kind, so panels tell counters apart.
    told = pl.when(pl.col("counters") == "off").then("program").otherwise(pl.format("{}, counters on", "program"))
    named = found.shown.with_columns(told.alias("program")).sort("program", maintain_order=True)
    how = {"xlabel": "relative speed", "line_at": 1.0}
    for name, column in SPEEDS.items():
        path, title = found.root / f"{name.replace('_', '-')}.png", f"{found.title}: {column}"
        series.bars(path, named, "program", "kind", column, title=title, **how)


tried = Part(
    "variants",
    title=lambda study: f"Speed over {BASES[_base(study)]}, access counters off and on",
    wanted=lambda study: {
        (program, kind, counters): study.counters(kind, on=on)
        for program in study.programs
        for kind in study.kinds
        for counters, on in COUNTERS.items()
        if kind != EXPLICIT or not on
    },
    rows=each(_row),
    points=_points,
    tables=shown(
        "program",
        "kind",
        "counters",
        milliseconds("host_initialisation", "CPU initialisation"),
        milliseconds("computation"),
        milliseconds("results", "CPU results"),
        *(pl.col(f"{name}_speed").alias(title) for name, title in SPEEDS.items()),
    ),
    draw=_draw_variants,
    coherent=True,
)
"""Every program under every kind, with access counters off and on where the kind has them."""
