"""Advice, with all facts found on the way, and as a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo import html
from octavo.advice import picture, words
from octavo.runs import decided, pictures

if TYPE_CHECKING:
    from octavo.advice.exhaustive import Exhausted
    from octavo.advice.facts import Placement
    from octavo.advice.proposal import Plan, Range
    from octavo.advice.recording import Recording
    from octavo.advice.systems import SystemConstants
    from octavo.advice.verification import Found
    from octavo.runs.decided import Decided
    from octavo.runs.pictures import Picture
    from octavo.runs.pressure import Pressure

COLUMNS = ("buffer", "size", "now", "advised", "gain", "between", "why")


@dataclass(frozen=True, repr=False)
class Advice:
    """What to allocate how."""

    name: str
    """The program or the profile."""
    plan: Plan
    constants: SystemConstants
    found: Found | None = None
    """Results of simulating the present placement, the proposal of the model and others; none of a profile."""
    exhausted: Exhausted | None = None
    """All placements, if requested."""
    notes: tuple[str, ...] = ()
    """What to know about it."""
    decided: tuple[Decided, ...] = ()
    """Values of the node that no source gives and that decide the simulated time of the present placement."""
    recording: Recording | None = None
    """The recording that the advice is about, if it is about one."""
    pressure: Pressure | None = None
    """Footprint and memory, at the program's scale and at scale 1; none of a profile, which is of a whole program."""

    @property
    def placements(self) -> dict[str, Placement]:
        """Where each buffer is to lie."""
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
            return picture.draw(self.plan, self.constants)

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
            "roofline": picture.curves(self.plan, self.constants),
            "buffers": [each.to_dict() for each in self.plan.buffers],
            "system": {
                name: {"value": value, "certainty": origins[name].certainty, "where": origins[name].where}
                for name, value in asdict(self.constants.system).items()
            },
        }

    @property
    def told(self) -> tuple[str, ...]:
        """What to know about it, about the program's size and about the node."""
        size = () if self.pressure is None else (self.pressure.sentence, *self.pressure.notes)
        known = decided.sentence(self.decided)
        return (*self.notes, *size, self.constants.about.sentence, *([known] if known else []))

    def __repr__(self) -> str:
        return f"Advice({self.name}: {', '.join(f'{name} {place}' for name, place in self.placements.items())})"

    def _repr_html_(self) -> str:
        caption = f"{self.name} on {self.constants.name}"
        gain = f"Predicted gain: {words.seconds(self.plan.gain.value)} ({between(self.plan.gain)})"
        notes = (html.paragraph(f"Note: {note}") for note in self.told)
        return html.table(caption, COLUMNS, rows(self.plan)) + html.paragraph(gain) + "".join(notes)


def rows(plan: Plan) -> list[list[str]]:
    """A row for each buffer, in the order of `COLUMNS`."""
    return [
        [
            each.buffer.name,
            words.size(each.buffer.size),
            each.buffer.present,
            each.placement,
            words.seconds(each.gain.value),
            between(each.gain),
            each.why,
        ]
        for each in plan.buffers
    ]


def between(gain: Range) -> str:
    """From the low to the high end of a gain; a dash for one that is certain."""
    return f"{words.seconds(gain.low)} to {words.seconds(gain.high)}" if gain.low != gain.high else "–"
