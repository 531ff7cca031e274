"""Relative performance in the ways that the publication does not compare: counters on, and the CPU's part counted.

The CPU's part is its initialisation and its reading of results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures
from octavo_studies.grace_hopper import kinds, phases, systems
from octavo_studies.grace_hopper.described import part
from octavo_studies.grace_hopper.study import EXPLICIT

if TYPE_CHECKING:
    from pathlib import Path

    from octavo_studies.grace_hopper.study import Key, Part, Study

COUNTERS = {"off": False, "on": True}
SPEEDS = {"with_allocation_ps": kinds.WITH, "time_ps": "with the CPU's part"}
"""Measures that are shown as speeds, and their names."""
TIMES = {"host_initialisation": "CPU initialisation", "computation": "computation", "results": "CPU results"}
"""Phases that are shown."""


@part("variants", coherent=True)
def tried(study: Study) -> Part:
    """Every program under every kind, with access counters off and on where the kind has them."""
    wanted: dict[Key, tuple[str, ...]] = {
        (program, kind, counters): systems.counters(study.coherent, kind, on=on)
        for program in study.programs
        for kind in study.kinds
        for counters, on in COUNTERS.items()
        if kind != EXPLICIT or not on
    }
    runs = study.run("variants", wanted)
    rows = [
        {"program": key[0], "kind": key[1], "counters": key[2], **phases.times(result), **phases.moved(result)}
        for key, result in runs.results.items()
    ]
    base = next(kind for kind in kinds.BASES if kind in study.kinds)
    points = pl.DataFrame(rows).with_columns(kinds.with_allocation())
    points = points.with_columns(
        (pl.col(name).filter((pl.col("kind") == base) & (pl.col("counters") == "off")).first().over("program"))
        .truediv(pl.col(name))
        .alias(f"{name.removesuffix('_ps')}_speed")
        for name in SPEEDS
    )
    title = f"Speed over {kinds.BASES[base]}, access counters off and on"
    shown = points.select(
        "program",
        "kind",
        "counters",
        *(pl.col(f"{name}_ps").truediv(1e9).alias(f"{title} in ms") for name, title in TIMES.items()),
        *(pl.col(f"{name.removesuffix('_ps')}_speed").alias(title) for name, title in SPEEDS.items()),
    )

    def draw(root: Path) -> None:
        # A colour belongs to a kind, so panels tell counters apart.
        told = pl.when(pl.col("counters") == "off").then("program").otherwise(pl.format("{}, counters on", "program"))
        named = shown.with_columns(told.alias("program")).sort("program", maintain_order=True)
        for name, column in SPEEDS.items():
            wide = named.select("program", "kind", column).pivot("kind", index="program", values=column)
            picture = root / f"{name.removesuffix('_ps').replace('_', '-')}.png"
            pictures.bars(picture, wide, xlabel="relative speed", title=f"{title}: {column}", line_at=1.0)

    return runs.part(title, points, shown, draw)
