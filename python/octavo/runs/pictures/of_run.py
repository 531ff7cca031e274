"""The picture of one run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import gantt, measures, pictures
from octavo.runs.content import is_imported
from octavo.runs.pictures import sheet
from octavo.scenarios.about import briefs

if TYPE_CHECKING:
    from octavo.runs.result import RunResult


def plot(result: RunResult, *, width: float | None = None) -> pictures.Picture:
    """Where the time went: by phase for a whole program, over time for jobs, otherwise by cause.

    The memory in use over time, as sampled by `octavo profile`.

    Args:
        result: the run.
        width: in inches; that of a page, if left out. `octavo.runs.pictures` has the widths of papers.

    Raises:
        OutputError: the run had no time, or was imported from a profile.
        ScenarioError: nothing can be drawn so wide.

    """
    result.check_time()
    width = sheet.checked_width("width", width)
    if is_imported(result.folder) and "memory_intervals" in result.tables:
        return pictures.memory(None, result, title=f"Memory in use: {result.name}", width=width)
    scenario = result.scenario
    with sheet.below(lambda: briefs([scenario.values])):
        if scenario.jobs:
            return gantt.jobs(None, {result.name: result}, width=width)
        point = pl.DataFrame([measures.row(scenario.label, scenario.system, result)])
        draw = pictures.phases if measures.has_phases(point) else pictures.breakdown
        title = "Time by phase" if measures.has_phases(point) else "Time by cause"
        return draw(None, point, title=title, width=width)
