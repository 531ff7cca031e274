"""Lines through points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from octavo.runs import colours
from octavo.runs.pictures import sheet
from octavo.runs.pictures.bars import LOGARITHMIC

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

_BESIDE = 1.0
"""The width beside a panel: numbers and a label, in inches."""
_ABOVE = 1.2
"""The height above and below a panel: title, numbers, a label and a legend, in inches."""
_TALL = 0.15
"""Height of a number, in inches."""
_STROKES = (("o", "-"), ("s", "--"), ("^", ":"), ("D", "-."))
"""Markers and line styles of the first line of a colour, of the second, and so on."""
_BEHIND = 4.0
"""By how much the points of the first line are larger than those of the last line, in points."""
_ROOM = 1.06
"""The end of an axis that begins at zero, relative to the largest value."""


def lines(
    path: Path | None,
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    labels: tuple[str, str],
    *,
    title: str,
    width: float = sheet.PAGE,
    intervals: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
) -> sheet.Picture:
    """A line for each name, through its points, whose positions are along the axis.

    An axis whose values span more than a factor of ten is logarithmic; others begin at zero, those of values upwards.
    `intervals` contains the low and high ends at the points of a line.
    """
    found = sheet.figure(width, 0.62 * width if width < sheet.PAGE else 3.9)
    axes = found.add_subplot()
    shades = colours.of(list(series))
    for number, ((name, (x, y)), colour) in enumerate(zip(series.items(), shades, strict=True)):
        marker, style = _STROKES[shades[:number].count(colour) % len(_STROKES)]
        # Those drawn first have larger points, so that equal lines are seen.
        points = 4 + _BEHIND * (1 - number / max(len(series) - 1, 1))
        axes.plot(x, y, marker=marker, linestyle=style, markersize=points, label=name, color=colour)
        if intervals:
            axes.vlines(x, *intervals[name], color=colour, linewidth=1.2)
            for ends in intervals[name]:
                axes.plot(x, ends, linestyle="none", marker="_", markersize=6, color=colour)
    along = sorted({value for x, _ in series.values() for value in x})
    reached = [value for _, y in series.values() for value in y]
    reached += [value for ends in (intervals or {}).values() for end in ends for value in end]
    if _spans([value for _, y in series.values() for value in y]):
        axes.set_yscale("log")
    elif all(value >= 0 for value in reached):
        axes.set_ylim(0, _ROOM * max(reached) if max(reached) > 0 else None)
    _taken_at(axes, along, width - _BESIDE)
    if axes.get_yscale() == "log":
        sheet.steps(axes.yaxis, found.get_figheight() - _ABOVE, _TALL)
    axes.set_xlabel(labels[0], fontsize=9)
    axes.set_ylabel(labels[1], fontsize=9)
    sheet.tidy(axes, "")
    sheet.headline(found, title)
    if len(series) > 1:
        sheet.legend(found, axes)
    return sheet.write(found, path)


def _spans(values: Sequence[float]) -> bool:
    return min(values) > 0 and max(values) >= LOGARITHMIC * min(values)


def _taken_at(axes: Axes, values: Sequence[float], inches: float) -> None:
    """A mark at each value of an axis, with as many names as fit."""
    logarithmic = _spans(values)
    if logarithmic:
        axes.set_xscale("log")
    scaled = [math.log(value) for value in values] if logarithmic else values
    across = (scaled[-1] - scaled[0]) * 1.1 or 1.0
    places = [(value - scaled[0]) / across * inches for value in scaled]
    texts = [f"{value:g}" for value in values]
    shown = set(sheet.spread(texts, places))
    axes.set_xticks(values, [text if index in shown else "" for index, text in enumerate(texts)])
    axes.minorticks_off() if not logarithmic else axes.set_xticks([], minor=True)
