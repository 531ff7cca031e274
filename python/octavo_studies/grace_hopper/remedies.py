"""What the publication recommends where the GPU touches system memory first, and how much each remedy helps here.

If the host touched pages before, by a loop of the CPU or by `cudaHostRegister`, the GPU's first touch need not enter
the kernel; the pages lie on the host. With access counters, a lower threshold brings them sooner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures
from octavo_studies.grace_hopper import phases, systems
from octavo_studies.grace_hopper.described import part

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from octavo.runs.result import RunResult
    from octavo_studies.grace_hopper.study import Key, Part, Study

TITLE = "System memory that the GPU touches first: remedies, against none"
KIND = "system"
TOUCHED = {"srad": ("J",), "quantum-volume": ("amplitudes",)}
"""Programs that the GPU initialises, and their buffers of system memory that it touches first."""
NONE, LOOP, REGISTERED = "none", "CPU loop", "cudaHostRegister"
DEFAULT_THRESHOLD = 256
"""The threshold of the driver and of the placement `coherent`."""
THRESHOLDS = (64, DEFAULT_THRESHOLD, 1024)
"""Lines after which 64 KiB move; chosen around the driver's own."""


@part("remedies", programs=TOUCHED, kinds=(KIND,))
def tried(study: Study) -> Part:
    """No remedy, the host's touch without migration, and its touch with counters of several thresholds."""
    programs = [name for name in study.programs if name in TOUCHED]
    wanted: dict[Key, tuple[str, ...]] = {
        (program, KIND, name): (*systems.page(size), *settings)
        for program in programs
        for size in (systems.SMALL, systems.LARGE)
        for name, settings in _settings(study, program, size)
    }
    runs = study.run("remedies", wanted)
    rows = [_row(key, result) for key, result in runs.results.items()]
    none = pl.col("time_ps").filter(pl.col("remedy") == NONE).first().over("program", "pages")
    points = pl.DataFrame(rows).with_columns((none / pl.col("time_ps")).alias("speed"))
    shown = points.select(
        "program",
        "pages",
        "remedy",
        *(pl.col(f"{name}_ps").truediv(1e9).alias(f"{name} in ms") for name in ("before", "initialise", "time")),
        "speed",
        "remote_lines",
    )

    def draw(root: Path) -> None:
        bars = points.select(pl.format("{} ({})", "program", "pages").alias("program"), "remedy", "speed")
        wide = bars.pivot("remedy", index="program", values="speed")
        pictures.bars(root / "speed.png", wide, xlabel="speed over no remedy", title=TITLE, line_at=1.0)

    return runs.part(TITLE, points, shown, draw)


def _settings(study: Study, program: str, size: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Remedies by name; counters tell nothing of pages of 4 KiB, as on the platform."""

    def named(name: str) -> str:
        return f"{name}, {size}"

    off = systems.counters(study.coherent, KIND, on=False)
    loop = tuple(f"program.buffers.{name}.populate=true" for name in TOUCHED[program])
    yield named(NONE), off
    yield named(LOOP), (*off, *loop)
    yield named(REGISTERED), (*off, *(f"program.buffers.{name}.kind=pinned" for name in TOUCHED[program]))
    if size == systems.LARGE and study.coherent:
        on = systems.counters(study.coherent, KIND, on=True)
        for threshold in THRESHOLDS:
            yield named(f"{LOOP}, threshold {threshold}"), (*on, *systems.threshold(threshold), *loop)


def _row(key: Key, result: RunResult) -> dict[str, object]:
    """Time of a run without the CPU's reading of results, and the part of it before the first launch."""
    remedy, size = key[2].rsplit(", ", 1)
    times = phases.times(result)
    return {
        "program": key[0],
        "pages": size,
        "remedy": remedy,
        "before_ps": int(result.table("kernels")["began_ps"][0]),
        "initialise_ps": phases.first_launch(result),
        **times,
        "time_ps": times["time_ps"] - times["results_ps"],
        **phases.moved(result),
    }
