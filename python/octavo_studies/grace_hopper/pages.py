"""Allocation, computation and de-allocation by the size of system pages; access counters off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures
from octavo_studies.grace_hopper import phases, systems
from octavo_studies.grace_hopper.described import part
from octavo_studies.grace_hopper.study import WITHOUT_COPIES

if TYPE_CHECKING:
    from pathlib import Path

    from octavo_studies.grace_hopper.study import Key, Part, Study

TITLE = "By the size of system pages, access counters off"


@part("page-sizes", kinds=WITHOUT_COPIES)
def sizes(study: Study) -> Part:
    """Every program under system and managed memory with small and large pages."""
    kinds = [kind for kind in study.kinds if kind in WITHOUT_COPIES]
    wanted: dict[Key, tuple[str, ...]] = {
        (program, kind, size): (*systems.counters(study.coherent, kind, on=False), *systems.page(size))
        for program in study.programs
        for kind in kinds
        for size in (systems.SMALL, systems.LARGE)
    }
    runs = study.run("page-sizes", wanted)
    rows = [
        {"program": key[0], "kind": key[1], "pages": key[2], **phases.times(result), **phases.moved(result)}
        | {"initialise_ps": phases.first_launch(result)}
        for key, result in runs.results.items()
    ]
    points = pl.DataFrame(rows)
    names = ("allocation", "host_initialisation", "computation", "deallocation")
    shown = points.select(
        "program", "kind", "pages", *(pl.col(f"{name}_ps").truediv(1e9).alias(f"{name} in ms") for name in names)
    )

    def draw(root: Path) -> None:
        for name in ("allocation", "computation", "deallocation"):
            bars = points.select(
                pl.format("{} ({})", "program", "kind").alias("program"), "pages", pl.col(f"{name}_ps").truediv(1e9)
            )
            wide = bars.pivot("pages", index="program", values=f"{name}_ps")
            pictures.bars(root / f"{name}.png", wide, xlabel="ms", title=f"{name.capitalize()} by system page size")

    return runs.part(TITLE, points, shown, draw)
