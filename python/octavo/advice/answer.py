"""Advice with all facts found on the way: as data, as a table, and as a picture of the roofline."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo import html, plain
from octavo.roofline import Roofline
from octavo.runs import colours, pictures, unsourced_values
from octavo.runs.pictures import sheet

if TYPE_CHECKING:
    from octavo.advice.exhaustive import Exhausted
    from octavo.advice.facts import Placement
    from octavo.advice.proposal import Plan, Range
    from octavo.advice.recording import Recording
    from octavo.advice.systems import SystemConstants
    from octavo.advice.verification import Found
    from octavo.runs.pictures import Picture
    from octavo.runs.pressure import Pressure
    from octavo.runs.unsourced_values import Decided

ADVICE_FILE = "advice.json"
"""Its name in a folder of advice."""
COLUMNS = ("buffer", "size", "now", "advised", "gain", "between", "why")
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


@dataclass(frozen=True, repr=False)
class Advice:
    """What to allocate how."""

    name: str
    """The program or the profile."""
    plan: Plan
    constants: SystemConstants
    found: Found | None = None
    """Simulations of the present placement, the model's proposal and others; none for a profile."""
    exhausted: Exhausted | None = None
    """All placements, if requested."""
    notes: tuple[str, ...] = ()
    """Notes for the reader."""
    decided: tuple[Decided, ...] = ()
    """Values of the node that no source gives and that decide the simulated time of the present placement."""
    recording: Recording | None = None
    """The recording that the advice is about, if it is about one."""
    pressure: Pressure | None = None
    """Footprint and memory, at the program's scale and at scale 1; none of a profile, which is of a whole program."""

    @property
    def placements(self) -> dict[str, Placement]:
        """The advised placement of each buffer."""
        return self.plan.placements

    def table(self) -> pl.DataFrame:
        """One row for each buffer: sizes in bytes, times in seconds."""
        return pl.DataFrame(
            [
                {
                    "buffer": each.buffer.name,
                    "bytes": each.buffer.size,
                    "present": each.buffer.present,
                    "advised": each.placement,
                    "gain": each.gain.value,
                    "gain_low": each.gain.low,
                    "gain_high": each.gain.high,
                    **{name: each.buffer.facts[name].value for name in ("used", "sigma", "rho", "alpha")},
                    "why": each.why,
                }
                for each in self.plan.buffers
            ]
        )

    def plot(self) -> Picture:
        """The roofline with every buffer on it."""
        with pictures.below(lambda: self.constants.about.brief):
            return draw(self.plan, self.constants)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: times in seconds, sizes in bytes."""
        origins = self.constants.origins
        return {
            "name": self.name,
            "node": self.constants.name,
            "budget": self.plan.budget,
            "exact": self.plan.exact,
            "gain": vars(self.plan.gain),
            "found": None if self.found is None else self.found.to_dict(),
            "exhaustive": None if self.exhausted is None else self.exhausted.to_dict(),
            "notes": list(self.notes),
            "pressure": None if self.pressure is None else self.pressure.to_dict(),
            "nodes": [{**self.constants.about.to_dict(), "decided": [asdict(one) for one in self.decided]}],
            "roofline": curves(self.plan, self.constants),
            "buffers": [each.to_dict() for each in self.plan.buffers],
            "system": {
                name: {"value": value, "certainty": origins[name].certainty, "where": origins[name].where}
                for name, value in asdict(self.constants.system).items()
            },
        }

    @property
    def told(self) -> tuple[str, ...]:
        """Notes about the advice, about the program's size and about the node."""
        size = () if self.pressure is None else (self.pressure.sentence, *self.pressure.notes)
        known = unsourced_values.sentence(self.decided)
        return (*self.notes, *size, self.constants.about.sentence, *([known] if known else []))

    def __repr__(self) -> str:
        return f"Advice({self.name}: {', '.join(f'{name} {place}' for name, place in self.placements.items())})"

    def _repr_html_(self) -> str:
        caption = f"{self.name} on {self.constants.name}"
        gain = f"Predicted gain: {plain.seconds(self.plan.gain.value)} ({between(self.plan.gain)})"
        notes = (html.paragraph(f"Note: {note}") for note in self.told)
        return html.table(caption, COLUMNS, rows(self.plan)) + html.paragraph(gain) + "".join(notes)


def rows(plan: Plan) -> list[list[str]]:
    """A row for each buffer, in the order of `COLUMNS`."""
    return [
        [
            each.buffer.name,
            plain.size(each.buffer.size),
            each.buffer.present,
            each.placement,
            plain.seconds(each.gain.value),
            between(each.gain),
            each.why,
        ]
        for each in plan.buffers
    ]


def between(gain: Range) -> str:
    """The low and the high end of a gain; a dash if they are equal."""
    return f"{plain.seconds(gain.low)} to {plain.seconds(gain.high)}" if gain.low != gain.high else "–"


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
