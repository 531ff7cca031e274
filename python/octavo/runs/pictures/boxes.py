"""The spread of many values, a box for each name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.runs.pictures import sheet
from octavo.runs.pictures.bars import LOGARITHMIC

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def boxes(
    path: Path | None,
    values: Mapping[str, Sequence[float]],
    *,
    ylabel: str,
    title: str,
    line_at: float | None = None,
    width: float = sheet.PAGE,
) -> sheet.Picture:
    """A box for each name: median, quartiles, and whiskers from the least value to the largest.

    An axis whose values span more than a factor of ten is logarithmic.
    """
    found = sheet.figure(width, 0.5 * width)
    axes = found.add_subplot()
    dark = {"color": "#333333", "linewidth": 0.9}
    axes.boxplot(
        list(values.values()),
        whis=(0, 100),
        widths=0.6,
        patch_artist=True,
        boxprops={**dark, "facecolor": "#d9d9d9"},
        medianprops={"color": "#891d41", "linewidth": 1.4},
        whiskerprops=dark,
        capprops=dark,
    )
    axes.set_xticks(range(1, len(values) + 1), list(values))
    every = [value for group in values.values() for value in group]
    if min(every) > 0 and max(every) >= LOGARITHMIC * min(every):
        axes.set_yscale("log")
    if line_at is not None:
        axes.axhline(line_at, color="#333333", linewidth=0.6, linestyle="--")
    axes.set_ylabel(ylabel, fontsize=9)
    sheet.tidy(axes, "")
    sheet.headline(found, title)
    return sheet.write(found, path)
