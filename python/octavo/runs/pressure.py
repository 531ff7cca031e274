"""How much of the GPUs' memory a program needs as it ran, and at scale 1."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from octavo.quantities import bytes_of

if TYPE_CHECKING:
    from octavo.runs.result import RunResult

_UNITS = ("B", "KB", "MB", "GB", "TB")


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
        size = _text(capacity)
        fits = f"fits into {size} of each GPU's memory" if self.whole_fits else f"does not fit into {size} of each GPU"
        return (
            f"at scale 1 the program has {_text(whole)} and {fits}. This run, of {_text(self.footprint)}, is not as "
            f"cramped: its memory is given in bytes that do not shrink. Memory that does: --memory "
            f"{size.replace(' ', '')}"
        )

    def rows(self) -> list[tuple[str, str]]:
        """Names and values for a table."""
        whole = "" if self.whole is None or self.whole == self.footprint else f", {_text(self.whole)} at scale 1"
        return [("footprint", _text(self.footprint) + whole), ("GPU memory", self._memory())]

    def _memory(self) -> str:
        if self.capacity is None:
            return "unlimited"
        gpus = f"{self.gpus} × " if self.gpus > 1 else ""
        size = f"{gpus}{_text(self.capacity)}"
        if self.follows:
            return f"{size}, a share of the footprint"
        shrunk = self.whole_capacity not in (None, self.capacity)
        return f"{size}, {gpus}{_text(self.whole_capacity or 0)} at scale 1" if shrunk else size

    def to_dict(self) -> dict[str, Any]:
        """The document for JSON: the fields, and what follows from them."""
        return {**asdict(self), "fits": self.fits, "whole_fits": self.whole_fits, "warning": self.warning}


def pressure(result: RunResult) -> Pressure:
    """Say how much of the GPUs' memory a run's program needs.

    Raises:
        OutputError: the result cannot be read, or is the profile of a real program.

    """
    scenario, summary = result.scenario, result.summary
    node, scales = scenario.values["node"], scenario.scales
    footprint, capacity = summary["footprint_bytes"], summary["capacity_bytes"]
    whole: int | None
    whole_capacity: int | None
    given = bytes_of(node["capacity"].get("bytes", "0B"))
    scale = scales.pop() if len(scales) == 1 else None
    shrinks = given and node["capacity"].get("shrinks", False)
    if shrinks and capacity and scale is not None and scale < 1:
        # Memory keeps its ratio to the footprint, so that the one tells the other.
        whole, whole_capacity = max(round(footprint * given / capacity), footprint), given
    else:
        whole = None if scale is None else round(footprint / scale)
        whole_capacity = capacity
        if capacity and whole and footprint and not given:
            whole_capacity = round(capacity * whole / footprint)
    return Pressure(footprint, whole, capacity, whole_capacity, node["gpus"], scale, given == 0)


def _text(size: int) -> str:
    value, unit = float(size), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.3g} {_UNITS[unit]}"
