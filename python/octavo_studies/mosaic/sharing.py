"""(c), (d), (e) and (n): applications that share the GPU, where their translations are found, and when data arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.runs import pictures
from octavo_studies.engine import Found, Part, Row, Runs, compared, each, series
from octavo_studies.mosaic import mixes, systems
from octavo_studies.mosaic.study import Study, coalesced, counted, hit_rates, means
from octavo_studies.publications import published

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from octavo.runs.experiment import Variant
    from octavo.runs.result import RunResult
    from octavo_studies.mosaic.study import Key, Mix

SHARED = {system.label: systems.with_paging(system) for system in systems.SHARED}


ARRIVALS = {"fault": systems.with_paging, "launch": systems.at_launch, "allocation": systems.without_paging}
"""Systems as they are when data arrive in each way."""
REACH = 0.98
"""L2-TLB hit rate below which the publication calls an application limited in TLB reach."""
BROKEN = "guarantee broken"
"""Base pages that Mosaic put into a large frame with those of another application or with foreign data."""
HITS = (systems.GPU_MMU.label, systems.MOSAIC.label)
"""Systems whose hit rates are shown."""


def _weighted(name: str, chosen: Callable[[Study], Sequence[Mix]], *, beside: bool = False) -> Part[Study]:
    def wanted(study: Study) -> dict[Key, Variant]:
        found: dict[Key, Variant] = {(mix, label): of for mix in chosen(study) for label, of in SHARED.items()}
        for mix in chosen(study):
            found.update(study.alone(mix))
        return found

    def rows(study: Study, results: Mapping[Key, RunResult]) -> Iterator[Row]:
        for mix in chosen(study):
            speedups = {label: study.weighted_speedup(mix, results[mix, label], results) for label in SHARED}
            broken = counted(results[mix, systems.MOSAIC.label], "soft_guarantee_broken")
            yield {"mix": mixes.label(mix), "applications": len(mix), **speedups, BROKEN: broken}

    def tables(_study: Study, points: pl.DataFrame) -> dict[str, Any]:
        found = averages(points)
        return means(found, _beside_published(found) if beside else ())

    return Part(name, lambda _: f"Weighted speed-up, {name} mixes", wanted, rows, tables, _draw)


def _arrives(study: Study) -> dict[Key, Variant]:
    found: dict[Key, Variant] = {}
    for mix in study.homogeneous:
        for arriving in ARRIVALS.values():
            found.update(study.alone(mix, arriving))
            found.update({(mix, of.label): of for of in map(arriving, systems.SHARED)})
    return found


def _arrived(study: Study, results: Mapping[Key, RunResult]) -> Iterator[Row]:
    for name, arriving in ARRIVALS.items():
        for mix in study.homogeneous:
            runs = {of.label: results[mix, arriving(of).label] for of in systems.SHARED}
            speedups = {label: study.weighted_speedup(mix, run, results, arriving) for label, run in runs.items()}
            yield {"data": name, "mix": mixes.label(mix), "applications": len(mix), **speedups}


def _by_arrival(_study: Study, points: pl.DataFrame) -> dict[str, Any]:
    parts = points.partition_by("data", maintain_order=True, as_dict=True)
    named = [averages(rows).select(pl.lit(name).alias("data"), pl.all()) for (name,), rows in parts.items()]
    return means(pl.concat(named))


def _draw_arrivals(part: Found, _runs: Runs[Key]) -> None:
    shown = part.means.filter(pl.col("applications") == "all").select("data", *SHARED)
    pictures.bars(part.root / "weighted_speedup.png", shown, xlabel="weighted speed-up", title=part.title)


def _draw_hits(part: Found, _runs: Runs[Key]) -> None:
    levels = part.means.unpivot(("l1", "l2"), index=("applications", "system"), variable_name="level")
    named = levels.with_columns(pl.col("level").str.to_uppercase()).sort("system", maintain_order=True)
    axes = ("copies", "share of lookups that hit")
    path = part.root / "hit_rates.png"
    series.lines(path, named, ("system", "level"), "applications", "value", axes, title=part.title)


def limited(points: pl.DataFrame) -> pl.DataFrame:
    """Hit rates of the mixes that lack TLB reach: less than 98 % of GPU-MMU's lookups hit the L2 TLB (section 6.3)."""
    base = points.filter((pl.col("system") == systems.GPU_MMU.label) & (pl.col("l2") < REACH))
    return points.filter(pl.col("mix").is_in(base["mix"].to_list()))


