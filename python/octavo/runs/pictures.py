"""Bar charts, heat maps and scatter plots, made from tables alone."""

from __future__ import annotations

import io
import math
import re
import warnings
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.plain import visible
from octavo.runs import folder, measures

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#9c755f", "#edc948", "#e15759", "#bab0ac", "#76b7b2")
"""Distinct for most readers with a colour-vision deficiency, too."""

_PHASE_COLOURS = ("#edc948", "#f28e2b", "#b07aa1", "#4e79a7", "#76b7b2", "#9c755f", "#bab0ac")
"""Of the phases of a program in order, and of the rest of its time: neighbours differ in lightness, too."""

_DARK = 1.4
"""Sum of red, green and blue below which white text is read more easily than black."""
_LOGARITHMIC = 10.0
"""Ratio of the largest to the smallest value from which an axis is logarithmic."""
_PANELS = 4
"""Panels side by side."""


def grouped_bars(path: Path, table: pl.DataFrame, *, ylabel: str, title: str, line_at: float | None = None) -> None:
    """Bars by the first column's rows, one colour for each other column.

    With `line_at`, values are ratios to it: bars rise from or hang below that line, on a logarithmic axis once they
    span more than a factor of ten, so that twice as fast and half as fast look alike.
    """
    labels, series = table.columns[0], table.columns[1:]
    figure, axes = _figure(max(6.0, 1.1 + 0.16 * table.height * (len(series) + 1)), 3.6)
    width = 0.84 / len(series)
    for index, name in enumerate(series):
        offsets = [group - 0.42 + (index + 0.5) * width for group in range(table.height)]
        base = line_at or 0.0
        heights = [value - base for value in table[name]]
        axes.bar(offsets, heights, width, bottom=base, label=name, color=COLOURS[index % len(COLOURS)])
    if line_at is not None:
        axes.axhline(line_at, color="#333333", linewidth=0.8)
        _ratios(axes, [value for name in series for value in table[name]])
    axes.set_xticks(range(table.height), table[labels].to_list())
    _finish(figure, axes, path, ylabel, title)


def _ratios(axes: Axes, values: Sequence[float]) -> None:
    if min(values) <= 0 or max(values) < _LOGARITHMIC * min(values):
        return
    axes.set_yscale("log")
    steps = [factor * 10.0**power for power in range(-3, 4) for factor in (1, 2, 5)]
    shown = [step for step in steps if min(values) / 2 <= step <= max(values) * 2]
    axes.set_yticks(shown, [f"{step:g}" for step in shown])
    axes.minorticks_off()


def stacked_bars(
    path: Path, labels: Sequence[str], parts: Mapping[str, Sequence[float]], *, ylabel: str, title: str
) -> None:
    """One bar for each label, made of the parts in order."""
    figure, axes = _figure(max(5.0, 1.5 + 0.42 * len(labels)), 3.9)
    _stack(axes, labels, parts)
    _finish(figure, axes, path, ylabel, title)


def _stack(axes: Axes, labels: Sequence[str], parts: Mapping[str, Sequence[float]]) -> None:
    bottom = [0.0] * len(labels)
    for index, (name, values) in enumerate(parts.items()):
        axes.bar(range(len(labels)), values, 0.7, bottom=bottom, label=name, color=COLOURS[index % len(COLOURS)])
        bottom = [low + value for low, value in zip(bottom, values, strict=True)]
    axes.set_xticks(range(len(labels)), labels, rotation=90 if len(labels) > 6 else 0)


def heat_map(
    path: Path,
    values: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    axes_labels: tuple[str, str],
    title: str,
    floor: float | None = None,
) -> None:
    """Values by row and column, each written into its cell; colours begin at `floor`, or at the smallest value."""
    figure, axes = _figure(1.8 + 0.8 * len(columns), 1.4 + 0.45 * len(rows))
    image = axes.imshow(values, cmap="viridis_r", aspect="auto", vmin=floor)
    cells = [(x, y, value) for y, line in enumerate(values) for x, value in enumerate(line) if not math.isnan(value)]
    for x, y, value in cells:
        dark = sum(image.to_rgba(value)[:3]) < _DARK  # type: ignore[arg-type]  # its stubs want arrays only
        axes.text(x, y, f"{value:.2f}", ha="center", va="center", color="white" if dark else "black", fontsize=8)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylabel(axes_labels[0])
    axes.set_xlabel(axes_labels[1])
    axes.set_title(title, fontsize=10)
    write(figure, path)


