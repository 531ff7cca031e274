"""The main study: eight kernels under eight placements, beside the published averages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.report.publications import published
from octavo.runs import measures, pictures
from octavo.runs.comparison import Comparison
from octavo_studies.grit.study import Study, placement

if TYPE_CHECKING:
    from octavo_studies.engine import Found

PLACEMENTS = ("on-touch", "access-counter", "duplication", "first-touch", "griffin-dpc", "gps", "grit", "ideal")
UNIFORM = PLACEMENTS[:3]


def reproduce(study: Study) -> tuple[Found, Comparison]:
    """Run the study and leave its tables and pictures; errors as `Experiment.run`."""
    runs, outcome = study.compare("main", [placement(name) for name in PLACEMENTS])
    comparison = Comparison.of(outcome, PLACEMENTS[0])
    document = {
        "source_of_published": published().source,
        "gains_of_grit": _gains(comparison),
        "best_uniform_scheme": _best_uniform(comparison),
        "scheme_mix": _scheme_mix(comparison.points),
        **comparison.to_dict(),
    }
    found = runs.found("GRIT", comparison.points, document, lambda found: _draw(found, comparison))
    return found, comparison


def _gains(comparison: Comparison) -> list[dict[str, Any]]:
    """GRIT's average gain over each uniform scheme: found (geometric mean), published, and the difference."""
    means = comparison.geometric_means()
    rows = []
    for rival, gain in published().gain_of_grit_over.items():
        found = means["grit"] / means[rival] - 1.0
        rows.append({"over": rival, "found": found, "published": gain, "difference": found - gain})
    return rows


def _best_uniform(comparison: Comparison) -> list[dict[str, Any]]:
    """The fastest uniform scheme of each kernel, found and published, and GRIT's speed relative to the former."""
    rows = []
    for row in comparison.speedups().to_dicts():
        kernel = row["workload"]
        if kernel == "geomean":
            continue
        best = max(UNIFORM, key=lambda scheme: row[scheme])
        named = published().best_uniform_scheme.get(kernel)
        rows.append({"kernel": kernel, "found": best, "published": named, "grit_over_it": row["grit"] / row[best]})
    return rows


def _scheme_mix(points: pl.DataFrame) -> pl.DataFrame:
    """Share of the pages that end with each scheme under GRIT, by kernel."""
    pages = [f"pages_{scheme}" for scheme in measures.SCHEMES]
    total = pl.max_horizontal(pl.sum_horizontal(pages), 1)
    shares = (pl.col(name).truediv(total).alias(name.removeprefix("pages_")) for name in pages)
    return points.filter(pl.col("variant") == "grit").select("workload", *shares)


def faults(points: pl.DataFrame) -> pl.DataFrame:
    """Faults by kernel and placement."""
    return points.pivot(on="variant", index="workload", values="faults", maintain_order=True)


def _draw(found: Found, comparison: Comparison) -> None:
    root, title = found.root, "Speed-up over on-touch"
    pictures.bars(
        root / "speedup.png", comparison.speedups(), xlabel="speed-up over on-touch", title=title, line_at=1.0
    )
    counted = faults(found.points)
    relative = counted.with_columns(pl.col(name) / pl.max_horizontal("on-touch", 1) for name in counted.columns[1:])
    pictures.bars(
        root / "faults.png",
        relative,
        line_at=1.0,
        xlabel="faults relative to on-touch",
        title="Faults seen by the driver",
    )
    pictures.breakdown(root / "breakdown.png", found.points, title="Run time by cause, relative to on-touch")
    mix = found.scheme_mix
    parts = {name.replace("_", " "): mix[name].to_list() for name in mix.columns[1:]}
    pictures.shares(
        root / "scheme_mix.png",
        mix["workload"].to_list(),
        parts,
        xlabel="share of pages",
        title="Schemes of pages under GRIT",
    )
