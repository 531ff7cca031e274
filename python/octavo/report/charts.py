"""The charts, as Vega-Lite specifications that Altair writes; the page puts rows and widths in.

Lines and texts have names of the style sheet (`var(--…)`), so that light, dark and print need no second drawing; what
stands for something has its colour of `octavo.runs.colours` in all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from octavo.explain.words import WAITED
from octavo.report.phases import MOMENTS, ORDER
from octavo.report.series import MOVES
from octavo.runs import colours
from octavo.runs.levels import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ROWS = alt.NamedData("rows")
_TEXT, _LINE = "var(--soft)", "var(--line)"
_TIME = "time in ms"
_PLAIN = ",.3~r"
"""Numbers of axes: three digits, and no letters for powers."""
_FROM, _TO = "window_from", "window_to"
"""Signals of the window of time that all charts over time share; the page sets them."""
_PHASES = dict(zip(ORDER, colours.PHASES.values(), strict=True))
"""Phases as totals have them."""
_MOMENTS = {"copy in": "copies", "copy out": "copies", "kernel": "kernels"}
"""Phases in time that totals call otherwise; copies are of one colour in both directions."""


def specifications(legends: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Every chart by name; `legends` are the colours of causes, memories, variants and lines of a sweep."""
    return {
        "speedup": _speedup(legends["variants"]),
        "sweep": _sweep(legends["series"], "time_ms", _TIME),
        "sweepfaults": _sweep(legends["series"], "faults", "faults"),
        "causes": _causes(list(legends["causes"])),
        "waits": _waits(),
        "phases": _phases(),
        "spans": _spans(),
        "faults": _lines("faults", "faults per ms"),
        "remote": _lines("remote_bytes", "remote lines in GB/s"),
        "walks": _lines("walks", "walks per translation", percent=True),
        "l1miss": _lines("l1_miss", "first-level misses per translation", percent=True),
        "moves": _sized(_areas("pages", "pages per ms", "cause", _causes_scale(list(MOVES.values()))), 150),
        "links": _heat(),
        "traffic": _traffic(),
        "memory": _memory(legends["memories"]),
        "lending": _lending(),
        "hostfaults": _host_faults(),
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
        axis=alt.Axis(format="~g"),
    )
    colour = alt.Color("variant:N", scale=_scale(variants), legend=None)
    about = ["label:N", alt.Tooltip("speedup:Q", format=".3f"), alt.Tooltip("time_ms:Q", format=".4g", title="ms")]
    base = alt.Chart(_ROWS).encode(y=_label())
    bars = base.mark_bar(height={"band": 0.7}).encode(x=x, x2=alt.X2Datum(1), color=colour, tooltip=about)
    published = base.transform_filter("isValid(datum.published)").mark_tick(
        thickness=3, height={"band": 0.95}, color="var(--ink)", aria=False
    )
    texts = base.mark_text(align="left", dx=5, color=_TEXT, fontSize=11, aria=False).encode(
        x=alt.X("end:Q"), text=alt.Text("speedup:Q", format=".2f")
    )
    rule = alt.Chart(_ROWS).mark_rule(color=_TEXT, aria=False).encode(x=alt.XDatum(1))
    whiskers = base.transform_filter("isValid(datum.low)").mark_rule(color="var(--ink)", strokeWidth=1.5, aria=False)
    intervals = whiskers.encode(x=alt.X("low:Q"), x2="high")
    marks = published.encode(x=alt.X("published:Q"), tooltip=["label:N", alt.Tooltip("published:Q", format=".2f")])
    return _sized(alt.layer(bars, rule, marks, intervals, texts), {"step": 20})


def _scale(shades: Mapping[str, str]) -> alt.Scale:
    return alt.Scale(domain=list(shades), range=list(shades.values()))


def _sweep(series: Mapping[str, str], field: str, title: str) -> dict[str, Any]:
    """A line for each of what else differs, through its points; bars across points are intervals of replicates."""
    x = alt.X("value:Q", title="value", scale=alt.Scale(nice=False, zero=False, padding=12))
    y = alt.Y(f"{field}:Q", title=title, axis=alt.Axis(format=_PLAIN, tickCount=5))
    colour = alt.Color("series:N", scale=_scale(series), legend=alt.Legend(labelLimit=280, columns=3))
    about = ["label:N", alt.Tooltip("value:Q", title="value"), alt.Tooltip(f"{field}:Q", format=".4g", title=title)]
    base = alt.Chart(_ROWS)
    lines = base.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=colour, order="value:Q")
    points = base.mark_point(filled=True, size=45, opacity=1).encode(x=x, y=y, color=colour, tooltip=about)
    layers = [lines, points]
    if field == "time_ms":
        whiskers = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5, aria=False)
        layers.append(whiskers.encode(x=x, y=alt.Y("low:Q"), y2="high", color=colour))
    return _sized(alt.layer(*layers), 220)


def _waits() -> dict[str, Any]:
    scale = alt.Scale(domain=list(WAITED.values())[:-1], range=list(colours.WAITS))
    return _parts("part", scale, "mean_us", "mean wait of a fault in µs", "mean_us")


def _causes(causes: list[str]) -> dict[str, Any]:
    return _parts(
        "cause", _causes_scale(causes), "relative", "run time relative to the baseline, split as the accesses' time is"
    )


def _phases() -> dict[str, Any]:
    scale = alt.Scale(domain=list(_PHASES), range=list(_PHASES.values()))
    return _parts("phase", scale, "time_ms", _TIME)


