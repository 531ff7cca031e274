"""GRIT's schemes by what is accessed: shares among the walks that misses of the L2 TLB cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.runs import pictures
from octavo.runs.comparison import save_report
from octavo.runs.experiment import Variant

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.runs.result import RunResult
    from octavo_studies.grit.study import Study

GRIT = Variant("grit", ("memory.placement=grit", "record.walks=true"))
ATTRIBUTE = "scheme"
"""The attribute in the table `walks`."""


@dataclass(frozen=True)
class Walks:
    """What the walks of each kernel find."""

    root: Path
    """Folder of the table and the picture."""
    points: pl.DataFrame
    """One row for each kernel: all walks, and the share of each scheme; `none` before a page's first fault."""

    def to_dict(self) -> dict[str, Any]:
        """The study as JSON holds it."""
        return {"points": self.points.to_dicts()}


def walks(study: Study) -> Walks:
    """Run the kernels under GRIT and leave table and picture; errors as `Experiment.run`."""
    experiment = study.experiment([GRIT])
    with study.run("walks", experiment) as (root, outcome):
        rows = [{"kernel": kernel, **shares(result)} for (kernel, _), result in outcome.results.items()]
        found = Walks(root, pl.DataFrame(rows))
        save_report(root, experiment.digest, found.points, found.to_dict())
        kernels = found.points["kernel"].to_list()
        parts = {name.replace("_", " "): found.points[name].to_list() for name in found.points.columns[2:]}
        title = "Schemes of the pages that miss the L2 TLB"
        pictures.shares(root / "walks.png", kernels, parts, xlabel="share of page-table walks", title=title)
    return found


def shares(result: RunResult) -> dict[str, float]:
    """All walks of a run, and the share of each scheme among them."""
    counts = result.table("walks").filter(attribute=ATTRIBUTE)
    total = counts["walks"].sum()
    return {"walks": total, **{row["value"]: row["walks"] / max(total, 1) for row in counts.to_dicts()}}
