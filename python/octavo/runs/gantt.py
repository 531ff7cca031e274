"""Jobs over time, as a picture, and below them the memory of the GPUs if it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs.colours import PROCESSORS, SERIES
from octavo.runs.pictures import Picture, sheet, tidy, time_unit, write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from octavo.runs.result import RunResult

_CUT_OFF = 0.45
"""The opacity of a repetition that was cut off at the end of the run."""
_MEMORY_HEIGHT = 4
"""Height of a panel of memory, in lines of jobs."""


def jobs(path: Path | None, results: Mapping[str, RunResult], *, width: float = sheet.PAGE) -> Picture:
    """A panel for each run that has jobs, a line for each job, a bar for each of its repetitions."""
    shown = {name: result for name, result in results.items() if "jobs" in result.tables}
    panels: list[tuple[str, RunResult, bool]] = []
    for name, result in shown.items():
        panels.append((name, result, False))
        if "capacity" in result.tables:
            panels.append(("", result, True))
    heights = [_MEMORY_HEIGHT if memory else 2 + len(result.summary["jobs"]) for _, result, memory in panels]
    figure = sheet.figure(width, 0.5 + 0.36 * sum(heights))
    grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True, height_ratios=heights)
    longest = max(result.summary["time_ps"] for result in shown.values())
    unit, per_unit = time_unit(longest)
    for axes, (name, result, memory) in zip(grid.flat, panels, strict=True):
        if memory:
            _capacity(axes, result, per_unit)
        else:
            _bars(axes, result, per_unit)
        tidy(axes, name, along="y" if memory else "x")
        axes.grid(axis="x", linewidth=0.4, alpha=0.6)
        axes.set_xlim(0, longest / per_unit)
    grid.flat[-1].set_xlabel(f"time in {unit}; pale: cut off by the end of the run", fontsize=8)
    return write(figure, path)


def _bars(axes: Axes, result: RunResult, per_unit: float) -> None:
    names = [job["name"] for job in result.summary["jobs"]]
    for row in result.rows("jobs"):
        line = names.index(row["job"])
        began, ended = row["began_ps"] / per_unit, row["ended_ps"] / per_unit
        opacity = 1.0 if row["complete"] else _CUT_OFF
        colour = SERIES[line % len(SERIES)]
        axes.barh(line, ended - began, 0.66, left=began, color=colour, alpha=opacity, edgecolor="white", linewidth=0.6)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)


def _capacity(axes: Axes, result: RunResult, per_unit: float) -> None:
    """Memory of each GPU as steps; without a limit there is no line."""
    table = result.table("capacity")
    end = result.summary["time_ps"]
    for (gpu,), rows in table.group_by("gpu", maintain_order=True):
        limited = rows.filter((pl.col("bytes") > 0) & (pl.col("time_ps") <= end))
        times = [*limited["time_ps"], end]
        mebibytes = [value / (1 << 20) for value in limited["bytes"]]
        colour = PROCESSORS[1 + int(str(gpu)) % (len(PROCESSORS) - 1)]
        line = [*mebibytes, *mebibytes[-1:]]
        axes.step(
            [time / per_unit for time in times][-len(line) :], line, where="post", color=colour, label=f"gpu{gpu}"
        )
    axes.legend(loc="lower right", ncols=4, fontsize=7, frameon=False)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("memory in MiB", fontsize=8)
