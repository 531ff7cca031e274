"""How much of the GPUs' memory a program needs as it ran, and at scale 1."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

from octavo.plain import amount
from octavo.quantities import bytes_of
from octavo.runs.fixed_costs import fixed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.scenarios.scenario import Scenario


class Ran(Protocol):
    """A result, as far as its size is asked for."""

    @property
    def scenario(self) -> Scenario:
        """What was run."""

    @property
    def totals(self) -> dict[str, Any]:
        """What it came to."""


@dataclass(frozen=True)
class Pressure:
    """Footprint and memory of a run and of the program at scale 1, in bytes."""

    footprint: int
    """The footprint of the program as it ran."""
    whole: int | None
    """The footprint of the program at scale 1; None for jobs with different scales."""
    capacity: int | None
    """Memory of one GPU that the program may use; None if nothing limits it."""
    whole_capacity: int | None
    """Memory of one GPU for the program at scale 1: the same, unless it shrinks with the program."""
    gpus: int
    scale: float | None
    """The scale of the program, 1 for a recorded trace; None for jobs with different scales."""
    follows: bool
    """Whether memory is a share of the footprint."""
    distorted: tuple[str, ...] = ()
    """What of the node does not shrink, and weighs more or less than at scale 1."""

    @property
    def fits(self) -> bool | None:
        """Whether the program fits into the memory of all GPUs as it ran."""
        return None if self.capacity is None else self.footprint <= self.capacity * self.gpus

    @property
    def whole_fits(self) -> bool | None:
        """Whether it fits at scale 1."""
        if self.whole_capacity is None or self.whole is None:
            return None
        return self.whole <= self.whole_capacity * self.gpus

    @property
    def warning(self) -> str | None:
        """What a reader of this run might wrongly conclude about the whole program, if anything."""
        whole, capacity = self.whole, self.whole_capacity
        if whole is None or whole < self.footprint or capacity is None or self.fits == self.whole_fits:
            return None
        size = amount(capacity)
        fits = f"fits into {size} of each GPU's memory" if self.whole_fits else f"does not fit into {size} of each GPU"
        return (
            f"at scale 1 the program has {amount(whole)} and {fits}. This run, of {amount(self.footprint)}, is not as "
            f"cramped: its memory is given in bytes that do not shrink. Memory that does: --memory "
            f"{size.replace(' ', '')}"
        )

    @property
    def notes(self) -> list[str]:
        """What to know before the numbers of a program below scale 1 are taken for the whole one's."""
        found = [self.warning] if self.warning else []
        if self.distorted:
            found.append(f"at scale {self.scale or 1:g} {'; '.join(self.distorted)}.")
        return found

    @property
    def sentence(self) -> str:
        """The table in a line."""
        return f"{', '.join(f'{name} {value}' for name, value in self.rows())}."

    def rows(self) -> list[tuple[str, str]]:
        """Names and values for a table."""
        whole = "" if self.whole is None or self.whole == self.footprint else f", {amount(self.whole)} at scale 1"
        verdicts = {True: "fits", False: "does not fit"}
        if self.scale is None:
            verdict = [("whole program", "not known, as jobs have different scales")]
        else:
            verdict = [] if self.whole_fits is None else [("whole program", verdicts[self.whole_fits])]
        return [("footprint", amount(self.footprint) + whole), ("GPU memory", self._memory()), *verdict]

    def _memory(self) -> str:
        if self.capacity is None:
            return "unlimited"
        gpus = f"{self.gpus} × " if self.gpus > 1 else ""
        size = f"{gpus}{amount(self.capacity)}"
        if self.follows:
            return f"{size}, a share of the footprint"
        shrunk = self.whole_capacity not in (None, self.capacity)
        return f"{size}, {gpus}{amount(self.whole_capacity or 0)} at scale 1" if shrunk else size

    def to_dict(self) -> dict[str, Any]:
        """What JSON says: the fields, and what follows from them."""
        found = {**asdict(self), "distorted": list(self.distorted)}
        return {**found, "fits": self.fits, "whole_fits": self.whole_fits, "warning": self.warning}


def pressure(result: Ran) -> Pressure:
    """Say how much of the GPUs' memory a run's program takes.

    Raises:
        OutputError: the result cannot be read, or is the profile of a real program.

    """
    totals = result.totals
    return of(result.scenario, totals["footprint_bytes"], totals["capacity_bytes"], totals)


def of(scenario: Scenario, footprint: int, capacity: int | None, totals: Mapping[str, Any] | None) -> Pressure:
    """The same of a scenario with a footprint and a GPU's memory in bytes, and what its run came to, if it ran."""
    values = scenario.values
    node, scales = values["node"], scenario.scales
    given = bytes_of(node["capacity"].get("bytes", "0B"))
    scale = scales.pop() if len(scales) == 1 else None
    whole, whole_capacity = _whole(node, scale, footprint, capacity)
    distorted = fixed(values, totals, footprint, whole) if whole is not None and whole > footprint else []
    return Pressure(footprint, whole, capacity, whole_capacity, node["gpus"], scale, given == 0, tuple(distorted))


def _whole(
    node: Mapping[str, Any], scale: float | None, footprint: int, capacity: int | None
) -> tuple[int | None, int | None]:
    """Footprint and memory at scale 1."""
    given = bytes_of(node["capacity"].get("bytes", "0B"))
    shrinks = given and node["capacity"].get("shrinks", False)
    if shrinks and capacity and scale is not None and scale < 1:
        # Memory keeps its ratio to the footprint, so that the one tells the other.
        return max(round(footprint * given / capacity), footprint), given
    whole = None if scale is None else round(footprint / scale)
    if capacity and whole and footprint and not given:
        return whole, round(capacity * whole / footprint)
    return whole, capacity
