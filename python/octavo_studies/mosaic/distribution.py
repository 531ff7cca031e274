"""(o): what each application gains, over all numbers of copies, and where its translations are found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.runs import pictures
from octavo_studies.engine import Found, Part, Row, Runs
from octavo_studies.mosaic import sharing, systems
from octavo_studies.mosaic.study import Study, coalesced, hit_rates, means

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from octavo.runs.result import RunResult
    from octavo_studies.mosaic.study import Key

BASE, MOSAIC, IDEAL = (system.label for system in systems.SHARED)
_LEVELS = ("l1", "l2")


def _rows(study: Study, results: Mapping[Key, RunResult]) -> Iterator[Row]:
    """One for each application and number of copies."""
    for mix in study.homogeneous:
        runs = {label: results[mix, label] for label in (BASE, MOSAIC, IDEAL)}
        speed = {label: study.weighted_speedup(mix, result, results) for label, result in runs.items()}
        rates = {label: hit_rates(runs[label]) for label in sharing.HITS}
        yield {
            "application": mix[0],
            "copies": len(mix),
            "gain": speed[MOSAIC] / speed[BASE] - 1,
            "gap to ideal": 1 - speed[MOSAIC] / speed[IDEAL],
            "coalesced": coalesced(runs[MOSAIC]),
            **{f"{level}, {label}": rates[label][level] for level in _LEVELS for label in sharing.HITS},
        }


def _tables(_study: Study, points: pl.DataFrame) -> dict[str, Any]:
    gain = pl.col("gain")
    spread = gain.min().alias("least"), gain.median().alias("gain"), gain.max().alias("most")
    others = pl.col(points.columns[3:]).mean()
    gaining = (gain > 0).mean().alias("gaining")
    found = points.group_by("application", maintain_order=True).agg(*spread, gaining, others)
    return means(found.sort("gain", descending=True, maintain_order=True))


def _draw(part: Found, _runs: Runs[Key]) -> None:
    shown = part.means.select("application", pl.col("least", "gain", "most") * 100)
    pictures.bars(part.root / "gains.png", shown, xlabel="Mosaic over GPU-MMU (%)", title=part.title)
    rates = part.means.select("application", "coalesced", *(f"l2, {label}" for label in sharing.HITS))
    pictures.bars(
        part.root / "rates.png", rates, xlabel="share of base pages, of L2-TLB lookups that hit", title=part.title
    )


distribution: Part[Study] = Part(
    "by-application",
    title=lambda _: "Gain of each application over all numbers of copies, sorted",
    wanted=sharing.homogeneous.wanted,
    rows=_rows,
    tables=_tables,
    draw=_draw,
)
"""The same runs as `homogeneous`: the least, median and largest gain, large pages, and hit rates."""
