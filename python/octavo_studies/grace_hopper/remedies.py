"""What the publication recommends where the GPU touches system memory first, and how much each remedy helps here.

If the host touched pages before, by a loop of the CPU or by `cudaHostRegister`, the GPU's first touch need not enter
the kernel; the pages lie on the host. With access counters, a lower threshold brings them sooner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo_studies.engine import Found, Row, Runs, each, series
from octavo_studies.grace_hopper import phases, systems
from octavo_studies.grace_hopper.part import Part, milliseconds, over, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from octavo.runs.result import RunResult
    from octavo_studies.grace_hopper.study import Key, Study

TITLE = "System memory that the GPU touches first: remedies, against none"
KIND = "system"
TOUCHED = {"srad": ("J",), "quantum-volume": ("amplitudes",)}
"""Programs that the GPU initialises, and their buffers of system memory that it touches first."""
NONE, LOOP, REGISTERED = "none", "CPU loop", "cudaHostRegister"
DEFAULT_THRESHOLD = 256
"""The threshold of the driver and of the placement `coherent`."""
THRESHOLDS = (64, DEFAULT_THRESHOLD, 1024)
"""Lines after which 64 KiB move; chosen around the driver's own."""


def _settings(study: Study, program: str, size: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Remedies by name; counters tell nothing of pages of 4 KiB, as on the platform."""

    def named(name: str) -> str:
        return f"{name}, {size}"

    off = study.counters(KIND, on=False)
    loop = tuple(f"program.buffers.{name}.populate=true" for name in TOUCHED[program])
    yield named(NONE), off
    yield named(LOOP), (*off, *loop)
    yield named(REGISTERED), (*off, *(f"program.buffers.{name}.kind=pinned" for name in TOUCHED[program]))
    if size == systems.LARGE and study.coherent:
        on = study.counters(KIND, on=True)
        for threshold in THRESHOLDS:
            yield named(f"{LOOP}, threshold {threshold}"), (*on, *systems.threshold(threshold), *loop)


def _row(key: Key, result: RunResult) -> Row:
    """Time of a run without the CPU's reading of results, and the part of it before the first launch."""
    remedy, size = key[2].rsplit(", ", 1)
    times = phases.times(result)
    return {
        "program": key[0],
        "pages": size,
        "remedy": remedy,
        "before_ps": int(result.table("kernels")["began_ps"][0]) + times["context_ps"],
        "initialise_ps": phases.first_launch(result),
        **times,
        "time_ps": times["time_ps"] - times["results_ps"],
        **phases.moved(result),
    }


def _draw(found: Found, _runs: Runs[Key]) -> None:
    named = found.points.with_columns(pl.format("{} ({})", "program", "pages").alias("program"))
    how = {"xlabel": "speed over no remedy", "title": TITLE, "line_at": 1.0}
    series.bars(found.root / "speed.png", named, "program", "remedy", "speed", **how)


tried = Part(
    "remedies",
    title=lambda _: TITLE,
    wanted=lambda study: {
        (program, KIND, name): (*systems.page(size), *settings)
        for program in study.programs
        if program in TOUCHED
        for size in (systems.SMALL, systems.LARGE)
        for name, settings in _settings(study, program, size)
    },
    rows=each(_row),
    points=lambda _, rows: rows.with_columns(
        over("time_ps", pl.col("remedy") == NONE, "program", "pages").alias("speed")
    ),
    tables=shown(
        "program",
        "pages",
        "remedy",
        *map(milliseconds, ("before", "initialise", "time")),
        "speed",
        "remote_lines",
    ),
    draw=_draw,
    programs=tuple(TOUCHED),
    kinds=(KIND,),
)
"""No remedy, the host's touch without migration, and its touch with counters of several thresholds."""
