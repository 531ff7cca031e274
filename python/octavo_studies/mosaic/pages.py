"""(a) and (b): page sizes, one application at a time, without and with paging."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.runs import pictures
from octavo_studies.engine import Found, Part, Row, Runs, compared
from octavo_studies.mosaic import systems
from octavo_studies.mosaic.study import Study, means
from octavo_studies.publications import published

if TYPE_CHECKING:
    from collections.abc import Iterator

    from octavo.runs.experiment import Variant
    from octavo.runs.result import RunResult
    from octavo_studies.mosaic.study import Key

SMALL, LARGE = "4 KiB pages", "2 MiB pages"
SIZES = {SMALL: systems.GPU_MMU, LARGE: systems.LARGE}

By = Mapping[str, "RunResult"]
"""Runs of one application by page size."""


def far_faults(runs: By) -> Row:
    """How many times fewer faults 2 MiB pages have than 4 KiB pages, and how many times longer lines wait for them."""
    faults = {size: run.summary["accesses"]["faults"] for size, run in runs.items()}
    waits = {size: _wait(run) for size, run in runs.items()}
    return {"times fewer faults": faults[SMALL] / faults[LARGE], "times longer": waits[LARGE] / waits[SMALL]}


def _wait(run: RunResult) -> float:
    """Mean time that a line waits for its page, in picoseconds."""
    found = run.summary["breakdown"]
    return float((found["host_ps"] + found["migration_ps"]) / run.summary["accesses"]["faulting_accesses"])


def _relative(
    name: str,
    title: str,
    variants: Mapping[str, Variant],
    reference: Variant,
    losses: str = "",
    more: Callable[[By], Row] = lambda _: {},
) -> Part[Study]:
    """Speed of each page size relative to a reference, and `more` of its runs; `losses` names the published ones."""

    def wanted(study: Study) -> dict[Key, Variant]:
        return {((name,), of.label): of for name in study.applications for of in (*variants.values(), reference)}

    def rows(study: Study, results: Mapping[Key, RunResult]) -> Iterator[Row]:
        for application in study.applications:
            base = results[(application,), reference.label].summary["time_ps"]
            runs = {size: results[(application,), of.label] for size, of in variants.items()}
            speeds = {size: base / run.summary["time_ps"] for size, run in runs.items()}
            yield {"application": application, **speeds, **more(runs)}

    def tables(_study: Study, points: pl.DataFrame) -> dict[str, Any]:
        average = points.select(pl.lit("mean").alias("application"), pl.exclude("application").mean())
        known = published("mosaic")[losses].items() if losses else ()
        return means(average, [compared(f"loss with {size}", 1 - average[size].item(), loss) for size, loss in known])

    return Part(name, lambda _: title, wanted, rows, tables, _draw)


def _draw(part: Found, _runs: Runs[Key]) -> None:
    table = pl.concat([part.points, part.means]).select("application", *SIZES)
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
    more=far_faults,
)
"""Pages come over the bus; the reference's are there from the start."""
