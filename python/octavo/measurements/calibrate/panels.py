"""Panels side by side with axes in quantities, and the points of all pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from octavo.measurements.calibrate import quantities
from octavo.runs import pictures
from octavo.runs.colours import SERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from octavo.measurements.calibrate.measurement import Unit

_LOGARITHMIC = 10.0
"""Ratio of the largest to the smallest value from which an axis is logarithmic."""
_WIDE = 4
"""Panels in a row at most."""


@dataclass(frozen=True)
class Panels:
    """A figure of equal panels, row by row."""

    figure: Figure
    axes: list[Axes]

    def save(self, path: Path, title: str, legend: bool = True) -> Path:
        """Write the figure, with one legend of all panels' names below them."""
        self.figure.suptitle(title, fontsize=11)
        if legend:
            named: dict[str, Any] = {}
            for axes in self.axes:
                named |= dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
            columns = min(len(named), 6)
            self.figure.legend(
                named.values(), named.keys(), loc="outside lower center", ncols=columns, fontsize=8, frameon=False
            )
        pictures.write(self.figure, path)
        return path


def panels(titles: Sequence[str], columns: int = _WIDE, *, share_y: bool = False) -> Panels:
    """One panel for each title."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - importing matplotlib takes longer than most commands

    columns = min(len(titles), columns)
    lines = -(-len(titles) // columns)
    width = {1: 6.8, 2: 5.0}.get(columns, 3.5)
    figure = Figure(figsize=(columns * width, 0.9 + lines * (3.9 if columns < 3 else 3.0)), layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False, sharey=share_y)
    for axes, title in zip(grid.flat, titles, strict=False):
        pictures.tidy(axes, title)
    for axes in list(grid.flat)[len(titles) :]:
        axes.set_visible(False)
    return Panels(figure, list(grid.flat)[: len(titles)])


def colour(index: int) -> str:
    """The colour of a series by its number."""
    return SERIES[index % len(SERIES)]


def points(rows: pl.DataFrame, key: str, value: pl.Expr) -> pl.DataFrame:
    """Median and quartiles over repetitions at each `key`: columns `key`, `middle`, `low` and `high`."""
    return (
        rows.with_columns(value=value)
        .filter(pl.col("value").is_finite())
        .group_by(key)
        .agg(
            middle=pl.col("value").median(),
            low=pl.col("value").quantile(0.25, "linear"),
            high=pl.col("value").quantile(0.75, "linear"),
        )
        .sort(key)
    )


def curve(
    axes: Axes, found: pl.DataFrame, key: str, *, name: str, paint: str, marker: str = "o", joined: bool = True
) -> None:
    """Medians as points, joined by a line unless a fit is drawn through them, and quartiles as a shade."""
    x = found[key].to_list()
    style = "-" if joined else "none"
    axes.plot(
        x, found["middle"], linestyle=style, marker=marker, markersize=3.5, linewidth=1.1, color=paint, label=name
    )
    axes.fill_between(x, found["low"], found["high"], color=paint, alpha=0.2, linewidth=0)


def fitted(axes: Axes, x: Iterable[float], y: Iterable[float], *, paint: str, name: str | None = None) -> None:
    """The result of a fit: dashed, where measured curves are solid."""
    axes.plot(list(x), list(y), color=paint, linewidth=0.9, linestyle=(0, (4, 2)), label=name)


def scale(axes: Axes, which: Literal["x", "y"], unit: Unit, label: str, *, base: int | None = None) -> None:
    """An axis whose ticks are quantities, set up once its curves are drawn.

    It is logarithmic (by powers of two for sizes and counts) if values span more than a factor of ten; otherwise it
    begins at 0, so that small differences look small. Marks are added later: they are no values.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415 - as above

    axis: Axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = _span(axes, which)
    if high > _LOGARITHMIC * low > 0:
        powers = base or (2 if unit in {"B", "1"} and which == "x" else 10)
        (axes.set_xscale if which == "x" else axes.set_yscale)("log", base=powers)
        few = powers == 10 and high < 1000 * low
        axis.set_major_locator(LogLocator(base=powers, subs=(1, 2, 5) if few else (1,), numticks=8))
        axis.set_minor_formatter(NullFormatter())
    elif which == "y":
        axes.set_ylim(0, 1.08 * high)
    axis.set_major_formatter(FuncFormatter(lambda value, _: quantities.short(float(value), unit)))
    axis.set_tick_params(labelsize=8)
    axis.set_label_text(label, fontsize=9)


def whole_numbers(axes: Axes, label: str) -> None:
    """A horizontal axis of single counts."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - as above

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.xaxis.set_tick_params(labelsize=8)
    axes.set_xlabel(label, fontsize=9)


def _span(axes: Axes, which: Literal["x", "y"]) -> tuple[float, float]:
    """The smallest value above 0 and the largest value drawn on the axis, which panels may share."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - as above

    shared = axes.get_shared_x_axes() if which == "x" else axes.get_shared_y_axes()
    values = [
        float(value)
        for one in shared.get_siblings(axes)
        for line in one.get_lines()
        for value in (line.get_xdata() if which == "x" else line.get_ydata())
        if value > 0
    ]
    values += [float(bar.get_height()) for bar in axes.patches if which == "y" and isinstance(bar, Rectangle)]
    return (min(values), max(values)) if values else (0.0, 1.0)


def mark(axes: Axes, which: Literal["x", "y"], value: float, text: str, *, low: bool = False) -> None:
    """A result as a thin line across the panel, named at the edge; at the top or bottom if it is vertical."""
    paint, style, text_paint = "#555555", ":", "#333333"
    if which == "x":
        axes.axvline(value, color=paint, linewidth=0.8, linestyle=style)
        axes.annotate(
            text,
            (value, 0.0 if low else 1.0),
            (-2, 3 if low else -3),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            rotation=90,
            ha="right",
            va="bottom" if low else "top",
            fontsize=7,
            color=text_paint,
        )
        return
    axes.axhline(value, color=paint, linewidth=0.8, linestyle=style)
    axes.annotate(
        text,
        (0.0, value),
        (3, 2),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="left",
        va="bottom",
        fontsize=7,
        color=text_paint,
    )
