"""Memory in use over time on both sides: hotspot and quantum volume."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures
from octavo_studies.grace_hopper import systems
from octavo_studies.grace_hopper.described import part

if TYPE_CHECKING:
    from pathlib import Path

    from octavo_studies.grace_hopper.study import Key, Part, Study

TITLE = "Memory in use over time"
PROGRAMS = ("hotspot", "quantum-volume")


@part("memory", programs=PROGRAMS)
def over_time(study: Study) -> Part:
    """The programs of the published figure under every kind."""
    programs = [name for name in PROGRAMS if name in study.programs]
    wanted: dict[Key, tuple[str, ...]] = {
        (program, kind): (*systems.counters(study.coherent, kind, on=False), study.interval)
        for program in programs
        for kind in study.kinds
    }
    runs = study.run("memory", wanted)
    rows = [
        {"program": key[0], "kind": key[1], "processor": processor, "most_bytes": max(held["bytes"].to_list())}
        for key, result in runs.results.items()
        for (processor,), held in result.table("memory_intervals").group_by("processor", maintain_order=True)
    ]
    points = pl.DataFrame(rows)
    shown = points.with_columns(pl.col("most_bytes").truediv(1 << 20).alias("most in MiB")).drop("most_bytes")

    def draw(root: Path) -> None:
        for (program, kind), result in runs.results.items():
            title = f"{program}, {kind}: memory in use"
            pictures.memory(root / f"{program}-{kind}.png", result, title=title)

    return runs.part(TITLE, points, shown, draw)