def _causes_scale(causes: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(causes), range=[colours.CAUSES[cause.replace(" ", "_")] for cause in causes])


def _parts(part: str, scale: alt.Scale, length: str, title: str, time: str = "time_ms") -> dict[str, Any]:
    """One bar a run, made of its parts in their order; `time` is the field of their times, its end the unit."""
    chart = (
        alt.Chart(_ROWS)
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
    return _sized(chart, {"step": 22})


def _spans() -> dict[str, Any]:
    chart = (
        alt.Chart(_ROWS)
        .mark_bar(height={"band": 0.7}, clip=True, minBandSize=1)
        .encode(
            y=alt.Y("phase:N", sort=MOMENTS, title=None, axis=alt.Axis(domain=False)),
            x=_time("from"),
            x2="to",
            color=alt.Color(
                "phase:N",
                scale=alt.Scale(domain=MOMENTS, range=[_PHASES[_MOMENTS.get(moment, moment)] for moment in MOMENTS]),
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
    return _sized(_timed(chart), {"step": 18})


def _roofline() -> dict[str, Any]:
    """Ceilings as lines, and a mark for each buffer; what is a buffer has a placement."""
    axes = {
        "x": alt.X("alpha:Q", title="operations a byte", scale=alt.Scale(type="log", nice=False)),
        "y": alt.Y("operations:Q", title="operations a second", scale=alt.Scale(type="log"), axis=_powers()),
    }
    about = ["what:N", alt.Tooltip("alpha:Q", format=".3g"), alt.Tooltip("operations:Q", format=".3s")]
    base = alt.Chart(_ROWS)
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
    return _sized(alt.layer(lines, marks).resolve_scale(color="independent", strokeDash="independent"), 260)


def _powers() -> alt.Axis:
    return alt.Axis(format="~s", tickCount=5)


def _time(field: str) -> alt.X:
    scale = alt.Scale(nice=False, zero=False, domainMin=alt.ExprRef(_FROM), domainMax=alt.ExprRef(_TO))
    return alt.X(f"{field}:Q", title=_TIME, scale=scale)


def _lines(field: str, title: str, *, percent: bool = False) -> dict[str, Any]:
    y = alt.Y(f"{field}:Q", title=title, axis=alt.Axis(format="%" if percent else _PLAIN, tickCount=5))
    chart = (
        alt.Chart(_ROWS)
        .mark_line(interpolate="step-before", strokeWidth=1.5, clip=True)
        .encode(
            x=_time("to"),
            y=y,
            color=alt.Color("label:N", sort=None, legend=alt.Legend(labelLimit=280, columns=3)),
            tooltip=["label:N", alt.Tooltip("to:Q", title="until ms"), alt.Tooltip(f"{field}:Q", title=title)],
        )
    )
    return _sized(_timed(chart), 170)


def _traffic() -> dict[str, Any]:
    levels = list(LEVELS)
    chart = (
        alt.Chart(_ROWS)
        .mark_line(interpolate="step-before", strokeWidth=1.5, clip=True)
        .encode(
            x=_time("to"),
            y=alt.Y("bytes:Q", title="GB/s", axis=alt.Axis(format=_PLAIN, tickCount=5)),
            color=alt.Color("level:N", scale=alt.Scale(domain=levels, range=list(colours.LEVELS))),
            tooltip=["level:N", alt.Tooltip("to:Q", title="until ms"), alt.Tooltip("bytes:Q", title="GB/s")],
        )
    )
    return _sized(_timed(chart), 150)


def _areas(field: str, title: str, colour: str, scale: alt.Scale) -> alt.Chart:
    chart = (
        alt.Chart(_ROWS)
        .mark_area(interpolate="step-before", clip=True)
        .encode(
            x=_time("to"),
            y=alt.Y(f"sum({field}):Q", title=title, axis=alt.Axis(format=_PLAIN, tickCount=5)),
            color=alt.Color(f"{colour}:N", scale=scale, sort=None),
            tooltip=[f"{colour}:N", alt.Tooltip("to:Q", title="until ms"), alt.Tooltip(f"{field}:Q", title=title)],
        )
    )
    return _timed(chart)


def _memory(memories: Mapping[str, str]) -> dict[str, Any]:
    areas = _areas("mebibytes", "memory in use in MiB", "processor", _scale(memories))
    rule = alt.Chart(_ROWS).mark_rule(strokeDash=[5, 3], color="var(--ink)", aria=False).encode(y="max(footprint):Q")
    return _sized(alt.layer(areas, rule), 150)


def _lending() -> dict[str, Any]:
    return _sized(_areas("mebibytes", "memory lent in MiB", "pair", alt.Scale(range=list(colours.PAIRS))), 110)


def _host_faults() -> dict[str, Any]:
    scale = alt.Scale(domain=["minor", "major"], range=list(colours.HOST_FAULTS))
    return _sized(_areas("faults", "page faults per ms", "kind", scale), 110)


def _heat() -> dict[str, Any]:
    chart = (
        alt.Chart(_ROWS)
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
    return _sized(_timed(chart), {"step": 18})


def _timed(chart: alt.Chart) -> alt.Chart:
    """A chart whose axis of time is the page's window."""
    timed: alt.Chart = chart.add_params(alt.param(name=_FROM, value=0), alt.param(name=_TO, value=1))
    return timed


def _sized(chart: alt.Chart | alt.LayerChart | alt.FacetChart, height: int | dict[str, int]) -> dict[str, Any]:
    return chart.properties(width="container", height=height).to_dict(validate=True)
