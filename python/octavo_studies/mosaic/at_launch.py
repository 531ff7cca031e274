"""(m): all pages of an application come over the bus before its first kernel, instead of one by one at faults.

Section 6.2 of the publication has data arrive at kernel launch, and figure 4 has faults that cost a lot. Applications
run there until a fixed number of instructions, which is far longer than one run of their kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.measured.calibrate.quantities import number
from octavo.runs import pictures
from octavo_studies.mosaic import systems
from octavo_studies.mosaic.study import leave

if TYPE_CHECKING:
    from octavo.runs.experiment import Variant
    from octavo_studies.engine.found import Found
    from octavo_studies.mosaic.study import Key, Study

RUNS = (1, 10, 100)
"""How often an application runs once its pages are there."""
BASE, *BETTER = systems.SHARED


def at_launch(study: Study) -> Found:
    """Gain of Mosaic and of the ideal TLB over GPU-MMU by how often applications run after their pages came at once.

    A time is that of the footprint on the bus, and of so many runs with all pages in memory.
    """
    resident = {system.label: systems.without_paging(system) for system in systems.SHARED}
    wanted: dict[Key, Variant] = {((name,), of.label): of for name in study.applications for of in resident.values()}
    runs = study.run("at-launch", wanted)
    bus = number(study.probe.values["node"]["host_link"]["bandwidth"], "B/s")

    def time(name: str, system: str, times: int) -> float:
        summary = runs.results[(name,), resident[system].label].summary
        return float(summary["footprint_bytes"] / bus * 1e12 + times * summary["time_ps"])

    gains = [system.label for system in BETTER]
    points = pl.DataFrame(
        [
            {
                "application": name,
                "runs": times,
                **{label: time(name, BASE.label, times) / time(name, label, times) - 1 for label in gains},
            }
            for times in study.values(RUNS, RUNS[0])
            for name in study.applications
        ]
    )
    by = points.group_by("runs", maintain_order=True)
    means = by.agg(pl.col(gains).mean(), *(pl.col(gain).median().alias(f"{gain}, median") for gain in gains))
    return leave(runs, "Gain over GPU-MMU where all pages come at launch, by runs after it", points, means, _draw)


def _draw(part: Found) -> None:
    lines = {
        name: ([float(runs) for runs in part.means["runs"]], [100 * gain for gain in part.means[name]])
        for name in part.means.columns[1:]
    }
    pictures.lines(part.root / "gains.png", lines, ("runs after the pages came", "gain (%)"), title=part.title)
