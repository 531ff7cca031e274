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
from octavo_studies.mosaic.study import Part

if TYPE_CHECKING:
    from octavo.runs.experiment import Variant
    from octavo_studies.mosaic.study import Key, Study

RUNS = (1, 10, 100)
"""How often an application runs once its pages are there."""
BASE, *BETTER = systems.SHARED


def at_launch(study: Study) -> Part:
    """Gain of Mosaic and of the ideal TLB over GPU-MMU by how often applications run after their pages came at once.

    A time is that of the footprint on the bus, and of so many runs with all pages in memory.
    """
    resident = {system.label: systems.without_paging(system) for system in systems.SHARED}
    wanted: dict[Key, Variant] = {((name,), of.label): of for name in study.applications for of in resident.values()}
    root, key, results = study.run("at-launch", wanted)
    bus = number(study.probe.values["node"]["host_link"]["bandwidth"], "B/s")

    def time(name: str, system: str, runs: int) -> float:
        summary = results[(name,), resident[system].label].summary
        return float(summary["footprint_bytes"] / bus * 1e12 + runs * summary["time_ps"])

    points = pl.DataFrame(
        [
            {
                "application": name,
                "runs": runs,
                **{
                    system.label: time(name, BASE.label, runs) / time(name, system.label, runs) - 1 for system in BETTER
                },
            }
            for runs in study.values(RUNS, RUNS[0])
            for name in study.applications
        ]
    )
    by = points.group_by("runs", maintain_order=True)
    gains = [system.label for system in BETTER]
    means = by.agg(pl.col(gains).mean(), *(pl.col(gain).median().alias(f"{gain}, median") for gain in gains))
    part = Part(root, "Gain over GPU-MMU where all pages come at launch, by runs after it", points, means, [])
    return part.save(key, lambda: _draw(part))


def _draw(part: Part) -> None:
    lines = {
        name: ([float(runs) for runs in part.means["runs"]], [100 * gain for gain in part.means[name]])
        for name in part.means.columns[1:]
    }
    pictures.lines(part.root / "gains.png", lines, ("runs after the pages came", "gain (%)"), title=part.title)
