"""Where the time of a whole program goes, so that a gain says which of its intervals it comes from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from octavo.runs.result import RunResult

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Intervals:
    """Seconds; all together are the whole program."""

    allocation: float
    """Allocating and freeing."""
    copies: float
    """Copies that the program asks for and waits for."""
    kernels: float
    """Launches, with the faults that they wait for."""
    host: float
    """The host's own part, with its faults: it writes inputs, reads results, and works between launches."""

    @classmethod
    def of(cls, result: RunResult) -> Intervals:
        """Of a run of a whole program."""
        phases, whole = result.totals["phases"], int(result.totals["time_ps"])
        allocation = int(phases["allocation_ps"]) + int(phases["deallocation_ps"])
        copies, kernels = int(phases["copies_ps"]), int(phases["kernels_ps"])
        host = whole - allocation - copies - kernels
        return cls(*(each * 1e-12 for each in (allocation, copies, kernels, host)))

    @property
    def whole(self) -> float:
        """All of them."""
        return self.allocation + self.copies + self.kernels + self.host

    @property
    def used(self) -> float:
        """All but allocation."""
        return self.whole - self.allocation

    @property
    def moved(self) -> float:
        """Copies and kernels, which the printed penalty is about."""
        return self.copies + self.kernels


NAMES = tuple(field.name for field in fields(Intervals))
PARTS = {"used": "allocation left out", "moved": "copies and kernels alone"}
"""Parts of the whole that a publication may have measured, and in words."""


def by_placement(folder: Path) -> dict[str, Intervals]:
    """Intervals of each run below a folder, by the name of the run's own."""
    return {run.name: Intervals.of(RunResult.load(run)) for run in sorted(folder.iterdir())}
