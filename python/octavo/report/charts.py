"""The charts, as Vega-Lite specifications that Altair writes; the page puts rows and widths in.

Lines and texts have names of the style sheet (`var(--…)`), so that light, dark and print need no second drawing; what
stands for something has its colour of `octavo.runs.colours` in all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from octavo.report.phases import MOMENTS, ORDER
from octavo.report.series import MOVES
from octavo.runs import colours
from octavo.runs.levels import LEVELS

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROWS = alt.NamedData("rows")
_TEXT, _LINE = "var(--soft)", "var(--line)"
_TIME = "time in ms"
_PHASES = dict(zip(ORDER, colours.PHASES.values(), strict=True))
"""Phases as totals have them."""
_MOMENTS = {"copy in": "copies", "copy out": "copies", "kernel": "kernels"}
"""Phases in time that totals call otherwise; copies are of one colour in both directions."""


def specifications(causes: list[str], processors: list[str], variants: list[str]) -> dict[str, Any]:
    """Every chart by name; the lists are what its colours stand for, in order."""
    return {
        "speedup": _speedup(variants),
        "causes": _causes(causes),
        "phases": _phases(),
        "spans": _spans(),
        "faults": _lines("faults", "faults per ms"),
        "remote": _lines("remote_bytes", "remote lines in GB/s"),
        "walks": _lines("walks", "walks per translation", percent=True),
        "l1miss": _lines("l1_miss", "first-level misses per translation", percent=True),
        "moves": _sized(_areas("pages", "pages per ms", "cause", _causes_scale(list(MOVES.values()))), 150),
        "links": _heat(),
        "traffic": _traffic(),
        "memory": _memory(processors),
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
    }
    return {
        "background": None,
        "font": "system-ui, sans-serif",
        "view": {"stroke": None},
        "axis": axis,
        "legend": {"labelColor": _TEXT, "titleColor": _TEXT, "orient": "top", "title": None, "symbolLimit": 20},
        "range": {"category": list(colours.SERIES)},
    }


def _label() -> alt.Y:
    return alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=260, labelOverlap=False, domain=False))


def _speedup(variants: list[str]) -> dict[str, Any]:
    x = alt.X(
        "speedup:Q",
        title="speed-up, logarithmic",
        scale=alt.Scale(type="log", base=2, nice=False, padding=24),
        axis=alt.Axis(format="~g"),
    )
    colour = alt.Color("variant:N", scale=alt.Scale(domain=variants, range=colours.of(variants)), legend=None)
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
    marks = published.encode(x=alt.X("published:Q"), tooltip=["label:N", alt.Tooltip("published:Q", format=".2f")])
    return _sized(alt.layer(bars, rule, marks, texts), {"step": 20})


def _causes(causes: list[str]) -> dict[str, Any]:
    return _parts(
        "cause", _causes_scale(causes), "relative", "run time relative to the baseline, split as the accesses' time is"
    )


def _phases() -> dict[str, Any]:
    scale = alt.Scale(domain=list(_PHASES), range=list(_PHASES.values()))
    return _parts("phase", scale, "time_ms", _TIME)


def _causes_scale(causes: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(causes), range=[colours.CAUSES[cause.replace(" ", "_")] for cause in causes])


def _parts(part: str, scale: alt.Scale, length: str, title: str) -> dict[str, Any]:
    """One bar a run, made of its parts in their order."""
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
                alt.Tooltip("time_ms:Q", format=".4g", title="ms"),
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
    return _sized(_zoomable(chart), {"step": 18})


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
            color=alt.Color("what:N", sort=None, legend=alt.Legend(columns=1, labelLimit=280)),
            shape=alt.Shape("placement:N", legend=alt.Legend(columns=3)),
            tooltip=[*about, "placement:N"],
        )
    )
    return _sized(alt.layer(lines, marks).resolve_scale(color="independent", strokeDash="independent"), 260)


def _powers() -> alt.Axis:
    return alt.Axis(format="~s", tickCount=5)


def _time(field: str) -> alt.X:
    return alt.X(f"{field}:Q", title=_TIME, scale=alt.Scale(nice=False, zero=True))


def _lines(field: str, title: str, *, percent: bool = False) -> dict[str, Any]:
    y = alt.Y(f"{field}:Q", title=title, axis=alt.Axis(format="%" if percent else "~s", tickCount=5))
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
    return _sized(_zoomable(chart), 170)


def _traffic() -> dict[str, Any]:
    levels = list(LEVELS)
    chart = (
        alt.Chart(_ROWS)
        .mark_line(interpolate="step-before", strokeWidth=1.5, clip=True)
        .encode(
            x=_time("to"),
            y=alt.Y("bytes:Q", title="GB/s", axis=alt.Axis(format="~s", tickCount=5)),
            color=alt.Color("level:N", scale=alt.Scale(domain=levels, range=list(colours.SERIES[: len(levels)]))),
            tooltip=["level:N", alt.Tooltip("to:Q", title="until ms"), alt.Tooltip("bytes:Q", title="GB/s")],
        )
    )
    return _sized(_zoomable(chart), 150)


def _areas(field: str, title: str, colour: str, scale: alt.Scale) -> alt.Chart:
    chart = (
        alt.Chart(_ROWS)
        .mark_area(interpolate="step-before", clip=True)
        .encode(
            x=_time("to"),
            y=alt.Y(f"sum({field}):Q", title=title, axis=alt.Axis(format="~s", tickCount=5)),
            color=alt.Color(f"{colour}:N", scale=scale, sort=None),
            tooltip=[f"{colour}:N", alt.Tooltip("to:Q", title="until ms"), alt.Tooltip(f"{field}:Q", title=title)],
        )
    )
    return _zoomable(chart)


def _memory(processors: list[str]) -> dict[str, Any]:
    scale = alt.Scale(domain=processors, range=colours.memories(processors))
    areas = _areas("mebibytes", "memory in use in MiB", "processor", scale)
    rule = alt.Chart(_ROWS).mark_rule(strokeDash=[5, 3], color="var(--ink)", aria=False).encode(y="max(footprint):Q")
    return _sized(alt.layer(areas, rule), 150)


def _lending() -> dict[str, Any]:
    return _sized(_areas("mebibytes", "memory lent in MiB", "pair", alt.Scale(range=list(colours.SERIES))), 110)


def _host_faults() -> dict[str, Any]:
    scale = alt.Scale(domain=["minor", "major"], range=list(colours.SERIES[:2]))
    return _sized(_areas("faults", "page faults per ms", "kind", scale), 110)


def _heat() -> dict[str, Any]:
    chart = (
        alt.Chart(_ROWS)
        .mark_rect(clip=True, color="var(--accent)", strokeWidth=0)
        .encode(
            x=_time("from"),
            x2="to",
            y=alt.Y("link:N", sort=None, title=None),
            opacity=alt.Opacity(
                "busy:Q",
                scale=alt.Scale(type="sqrt", domain=[0, 1], range=[0.02, 1]),
                legend=alt.Legend(format="%", title="busy", values=[0.01, 0.1, 0.25, 0.5, 1], symbolType="square"),
            ),
            tooltip=[
                "link:N",
                alt.Tooltip("to:Q", title="until ms"),
                alt.Tooltip("busy:Q", format=".0%"),
                alt.Tooltip("bytes:Q", title="GB/s"),
            ],
        )
    )
    return _sized(chart, {"step": 14})


def _zoomable(chart: alt.Chart) -> alt.Chart:
    """Dragging pans; the wheel zooms with Shift only, so that the page still scrolls."""
    zoom = alt.selection_interval(
        bind="scales",
        encodings=["x"],
        zoom="wheel![event.shiftKey]",
        translate="[pointerdown, pointerup] > pointermove!",
    )
    zoomable: alt.Chart = chart.add_params(zoom)
    return zoomable


def _sized(chart: alt.Chart | alt.LayerChart | alt.FacetChart, height: int | dict[str, int]) -> dict[str, Any]:
    return chart.properties(width="container", height=height).to_dict(validate=True)
