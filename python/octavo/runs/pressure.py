"""How much of the GPUs' memory a program takes as it ran, and as it is at scale 1."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from octavo import _core

if TYPE_CHECKING:
    from octavo.runs.result import RunResult

_UNITS = ("B", "KB", "MB", "GB", "TB")


@dataclass(frozen=True)
class Pressure:
    """Footprint and memory of a run, in bytes."""

    footprint: int
    """Of the program as it ran."""
    capacity: int | None
    """Memory of one GPU that the program may use; none where nothing limits it."""
    gpus: int
    scale: float | None
    """Of the program, 1 of a recorded trace; none of jobs that have different ones."""
    follows: bool
    """Whether the memory is a share of the footprint, so that scale changes nothing."""
    scaled: bool = False
    """Whether it is the part of some memory that the scale leaves (`--memory`), so that scale changes nothing, too."""

    @property
    def whole(self) -> int | None:
        """Bytes of the program at scale 1, to which footprints are proportional."""
        return None if self.scale is None else round(self.footprint / self.scale)

    @property
    def fits(self) -> bool | None:
        """Whether the program fits into the memory of all GPUs as it ran."""
        return None if self.capacity is None else self.footprint <= self.capacity * self.gpus

    @property
    def whole_fits(self) -> bool | None:
        """Whether it fits at scale 1."""
        if self.capacity is None or self.whole is None:
            return None
        return self.fits if self.follows or self.scaled else self.whole <= self.capacity * self.gpus

    @property
    def warning(self) -> str | None:
        """What a reader of this run would get wrong about the whole program, if anything."""
        if self.scale is None or self.whole is None or self.capacity is None or self.fits == self.whole_fits:
            return None
        return (
            f"at scale 1 the program has {_text(self.whole)} and does not fit into {_text(self.capacity * self.gpus)} "
            f"of GPU memory. At scale {self.scale:g} it fits, so this run shows nothing of that pressure. Memory as "
            f"scarce: --memory {_text(self.capacity).replace(' ', '')}"
        )

    def rows(self) -> list[tuple[str, str]]:
        """Names and values for a table."""
        whole = "" if self.whole is None or self.scale == 1 else f", {_text(self.whole)} at scale 1"
        return [("footprint", _text(self.footprint) + whole), ("GPU memory", self._memory())]

    def _memory(self) -> str:
        if self.capacity is None:
            return "unlimited"
        size = f"{self.gpus} × {_text(self.capacity)}" if self.gpus > 1 else _text(self.capacity)
        if self.follows:
            return f"{size}, a share of the footprint"
        if self.scaled and self.scale not in (1, None):
            return f"{size}, the part of {_text(round(self.capacity / self.scale))} that the scale leaves"
        return size

    def to_dict(self) -> dict[str, Any]:
        """What JSON says: the fields, and what follows from them."""
        derived = {"whole": self.whole, "fits": self.fits, "whole_fits": self.whole_fits, "warning": self.warning}
        return {**asdict(self), **derived}


def pressure(result: RunResult, *, scaled: bool = False) -> Pressure:
    """Say how much of the GPUs' memory a run's program takes.

    Args:
        result: the run.
        scaled: whether `--memory` chose its memory.

    Raises:
        OutputError: the result cannot be read, or is the profile of a real program.

    """
    scenario, summary = result.scenario, result.summary
    node, scales = scenario.values["node"], scenario.scales
    return Pressure(
        summary["footprint_bytes"],
        summary["capacity_bytes"],
        node["gpus"],
        scales.pop() if len(scales) == 1 else None,
        _core.bytes_of(node["capacity"].get("bytes", "0B")) == 0,
        scaled,
    )


def _text(size: int) -> str:
    value, unit = float(size), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{value:.3g} {_UNITS[unit]}"
