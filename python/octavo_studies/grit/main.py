"""The main study: eight kernels under eight placements, beside the published averages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.report.published import published
from octavo.runs import measures, pictures
from octavo.runs.comparison import Comparison, save_report
from octavo_studies.grit.study import Study, placement

if TYPE_CHECKING:
    from pathlib import Path

PLACEMENTS = ("on-touch", "access-counter", "duplication", "first-touch", "griffin-dpc", "gps", "grit", "ideal")
UNIFORM = PLACEMENTS[:3]


@dataclass(frozen=True)
class Reproduction:
    """The study's results and what they are compared with."""

    root: Path
    """Folder of the tables and pictures."""
    comparison: Comparison

    def gains(self) -> list[dict[str, Any]]:
        """GRIT's average gain over each uniform scheme: found (geometric mean), published, and the difference."""
        means = self.comparison.geometric_means()
        rows = []
        for rival, gain in published().gain_of_grit_over.items():
            found = means["grit"] / means[rival] - 1.0
            rows.append({"over": rival, "found": found, "published": gain, "difference": found - gain})
        return rows

    def best_uniform(self) -> list[dict[str, Any]]:
        """The fastest uniform scheme of each kernel, found and published, and GRIT's speed relative to the former."""
        rows = []
        for row in self.comparison.speedups().to_dicts():
            kernel = row["workload"]
            if kernel == "geomean":
                continue
            best = max(UNIFORM, key=lambda scheme: row[scheme])
            named = published().best_uniform_scheme.get(kernel)
            rows.append({"kernel": kernel, "found": best, "published": named, "grit_over_it": row["grit"] / row[best]})
        return rows

    def scheme_mix(self) -> pl.DataFrame:
        """Share of the pages that end with each scheme under GRIT, by kernel."""
        pages = [f"pages_{scheme}" for scheme in measures.SCHEMES]
        grit = self.comparison.points.filter(pl.col("variant") == "grit")
        total = pl.max_horizontal(pl.sum_horizontal(pages), 1)
        return grit.select(
            "workload", *(pl.col(name).truediv(total).alias(name.removeprefix("pages_")) for name in pages)
        )

    def faults(self) -> pl.DataFrame:
        """Faults by kernel and placement."""
        return self.comparison.points.pivot(on="variant", index="workload", values="faults", maintain_order=True)

    def to_dict(self) -> dict[str, Any]:
        """The study as JSON holds it."""
        return {
            "source_of_published": published().source,
            "gains_of_grit": self.gains(),
            "best_uniform_scheme": self.best_uniform(),
            "scheme_mix": self.scheme_mix().to_dicts(),
            **self.comparison.to_dict(),
        }


def reproduce(study: Study) -> Reproduction:
    """Run the study and leave its tables and pictures; errors as `Experiment.run`."""
    experiment = study.experiment([placement(name) for name in PLACEMENTS])
    with study.run("main", experiment) as (root, outcome):
        found = Reproduction(root, Comparison.of(outcome, PLACEMENTS[0]))
        save_report(root, experiment.digest, found.comparison.points, found.to_dict())
        _draw(root, found)
    return found


def _draw(root: Path, found: Reproduction) -> None:
    speedups = found.comparison.speedups()
    pictures.bars(
        root / "speedup.png", speedups, xlabel="speed-up over on-touch", title="Speed-up over on-touch", line_at=1.0
    )
    faults = found.faults()
    relative = faults.with_columns(pl.col(name) / pl.max_horizontal("on-touch", 1) for name in faults.columns[1:])
    pictures.bars(
        root / "faults.png",
        relative,
        xlabel="faults relative to on-touch",
        title="Faults seen by the driver",
        line_at=1.0,
    )
    pictures.breakdown(root / "breakdown.png", found.comparison.points, title="Run time by cause, relative to on-touch")
    mix = found.scheme_mix()
    parts = {name.replace("_", " "): mix[name].to_list() for name in mix.columns[1:]}
    pictures.shares(
        root / "scheme_mix.png",
        mix["workload"].to_list(),
        parts,
        xlabel="share of pages",
        title="Schemes of pages under GRIT",
    )
