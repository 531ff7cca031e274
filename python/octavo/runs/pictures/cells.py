"""Values by row and column."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.runs import colours
from octavo.runs.pictures import sheet
from octavo.runs.pictures.bars import folded, names_width

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

_BESIDE, _SCALE = 0.6, 0.8
"""The width beside the cells for a scale of colours, apart from the names of rows, in inches."""
_ABOVE = 1.1
"""The height of what is above and below the cells, except the names of columns: title and labels, in inches."""
_LINE = 0.13
"""The height of a line of names, in inches, which is also the distance between upright names."""
_VALUE, _SMALLEST = 8.0, 6.0
"""The size of values in points, and the smallest readable size."""
_SPREAD = 0.8
"""Size of intervals, relative to that of values."""
_LEAST = 0.3
"""The least total width of the cells, in inches: a scale of colours that leaves less is not drawn."""


@dataclass(frozen=True)
class _Cell:
    """A cell with its value in it, and the interval if there is one."""

    x: int
    y: int
    value: float
    text: str
    spread: str

    @property
    def width(self) -> float:
        """The width of its texts in inches, at the size of values."""
        return max(sheet.text_width(self.text, _VALUE), sheet.text_width(self.spread, _VALUE * _SPREAD))


def heat_map(  # noqa: PLR0913 - one for each thing that is drawn
    path: Path | None,
    values: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    axes_labels: tuple[str, str],
    title: str,
    floor: float | None = None,
    *,
    width: float = sheet.PAGE,
    ends: tuple[Sequence[Sequence[float]], Sequence[Sequence[float]]] | None = None,
) -> sheet.Picture:
    """Values by row and column, each in its cell; if cells are too narrow, a scale of colours replaces the texts.

    Colours begin at `floor`, or at the smallest value. `ends` are the low and high ends of intervals, cell by cell.
    Below a value is the distance to the farther end, in per cent of the value.
    """
    from matplotlib.colors import to_hex  # noqa: PLC0415 - slow to import

    cells, rows = _cells(values, ends), [folded(row, width) for row in rows]
    room = max(width - _BESIDE - names_width(rows), _LEAST)
    size = _size(cells, room / len(columns))
    scaled = not size and room - _SCALE >= _LEAST
    across = (room - (_SCALE if scaled else 0.0)) / len(columns)
    upright = max(map(sheet.text_width, columns)) > across
    below = max(map(sheet.text_width, columns)) if upright else _LINE
    high = max(len(rows) * _height(rows, size, spread=ends is not None), sheet.text_width(axes_labels[0], 9))
    found = sheet.figure(width, _ABOVE + below + high)
    axes = found.add_subplot()
    image = axes.imshow(values, cmap="viridis_r", aspect="auto", vmin=floor)
    if size:
        # Its stubs want arrays only.
        shades = [to_hex(image.to_rgba(cell.value)) for cell in cells]  # type: ignore[arg-type]
        _write(axes, cells, list(map(colours.ink, shades)), size)
    elif scaled:
        found.colorbar(image, ax=axes).ax.tick_params(labelsize=8)
    apart = math.ceil(_LINE / across) if upright else 1
    named = [name if place % apart == 0 else "" for place, name in enumerate(columns)]
    axes.set_xticks(range(len(columns)), named, rotation=90 if upright else 0)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(labelsize=8)
    axes.set_ylabel(axes_labels[0], fontsize=9)
    axes.set_xlabel(sheet.wrapped(axes_labels[1], width, 9), fontsize=9)
    sheet.headline(found, title)
    return sheet.write(found, path)


def _cells(
    values: Sequence[Sequence[float]], ends: tuple[Sequence[Sequence[float]], Sequence[Sequence[float]]] | None
) -> list[_Cell]:
    """The cells that have a value."""
    known = [(x, y, value) for y, line in enumerate(values) for x, value in enumerate(line) if not math.isnan(value)]
    spreads = [_spread(value, *(end[y][x] for end in ends)) if ends else "" for x, y, value in known]
    return [_Cell(*each, sheet.number(each[2]), spread) for each, spread in zip(known, spreads, strict=True)]


def _spread(value: float, low: float, high: float) -> str:
    """The distance to the farther end: relative to the value, unless that is zero."""
    off = max(high - value, value - low)
    return f"±{off / abs(value):.1%}" if value else f"±{sheet.number(off)}"


def _size(cells: Sequence[_Cell], across: float) -> float:
    """The size of values that fit into cells of some width, in points; None if it would be unreadable."""
    size = _VALUE * min(across / max((cell.width for cell in cells), default=across), 1.0)
    return size if size >= _SMALLEST else 0.0


def _height(rows: Sequence[str], size: float, *, spread: bool) -> float:
    """Height of a row, in inches."""
    lines = 1 + max(row.count("\n") for row in rows)
    return max(_LINE * lines + 0.07, (0.5 if spread else 0.4) if size else 0.0)


def _write(axes: Axes, cells: Sequence[_Cell], inks: Sequence[str], size: float) -> None:
    for cell, ink in zip(cells, inks, strict=True):
        lines = [(cell.text, size, size * 0.55), (cell.spread, size * _SPREAD, -size * 0.65)]
        for text, points, up in lines if cell.spread else [(cell.text, size, 0.0)]:
            axes.annotate(
                text,
                (cell.x, cell.y),
                (0, up),
                textcoords="offset points",
                ha="center",
                va="center",
                color=ink,
                fontsize=points,
            )
