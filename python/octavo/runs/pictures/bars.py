"""Bars: values by name, or parts of wholes; each bar carries its value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from octavo.runs import colours
from octavo.runs.pictures import sheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patheffects import AbstractPathEffect

LOGARITHMIC = 10.0
"""Ratio of the largest to the smallest value from which an axis is logarithmic."""
_PANEL = 1.6
"""Least width of a panel, in inches."""
_BAR, _AROUND = 0.19, 0.42
"""The height of a bar, and of the space above and below a panel's bars, in inches."""
_NAMES, _ROW = 0.42, 0.6
"""The share of a picture's width above which names take several lines, and the height of each further line, in bars."""
_MOST_PANELS = 3
"""Panels side by side."""
_VALUE, _GAP = 7, 3
"""The size of values, and the space between them and their bars, in points."""
_HALO = 2.0
"""The width of the white outline of values, in points, so that they can be read where a line crosses them."""
_SPOKEN = 0.09
"""The share of an axis above which a part of a bar has room for its value."""


def bars(
    path: Path | None,
    table: pl.DataFrame,
    *,
    xlabel: str,
    title: str,
    line_at: float | None = None,
    width: float = sheet.PAGE,
    intervals: Mapping[tuple[str, str], tuple[float, float]] | None = None,
) -> sheet.Picture:
    """A panel for each row, named by the first column, with a bar for each other column; one panel if there is one.

    Bars begin at zero. With `line_at`, values are ratios to it, and a line marks it. If they span more than a factor of
    ten, the axis is logarithmic, and bars go up or down from that line. So twice as fast and half as fast have bars of
    the same length. `intervals`, by row and column, are drawn across the ends of bars.
    """
    first, names = table.columns[0], table.columns[1:]
    if len(names) == 1:
        labels = table[first].to_list()
        panels = {"": table[names[0]].to_list()}
        ends = {"": [(intervals or {}).get((str(label), names[0])) for label in labels]}
    else:
        labels = names
        panels = {str(row[0]): list(row[1:]) for row in table.iter_rows()}
        ends = {name: [(intervals or {}).get((name, label)) for label in names] for name in panels}
    found, grid, inches = panelled(len(panels), labels, width)
    shades = colours.beside(labels) if len(names) > 1 else colours.own(labels)
    reached = [end for found in ends.values() for pair in found if pair for end in pair]
    limits = _Limits.of([*(value for values in panels.values() for value in values), *reached], line_at, inches)
    for axes, (name, values) in zip(grid, panels.items(), strict=True):
        _bars(axes, values, shades, limits, ends[name])
        sheet.tidy(axes, name if len(panels) > 1 or len(names) > 1 else "", along="x")
    sheet.headline(found, title)
    label(grid, inches, f"{xlabel} (logarithmic)" if limits.logarithmic else xlabel)
    return sheet.write(found, path)


def sections(
    path: Path | None, parts: Mapping[str, Mapping[str, float]], *, title: str, width: float = sheet.PAGE
) -> sheet.Picture:
    """Sections below one another, each with bars of its own and an axis of its own, which its title names."""
    room = names_width(folded(name, width) for values in parts.values() for name in values)
    counts = [len(values) for values in parts.values()]
    found = sheet.figure(width, 0.5 + sum(2 * _AROUND + _BAR * (1 + _ROW) * count for count in counts))
    grid = found.subplots(len(parts), 1, squeeze=False, height_ratios=[count + 1 for count in counts])[:, 0]
    for axes, (name, values) in zip(grid, parts.items(), strict=True):
        bars_of = list(values.values())
        limits = _Limits.of(bars_of, None, width - room)
        _bars(axes, bars_of, [colours.SERIES[0]] * len(values), limits, [None] * len(values))
        axes.set_yticks(range(len(values)), [folded(each, width) for each in values])
        axes.set_ylim(len(values) - 0.45, -0.55)
        sheet.tidy(axes, name, along="x")
    sheet.headline(found, title)
    return sheet.write(found, path)


class _Limits:
    """An axis of values: where it begins and ends, where bars begin, and the format of its values."""

    def __init__(self, low: float, high: float, base: float, line: float | None, inches: float) -> None:
        self.low, self.high, self.base, self.line, self.inches = low, high, base, line, inches
        self.logarithmic = base == line

    @classmethod
    def of(cls, values: Sequence[float | None], line: float | None, inches: float) -> _Limits:
        """The range of an axis for bars in panels of some width, with room for the values at their ends."""
        known = [value for value in values if value is not None and math.isfinite(value)] or [0.0]
        longest = max(sheet.text_width(_text(value, line), _VALUE) for value in known)
        room = min(max(0.5, longest + 2 * _GAP / 72) / inches, 0.4)
        least, most = min(*known, line or known[0]), max(*known, line or known[0])
        if line is None or least <= 0 or most < LOGARITHMIC * least:
            low, high = min(least, 0.0), max(most, 0.0)
            left, right = room if low else 0.0, room if high or not low else 0.0
            whole = ((high - low) or 1.0) / (1 - left - right)
            return cls(low - left * whole, high + right * whole, 0.0, line, inches)
        wide = math.log(most / least)
        low = least * math.exp(-wide * room / (1 - 2 * room)) if least < line else line
        return cls(low, most * math.exp(wide * room / (1 - room)), line, line, inches)

    def text(self, value: float) -> str:
        return _text(value, self.line)

    def begins(self, text: str, end: float) -> float:
        """The position of a value at the end of its bar: behind the line if the line would cross it."""
        if self.line is None or self.logarithmic:
            return end
        wide = (sheet.text_width(text, _VALUE) + 2 * _GAP / 72) / self.inches * (self.high - self.low)
        return self.line if end < self.line < end + wide else end


