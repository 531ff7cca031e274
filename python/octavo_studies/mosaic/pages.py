"""(a) and (b): page sizes, one application at a time, without and with paging."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures
from octavo_studies.mosaic import systems
from octavo_studies.mosaic.study import Part
from octavo_studies.published import published

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.runs.experiment import Variant
    from octavo_studies.mosaic.study import Key, Study

SIZES = {"4 KiB pages": systems.GPU_MMU, "2 MiB pages": systems.LARGE}


def without_paging(study: Study) -> Part:
    """Speed of each page size relative to the ideal TLB, all pages being in memory from the start."""
    variants = {name: systems.without_paging(system) for name, system in SIZES.items()}
    title = "Speed relative to the ideal TLB, without paging"
    part, key = _relative(study, "page-sizes", title, variants, systems.without_paging(systems.IDEAL))
    for size, loss in published("mosaic")["loss_without_paging"].items():
        found = 1 - part.means[size].item()
        part.compared.append({"what": f"loss with {size}", "found": found, "published": loss})
    return _leave(part, key)


def with_paging(study: Study) -> Part:
    """Speed of each page size when pages come over the bus, relative to 4 KiB pages that are there from the start."""
    variants = {name: systems.with_paging(system) for name, system in SIZES.items()}
    title = "Speed with paging, relative to 4 KiB pages without"
    return _leave(*_relative(study, "paging", title, variants, systems.without_paging(systems.GPU_MMU)))


def _relative(
    study: Study, name: str, title: str, variants: Mapping[str, Variant], reference: Variant
) -> tuple[Part, str]:
    every = (*variants.values(), reference)
    wanted: dict[Key, Variant] = {((name,), of.label): of for name in study.applications for of in every}
    root, key, results = study.run(name, wanted)
    time = {point: result.summary["time_ps"] for point, result in results.items()}

    def row(name: str) -> dict[str, str | float]:
        base = time[(name,), reference.label]
        return {"application": name, **{size: base / time[(name,), of.label] for size, of in variants.items()}}

    points = pl.DataFrame([row(name) for name in study.applications])
    means = points.select(pl.lit("mean").alias("application"), *(pl.col(size).mean() for size in variants))
    return Part(root, title, points, means, []), key


def _leave(part: Part, key: str) -> Part:
    shown = pl.concat([part.points, part.means])

    def draw() -> None:
        pictures.bars(part.root / "speed.png", shown, xlabel="relative speed", title=part.title, line_at=1.0)

    return part.save(key, draw)
