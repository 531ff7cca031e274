"""MemMap's remarks, judged by applications, data structures and the kernels of the roofline."""

from __future__ import annotations

import polars as pl

from octavo_studies.engine import Judge, Judged, Remarks
from octavo_studies.engine.remarks import HOLDS, IN_PART, NO, listed, verdict
from octavo_studies.memmap import systems
from octavo_studies.memmap.tables import geometric
from octavo_studies.publications import published

BY_APPLICATION, STRUCTURES, ROOFLINE, OVERSUBSCRIBED = "systems", "structures", "roofline", "oversubscribed"
_SPARSE, _AROUND, _CLOSE = 0.5, 0.15, 1.05


def _host_rarely_chosen(structures: pl.DataFrame) -> Judged:
    wrong = structures.filter(pl.col("model") != pl.col("optimum"))
    cautious = wrong.filter(model="device").height
    holds = HOLDS if cautious == wrong.height else IN_PART if cautious else NO
    return Judged(holds, f"of {wrong.height} structures placed otherwise than best, {cautious} lie on the device")


def _small_buffers(table: pl.DataFrame, structures: pl.DataFrame) -> Judged:
    names = table["application"].to_list()
    small = structures.filter(pl.col("application").is_in(names) & (pl.col("bytes") <= 4096))
    managed = small.filter(optimum="managed").height
    found = f"of {small.height} structures of a page at most, {managed} are best in managed memory"
    return Judged(verdict([2 * managed > small.height]), found)


def _below_ceilings(roofline: pl.DataFrame) -> Judged:
    shares: dict[str, list[float]] = {}
    for row in roofline.to_dicts():
        shares.setdefault(row["placement"], []).append(row["reached"] / row["ceiling"])
    least, most = {name: min(of) for name, of in shares.items()}, max(map(max, shares.values()))
    found = f"at most {most:.0%} of the ceiling; at least {listed(least, '.0%')}"
    return Judged(verdict([most <= 1, *(one > 0.5 for one in least.values())]), found)


def _spread(table: pl.DataFrame) -> Judged:
    found = dict(zip(table["application"], table["spread"], strict=True))
    share = sum(one >= 2 for one in found.values()) / len(found)
    return Judged(HOLDS if share > 0.5 else IN_PART if share else NO, f"slowest over fastest: {listed(found, '.1f')}")


def _sorted_rightly(structures: pl.DataFrame) -> Judged:
    both = structures.filter(pl.col("sigma").is_not_null() & pl.col("sigma_estimated").is_not_null())
    right = both.filter((pl.col("sigma") < _SPARSE) == (pl.col("sigma_estimated") < _SPARSE)).height
    sparse = both.filter(pl.col("sigma") < _SPARSE).height
    found = f"{right} of {both.height} structures, of which {sparse} are sparse"
    return Judged(HOLDS if right == both.height else IN_PART if 2 * right > both.height else NO, found)


def _few_return(structures: pl.DataFrame) -> Judged:
    most = structures.group_by("application", maintain_order=True).agg(pl.col("rho").max())
    never = most.filter(pl.col("rho") <= 1)["application"].to_list()
    found = f"nothing comes again in {len(never)} of {most.height} programs"
    return Judged(verdict([2 * len(never) > most.height]), found)


def _near_the_optimum(table: pl.DataFrame) -> Judged:
    model, best = (geometric(table[name]) for name in (systems.MODEL, systems.OPTIMUM))
    holds = [abs(model - published("memmap")["average_speedup"]) <= _AROUND, best / model <= _CLOSE]
    return Judged(verdict(holds), f"the model gains {model - 1:.0%}, the optimum {best - 1:.0%}")


def _fewer_strips(cramped: pl.DataFrame) -> Judged:
    fewer = cramped.filter(pl.col("launches") < pl.col("strips_launches")).height
    return Judged(verdict([2 * fewer > cramped.height]), f"fewer launches in {fewer} of {cramped.height} programs")


def _launches_matter(cramped: pl.DataFrame) -> Judged:
    faster = cramped.filter(pl.col("optimum") > 1)
    gains = dict(zip(cramped["application"], cramped["optimum"], strict=True))
    holds = HOLDS if faster.height == cramped.height else IN_PART if faster.height else NO
    return Judged(holds, f"speed of the fastest placement over strips: {listed(gains, '.2f')}")


REMARKS = Remarks(
    "memmap",
    {
        "MM9": Judge((OVERSUBSCRIBED,), _fewer_strips),
        "MM10": Judge((OVERSUBSCRIBED,), _launches_matter),
        "MM19": Judge((STRUCTURES,), _host_rarely_chosen),
        "MM25": Judge((BY_APPLICATION, STRUCTURES), _small_buffers),
        "MM32": Judge((ROOFLINE,), _below_ceilings),
        "MM34": Judge((BY_APPLICATION,), _spread),
        "MM36": Judge((STRUCTURES,), _sorted_rightly),
        "MM37": Judge((STRUCTURES,), _few_return),
        "MM39": Judge((BY_APPLICATION,), _near_the_optimum),
    },
    {
        BY_APPLICATION: ("application", systems.MODEL, systems.OPTIMUM, "spread"),
        STRUCTURES: ("application", "seed", "bytes", "model", "optimum", "sigma_estimated", "sigma", "rho"),
        OVERSUBSCRIBED: ("application", "strips_launches", "launches", "optimum"),
        ROOFLINE: ("placement", "alpha", "reached", "ceiling"),
    },
)
