"""Colours of runs: of their placements, wherever several stand on a page."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from octavo.runs import colours

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.report.runs import Run


def of(runs: Sequence[Run]) -> dict[str, str]:
    """A colour for each variant: its placement's.

    Variants of one placement share it and are told apart by their names and by dashes. If all runs have the same
    placement, each variant has a colour of its own.
    """
    placements = {run.variant: run.placement for run in runs}
    if len(set(placements.values())) == 1:
        return dict(zip(placements, colours.of(list(placements)), strict=True))
    shades = of_placements(list(placements.values()))
    return {variant: shades[placement] for variant, placement in placements.items()}


def of_placements(names: Sequence[str]) -> Mapping[str, str]:
    """A colour for each placement: its own, or one of those of names without one."""
    others = itertools.cycle(colours.SERIES)
    return {name: colours.placement(name) or next(others) for name in dict.fromkeys(names)}