def lines(
    path: Path, series: Mapping[str, tuple[Sequence[float], Sequence[float]]], labels: tuple[str, str], *, title: str
) -> None:
    """A line for each name, through its points; an axis whose values span more than a factor of ten is logarithmic."""
    figure, axes = _figure(6.4, 3.9)
    for index, (name, (x, y)) in enumerate(series.items()):
        axes.plot(x, y, marker="o", markersize=4, label=name, color=COLOURS[index % len(COLOURS)])
    _span(axes.set_xscale, [value for x, _ in series.values() for value in x])
    _span(axes.set_yscale, [value for _, y in series.values() for value in y])
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    tidy(axes, title)
    if len(series) > 1:
        figure.legend(loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    write(figure, path)


def _span(set_scale: Callable[[str], None], values: Sequence[float]) -> None:
    if min(values) > 0 and max(values) >= _LOGARITHMIC * min(values):
        set_scale("log")


def agreement(path: Path, rows: pl.DataFrame, *, title: str) -> None:
    """Kernel times found over those of a reference, one point for each run, with bands of 15 % and 50 %.

    Runs further off than 15 % are named, hollow points are runs that the reference itself computes wrongly.
    """
    figure, axes = _figure(7.0, 6.4)
    points = rows.with_columns(pl.col("kernel_time_reference_ps", "kernel_time_ps") * 1e-6)
    times = [*points["kernel_time_reference_ps"], *points["kernel_time_ps"]]
    ends = [0.7 * min(times), 1.5 * max(times)]
    for share, shade in ((0.5, "#f2f2f2"), (0.15, "#dfe6ee")):
        lower, upper = ([end * (1 + sign * share) for end in ends] for sign in (-1, 1))
        axes.fill_between(ends, lower, upper, color=shade, linewidth=0, label=f"within {share:.0%}")
    axes.plot(ends, ends, color="#666666", linewidth=0.8)
    for index, ((gpus,), part) in enumerate(points.group_by("gpus", maintain_order=True)):
        name = f"{gpus} GPU{'s' if gpus > 1 else ''}"
        colour = COLOURS[index % len(COLOURS)]
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
    _name_outliers(axes, points)
    axes.set_xlabel("reference: kernel time in µs")
    axes.set_ylabel("found: kernel time in µs")
    tidy(axes, title)
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    write(figure, path)


def _name_outliers(axes: Axes, points: pl.DataFrame) -> None:
    """Benchmark, sizes and error beside each point that is far off.

    Names below the diagonal stand to the right, above it to the left; close ones are spread.
    """
    outliers = points.filter(pl.col("kernel_time_error").abs() > 0.15).sort("kernel_time_ps")
    for side in (-1, 1):
        last = 0.0
        for row in outliers.filter(pl.col("kernel_time_error").sign() == side).to_dicts():
            height = max(row["kernel_time_ps"], last * 1.09)
            last = height
            sizes = "·".join(re.findall(r"(?<= )[\d.]+", row["parameters"]))
            text = f"{row['benchmark']} {sizes} {row['kernel_time_error']:+.0%}"
            axes.annotate(
                text,
                (row["kernel_time_reference_ps"], row["kernel_time_ps"]),
                (row["kernel_time_reference_ps"] * (0.8 if side > 0 else 1.25), height),
                ha="right" if side > 0 else "left",
                va="center",
                fontsize=6,
                arrowprops={"arrowstyle": "-", "linewidth": 0.3, "color": "#888888"},
            )


def breakdown(path: Path, points: pl.DataFrame, *, title: str) -> None:
    """Where the time of accesses goes, relative to each workload's first variant: a panel for each workload."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - as below

    panels = {str(name): rows.to_dicts() for (name,), rows in points.group_by("workload", maintain_order=True)}
    used = {cause for row in points.to_dicts() for cause, share in measures.shares(row).items() if share > 0}
    columns = min(len(panels), _PANELS)
    lines = -(-len(panels) // columns)
    bars = max(len(rows) for rows in panels.values())
    figure = Figure(figsize=(max(5.0, columns * (0.9 + 0.32 * bars)), 0.9 + 3.1 * lines), layout="constrained")
    grid = figure.subplots(lines, columns, squeeze=False)
    for axes, (name, rows) in zip(grid.flat, panels.items(), strict=False):
        _stack(axes, [row["variant"] for row in rows], _split(rows, used))
        tidy(axes, name)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    figure.suptitle(title, fontsize=11)
    figure.supylabel("run time, split by the accesses' time", fontsize=9)
    handles, names = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    write(figure, path)


def _split(rows: Sequence[dict[str, Any]], used: set[str]) -> dict[str, list[float]]:
    """Height of each cause's part of each bar."""
    heights = [row["time_ps"] / rows[0]["time_ps"] for row in rows]
    shares = [measures.shares(row) for row in rows]
    return {
        cause.replace("_", " "): [share[cause] * height for share, height in zip(shares, heights, strict=True)]
        for cause in measures.CAUSES
        if cause in used
    }


def phases(path: Path, points: pl.DataFrame, *, title: str) -> None:
    """Where the time of whole programs goes: a panel for each workload, a bar and its total for each variant."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - as below

    panels = {str(name): rows.to_dicts() for (name,), rows in points.group_by("workload", maintain_order=True)}
    sizes = [len(rows) for rows in panels.values()]
    figure = Figure(figsize=(7.4, 1.1 + sum(0.75 + 0.3 * size for size in sizes)), layout="constrained")
    grid = figure.subplots(len(panels), 1, squeeze=False, height_ratios=[2 + size for size in sizes])
    found = [measures.phases(point) for rows in panels.values() for point in rows]
    used = [name for name in (*measures.PHASES, measures.OTHER) if any(times[name] for times in found)]
    for axes, (name, rows) in zip(grid.flat, panels.items(), strict=True):
        _phase_bars(axes, rows, used)
        tidy(axes, name)
        axes.grid(axis="y", visible=False)
        axes.grid(axis="x", linewidth=0.4, alpha=0.6)
    figure.suptitle(title, fontsize=11)
    handles, names = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    write(figure, path)


def _phase_bars(axes: Axes, rows: Sequence[dict[str, Any]], used: Sequence[str]) -> None:
    """A stacked bar for each point, the first on top, with its whole time behind it."""
    totals = [point["time_ps"] for point in rows]
    unit, per_unit = time_unit(max(totals))
    left = [0.0] * len(rows)
    for name, colour in zip((*measures.PHASES, measures.OTHER), _PHASE_COLOURS, strict=True):
        if name not in used:
            continue
        times = [measures.phases(point)[name] / per_unit for point in rows]
        label = name.replace("_", " ")
        axes.barh(range(len(rows)), times, 0.72, left=left, label=label, color=colour, edgecolor="white", linewidth=0.4)
        left = [start + time for start, time in zip(left, times, strict=True)]
    for index, total in enumerate(totals):
        text = f" {total / per_unit:.3g} {unit}"
        axes.text(total / per_unit, index, text, va="center", ha="left", fontsize=8)
    axes.set_yticks(range(len(rows)), [point["variant"] for point in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.14 * max(totals) / per_unit)
    axes.set_xlabel(f"time in {unit}", fontsize=8)
    axes.tick_params(labelsize=8)


def time_unit(picoseconds: float) -> tuple[str, float]:
    """The unit in which a time is easy to read, and how many picoseconds it has."""
    units = (("s", 1e12), ("ms", 1e9), ("µs", 1e6))
    return next((found for found in units if picoseconds >= found[1]), ("ns", 1e3))


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure  # noqa: PLC0415 - importing it takes longer than most commands

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _finish(figure: Figure, axes: Axes, path: Path, ylabel: str, title: str) -> None:
    axes.set_ylabel(ylabel)
    tidy(axes, title)
    figure.legend(loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    write(figure, path)


def tidy(axes: Axes, title: str) -> None:
    """What all axes have in common: a title, faint lines behind the data, no box."""
    axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", linewidth=0.4, alpha=0.6)
    axes.set_axisbelow(True)


def write(figure: Figure, path: Path) -> None:
    """The figure as a PNG file, whole or not at all, with nothing in it that depends on the machine."""
    from matplotlib.text import Text  # noqa: PLC0415 - importing it takes longer than most commands

    for text in figure.findobj(Text):
        if "\\mathdefault" not in text.get_text():  # What ticks write; names of others are no formulas.
            text.set_parse_math(False)
            text.set_text(visible(text.get_text()))
    drawn = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # Characters that the font lacks are boxes.
        figure.savefig(drawn, format="png", dpi=150, metadata={"Software": None})
    folder.write_bytes(path, drawn.getvalue())
