"""Times found over a reference's times."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import polars as pl

from octavo.runs.colours import SERIES
from octavo.runs.pictures import sheet

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

_LINE, _AXES = 0.13, 5.0
"""Inches from one line of small text to the next, and of each side of the axes at least."""


def agreement(path: Path | None, rows: pl.DataFrame, *, title: str) -> sheet.Picture:
    """Kernel times found over a reference's, one point for each run, with bands of 15 % and 50 %.

    Runs that differ by more than 15 % are named; hollow points are runs that the reference itself computes incorrectly.
    """
    figure = sheet.figure(7.0, 6.4)
    axes = figure.add_subplot()
    points = rows.with_columns(pl.col("kernel_time_reference_ps", "kernel_time_ps") * 1e-6)
    times = [*points["kernel_time_reference_ps"], *points["kernel_time_ps"]]
    ends = [0.7 * min(times), 1.5 * max(times)]
    for share, shade in ((0.5, "#f2f2f2"), (0.15, "#dfe6ee")):
        lower, upper = ([end * (1 + sign * share) for end in ends] for sign in (-1, 1))
        axes.fill_between(ends, lower, upper, color=shade, linewidth=0, label=f"within {share:.0%}")
    axes.plot(ends, ends, color="#666666", linewidth=0.8)
    for index, ((gpus,), part) in enumerate(points.group_by("gpus", maintain_order=True)):
        name = f"{gpus} GPU{'s' if gpus > 1 else ''}"
        colour = SERIES[index % len(SERIES)]
        for reliable, face in ((True, colour), (False, "white")):
            shown = part.filter(pl.col("reliable") == reliable)
            label = name if reliable else f"{name}, reference unreliable"
            if shown.height:
                axes.scatter(
                    shown["kernel_time_reference_ps"], shown["kernel_time_ps"], 22, face, edgecolors=colour, label=label
                )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(ends[0], ends[1])
    axes.set_ylim(ends[0], ends[1])
    axes.set_aspect("equal")
    _name_outliers(axes, points, math.log10(ends[1] / ends[0]))
    axes.set_xlabel("reference: kernel time in µs")
    axes.set_ylabel("found: kernel time in µs")
    sheet.tidy(axes, title)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    return sheet.write(figure, path)


def _name_outliers(axes: Axes, points: pl.DataFrame, decades: float) -> None:
    """Benchmark, sizes and error beside each point that is far off, on axes that span so many decades.

    Names below the diagonal are to the right of their points, those above to the left; close ones are spread.
    """
    apart = 10 ** (_LINE * decades / _AXES)
    outliers = points.filter(pl.col("kernel_time_error").abs() > 0.15).sort("kernel_time_ps")
    for side in (-1, 1):
        last = 0.0
        for row in outliers.filter(pl.col("kernel_time_error").sign() == side).to_dicts():
            height = max(row["kernel_time_ps"], last * apart)
            last = height
            sizes = "·".join(re.findall(r"(?<= )[\d.]+", row["parameters"]))
            text = f"{row['benchmark']} {sizes} {row['kernel_time_error']:+.0%}".replace("-", "−")
            axes.annotate(
                text,
                (row["kernel_time_reference_ps"], row["kernel_time_ps"]),
                (row["kernel_time_reference_ps"] * (0.8 if side > 0 else 1.25), height),
                ha="right" if side > 0 else "left",
                va="center",
                fontsize=6,
                arrowprops={"arrowstyle": "-", "linewidth": 0.3, "color": "#888888"},
            )
