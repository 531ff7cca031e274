"""Relative performance of the three kinds, counters off: computation alone, and with allocation and de-allocation.

CPU initialisation is left out, as published, and so is what the CPU does with the results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures
from octavo_studies.grace_hopper import phases, systems
from octavo_studies.grace_hopper.described import part

if TYPE_CHECKING:
    from pathlib import Path

    from octavo_studies.grace_hopper.study import Key, Part, Study

BASES = {"explicit": "explicit copies", "managed": "managed memory", "system": "system memory"}
"""What speeds are relative to: the first of these that is run, by kind."""
WITHOUT, WITH = "computation", "with allocation"


@part("kinds")
def relative(study: Study) -> Part:
    """Every program under every kind."""
    wanted: dict[Key, tuple[str, ...]] = {
        (program, kind): systems.counters(study.coherent, kind, on=False)
        for program in study.programs
        for kind in study.kinds
    }
    runs = study.run("kinds", wanted)
    rows = [
        {"program": key[0], "kind": key[1], **phases.times(result), **phases.moved(result)}
        for key, result in runs.results.items()
    ]
    points = pl.DataFrame(rows).with_columns(with_allocation())
    base = next(kind for kind in BASES if kind in study.kinds)
    title = f"Speed over {BASES[base]}, access counters off"
    points = points.with_columns(
        (pl.col(f"{name}_ps").filter(pl.col("kind") == base).first().over("program") / pl.col(f"{name}_ps")).alias(
            f"{name}_speed"
        )
        for name in ("computation", "with_allocation")
    )
    shown = points.select(
        "program",
        "kind",
        *(
            pl.col(f"{name}_ps").truediv(1e9).alias(f"{name} in ms")
            for name in ("context", "allocation", "computation")
        ),
        pl.col("deallocation_ps").truediv(1e9).alias("de-allocation in ms"),
        pl.col("computation_speed").alias(WITHOUT),
        pl.col("with_allocation_speed").alias(WITH),
    )

    def draw(root: Path) -> None:
        for name, column in (("computation", WITHOUT), ("with-allocation", WITH)):
            wide = shown.select("program", "kind", column).pivot("kind", index="program", values=column)
            pictures.bars(root / f"{name}.png", wide, xlabel="relative speed", title=f"{title}: {column}", line_at=1.0)

    return runs.part(title, points, shown, draw)


def with_allocation() -> pl.Expr:
    """Computation, and what allocating, freeing and the context take."""
    times = ("computation_ps", "allocation_ps", "deallocation_ps", "context_ps")
    return pl.sum_horizontal(times).alias("with_allocation_ps")
