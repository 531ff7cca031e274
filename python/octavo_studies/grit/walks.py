"""GRIT's schemes by what is accessed: shares among the walks that misses of the L2 TLB cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures
from octavo.runs.experiment import Variant

if TYPE_CHECKING:
    from octavo.runs.result import RunResult
    from octavo_studies.engine import Found
    from octavo_studies.grit.study import Study

GRIT = Variant("grit", ("memory.placement=grit", "record.walks=true"))
ATTRIBUTE = "scheme"
"""The attribute in the table `walks`."""


def walks(study: Study) -> Found:
    """Run the kernels under GRIT and leave table and picture; errors as `Experiment.run`.

    Points have one row for each kernel: all walks, and the share of each scheme; `none` before a page's first fault.
    """
    runs, _ = study.compare("walks", [GRIT])
    points = pl.DataFrame([{"kernel": kernel, **shares(result)} for (kernel, _), result in runs.results.items()])
    return runs.found("Schemes of the pages that miss the L2 TLB", points, {"points": points}, _draw)


def _draw(found: Found) -> None:
    parts = {name.replace("_", " "): found.points[name].to_list() for name in found.points.columns[2:]}
    kernels, path = found.points["kernel"].to_list(), found.root / "walks.png"
    pictures.shares(path, kernels, parts, xlabel="share of page-table walks", title=found.title)


def shares(result: RunResult) -> dict[str, float]:
    """All walks of a run, and the share of each scheme among them."""
    counts = result.table("walks").filter(attribute=ATTRIBUTE)
    total = counts["walks"].sum()
    return {"walks": total, **{row["value"]: row["walks"] / max(total, 1) for row in counts.to_dicts()}}
