"""Mosaic's remarks, judged by averages of the parts, and by the mixes of two applications.

Where the publication has a number, found and published may differ by 15 points. "Far slower" is half as fast, and
"close to the ideal TLB" within a tenth of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo_studies.engine import Judge, Judged, Remarks
from octavo_studies.engine.remarks import listed, verdict
from octavo_studies.publications import published

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo_studies.engine import Found

_AROUND, _CLOSE, _MATTERS = 0.15, 0.1, 0.01
_SMALL, _LARGE = "4 KiB pages", "2 MiB pages"


def frames(found: Mapping[str, Found]) -> dict[str, pl.DataFrame]:
    """What is judged of the parts: averages, but mixes of different applications one by one."""
    return {name: one.points if name == "heterogeneous" else one.means for name, one in found.items()}


def _loses(means: pl.DataFrame) -> Judged:
    found, known = 1 - means[_SMALL][0], published("mosaic")["loss_without_paging"][_SMALL]
    return Judged(verdict([abs(found - known) <= _AROUND]), f"{found:.1%} lost")


def _reaches(means: pl.DataFrame) -> Judged:
    found, known = 1 - means[_LARGE][0], published("mosaic")["loss_without_paging"][_LARGE]
    return Judged(verdict([round(found, 3) <= known]), f"{found:.1%} lost")


def _turns_round(means: pl.DataFrame) -> Judged:
    found = means[_LARGE][0] / means[_SMALL][0]
    return Judged(verdict([found < 1, found <= 0.5]), f"2 MiB over 4 KiB pages: {found:.2f}")


def _recovers(means: pl.DataFrame) -> Judged:
    found, known = means.row(-1, named=True), published("mosaic")
    gain, gap = found["gain"], found["gap to ideal"]
    holds = abs(gain - known["homogeneous_gain"]) <= _AROUND, gap <= known["homogeneous_gap_to_ideal"]
    return Judged(verdict(holds), f"gain {gain:+.1%}, gap {gap:.1%}")


def _stays(means: pl.DataFrame) -> Judged | None:
    rows = means.filter(pl.col("applications") != "all").to_dicts()
    if len(rows) < 2:
        return None
    gaps = {f"{row['applications']} copies": row["gap to ideal"] for row in rows}
    first, *others = gaps.values()
    return Judged(verdict(gap <= max(first, 0) + _CLOSE / 2 for gap in others), f"gap: {listed(gaps, '.1%')}")


def _paging(means: pl.DataFrame) -> Judged:
    overall = means.filter(applications="all")
    launch, there = (overall.filter(data=data) for data in ("launch", "allocation"))
    found = {system: float(launch[system][0] / there[system][0]) for system in ("GPU-MMU", "Mosaic")}
    holds = (abs(one - 1) <= _CLOSE for one in found.values())
    return Judged(verdict(holds), f"with data at launch over without paging: {listed(found, '.2f')}")


def _friendly(points: pl.DataFrame) -> Judged | None:
    two = points.filter(applications=2)
    if two.is_empty():
        return None
    profit = int((two["Mosaic"] > two["GPU-MMU"]).sum())
    close = int((two["Mosaic"] >= (1 - _CLOSE) * two["ideal TLB"]).sum())
    holds = (2 * count > two.height for count in (profit, close))
    return Judged(verdict(holds), f"of {two.height} mixes {profit} gain, {close} are within a tenth of ideal")


def _coalesces(means: pl.DataFrame) -> Judged:
    systems = ("GPU-MMU", "Mosaic")
    base, mosaic = (max(map(float, means.filter(system=name)["l1_large"])) for name in systems)
    found = f"hits of the L1 TLB in large entries: {base:.0%} and {mosaic:.0%} at most"
    return Judged(verdict([base == 0, mosaic > 0.5]), found)


def _spread(means: pl.DataFrame, axis: str, system: str) -> float:
    """Speed with the most entries over speed with the fewest."""
    rows = means.filter(axis=axis, system=system).sort("entries")
    return float(rows["relative"][-1] / rows["relative"][0])


def _base_entries(means: pl.DataFrame) -> Judged:
    found = {system: _spread(means, "L2 base entries", system) for system in ("GPU-MMU", "Mosaic")}
    return Judged(verdict(one > 1 + _MATTERS for one in found.values()), f"most over fewest: {listed(found, '.3f')}")


def _large_entries(means: pl.DataFrame) -> Judged:
    found = {axis: _spread(means, f"{axis} large entries", "GPU-MMU") for axis in ("L1", "L2")}
    return Judged(verdict(one == 1 for one in found.values()), f"most over fewest: {listed(found, '.3f')}")


REMARKS = Remarks(
    "mosaic",
    {
        "M5": Judge(("page-sizes",), _loses),
        "M6": Judge(("page-sizes",), _reaches),
        "M10": Judge(("paging",), _turns_round),
        "M34": Judge(("homogeneous",), _recovers),
        "M35": Judge(("homogeneous",), _stays),
        "M36": Judge(("heterogeneous",), _friendly),
        "M40": Judge(("arrival",), _paging),
        "M42": Judge(("hit-rates",), _coalesces),
        "M43": Judge(("tlb-entries",), _base_entries),
        "M44": Judge(("tlb-entries",), _large_entries),
    },
    {
        "page-sizes": (_SMALL, _LARGE),
        "paging": (_SMALL, _LARGE),
        "homogeneous": ("applications", "gain", "gap to ideal"),
        "heterogeneous": ("mix", "applications", "GPU-MMU", "Mosaic", "ideal TLB"),
        "arrival": ("data", "applications", "GPU-MMU", "Mosaic", "ideal TLB", "gain", "gap to ideal"),
        "hit-rates": ("applications", "system", "l1_large"),
        "tlb-entries": ("axis", "entries", "system", "relative"),
    },
)