def _text(value: float, line: float | None) -> str:
    return sheet.number(value) if line is None else f"{value:.2f}"


def _bars(
    axes: Axes,
    values: Sequence[float | None],
    shades: Sequence[str],
    limits: _Limits,
    ends: Sequence[tuple[float, float] | None],
) -> None:
    if limits.logarithmic:
        axes.set_xscale("log")
    axes.set_xlim(limits.low, limits.high)
    for place, (value, shade) in enumerate(zip(values, shades, strict=True)):
        if value is None or not math.isfinite(value):
            axes.annotate("–", (limits.base, place), (3, 0), textcoords="offset points", va="center", fontsize=7)
            continue
        axes.barh(place, value - limits.base, 0.74, left=limits.base, color=shade)
        beyond = value >= limits.base
        text, side = limits.text(value), _GAP if beyond else -_GAP
        outer = value
        if (pair := ends[place]) is not None:
            whisker(axes, pair, place)
            outer = max(pair) if beyond else min(pair)
        axes.annotate(
            text,
            (limits.begins(text, outer) if beyond else outer, place),
            (side, 0),
            textcoords="offset points",
            va="center",
            ha="left" if beyond else "right",
            fontsize=_VALUE,
            path_effects=[_halo()],
        )
    if limits.line is not None:
        axes.axvline(limits.line, color="#333333", linewidth=0.8)
    if limits.logarithmic:
        sheet.steps(axes.xaxis, limits.inches, sheet.text_width("0.02"))


def whisker(axes: Axes, ends: tuple[float, float], place: float) -> None:
    """The interval of a value across the end of its bar, with a white outline for dark bars."""
    looks: dict[str, Any] = {"color": "#333333", "linewidth": 1.0, "marker": "|", "markersize": 5}
    axes.plot(ends, (place, place), **looks, path_effects=[_halo()], zorder=3)


def _halo() -> AbstractPathEffect:
    """A white outline for text or lines in front of lines or dark bars."""
    from matplotlib.patheffects import withStroke  # noqa: PLC0415 - slow to import

    return withStroke(linewidth=_HALO, foreground="white")


def panelled(
    count: int, labels: Sequence[str], width: float, below: Sequence[str] = ()
) -> tuple[Figure, list[Axes], float]:
    """A figure of this many panels of horizontal bars with these names, and the width of a panel in inches.

    `below` contains the names of a legend, which needs room, too.
    """
    labels = [folded(label, width) for label in labels]
    rows = max(label.count("\n") for label in labels)
    names = names_width(labels)
    columns = max(min(int((width - names) / _PANEL), count, _MOST_PANELS), 1)
    lines = -(-count // columns)
    bars_of_all = lines * (_AROUND + _BAR * (1 + _ROW * rows) * len(labels))
    found = sheet.figure(width, 0.75 + bars_of_all + sheet.legend_height(below, width))
    grid = found.subplots(lines, columns, squeeze=False, sharey=True)
    for place, axes in enumerate(grid.flat):
        axes.set_visible(place < count)
        axes.locator_params(axis="x", nbins=max(int((width - names) / columns / 0.5), 2))
        # The lowest panel of its column says what the axis is.
        axes.tick_params(labelbottom=place + columns >= count)
    grid[0, 0].set_yticks(range(len(labels)), labels)
    grid[0, 0].set_ylim(len(labels) - 0.45, -0.55)
    return found, list(grid.flat)[:count], (width - names) / columns


def names_width(labels: Iterable[str]) -> float:
    """Inches for the names beside bars, and for the space between them and their axis."""
    return max(sheet.text_width(row) for label in labels for row in label.splitlines() or [""]) + 0.15


def folded(label: str, width: float) -> str:
    """A name on several lines if it would take more than its share of the width."""
    return sheet.wrapped(label, width * _NAMES) if sheet.text_width(label) > width * _NAMES else label


def label(grid: Sequence[Axes], inches: float, text: str) -> None:
    """The quantity of the values, below the lowest panel of each column."""
    for axes in grid:
        if axes.xaxis.get_tick_params()["labelbottom"]:
            axes.set_xlabel(sheet.wrapped(text, inches), fontsize=8)


def shares(
    path: Path | None,
    labels: Sequence[str],
    parts: Mapping[str, Sequence[float]],
    *,
    xlabel: str,
    title: str,
    width: float = sheet.PAGE,
) -> sheet.Picture:
    """One bar for each label, made of its parts in order; large enough parts contain their share in per cent."""
    found, (axes,), inches = panelled(1, labels, width, list(parts))
    stack(axes, parts, dict(zip(parts, colours.of(list(parts)), strict=True)), spoken=True)
    axes.set_xlim(0, max(sum(values) for values in zip(*parts.values(), strict=True)))
    sheet.tidy(axes, "", along="x")
    sheet.headline(found, title)
    label([axes], inches, xlabel)
    sheet.legend(found, axes)
    return sheet.write(found, path)


def stack(
    axes: Axes, parts: Mapping[str, Sequence[float]], shades: Mapping[str, str], *, spoken: bool = False
) -> list[float]:
    """A bar for each place, made of parts; where they end."""
    ends = [0.0] * len(next(iter(parts.values())))
    for name, values in parts.items():
        places = range(len(values))
        axes.barh(places, values, 0.74, left=ends, label=name, color=shades[name], edgecolor="white", linewidth=0.4)
        for place, value in enumerate(values):
            if spoken and value >= _SPOKEN:
                ink = colours.ink(shades[name])
                axes.text(
                    ends[place] + value / 2, place, f"{value:.0%}", va="center", ha="center", fontsize=7, color=ink
                )
        ends = [end + value for end, value in zip(ends, values, strict=True)]
    return ends
