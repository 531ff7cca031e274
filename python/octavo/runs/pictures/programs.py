"""Where the time of runs goes: by cause for their accesses, and by phase for whole programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.runs import colours, measures
from octavo.runs.pictures import sheet
from octavo.runs.pictures.bars import label, panelled, stack, whisker

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl
    from matplotlib.axes import Axes


def breakdown(path: Path | None, points: pl.DataFrame, *, title: str, width: float = sheet.PAGE) -> sheet.Picture:
    """Run times relative to each workload's first variant, split like the time of its accesses: one panel for each."""
    panels = _panels(points)
    used = {cause for row in points.to_dicts() for cause, share in measures.shares(row).items() if share > 0}
    variants = points["variant"].unique(maintain_order=True).to_list()
    found, grid, inches = panelled(len(panels), variants, width, [_words(cause) for cause in used])
    room = 1 - min(0.4 / inches, 0.4)
    longest = max(measures.times(row).high / rows[0]["time_ps"] for rows in panels.values() for row in rows)
    for axes, (name, rows) in zip(grid, panels.items(), strict=True):
        shades = {_words(cause): colour for cause, colour in colours.CAUSES.items()}
        _wholes(axes, rows, stack(axes, _split(rows, used), shades), rows[0]["time_ps"], "{:.2f}")
        axes.set_xlim(0, longest / room)
        sheet.tidy(axes, name, along="x")
    sheet.headline(found, title)
    label(grid, inches, "relative run time")
    sheet.legend(found, grid[0])
    return sheet.write(found, path)


def _wholes(axes: Axes, rows: Sequence[dict[str, Any]], ends: Sequence[float], unit: float, text: str) -> None:
    """The total time behind each bar, which ends at one of `ends`, and the interval of replicates across its end."""
    for place, (row, end) in enumerate(zip(rows, ends, strict=True)):
        found = measures.times(row)
        if found.count > 1:
            whisker(axes, (found.low / unit, found.high / unit), place)
        behind = max(end, found.high / unit) if found.count > 1 else end
        said = text.format(found.median / unit)
        axes.annotate(said, (behind, place), (3, 0), textcoords="offset points", va="center", ha="left", fontsize=7)


def _panels(points: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    return {str(name): rows.to_dicts() for (name,), rows in points.group_by("workload", maintain_order=True)}


def _words(name: str) -> str:
    return name.replace("_", " ")


def _split(rows: Sequence[dict[str, Any]], used: set[str]) -> dict[str, list[float]]:
    """The length of each cause's part of each bar."""
    lengths = [row["time_ps"] / rows[0]["time_ps"] for row in rows]
    shares = [measures.shares(row) for row in rows]
    return {
        _words(cause): [share[cause] * length for share, length in zip(shares, lengths, strict=True)]
        for cause in measures.CAUSES
        if cause in used
    }


def phases(path: Path | None, points: pl.DataFrame, *, title: str, width: float = sheet.PAGE) -> sheet.Picture:
    """Where the time of whole programs goes: a panel for each workload, a bar and its total for each variant."""
    panels = _panels(points)
    sizes = [len(rows) for rows in panels.values()]
    legend = sheet.legend_height([*measures.PHASES], width)
    figure = sheet.figure(width, 0.6 + legend + sum(0.75 + 0.22 * size for size in sizes))
    grid = figure.subplots(len(panels), 1, squeeze=False, height_ratios=[2 + size for size in sizes])
    found = [measures.phases(point) for rows in panels.values() for point in rows]
    used = [name for name in (*measures.PHASES, measures.OTHER) if any(times[name] for times in found)]
    for axes, (name, rows) in zip(grid.flat, panels.items(), strict=True):
        _phase_bars(axes, rows, used)
        sheet.tidy(axes, name, along="x")
    sheet.headline(figure, title)
    sheet.legend(figure, grid.flat[0])
    return sheet.write(figure, path)


def _phase_bars(axes: Axes, rows: Sequence[dict[str, Any]], used: Sequence[str]) -> None:
    """A stacked bar for each point, the first on top, with its total time behind it."""
    longest = max(measures.times(point).high for point in rows)
    unit, per_unit = sheet.time_unit(longest)
    times = [measures.phases(point) for point in rows]
    shades = {_words(phase): colour for phase, colour in colours.PHASES.items()}
    stack(axes, {_words(name): [of[name] / per_unit for of in times] for name in used}, shades)
    _wholes(axes, rows, [point["time_ps"] / per_unit for point in rows], per_unit, f"{{:.3g}} {unit}")
    axes.set_yticks(range(len(rows)), [point["variant"] for point in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.2 * longest / per_unit)
    axes.set_xlabel(f"time in {unit}", fontsize=8)
