"""Measured and simulated as a picture: one panel for each series, one mark for each point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.runs import pictures
from octavo.runs.colours import SERIES
from octavo.runs.pictures import sheet

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

_COLUMNS = 3
_AXES = {"s": "seconds", "B/s": "bytes a second", "op/s": "operations a second", "B": "bytes", "1": ""}


def scatter(path: Path, rows: pl.DataFrame, within: float) -> None:
    """Simulated over measured on logarithmic axes, with the band in which they count as near."""
    panels = rows.partition_by("probe", "series", maintain_order=True)
    columns = min(_COLUMNS, len(panels))
    lines = -(-len(panels) // columns)
    figure = sheet.figure(3.4 * columns, 3.2 * lines)
    grid = list(figure.subplots(lines, columns, squeeze=False).flat)
    for axes, panel in zip(grid, panels, strict=False):
        _panel(axes, panel, within)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    pictures.write(figure, path)


def _panel(axes: Axes, panel: pl.DataFrame, within: float) -> None:
    near = panel.select(pl.col("error").abs() <= within).to_series()
    for chosen, colour, words in ((near, 0, f"within {within:.0%}"), (~near, 1, "beyond")):
        part = panel.filter(chosen)
        axes.scatter(part["measured"], part["simulated"], s=9, color=SERIES[colour], label=words)
    low, high = float(panel["measured"].min()), float(panel["measured"].max())  # type: ignore[arg-type]  # numbers
    ends = [low * 0.7, high * 1.4]
    axes.plot(ends, ends, color="#333333", linewidth=0.8)
    axes.fill_between(
        ends, [x * (1 - within) for x in ends], [x * (1 + within) for x in ends], color="#333333", alpha=0.1
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    unit = _AXES[panel["unit"][0]]
    axes.set_xlabel(f"measured, {unit}", fontsize=8)
    axes.set_ylabel("simulated", fontsize=8)
    axes.legend(fontsize=7, frameon=False)
    pictures.tidy(axes, f"{panel['probe'][0]}.{panel['series'][0]}")
