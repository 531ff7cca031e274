"""(k) and (l): what paging costs if one thing of faults or of the bus is changed, and if programs are longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.errors import ScenarioError
from octavo.runs import pictures
from octavo_studies.engine import Found, Part, Row, Runs
from octavo_studies.mosaic import systems, under
from octavo_studies.mosaic.study import Study, means

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from octavo_studies.mosaic.study import Key

RESIDENT = "resident"
PAGED = {"4 KiB pages": systems.GPU_MMU, "2 MiB pages": systems.LARGE, "Mosaic": systems.MOSAIC}
GAIN = "Mosaic over 4 KiB"

SERVICE = "node.driver.service"
BUS = "node.host_link.bandwidth"
UNSHARED = (f"{BUS}=100TB/s", f"{SERVICE}.service=55us")
"""Faults take the times that the publication measured, 55 and 318 us, whatever else is on the bus."""
FAULTS: tuple[tuple[str, under.Overrides, under.Overrides], ...] = (
    ("as published", (), ()),
    ("bus of 4 times the width", (f"{BUS}=31.84GB/s",), ()),
    ("bus without limit", (f"{BUS}=100TB/s",), ()),
    ("no time but the bus's", (f"{SERVICE}.service=0ns",), ()),
    ("16 faults at a time", (f"{SERVICE}.servers=16",), ()),
    ("one fault at a time", (f"{SERVICE}.servers=1",), ()),
    ("half of the wavefronts", ("node.compute.wavefronts_per_simd=6",), ()),
    ("faults share no bus", UNSHARED, (f"{SERVICE}.service=318us",)),
)
"""What each setting changes, and what further with 2 MiB pages."""

REPEATED = {
    "red": ("workload.iterations", 8),
    "scan": ("workload.iterations", 4),
    "blk": ("workload.iterations", 4),
    "cons": ("workload.iterations", 2),
    "3ds": ("workload.iterations", 4),
    "lps": ("workload.iterations", 2),
    "srad": ("workload.iterations", 2),
    "fft": ("workload.passes", 2),
    "spmv": ("workload.iterations", 1),
    "cfd": ("workload.iterations", 2),
}
"""Applications that repeat the same accesses: the option and how often they do in the study."""
LONGER = (1, 4, 16)
"""How many times as often."""


def _lengths(study: Study) -> list[under.Setting]:
    """Programs that repeat their accesses more often.

    Raises:
        ScenarioError: none of the applications repeats its accesses.

    """
    chosen = [name for name in study.applications if name in REPEATED]
    if not chosen:
        raise ScenarioError(
            f"part `lengths`: expected at least one of {', '.join(REPEATED)}, which repeat their accesses",
            code="unexpected-value",
            key="lengths",
        )
    return [
        under.Setting(f"{times} times as long", {name: _repeated(name, times) for name in chosen})
        for times in study.values(LONGER, LONGER[0])
    ]


def _repeated(name: str, times: int) -> under.Overrides:
    option, usual = REPEATED[name]
    return (f"{option}={usual * times}",) if times > 1 else ()


SYSTEMS = {
    RESIDENT: systems.without_paging(systems.GPU_MMU),
    **{label: systems.with_paging(system) for label, system in PAGED.items()},
}


def _speeds(time: Mapping[str, int]) -> Row:
    speeds = {label: time[RESIDENT] / time[label] for label in PAGED}
    return {**speeds, GAIN: time["4 KiB pages"] / time["Mosaic"] - 1}


def _draw(part: Found, _runs: Runs[Key]) -> None:
    path, table = part.root / "speed.png", part.means.drop(GAIN)
    pictures.bars(path, table, xlabel="relative speed", title=part.title, line_at=1.0)


def _paged(name: str, title: str, settings: Callable[[Study], list[under.Setting]]) -> Part[Study]:
    return Part(
        name,
        title=lambda _: title,
        wanted=under.runs(settings, SYSTEMS),
        rows=under.rows(settings, SYSTEMS, _speeds),
        tables=lambda _, points: means(
            points.group_by("setting", maintain_order=True).agg(pl.col(*PAGED, GAIN).mean())
        ),
        draw=_draw,
    )


faults = _paged(
    "faults",
    "Speed with paging relative to resident 4 KiB pages",
    lambda study: [under.everywhere(study.applications, name, *changes) for name, *changes in FAULTS],
)
"""By what a fault and the bus are like."""
lengths = _paged("lengths", "Speed with paging by length, relative to resident 4 KiB pages", _lengths)
"""Where programs repeat their accesses more often."""
