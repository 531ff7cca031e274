"""Remarks on memory harvesting, judged by the speed of harvesting jobs under each system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo_studies.engine import Judge, Judged, Remarks
from octavo_studies.engine.remarks import listed, verdict
from octavo_studies.harvest.cases import INTRA_JOB
from octavo_studies.harvest.systems import WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable

JOBS = "jobs"
LARGE_PAGES, PARALLEL = "H+PE+LP", "H+PE+LP+PLF"


def _speeds(jobs: pl.DataFrame, system: str, *, inside: bool | None = None) -> dict[str, float]:
    """Speed of harvesting jobs over the stock driver, in cases of several jobs, `inside` one, or in all."""
    rows = jobs.filter(role="harvests", system=system)
    if inside is not None:
        rows = rows.filter(pl.col("case").cast(pl.String).is_in(list(INTRA_JOB)) == inside)
    return {f"case {row['case']} {row['job']}": row["speedup"] for row in rows.to_dicts()}


def _faster(system: str, *, inside: bool = False) -> Callable[[pl.DataFrame], Judged | None]:
    """A system is faster than the stock driver for every harvesting job."""

    def judge(jobs: pl.DataFrame) -> Judged | None:
        found = _speeds(jobs, system, inside=inside)
        return Judged(verdict(speed > 1 for speed in found.values()), listed(found)) if found else None

    return judge


def _better(system: str, than: str) -> Callable[[pl.DataFrame], Judged | None]:
    """A system is faster than another for every harvesting job."""

    def judge(jobs: pl.DataFrame) -> Judged | None:
        base = _speeds(jobs, than)
        found = {job: speed / base[job] for job, speed in _speeds(jobs, system).items()}
        return (
            Judged(verdict(one > 1 for one in found.values()), f"{system} over {than}: {listed(found)}")
            if found
            else None
        )

    return judge


REMARKS = Remarks(
    "harvest",
    {
        "HU1": Judge((JOBS,), _faster(WHOLE)),
        "HU7": Judge((JOBS,), _better("H+PE", "H")),
        "HU8": Judge((JOBS,), _better(PARALLEL, LARGE_PAGES)),
        "HU16": Judge((JOBS,), _faster("H", inside=True)),
    },
    {JOBS: ("case", "system", "job", "role", "speedup")},
)
