"""The charts, as Vega-Lite specifications that Altair writes; the page puts rows and widths in.

Lines and texts have names of the style sheet (`var(--…)`), so that light, dark and print need no second drawing; what
stands for something has its colour of `octavo.runs.colours` in all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from octavo.explain.words import WAITED
from octavo.report import charts_over_time as over_time
from octavo.report.drawing import PHASES, PLAIN, ROWS, TIME, causes_scale, scale_of, sized
from octavo.runs import colours

if TYPE_CHECKING:
    from collections.abc import Mapping

_STEPS = [step * 10**power for power in range(-3, 4) for step in (1, 1.2, 1.5, 2, 3, 5, 7)]
"""Marks of logarithmic axes of speed-ups."""
_TEXT, _LINE = "var(--soft)", "var(--line)"


def specifications(legends: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Every chart by name; `legends` are the colours of causes, memories, variants and lines of a sweep."""
    return {
        "speedup": _speedup(legends["variants"]),
        "sweep": _sweep(legends["series"], "time_ms", TIME),
        "sweepfaults": _sweep(legends["series"], "faults", "faults"),
        "causes": _causes(list(legends["causes"])),
        "waits": _waits(),
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
    }


def config() -> dict[str, Any]:
    """What all charts look like."""
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


def _label() -> alt.Y:
    return alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=400, labelOverlap=False, domain=False))


def _speedup(variants: Mapping[str, str]) -> dict[str, Any]:
    x = alt.X(
        "speedup:Q",
        title="speed-up, logarithmic",
        scale=alt.Scale(type="log", base=2, nice=False, padding=24),
        axis=alt.Axis(format="~g", values=_STEPS),
    )
    colour = alt.Color("variant:N", scale=scale_of(variants), legend=None)
    about = ["label:N", alt.Tooltip("speedup:Q", format=".3f"), alt.Tooltip("time_ms:Q", format=".4g", title="ms")]
    base = alt.Chart(ROWS).encode(y=_label())
    bars = base.mark_bar(height={"band": 0.7}).encode(x=x, x2=alt.X2Datum(1), color=colour, tooltip=about)
    published = base.transform_filter("isValid(datum.published)").mark_tick(
        thickness=3, height={"band": 0.95}, color="var(--ink)", aria=False
    )
    texts = base.mark_text(align="left", dx=5, color=_TEXT, fontSize=11, aria=False).encode(
        x=alt.X("end:Q"), text=alt.Text("speedup:Q", format=".2f")
    )
    rule = alt.Chart(ROWS).mark_rule(color=_TEXT, aria=False).encode(x=alt.XDatum(1))
    whiskers = base.transform_filter("isValid(datum.low)").mark_rule(color="var(--ink)", strokeWidth=1.5, aria=False)
    intervals = whiskers.encode(x=alt.X("low:Q"), x2="high")
    marks = published.encode(x=alt.X("published:Q"), tooltip=["label:N", alt.Tooltip("published:Q", format=".2f")])
    return sized(alt.layer(bars, rule, marks, intervals, texts), {"step": 20})


def _sweep(series: Mapping[str, str], field: str, title: str) -> dict[str, Any]:
    """A line for each of what else differs, through its points; bars across points are intervals of replicates."""
    x = alt.X("value:Q", title="value", scale=alt.Scale(nice=False, zero=False, padding=12))
    y = alt.Y(f"{field}:Q", title=title, axis=alt.Axis(format=PLAIN, tickCount=5))
    colour = alt.Color("series:N", scale=scale_of(series), legend=alt.Legend(labelLimit=280, columns=3))
    about = ["label:N", alt.Tooltip("value:Q", title="value"), alt.Tooltip(f"{field}:Q", format=".4g", title=title)]
    base = alt.Chart(ROWS)
    lines = base.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=colour, order="value:Q")
    points = base.mark_point(filled=True, size=45, opacity=1).encode(x=x, y=y, color=colour, tooltip=about)
    layers = [lines, points]
    if field == "time_ms":
        whiskers = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5, aria=False)
        layers.append(whiskers.encode(x=x, y=alt.Y("low:Q"), y2="high", color=colour))
    return sized(alt.layer(*layers), 220)


def _waits() -> dict[str, Any]:
    scale = alt.Scale(domain=list(WAITED.values())[:-1], range=list(colours.WAITS))
    return _parts("part", scale, "mean_us", "mean wait of a fault in µs", "mean_us")


def _causes(causes: list[str]) -> dict[str, Any]:
    return _parts(
        "cause", causes_scale(causes), "relative", "run time relative to the baseline, split as the accesses' time is"
    )


def _phases() -> dict[str, Any]:
    scale = alt.Scale(domain=list(PHASES), range=list(PHASES.values()))
    return _parts("phase", scale, "time_ms", TIME)


def _parts(part: str, scale: alt.Scale, length: str, title: str, time: str = "time_ms") -> dict[str, Any]:
    """One bar a run, made of its parts in their order; `time` is the field of their times, its end the unit."""
    chart = (
        alt.Chart(ROWS)
        .mark_bar(height={"band": 0.75})
        .encode(
            y=_label(),
            x=alt.X(f"{length}:Q", title=title),
            color=alt.Color(f"{part}:N", scale=scale),
            order=alt.Order("order:Q"),
            tooltip=[
                "label:N",
                f"{part}:N",
                alt.Tooltip("share:Q", format=".1%"),
                alt.Tooltip(f"{time}:Q", format=".4g", title=time.rpartition("_")[2]),
            ],
        )
    )
    return sized(chart, {"step": 22})


def _roofline() -> dict[str, Any]:
    """Ceilings as lines, and a mark for each buffer; what is a buffer has a placement."""
    axes = {
        "x": alt.X("alpha:Q", title="operations a byte", scale=alt.Scale(type="log", nice=False)),
        "y": alt.Y("operations:Q", title="operations a second", scale=alt.Scale(type="log"), axis=_powers()),
    }
    about = ["what:N", alt.Tooltip("alpha:Q", format=".3g"), alt.Tooltip("operations:Q", format=".3s")]
    base = alt.Chart(ROWS)
    lines = (
        base.transform_filter("!isValid(datum.placement)")
        .mark_line(strokeWidth=1.5, color=_TEXT)
        .encode(**axes, strokeDash=alt.StrokeDash("what:N", sort=None, legend=alt.Legend(columns=1, labelLimit=280)))
    )
    marks = (
        base.transform_filter("isValid(datum.placement)")
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            **axes,
            color=alt.Color(
                "what:N",
                sort=None,
                scale=alt.Scale(range=list(colours.BUFFERS)),
                legend=alt.Legend(columns=1, labelLimit=280),
            ),
            shape=alt.Shape("placement:N", legend=alt.Legend(columns=3)),
            tooltip=[*about, "placement:N"],
        )
    )
    return sized(alt.layer(lines, marks).resolve_scale(color="independent", strokeDash="independent"), 260)


def _powers() -> alt.Axis:
    return alt.Axis(format="~s", tickCount=5)
