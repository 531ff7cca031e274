"""The roofline with every buffer on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from octavo.roofline import Roofline
from octavo.runs import colours
from octavo.runs.pictures import sheet

if TYPE_CHECKING:
    from octavo.advice.plan import Plan
    from octavo.advice.systems import SystemConstants
    from octavo.runs.pictures import Picture

_SPAN = 8.0
"""How far the axis goes beyond the outermost buffers."""
_MARKS = {"device": "s", "managed": "o", "pinned": "^"}


def draw(plan: Plan, constants: SystemConstants, *, width: float = sheet.PAGE) -> Picture:
    """Ceilings of the machine, and each buffer at its intensity under the ceiling of the placement that is advised.

    The intensity of a buffer is that of the program: all operations over the lines accessed of it, each time.
    """
    system = constants.system
    roofline = Roofline(system.peak, system.device, system.on_demand, system.copy)
    found = sheet.figure(width, width * 0.55)
    axes = found.add_subplot()
    alphas = [max(each.buffer.facts["alpha"].value, 1e-6) for each in plan.buffers]
    along = np.geomspace(min(alphas) / _SPAN, max(alphas) * _SPAN, 200)
    ceilings = roofline.ceilings(along)
    axes.plot(along, ceilings.canonical, color="#999999", linewidth=0.8, label="data on the device already")
    axes.plot(along, ceilings.device, color="#333333", linewidth=1.0, label="device, with its copy (σ = 1)")
    axes.plot(along, ceilings.host, color="#333333", linewidth=1.0, linestyle="--", label="host, on demand (ρ = 1)")
    for each, alpha, colour in zip(
        plan.buffers, alphas, colours.of([each.buffer.name for each in plan.buffers]), strict=True
    ):
        facts = each.buffer.facts
        point = roofline.ceilings(alpha, min(max(facts["used"].value, 1e-9), 1.0), max(facts["rho"].value, 1.0))
        height = float(point.device if each.placement == "device" else point.host)
        name = f"{each.buffer.name}: {each.placement}"
        axes.plot([alpha], [height], _MARKS[each.placement], color=colour, markersize=6, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("operational intensity α, operations a byte accessed of the buffer", fontsize=8)
    axes.set_ylabel("operations a second", fontsize=8)
    sheet.tidy(axes, f"Each buffer under the ceiling of its advised placement, on {constants.name}")
    sheet.legend(found, axes)
    return sheet.write(found, None)
