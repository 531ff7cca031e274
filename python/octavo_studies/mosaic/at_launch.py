"""(m): applications that run on after all of their pages have come over the bus before the first kernel.

Section 6.2 of the publication has data arrive at kernel launch, and figure 4 has faults that cost a lot. Applications
run there until a fixed number of instructions, which is far longer than one run of their kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.measurements.calibrate.quantities import number
from octavo.runs import pictures
from octavo_studies.engine import Found, Part, Row, Runs
from octavo_studies.mosaic import systems
from octavo_studies.mosaic.study import Study, means

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from octavo.runs.result import RunResult
    from octavo_studies.mosaic.study import Key

RUNS = (1, 10, 100)
"""How often an application runs once its pages are there."""
BASE, *BETTER = systems.SHARED


RESIDENT = {system.label: systems.without_paging(system) for system in systems.SHARED}


def _rows(study: Study, results: Mapping[Key, RunResult]) -> Iterator[Row]:
    """A time is that of the footprint on the bus, and of so many runs with all pages in memory."""
    bus = number(study.probe.values["node"]["host_link"]["bandwidth"], "B/s")

    def time(name: str, system: str, times: int) -> float:
        summary = results[(name,), RESIDENT[system].label].summary
        return float(summary["footprint_bytes"] / bus * 1e12 + times * summary["time_ps"])

    for times in study.values(RUNS, RUNS[0]):
        for name in study.applications:
            gains = {of.label: time(name, BASE.label, times) / time(name, of.label, times) - 1 for of in BETTER}
            yield {"application": name, "runs": times, **gains}


def _tables(_study: Study, points: pl.DataFrame) -> dict[str, Any]:
    gains = [system.label for system in BETTER]
    medians = (pl.col(gain).median().alias(f"{gain}, median") for gain in gains)
    return means(points.group_by("runs", maintain_order=True).agg(pl.col(gains).mean(), *medians))


def _draw(part: Found, _runs: Runs[Key]) -> None:
    lines = {
        name: ([float(runs) for runs in part.means["runs"]], [100 * gain for gain in part.means[name]])
        for name in part.means.columns[1:]
    }
    pictures.lines(part.root / "gains.png", lines, ("runs after the pages came", "gain (%)"), title=part.title)


at_launch: Part[Study] = Part(
    "at-launch",
    title=lambda _: "Gain over GPU-MMU where all pages come at launch, by runs after it",
    wanted=lambda study: {((name,), of.label): of for name in study.applications for of in RESIDENT.values()},
    rows=_rows,
    tables=_tables,
    draw=_draw,
)
"""Gain of Mosaic and of the ideal TLB over GPU-MMU by how often applications run after their pages came at once."""
