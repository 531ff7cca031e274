"""The roofline with every buffer on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.roofline import Roofline
from octavo.runs import colours
from octavo.runs.pictures import sheet

if TYPE_CHECKING:
    from octavo.advice.proposal import Plan
    from octavo.advice.systems import SystemConstants
    from octavo.runs.pictures import Picture

_SPAN = 8.0
"""How far the axis goes beyond the outermost buffers."""
_STEPS = 200
"""Intensities at which ceilings are drawn."""
CEILINGS = {
    "canonical": "data on the device already",
    "device": "device, with its copy (σ = 1)",
    "host": "host, on demand (ρ = 1)",
}
"""Ceilings that are drawn, in words."""
_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": "#999999", "linewidth": 0.8},
    {"color": "#333333", "linewidth": 1.0},
    {"color": "#333333", "linewidth": 1.0, "linestyle": "--"},
)
"""Style of each ceiling."""
_MARKS = {"device": "s", "managed": "o", "prefetched": "D", "pinned": "^"}


def curves(plan: Plan, constants: SystemConstants) -> dict[str, Any]:
    """Ceilings along the operational intensity, and each buffer under the ceiling of its advised placement, as numbers.

    A buffer has the intensity of the program: all operations over the lines accessed of it, each time.
    """
    system = constants.system
    roofline = Roofline(system.peak, system.device, system.on_demand, system.copy)
    alphas = [max(each.buffer.facts["alpha"].value, 1e-6) for each in plan.buffers]
    low, high = min(alphas) / _SPAN, max(alphas) * _SPAN
    along = [low * (high / low) ** (step / (_STEPS - 1)) for step in range(_STEPS)]
    ones = [1.0] * _STEPS
    canonical, host, device, _ = roofline.columns(along, ones, ones)
    points = []
    for each, alpha in zip(plan.buffers, alphas, strict=True):
        facts = each.buffer.facts
        used, rho = min(max(facts["used"].value, 1e-9), 1.0), max(facts["rho"].value, 1.0)
        _, [on_host], [on_device], _ = roofline.columns([alpha], [used], [rho])
        height = on_device if each.placement == "device" else on_host
        points.append({"buffer": each.buffer.name, "placement": each.placement, "alpha": alpha, "operations": height})
    lines = dict(zip(CEILINGS.values(), (canonical, device, host), strict=True))
    return {"alpha": along, "ceilings": lines, "buffers": points}


def draw(plan: Plan, constants: SystemConstants, *, width: float = sheet.PAGE) -> Picture:
    """The picture: `curves`, with both axes logarithmic."""
    found = sheet.figure(width, width * 0.55)
    axes = found.add_subplot()
    shown = curves(plan, constants)
    for (name, heights), look in zip(shown["ceilings"].items(), _LOOKS, strict=True):
        axes.plot(shown["alpha"], heights, label=name, **look)
    shades = colours.of([point["buffer"] for point in shown["buffers"]])
    for point, colour in zip(shown["buffers"], shades, strict=True):
        name, mark = f"{point['buffer']}: {point['placement']}", _MARKS[point["placement"]]
        axes.plot([point["alpha"]], [point["operations"]], mark, color=colour, markersize=6, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("operational intensity α, operations a byte accessed of the buffer", fontsize=8)
    axes.set_ylabel("operations a second", fontsize=8)
    sheet.tidy(axes, f"Each buffer under the ceiling of its advised placement, on {constants.name}")
    sheet.legend(found, axes)
    return sheet.write(found, None)
