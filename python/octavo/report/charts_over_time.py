"""Charts over time: all share one axis, whose range the page sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.report.drawing import PHASES, PLAIN, TIME, causes_scale, channel, chart, marks, scale_of
from octavo.report.phases import MOMENTS
from octavo.report.series import MOVES
from octavo.runs import colours
from octavo.runs.levels import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.report.drawing import Part

_FROM, _TO = "window_from", "window_to"
"""Signals for the time range that all charts over time share; the page sets them."""
_MOMENTS = {"copy in": "copies", "copy out": "copies", "kernel": "kernels"}
"""Phases over time whose names differ in totals; copies have one colour for both directions."""
_UNTIL = channel("to:Q", title="until ms")


def spans() -> Part:
    """Phases of whole programs."""
    shades = {moment: PHASES[_MOMENTS.get(moment, moment)] for moment in MOMENTS}
    encoding = {
        "y": channel("phase:N", sort=list(MOMENTS), title=None, axis={"domain": False}),
        "x": _time("from"),
        "x2": channel("to"),
        "color": channel("phase:N", scale=scale_of(shades), legend=None),
        "tooltip": [
            channel("phase:N"),
            channel("name:N"),
            channel("from:Q", format=".4g", title="from ms"),
            channel("to:Q", format=".4g", title="to ms"),
        ],
    }
    return _timed(marks("bar", encoding, height={"band": 0.7}, clip=True, minBandSize=1), height={"step": 18})


def moves() -> Part:
    """Pages that move, by cause."""
    return _timed(_areas("pages", "pages per ms", "cause", causes_scale(list(MOVES.values()))), height=150)


def lines(field: str, title: str, *, percent: bool = False) -> Part:
    """A line for each run."""
    colour = channel("label:N", sort=None, legend={"labelLimit": 280, "columns": 3})
    return _timed(_steps(field, title, "%" if percent else PLAIN, colour), height=170)


def traffic() -> Part:
    """Traffic between levels of memory."""
    shades = dict(zip(LEVELS, colours.LEVELS, strict=True))
    return _timed(_steps("bytes", "GB/s", PLAIN, channel("level:N", scale=scale_of(shades))), height=150)


def memory(memories: Mapping[str, str]) -> Part:
    """Memory in use, and the footprint."""
    areas = _areas("mebibytes", "memory in use in MiB", "processor", scale_of(memories))
    footprint = {"y": channel("max(footprint):Q")}
    rule = marks("rule", footprint, strokeDash=[5, 3], color="var(--ink)", aria=False)
    return _timed(areas, rule, height=150)


def lending() -> Part:
    """Memory that GPUs lend to each other."""
    return _timed(_areas("mebibytes", "memory lent in MiB", "pair", {"range": list(colours.PAIRS)}), height=110)


def host_faults() -> Part:
    """Page faults of a real program's host."""
    scale = {"domain": ["minor", "major"], "range": list(colours.HOST_FAULTS)}
    return _timed(_areas("faults", "page faults per ms", "kind", scale), height=110)


def heat() -> Part:
    """How busy each link is."""
    legend = {"type": "gradient", "format": ".2~p", "title": "busy", "tickCount": 4}
    scale = {"type": "sqrt", "domain": [0, 1], "range": list(colours.BUSY)}
    encoding = {
        "x": _time("from"),
        "x2": channel("to"),
        "y": channel("link:N", sort=None, title=None, axis={"labelOverlap": False, "domain": False}),
        "color": channel("busy:Q", scale=scale, legend={**legend, "gradientLength": 200, "gradientThickness": 10}),
        "tooltip": [channel("link:N"), _UNTIL, channel("busy:Q", format=".1%"), channel("bytes:Q", title="GB/s")],
    }
    return _timed(marks("rect", encoding, clip=True, strokeWidth=0), height={"step": 18})


def _steps(field: str, title: str, form: str, colour: Part) -> Part:
    """Lines that step from bin to bin."""
    encoding = {
        "x": _time("to"),
        "y": channel(f"{field}:Q", title=title, axis={"format": form, "tickCount": 5}),
        "color": colour,
        "tooltip": [channel(f"{colour['field']}:N"), _UNTIL, channel(f"{field}:Q", title=title)],
    }
    return marks("line", encoding, interpolate="step-before", strokeWidth=1.5, clip=True)


def _areas(field: str, title: str, colour: str, scale: Part) -> Part:
    encoding = {
        "x": _time("to"),
        "y": channel(f"sum({field}):Q", title=title, axis={"format": PLAIN, "tickCount": 5}),
        "color": channel(f"{colour}:N", scale=scale, sort=None),
        "tooltip": [channel(f"{colour}:N"), _UNTIL, channel(f"{field}:Q", title=title)],
    }
    return marks("area", encoding, interpolate="step-before", clip=True)


def _time(field: str) -> Part:
    scale = {"nice": False, "zero": False, "domainMin": {"expr": _FROM}, "domainMax": {"expr": _TO}}
    return channel(f"{field}:Q", title=TIME, scale=scale)


def _timed(*layers: Part, height: int | Part) -> Part:
    """A chart whose axis of time is the page's window."""
    return chart(*layers, height=height, params=[{"name": _FROM, "value": 0}, {"name": _TO, "value": 1}])
