"""The charts as Vega-Lite specifications; the page adds rows and widths.

Lines and texts use names of the style sheet (`var(--…)`), so light, dark and print need no second drawing. Everything
has the same colour in all of them, from `octavo.runs.colours`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from octavo.explain.words import WAITED
from octavo.report import charts_of_programs, stalls
from octavo.report import charts_over_time as over_time
from octavo.report.drawing import PHASES, PLAIN, TIME, WHOLE, bars, causes_scale, channel, chart, marks, scale_of
from octavo.runs import colours

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.report.drawing import Part

_STEPS = [float(f"{step}e{power}") for power in range(-3, 4) for step in (1, 1.2, 1.5, 2, 3, 5, 7)]
"""Marks of logarithmic axes of speed-ups."""
_TEXT, _LINE = "var(--soft)", "var(--line)"
_DIGIT, _AROUND = 6.5, 6
"""The width of a letter in the label of a share, and the space on both of its sides, in pixels."""


def specifications(legends: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """All charts by name; `legends` are the colours of causes, memories, variants and lines of a sweep."""
    return {
        "speedup": _speedup(legends["variants"]),
        "sweep": _sweep(legends["series"], "time_ms", TIME),
        "sweepfaults": _sweep(legends["series"], "faults", "faults"),
        "causes": _causes(list(legends["causes"])),
        "waits": _waits(),
        "stalls": _parts("stall", scale_of(stalls.SHADES), "time_ms", TIME),
        "phases": _phases(),
        "spans": over_time.spans(),
        "faults": over_time.lines("faults", "faults per ms"),
        "remote": over_time.lines("remote_bytes", "remote lines in GB/s"),
        "walks": over_time.lines("walks", "walks per translation", percent=True),
        "l1miss": over_time.lines("l1_miss", "first-level misses per translation", percent=True),
        "moves": over_time.moves(),
        "links": over_time.heat(),
        "traffic": over_time.traffic(),
        "memory": over_time.memory(legends["memories"]),
        "lending": over_time.lending(),
        "hostfaults": over_time.host_faults(),
        "roofline": _roofline(),
        "program": charts_of_programs.program(),
    }


def config() -> dict[str, Any]:
    """Settings that all charts share."""
    axis = {
        "labelColor": _TEXT,
        "titleColor": _TEXT,
        "gridColor": _LINE,
        "domainColor": _LINE,
        "tickColor": _LINE,
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleFontSize": 11,
        "labelOverlap": "greedy",
        "labelSeparation": 6,
    }
    return {
        "background": None,
        "font": "system-ui, sans-serif",
        "view": {"stroke": None},
        "axis": axis,
        "axisX": {"tickCount": {"expr": "ceil(width / 60)"}},
        "legend": {
            "labelColor": _TEXT,
            "titleColor": _TEXT,
            "orient": "top",
            "title": None,
            "symbolLimit": 20,
            "labelLimit": 280,
        },
        "range": {"category": list(colours.SERIES)},
    }


_LABEL = channel("label:N", sort=None, title=None, axis={"labelLimit": 400, "labelOverlap": False, "domain": False})


def _speedup(variants: Mapping[str, str]) -> Part:
    x = channel(
        "speedup:Q",
        title="speed-up, logarithmic",
        scale={"type": "log", "base": 2, "nice": False, "padding": 24},
        axis={"format": "~g", "values": _STEPS},
    )
    bar = {
        "y": _LABEL,
        "x": x,
        "x2": {"datum": 1},
        "color": channel("variant:N", scale=scale_of(variants), legend=None),
        "tooltip": [
            channel("label:N"),
            channel("speedup:Q", format=".3f"),
            channel("time_ms:Q", format=".4g", title="ms"),
        ],
    }
    published = {
        "y": _LABEL,
        "x": channel("published:Q"),
        "tooltip": [channel("label:N"), channel("published:Q", format=".2f")],
    }
    interval = {"y": _LABEL, "x": channel("low:Q"), "x2": channel("high")}
    value = {"y": _LABEL, "x": channel("end:Q"), "text": channel("speedup:Q", format=".2f")}
    ink = {"color": "var(--ink)", "aria": False}
    return chart(
        bars(bar, 0.7),
        marks("rule", {"x": {"datum": 1}}, color=_TEXT, aria=False),
        marks("tick", published, only="isValid(datum.published)", thickness=3, height={"band": 0.95}, **ink),
        marks("rule", interval, only="isValid(datum.low)", strokeWidth=1.5, **ink),
        marks("text", value, align="left", dx=5, color=_TEXT, fontSize=11, aria=False),
        height={"step": 20},
    )


def _sweep(series: Mapping[str, str], field: str, title: str) -> Part:
    """A line for each combination of other differences, with its points; bars are intervals of replicates."""
    both = {
        "x": channel("value:Q", title="value", scale={"nice": False, "zero": False, "padding": 12}),
        "y": channel(f"{field}:Q", title=title, axis={"format": PLAIN, "tickCount": 5}),
        "color": channel("series:N", scale=scale_of(series), legend={"labelLimit": 280, "columns": 3}),
    }
    about = [
        channel("label:N"),
        channel("value:Q", title="value"),
        channel(f"{field}:Q", format=".4g", title=title),
    ]
    layers = [
        marks("line", {**both, "order": channel("value:Q")}, strokeWidth=1.5),
        marks("point", {**both, "tooltip": about}, filled=True, size=45, opacity=1),
    ]
    if field == "time_ms":
        ends = {**both, "y": channel("low:Q"), "y2": channel("high")}
        layers.append(marks("rule", ends, only="isValid(datum.low)", strokeWidth=1.5, aria=False))
    return chart(*layers, height=220)


def _waits() -> Part:
    scale = {"domain": list(WAITED.values())[:-1], "range": list(colours.WAITS)}
    return _parts("part", scale, "mean_us", "mean wait of a fault in µs", "mean_us")


def _causes(causes: list[str]) -> Part:
    return _parts(
        "cause", causes_scale(causes), "relative", "run time relative to the baseline, split as the accesses' time is"
    )


def _phases() -> Part:
    return _parts("phase", scale_of(PHASES), "time_ms", TIME)


def _parts(part: str, scale: Part, length: str, title: str, time: str = "time_ms") -> Part:
    """One bar for each run, made of its parts in order; `time` is the field of their times, whose ending is the unit.

    A part carries its share if it is wide enough. Behind a bar is the `whole` of its run, for which the page leaves
    room: less than the sum of its parts if these overlap.
    """
    about = {
        "y": _LABEL,
        "order": channel("order:Q"),
        "tooltip": [
            channel("label:N"),
            channel(f"{part}:N"),
            channel("share:Q", format=".1%"),
            channel(f"{time}:Q", format=".4g", title=time.rpartition("_")[2]),
        ],
    }
    along = channel(f"{length}:Q", title=title)
    bar = {**about, "x": along, "color": channel(f"{part}:N", scale=scale)}
    middle = {**along, "stack": "zero", "bandPosition": 0.5}
    share = {**about, "x": middle, "detail": channel(f"{part}:N")}
    end = {"y": _LABEL, "x": channel(f"sum({length}):Q"), "text": channel("max(whole):Q", format=WHOLE)}
    return chart(
        bars(bar, 0.75),
        marks("text", share, text=_spoken(length), color=_ink(part, scale), fontSize=10, aria=False),
        marks("text", end, align="left", dx=5, color=_TEXT, fontSize=11, aria=False),
        height={"step": 22},
    )


def _spoken(length: str) -> Part:
    """The share of a part, if its bar is wide enough for it."""
    ends = [f"scale('x', datum['{length}_{end}'])" for end in ("end", "start")]
    text = "format(datum.share, '.0%')"
    return {"expr": f"{ends[0]} - {ends[1]} > {_DIGIT} * length({text}) + {_AROUND} ? {text} : ''"}


def _ink(part: str, scale: Part) -> Part:
    """The colour of the text on a part."""
    inks = {name: colours.ink(colour) for name, colour in zip(scale["domain"], scale["range"], strict=True)}
    return {"expr": f"{json.dumps(inks)}[datum['{part}']]"}


def _roofline() -> Part:
    """Ceilings as lines, and a mark for each buffer; rows of buffers have a placement."""
    axes = {
        "x": channel("alpha:Q", title="operations a byte", scale={"type": "log", "nice": False}),
        "y": channel(
            "operations:Q", title="operations a second", scale={"type": "log"}, axis={"format": "~s", "tickCount": 5}
        ),
    }
    legend = {"columns": 1, "labelLimit": 280}
    shapes = {"columns": 3, "symbolFillColor": _TEXT, "symbolStrokeColor": _TEXT}
    about = [channel("what:N"), channel("alpha:Q", format=".3g"), channel("operations:Q", format=".3s")]
    ceilings = {**axes, "strokeDash": channel("what:N", sort=None, legend=legend)}
    buffers = {
        **axes,
        "color": channel("what:N", sort=None, scale={"range": list(colours.BUFFERS)}, legend=legend),
        "shape": channel("placement:N", legend=shapes),
        "tooltip": [*about, channel("placement:N")],
    }
    return chart(
        marks("line", ceilings, only="!isValid(datum.placement)", strokeWidth=1.5, color=_TEXT),
        marks("point", buffers, only="isValid(datum.placement)", filled=True, size=90, opacity=1, stroke="var(--edge)"),
        height=260,
        resolve={"scale": {"color": "independent", "strokeDash": "independent"}},
    )
