"""(a) and (b): page sizes, one application at a time, without and with paging."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures
from octavo_studies.engine.found import compared
from octavo_studies.mosaic import systems
from octavo_studies.mosaic.study import leave
from octavo_studies.published import published

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.runs.experiment import Variant
    from octavo_studies.engine.found import Found
    from octavo_studies.mosaic.study import Key, Study

SIZES = {"4 KiB pages": systems.GPU_MMU, "2 MiB pages": systems.LARGE}


def without_paging(study: Study) -> Found:
    """Speed of each page size relative to the ideal TLB, all pages being in memory from the start."""
    variants = {name: systems.without_paging(system) for name, system in SIZES.items()}
    title = "Speed relative to the ideal TLB, without paging"
    reference = systems.without_paging(systems.IDEAL)
    return _relative(study, "page-sizes", title, variants, reference, published("mosaic")["loss_without_paging"])


def with_paging(study: Study) -> Found:
    """Speed of each page size when pages come over the bus, relative to 4 KiB pages that are there from the start."""
    variants = {name: systems.with_paging(system) for name, system in SIZES.items()}
    title = "Speed with paging, relative to 4 KiB pages without"
    return _relative(study, "paging", title, variants, systems.without_paging(systems.GPU_MMU), {})


def _relative(
    study: Study,
    name: str,
    title: str,
    variants: Mapping[str, Variant],
    reference: Variant,
    losses: Mapping[str, float],
) -> Found:
    every = (*variants.values(), reference)
    wanted: dict[Key, Variant] = {((name,), of.label): of for name in study.applications for of in every}
    runs = study.run(name, wanted)
    time = {point: result.summary["time_ps"] for point, result in runs.results.items()}

    def row(name: str) -> dict[str, str | float]:
        base = time[(name,), reference.label]
        return {"application": name, **{size: base / time[(name,), of.label] for size, of in variants.items()}}

    points = pl.DataFrame([row(name) for name in study.applications])
    means = points.select(pl.lit("mean").alias("application"), *(pl.col(size).mean() for size in variants))
    rows = [compared(f"loss with {size}", 1 - means[size].item(), loss) for size, loss in losses.items()]
    return leave(runs, title, points, means, _draw, rows)


def _draw(part: Found) -> None:
    shown = pl.concat([part.points, part.means])
    pictures.bars(part.root / "speed.png", shown, xlabel="relative speed", title=part.title, line_at=1.0)
