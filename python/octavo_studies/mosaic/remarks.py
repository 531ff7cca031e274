"""Mosaic's remarks, judged by averages of the parts, and where mixes or applications differ, one by one.

Where the publication has a number, found and published may differ by 15 points. "Far slower" is half as fast, and
"close to the ideal TLB" within a tenth of it. "The vast majority" is four fifths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo_studies.engine import Judge, Judged, Remarks
from octavo_studies.engine.remarks import listed, verdict
from octavo_studies.mosaic import mixes
from octavo_studies.mosaic.fragmentation import ALL, COUNTS, HALF
from octavo_studies.mosaic.sharing import BROKEN, limited
from octavo_studies.publications import published

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo_studies.engine import Found

_AROUND, _CLOSE, _MATTERS, _VAST = 0.15, 0.1, 0.01, 0.8
_ONE_BY_ONE = ("heterogeneous", "paging", "hit-rates")
_NAMED = tuple(map(mixes.label, mixes.NAMED))
_SMALL, _LARGE = "4 KiB pages", "2 MiB pages"


def frames(found: Mapping[str, Found]) -> dict[str, pl.DataFrame]:
    """What is judged of the parts: averages, or points one by one."""
    return {name: one.points if name in _ONE_BY_ONE else one.means for name, one in found.items()}


def _loses(means: pl.DataFrame) -> Judged:
    found, known = 1 - means[_SMALL][0], published("mosaic")["loss_without_paging"][_SMALL]
    return Judged(verdict([abs(found - known) <= _AROUND]), f"{found:.1%} lost")


def _reaches(means: pl.DataFrame) -> Judged:
    found, known = 1 - means[_LARGE][0], published("mosaic")["loss_without_paging"][_LARGE]
    return Judged(verdict([round(found, 3) <= known]), f"{found:.1%} lost")


def _far_faults(points: pl.DataFrame) -> Judged:
    """A program has the more locality the more faults on base pages one fault on a large page spares."""
    fewer, longer = (points[name].to_list() for name in ("times fewer faults", "times longer"))
    slower = points.sort("times fewer faults").select(slower=pl.col(_SMALL) / pl.col(_LARGE))["slower"]
    half = slower.len() // 2
    less, more = _mean(slower.head(half)), _mean(slower.tail(half))
    told = f"{min(fewer):.0f} to {max(fewer):.0f} times fewer faults, {min(longer):.1f} to {max(longer):.1f} as long"
    found = f"{told}; time over that of 4 KiB pages {more:.2f} in the half with more locality, {less:.2f} in the other"
    return Judged(verdict([min(fewer) > 1, _mean(points["times longer"]) > 1, more > max(less, 1)]), found)


def _turns_round(points: pl.DataFrame) -> Judged:
    found = _mean(points[_LARGE]) / _mean(points[_SMALL])
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
    two = points.filter(pl.col("applications") == 2, ~pl.col("mix").is_in(_NAMED))
    if two.is_empty():
        return None
    profit = int((two["Mosaic"] > two["GPU-MMU"]).sum())
    close = int((two["Mosaic"] >= (1 - _CLOSE) * two["ideal TLB"]).sum())
    holds = (2 * count > two.height for count in (profit, close))
    return Judged(verdict(holds), f"of {two.height} mixes {profit} gain, {close} are within a tenth of ideal")


def _sensitive(points: pl.DataFrame) -> Judged | None:
    named = points.filter(pl.col("mix").is_in(_NAMED))
    if named.height < len(_NAMED):
        return None
    gaps = {row["mix"]: 1 - row["Mosaic"] / row["ideal TLB"] for row in named.to_dicts()}
    return Judged(verdict(gap > _MATTERS for gap in gaps.values()), f"gap: {listed(gaps, '.1%')}")


def _lack_reach(points: pl.DataFrame) -> Judged:
    """Figure 13: whether there are such applications, and whether more of their lookups hit under Mosaic."""
    lacking = limited(points)
    rates = {name: _mean(lacking.filter(system=name)["l1"]) for name in ("GPU-MMU", "Mosaic")}
    count, of = lacking["mix"].n_unique(), points["mix"].n_unique()
    found = f"{count} of {of} mixes are limited; of their lookups hit the L1 TLB: {listed(rates, '.1%')}"
    return Judged(verdict([count > 0 and rates["Mosaic"] > rates["GPU-MMU"]]), found)


def _mean(values: pl.Series) -> float:
    return sum(map(float, values)) / max(values.len(), 1)


def _coalesces(points: pl.DataFrame) -> Judged:
    base, mosaic = (_mean(points.filter(system=name)["coalesced"]) for name in ("GPU-MMU", "Mosaic"))
    found = f"base pages in large pages when memory is fullest: {base:.0%} and {mosaic:.0%}"
    return Judged(verdict([base == 0, mosaic >= _VAST]), found)


def _guarantee(homogeneous: pl.DataFrame, heterogeneous: pl.DataFrame, fragmented: pl.DataFrame) -> Judged:
    ordinary = sum(homogeneous.filter(applications="all")[BROKEN]) + sum(heterogeneous[BROKEN])
    stressed = fragmented.filter(pl.col("index") > 0)
    setting = fragmented.filter((pl.col("occupancy") != HALF) & (pl.col("index") != ALL))
    by_compaction = stressed.group_by("compaction", maintain_order=True).agg(pl.col(BROKEN).sum())
    broken = {row["compaction"]: row[BROKEN] for row in by_compaction.to_dicts()}
    found = f"pages beside others: {ordinary} in ordinary mixes; in fragmented memory {listed(broken, ',')}"
    return Judged(verdict([ordinary == 0, min(broken.values()) > 0, setting.is_empty()]), found)


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
        "M9": Judge(("paging",), _far_faults),
        "M10": Judge(("paging",), _turns_round),
        "M34": Judge(("homogeneous",), _recovers),
        "M35": Judge(("homogeneous",), _stays),
        "M36": Judge(("heterogeneous",), _friendly),
        "M37": Judge(("heterogeneous",), _sensitive),
        "M40": Judge(("arrival",), _paging),
        "M41": Judge(("hit-rates",), _lack_reach),
        "M42": Judge(("hit-rates",), _coalesces),
        "M43": Judge(("tlb-entries",), _base_entries),
        "M44": Judge(("tlb-entries",), _large_entries),
        "M45": Judge(("homogeneous", "heterogeneous", "fragmentation"), _guarantee),
    },
    {
        "page-sizes": (_SMALL, _LARGE),
        "paging": ("application", _SMALL, _LARGE, "times fewer faults", "times longer"),
        "homogeneous": ("applications", "gain", "gap to ideal", BROKEN),
        "heterogeneous": ("mix", "applications", "GPU-MMU", "Mosaic", "ideal TLB", BROKEN),
        "arrival": ("data", "applications", "GPU-MMU", "Mosaic", "ideal TLB", "gain", "gap to ideal"),
        "hit-rates": ("mix", "applications", "system", "l1", "l2", "coalesced"),
        "fragmentation": ("index", "occupancy", "compaction", "relative", *COUNTS),
        "tlb-entries": ("axis", "entries", "system", "relative"),
    },
)
