"""(a) and (b): page sizes, one application at a time, without and with paging."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.runs import pictures
from octavo_studies.engine import Found, Part, Row, Runs, compared
from octavo_studies.mosaic import systems
from octavo_studies.mosaic.study import Study, means
from octavo_studies.publications import published

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from octavo.runs.experiment import Variant
    from octavo.runs.result import RunResult
    from octavo_studies.mosaic.study import Key

SIZES = {"4 KiB pages": systems.GPU_MMU, "2 MiB pages": systems.LARGE}


def _relative(
    name: str, title: str, variants: Mapping[str, Variant], reference: Variant, losses: str = ""
) -> Part[Study]:
    """Speed of each page size relative to a reference; `losses` names the published ones."""

    def wanted(study: Study) -> dict[Key, Variant]:
        return {((name,), of.label): of for name in study.applications for of in (*variants.values(), reference)}

    def rows(study: Study, results: Mapping[Key, RunResult]) -> Iterator[Row]:
        for application in study.applications:
            base = results[(application,), reference.label].summary["time_ps"]
            times = {size: results[(application,), of.label].summary["time_ps"] for size, of in variants.items()}
            yield {"application": application, **{size: base / time for size, time in times.items()}}

    def tables(_study: Study, points: pl.DataFrame) -> dict[str, Any]:
        average = points.select(pl.lit("mean").alias("application"), *(pl.col(size).mean() for size in variants))
        known = published("mosaic")[losses].items() if losses else ()
        return means(average, [compared(f"loss with {size}", 1 - average[size].item(), loss) for size, loss in known])

    return Part(name, lambda _: title, wanted, rows, tables, _draw)


def _draw(part: Found, _runs: Runs[Key]) -> None:
    table = pl.concat([part.points, part.means])
    pictures.bars(part.root / "speed.png", table, xlabel="relative speed", title=part.title, line_at=1.0)


without_paging = _relative(
    "page-sizes",
    "Speed relative to the ideal TLB, without paging",
    {name: systems.without_paging(system) for name, system in SIZES.items()},
    systems.without_paging(systems.IDEAL),
    "loss_without_paging",
)
"""All pages are in memory from the start."""

with_paging = _relative(
    "paging",
    "Speed with paging, relative to 4 KiB pages without",
    {name: systems.with_paging(system) for name, system in SIZES.items()},
    systems.without_paging(systems.GPU_MMU),
)
"""Pages come over the bus; the reference's are there from the start."""
