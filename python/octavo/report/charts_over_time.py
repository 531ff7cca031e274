"""Charts over time: all share one axis, whose window the page sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from octavo.report.drawing import PHASES, PLAIN, ROWS, TIME, causes_scale, scale_of, sized
from octavo.report.phases import MOMENTS
from octavo.report.series import MOVES
from octavo.runs import colours
from octavo.runs.levels import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping

_FROM, _TO = "window_from", "window_to"
"""Signals of the window of time that all charts over time share; the page sets them."""
_MOMENTS = {"copy in": "copies", "copy out": "copies", "kernel": "kernels"}
"""Phases in time that totals call otherwise; copies are of one colour in both directions."""


def spans() -> dict[str, Any]:
    """Phases of whole programs."""
    chart = (
        alt.Chart(ROWS)
        .mark_bar(height={"band": 0.7}, clip=True, minBandSize=1)
        .encode(
            y=alt.Y("phase:N", sort=MOMENTS, title=None, axis=alt.Axis(domain=False)),
            x=_time("from"),
            x2="to",
            color=alt.Color(
                "phase:N",
                scale=alt.Scale(domain=MOMENTS, range=[PHASES[_MOMENTS.get(moment, moment)] for moment in MOMENTS]),
                legend=None,
            ),
            tooltip=[
                "phase:N",
                "name:N",
                alt.Tooltip("from:Q", format=".4g", title="from ms"),
                alt.Tooltip("to:Q", format=".4g", title="to ms"),
            ],
        )
    )
    return sized(_timed(chart), {"step": 18})


def moves() -> dict[str, Any]:
    """Pages that move, by cause."""
    return sized(_areas("pages", "pages per ms", "cause", causes_scale(list(MOVES.values()))), 150)


def lines(field: str, title: str, *, percent: bool = False) -> dict[str, Any]:
    """A line for each run."""
    y = alt.Y(f"{field}:Q", title=title, axis=alt.Axis(format="%" if percent else PLAIN, tickCount=5))
    chart = (
        alt.Chart(ROWS)
        .mark_line(interpolate="step-before", strokeWidth=1.5, clip=True)
        .encode(
            x=_time("to"),
            y=y,
            color=alt.Color("label:N", sort=None, legend=alt.Legend(labelLimit=280, columns=3)),
            tooltip=["label:N", alt.Tooltip("to:Q", title="until ms"), alt.Tooltip(f"{field}:Q", title=title)],
        )
    )
    return sized(_timed(chart), 170)


def traffic() -> dict[str, Any]:
    """Traffic between levels of memory."""
    levels = list(LEVELS)
    chart = (
        alt.Chart(ROWS)
        .mark_line(interpolate="step-before", strokeWidth=1.5, clip=True)
        .encode(
            x=_time("to"),
            y=alt.Y("bytes:Q", title="GB/s", axis=alt.Axis(format=PLAIN, tickCount=5)),
            color=alt.Color("level:N", scale=alt.Scale(domain=levels, range=list(colours.LEVELS))),
            tooltip=["level:N", alt.Tooltip("to:Q", title="until ms"), alt.Tooltip("bytes:Q", title="GB/s")],
        )
    )
    return sized(_timed(chart), 150)


def memory(memories: Mapping[str, str]) -> dict[str, Any]:
    """Memory in use, and the footprint."""
    areas = _areas("mebibytes", "memory in use in MiB", "processor", scale_of(memories))
    rule = alt.Chart(ROWS).mark_rule(strokeDash=[5, 3], color="var(--ink)", aria=False).encode(y="max(footprint):Q")
    return sized(alt.layer(areas, rule), 150)


def lending() -> dict[str, Any]:
    """Memory that GPUs lend each other."""
    return sized(_areas("mebibytes", "memory lent in MiB", "pair", alt.Scale(range=list(colours.PAIRS))), 110)


def host_faults() -> dict[str, Any]:
    """Page faults of a real program's host."""
    scale = alt.Scale(domain=["minor", "major"], range=list(colours.HOST_FAULTS))
    return sized(_areas("faults", "page faults per ms", "kind", scale), 110)


def heat() -> dict[str, Any]:
    """How busy each link is."""
    chart = (
        alt.Chart(ROWS)
        .mark_rect(clip=True, strokeWidth=0)
        .encode(
            x=_time("from"),
            x2="to",
            y=alt.Y("link:N", sort=None, title=None, axis=alt.Axis(labelOverlap=False, domain=False)),
            color=alt.Color(
                "busy:Q",
                scale=alt.Scale(type="sqrt", domain=[0, 1], range=list(colours.BUSY)),
                legend=alt.Legend(
                    type="gradient", format=".2~p", title="busy", gradientLength=200, gradientThickness=10, tickCount=4
                ),
            ),
            tooltip=[
                "link:N",
                alt.Tooltip("to:Q", title="until ms"),
                alt.Tooltip("busy:Q", format=".1%"),
                alt.Tooltip("bytes:Q", title="GB/s"),
            ],
        )
    )
    return sized(_timed(chart), {"step": 18})


def _areas(field: str, title: str, colour: str, scale: alt.Scale) -> alt.Chart:
    chart = (
        alt.Chart(ROWS)
        .mark_area(interpolate="step-before", clip=True)
        .encode(
            x=_time("to"),
            y=alt.Y(f"sum({field}):Q", title=title, axis=alt.Axis(format=PLAIN, tickCount=5)),
            color=alt.Color(f"{colour}:N", scale=scale, sort=None),
            tooltip=[f"{colour}:N", alt.Tooltip("to:Q", title="until ms"), alt.Tooltip(f"{field}:Q", title=title)],
        )
    )
    return _timed(chart)


def _time(field: str) -> alt.X:
    scale = alt.Scale(nice=False, zero=False, domainMin=alt.ExprRef(_FROM), domainMax=alt.ExprRef(_TO))
    return alt.X(f"{field}:Q", title=TIME, scale=scale)


def _timed(chart: alt.Chart) -> alt.Chart:
    """A chart whose axis of time is the page's window."""
    timed: alt.Chart = chart.add_params(alt.param(name=_FROM, value=0), alt.param(name=_TO, value=1))
    return timed
