"""Shared parts of the report's charts: rows, sizes and colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from octavo.report.phases import ORDER
from octavo.runs import colours

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROWS = alt.NamedData("rows")
"""The page puts them in."""
TIME = "time in ms"
PLAIN = ",.3~r"
"""Numbers of axes: three digits, and no letters for powers."""
PHASES = dict(zip(ORDER, colours.PHASES.values(), strict=True))
"""Phases as totals have them."""


def scale_of(shades: Mapping[str, str]) -> alt.Scale:
    """Colours by name."""
    return alt.Scale(domain=list(shades), range=list(shades.values()))


def causes_scale(causes: Sequence[str]) -> alt.Scale:
    """Colours of causes, by the names that pages show."""
    return alt.Scale(domain=list(causes), range=[colours.CAUSES[cause.replace(" ", "_")] for cause in causes])


def sized(chart: alt.Chart | alt.LayerChart | alt.FacetChart, height: int | dict[str, int]) -> dict[str, Any]:
    """The specification of a chart that is as wide as its place."""
    return chart.properties(width="container", height=height).to_dict(validate=True)
