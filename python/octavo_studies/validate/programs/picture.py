"""Measured and simulated programs as a picture: kernel times as points, totals as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures
from octavo.runs.colours import KINDS, SERIES
from octavo.runs.pictures import sheet
from octavo_studies.validate.programs.times import JUDGED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

_MARKS = {
    "device": ("o", KINDS["explicit"]),
    "managed": ("s", KINDS["managed"]),
    "managed-prefetch": ("^", SERIES[2]),
    "pinned": ("D", KINDS["pinned"]),
    "system": ("v", KINDS["system"]),
}
_COLUMNS = 4
_SCATTER, _BARS = 4.2, 1.55
"""Heights in inches of the points, and of a line of bars."""
_THICK = 0.38
_MEASURED, _SIMULATED = "#333333", SERIES[0]


def draw(path: Path, rows: pl.DataFrame) -> None:
    """Kernel times simulated over measured, and below them the totals of each program and scale, if there are any."""
    totals = rows.filter(pl.col("time") == "total").partition_by("program", "scale", maintain_order=True)
    lines = -(-len(totals) // _COLUMNS)
    figure = sheet.figure(2 * pictures.COLUMN + 1.5, _SCATTER + _BARS * lines + 0.4)
    heights = [_SCATTER, *([_BARS * lines + 0.4] if totals else [])]
    parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False).ravel()
    _scatter(parts[0].subplots(), _kernels(rows))
    if totals:
        _totals(parts[1], totals, [kind for kind in _MARKS if kind in rows["kind"].to_list()])
    pictures.write(figure, path)


def _kernels(rows: pl.DataFrame) -> pl.DataFrame:
    """Of the judged times of kernels, the first that was measured."""
    measured = (rows.filter(pl.col("time") == name) for name in JUDGED if name != "total")
    return next((part for part in measured if part.height), rows.clear())


def _totals(part: SubFigure, totals: Sequence[pl.DataFrame], kinds: list[str]) -> None:
    grid = part.subplots(-(-len(totals) // _COLUMNS), _COLUMNS, squeeze=False)
    for number, axes in enumerate(grid.flat):
        if number < len(totals):
            _bars(axes, totals[number], kinds, named=number % _COLUMNS == 0)
        else:
            axes.set_visible(False)
    part.legend(*grid[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8, frameon=False)


def _scatter(axes: Axes, rows: pl.DataFrame) -> None:
    for kind, (mark, colour) in _MARKS.items():
        part = rows.filter(pl.col("kind") == kind)
        if part.height:
            axes.scatter(1e3 * part["measured"], 1e3 * part["simulated"], s=22, marker=mark, color=colour, label=kind)
    if rows.is_empty():
        axes.set_visible(False)
        return
    both = [1e3 * seconds for name in ("measured", "simulated") for seconds in rows[name].to_list()]
    ends = [0.7 * min(both), 1.4 * max(both)]
    axes.plot(ends, ends, color="#333333", linewidth=0.8)
    for factor in (2, 0.5):
        axes.plot(ends, [factor * end for end in ends], color="#333333", linewidth=0.5, linestyle=":")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("measured, ms", fontsize=8)
    axes.set_ylabel("simulated, ms", fontsize=8)
    axes.legend(fontsize=8, frameon=False)
    pictures.tidy(axes, "Kernel times of programs; dotted: twice and half as long")


def _bars(axes: Axes, rows: pl.DataFrame, kinds: list[str], *, named: bool) -> None:
    found = {row["kind"]: row for row in rows.to_dicts()}
    there = [(place, found[kind]) for place, kind in enumerate(kinds) if kind in found]
    for offset, column, colour in ((-_THICK, "measured", _MEASURED), (0.0, "simulated", _SIMULATED)):
        places = [place + offset + _THICK / 2 for place, _ in there]
        axes.barh(places, [1e3 * row[column] for _, row in there], _THICK, color=colour, label=f"total {column}")
    axes.set_yticks(range(len(kinds)), kinds if named else [""] * len(kinds))
    axes.invert_yaxis()
    axes.locator_params(axis="x", nbins=4)
    pictures.tidy(axes, f"{rows['program'][0]} {rows['scale'][0]:g}, ms", along="x")
    axes.title.set_fontsize(8)
