"""(c), (d) and (e): applications that share the GPU, and where their translations are found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.runs import pictures
from octavo_studies.engine import series
from octavo_studies.engine.found import compared
from octavo_studies.mosaic import mixes, systems
from octavo_studies.mosaic.study import hit_rates, leave
from octavo_studies.published import published

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from octavo.runs.experiment import Variant
    from octavo_studies.engine.found import Found
    from octavo_studies.mosaic.study import Key, Mix, Study

SHARED = {system.label: systems.with_paging(system) for system in systems.SHARED}


def homogeneous(study: Study) -> Found:
    """Weighted speed-up of copies of one application."""
    return _weighted(study, "homogeneous", study.homogeneous, beside=True)


def heterogeneous(study: Study) -> Found:
    """Weighted speed-up of different applications."""
    return _weighted(study, "heterogeneous", study.heterogeneous)


def tlb_hits(study: Study) -> Found:
    """Share of lookups that hit at each level, by number of copies: the same runs as `homogeneous`."""
    chosen = {name: SHARED[name] for name in (systems.GPU_MMU.label, systems.MOSAIC.label)}
    wanted = {(mix, label): variant for mix in study.homogeneous for label, variant in chosen.items()}
    runs = study.run("hit-rates", wanted)
    rows = [
        {"mix": mixes.label(mix), "applications": len(mix), "system": label, **hit_rates(result)}
        for (mix, label), result in runs.results.items()
    ]
    points = pl.DataFrame(rows)
    by = points.group_by("applications", "system", maintain_order=True)
    means = by.agg(pl.col("l1", "l1_large", "l2", "l2_large").mean())
    return leave(runs, "TLB hit rates with copies of one application", points, means, _draw_hits)


def _draw_hits(part: Found) -> None:
    levels = part.means.unpivot(("l1", "l2"), index=("applications", "system"), variable_name="level")
    named = levels.with_columns(pl.col("level").str.to_uppercase()).sort("system", maintain_order=True)
    axes = ("copies", "share of lookups that hit")
    path = part.root / "hit_rates.png"
    series.lines(path, named, ("system", "level"), "applications", "value", axes, title=part.title)


def _weighted(study: Study, name: str, chosen: Sequence[Mix], *, beside: bool = False) -> Found:
    wanted: dict[Key, Variant] = {(mix, label): variant for mix in chosen for label, variant in SHARED.items()}
    for mix in chosen:
        wanted.update(study.alone(mix))
    runs = study.run(name, wanted)
    rows = [
        {
            "mix": mixes.label(mix),
            "applications": len(mix),
            **{label: study.weighted_speedup(mix, runs.results[mix, label], runs.results) for label in SHARED},
        }
        for mix in chosen
    ]
    points = pl.DataFrame(rows)
    means = averages(points)
    published_beside = _beside_published(means) if beside else []
    return leave(runs, f"Weighted speed-up, {name} mixes", points, means, _draw, published_beside)


def averages(points: pl.DataFrame) -> pl.DataFrame:
    """Mean weighted speed-up by number of applications, then over all.

    `gain` is Mosaic's over GPU-MMU and `gap to ideal` how far it stays below the ideal TLB, both of the means.
    """
    by_count = points.group_by("applications", maintain_order=True).agg(pl.col(*SHARED).mean())
    overall = points.select(pl.lit("all").alias("applications"), *(pl.col(label).mean() for label in SHARED))
    together = pl.concat([by_count.with_columns(pl.col("applications").cast(pl.String)), overall])
    base, mosaic, ideal = (pl.col(label) for label in SHARED)
    return together.with_columns((mosaic / base - 1).alias("gain"), (1 - mosaic / ideal).alias("gap to ideal"))


def _beside_published(means: pl.DataFrame) -> list[dict[str, Any]]:
    overall = means.row(-1, named=True)
    known = published("mosaic")
    return [
        compared("gain over GPU-MMU", overall["gain"], known["homogeneous_gain"]),
        compared("gap to the ideal TLB", overall["gap to ideal"], known["homogeneous_gap_to_ideal"]),
    ]


def _draw(part: Found) -> None:
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
