"""The chart of a recorded program: what happened to its buffers, and what is advised."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from octavo.advice import timeline
from octavo.report.drawing import TIME, channel, chart, marks
from octavo.runs import colours

if TYPE_CHECKING:
    from octavo.report.drawing import Part

_COPIES = colours.PHASES["copies"]
LOOKS = {
    timeline.LAUNCH: (colours.PHASES["kernels"], "square"),
    timeline.TO_DEVICE: (_COPIES, "triangle-down"),
    timeline.TO_HOST: (_COPIES, "triangle-up"),
    timeline.FAULTS: (colours.CAUSES["migration"], "triangle-down"),
    timeline.FILLED: (colours.PHASES["other"], "diamond"),
    timeline.WROTE: (colours.PHASES["host_initialisation"], "circle"),
    timeline.READ: (colours.PHASES["host_results"], "circle"),
    timeline.BRING: (colours.ADVISED, "triangle-down"),
    timeline.BRING_BACK: (colours.ADVISED, "triangle-up"),
    timeline.STORE: (colours.ADVISED, "cross"),
}
"""Colours and shapes; triangles point to the device, below, or to the host, above."""
_HOST, _HAPPENED, _ADVISED = -17, -6, 5
_LANES = {
    **dict.fromkeys((timeline.WROTE, timeline.READ), _HOST),
    **dict.fromkeys((timeline.TO_DEVICE, timeline.TO_HOST, timeline.FAULTS, timeline.FILLED), _HAPPENED),
    **dict.fromkeys((timeline.BRING, timeline.BRING_BACK, timeline.STORE), _ADVISED),
}
"""Pixels from the middle of a row: the host above, launches below."""
_ROW = 52


def program() -> Part:
    """Launches as bars, everything else as marks; rows are buffers."""
    seen = list(LOOKS)
    shades = {"domain": seen, "range": [colour for colour, _ in LOOKS.values()]}
    shapes = {"domain": seen, "range": [shape for _, shape in LOOKS.values()]}
    about = {
        "y": channel(
            "label:N",
            sort=None,
            title=None,
            axis={"labelLimit": 400, "labelOverlap": False, "grid": True, "ticks": False},
        ),
        "x": channel("from:Q", title=TIME, scale={"nice": False, "zero": False, "padding": 8}),
        "tooltip": [
            channel("label:N", title="buffer"),
            channel("what:N"),
            channel("about:N", title=" "),
            channel("from:Q", format=".4g", title="at ms"),
        ],
    }
    bar = {**about, "x2": channel("to"), "color": channel("what:N", scale=shades)}
    point = {
        **about,
        "color": channel("what:N", scale=shades),
        "shape": channel("what:N", scale=shapes),
    }
    is_launch = f"datum.what === '{timeline.LAUNCH}'"
    bars = marks("bar", bar, only=is_launch, height=10, yOffset=16, minBandSize=1, stroke="var(--edge)")
    looks = {"size": 60, "opacity": 1, "filled": True, "stroke": "var(--edge)", "strokeWidth": 0.75}
    offset = {"expr": f"{json.dumps(_LANES)}[datum.what]"}
    points = marks("point", point, only=f"!({is_launch})", yOffset=offset, **looks)
    return chart(bars, points, height={"step": _ROW})