def _rates(points: pl.DataFrame) -> pl.DataFrame:
    found = pl.col("l1", "l1_large", "l2", "l2_large", "coalesced").mean()
    return points.group_by("applications", "system", maintain_order=True).agg(found)


def averages(points: pl.DataFrame) -> pl.DataFrame:
    """Mean weighted speed-up by number of applications, then over all.

    `gain` is Mosaic's over GPU-MMU and `gap to ideal` how far it stays below the ideal TLB, both of the means.
    `gaining` is the share of the mixes in which Mosaic is faster than GPU-MMU. Broken guarantees are added up.
    """
    base, mosaic, ideal = (pl.col(label) for label in SHARED)
    summed = [
        pl.col(*SHARED).mean(),
        (mosaic > base).mean().alias("gaining"),
        pl.col(f"^{BROKEN}$").sum(),
    ]
    by_count = points.group_by("applications", maintain_order=True).agg(summed)
    overall = points.select(pl.lit("all").alias("applications"), *summed)
    together = pl.concat([by_count.with_columns(pl.col("applications").cast(pl.String)), overall])
    gains = (mosaic / base - 1).alias("gain"), (1 - mosaic / ideal).alias("gap to ideal")
    last = ("gaining", f"^{BROKEN}$")
    return together.select(pl.exclude("gaining", BROKEN), *gains, *last)


def _beside_published(found: pl.DataFrame) -> list[dict[str, Any]]:
    overall = found.row(-1, named=True)
    known = published("mosaic")
    return [
        compared("gain over GPU-MMU", overall["gain"], known["homogeneous_gain"]),
        compared("gap to the ideal TLB", overall["gap to ideal"], known["homogeneous_gap_to_ideal"]),
    ]


def _draw(part: Found, _runs: Runs[Key]) -> None:
    shown = part.means.select("applications", *SHARED)
    pictures.bars(
        part.root / "weighted_speedup.png", shown, xlabel="weighted speed-up", title=f"{part.title}: means by number"
    )
    _draw_gains(part.root / "gains.png", part)


def _draw_gains(path: Path, part: Found) -> None:
    """Mosaic's gain mix by mix, sorted, one line for each number of applications."""
    base, mosaic, _ = SHARED
    series = {}
    for (count,), rows in part.points.group_by("applications", maintain_order=True):
        gains = sorted((rows[mosaic] / rows[base]).to_list())
        series[f"{count} together"] = ([float(place) for place in range(1, len(gains) + 1)], gains)
    pictures.lines(path, series, ("mix, sorted", "Mosaic over GPU-MMU"), title=f"{part.title}: Mosaic's gain by mix")


homogeneous = _weighted("homogeneous", lambda study: study.homogeneous, beside=True)
"""Copies of one application."""
arrival: Part[Study] = Part(
    "arrival",
    title=lambda _: "Weighted speed-up with copies of one application, by when data arrive",
    wanted=_arrives,
    rows=_arrived,
    tables=_by_arrival,
    draw=_draw_arrivals,
)
"""Relative to an application alone whose data arrive in the same way."""
heterogeneous = _weighted("heterogeneous", lambda study: study.heterogeneous)
"""Different applications."""
tlb_hits: Part[Study] = Part(
    "hit-rates",
    title=lambda _: "TLB hit rates with copies of one application",
    wanted=lambda study: {(mix, label): SHARED[label] for mix in study.homogeneous for label in HITS},
    rows=each(
        lambda key, result: {
            "mix": mixes.label(key[0]),
            "applications": len(key[0]),
            "system": key[1],
            **hit_rates(result),
            "coalesced": coalesced(result),
        }
    ),
    tables=lambda _, points: {**means(_rates(points)), "limited in reach": _rates(limited(points))},
    draw=_draw_hits,
)
"""Share of lookups that hit at each level, and of base pages in large pages, by number of copies: the same runs as
`homogeneous`."""
