"""Colours of runs: those of their placements, in every chart; adjusted to light or dark paper."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from octavo.runs import colours
from octavo.runs.contrast import in_the_dark, on_paper

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.report.runs import Run


def of(runs: Sequence[Run]) -> dict[str, str]:
    """A colour for each variant: its placement's.

    Variants of one placement share its colour and are distinguished by their names and by dashes. If all runs have the
    same placement, each variant has a colour of its own.
    """
    placements = {run.variant: run.placement for run in runs}
    if len(set(placements.values())) == 1:
        return dict(zip(placements, colours.of(list(placements)), strict=True))
    shades = of_placements(list(placements.values()))
    return {variant: shades[placement] for variant, placement in placements.items()}


def of_placements(names: Sequence[str]) -> Mapping[str, str]:
    """A colour for each placement: its own, or one for names that have none."""
    others = itertools.cycle(colours.SERIES)
    return {name: colours.placement(name) or next(others) for name in dict.fromkeys(names)}


FAMILIES = ("variants", "series")
"""Everything with a name in the style sheet: variants, and lines of a sweep."""


def named(family: str, shades: Mapping[str, str]) -> dict[str, str]:
    """The same names with their names in the style sheet: dark paper has other colours."""
    numbers = {shade: number for number, shade in enumerate(dict.fromkeys(shades.values()))}
    return {name: f"var(--{family}-{numbers[shade]})" for name, shade in shades.items()}


def style(legends: Mapping[str, Mapping[str, str]]) -> str:
    """The colours of all families as names of a style sheet, for light pages and for dark ones."""
    shades = {family: list(dict.fromkeys(legends[family].values())) for family in FAMILIES}
    light = " ".join(_listed(family, on_paper(found)) for family, found in shades.items())
    dark = " ".join(_listed(family, in_the_dark(found)) for family, found in shades.items())
    return f':root {{ {light} }}\n:root[data-theme="dark"] {{ {dark} }}\n'


def _listed(family: str, shades: Sequence[str]) -> str:
    return " ".join(f"--{family}-{number}: {shade};" for number, shade in enumerate(shades))
