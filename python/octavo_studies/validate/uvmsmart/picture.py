"""The comparison with UVMSmart's rules as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.runs.colours import SERIES
from octavo.runs.pictures import sheet
from octavo_studies.validate.uvmsmart.study import COUNTS, NEAR

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from octavo_studies.validate.uvmsmart.study import UvmsmartValidation


_MARKERS = ("o", "s", "^", "D", "v", "P")
"""Shapes of points: one for each round of colours."""


def counts(path: Path | None, found: UvmsmartValidation) -> sheet.Picture:
    """Octavo's counts over the rules' counts, one point for each row that both finish, with the band of near rows."""
    figure = sheet.figure(sheet.PAGE, 2.0 * len(COUNTS) / 2 + 1.2)
    panels = figure.subplots(2, -(-len(COUNTS) // 2)).flat
    for axes, count in zip(panels, COUNTS, strict=True):
        _panel(axes, found, count)
    sheet.headline(figure, "UVMSmart's rules under oversubscription: Octavo over the replay")
    sheet.legend(figure, figure.axes[0])
    return sheet.write(figure, path)


def _panel(axes: Axes, found: UvmsmartValidation, count: str) -> None:
    values = [
        (row.policy, getattr(row.rules, count), getattr(row.octavo, count))
        for row in found.rows
        if row.rules is not None and row.octavo is not None
    ]
    shown = [value for value in values if min(value[1:]) > 0]
    sheet.tidy(axes, count)
    axes.set_xlabel("rules", fontsize=8)
    axes.set_ylabel("Octavo", fontsize=8)
    ends = [0.7, 1.5]
    if shown:
        ends = [0.7 * min(min(value[1:]) for value in shown), 1.5 * max(max(value[1:]) for value in shown)]
    lower, upper = ([end * (1 + sign * NEAR) for end in ends] for sign in (-1, 1))
    axes.fill_between(ends, lower, upper, color="#dfe6ee", linewidth=0, label=f"within {NEAR:.0%}")
    for index, policy in enumerate(dict.fromkeys(row.policy for row in found.rows)):
        points = [value[1:] for value in shown if value[0] == policy]
        # Where colours repeat, points have another shape.
        colour, marker = SERIES[index % len(SERIES)], _MARKERS[index // len(SERIES) % len(_MARKERS)]
        places = [point[0] for point in points], [point[1] for point in points]
        axes.scatter(*places, 12, color=colour, marker=marker, label=policy)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
