"""Requests for advice, and which options go together."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from octavo.advice import plan, recorded
from octavo.errors import AdviceError
from octavo.sweeps.run import check_crew

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.advice.facts import Buffer, Placement
    from octavo.advice.plan import Plan
    from octavo.advice.systems import SystemConstants


@dataclass(frozen=True)
class Order:
    """A request; as `octavo.advise` explains it."""

    budget: int | None
    placements: tuple[Placement, ...]
    readings: Literal["sound", "published"]
    verify: bool
    exhaustive: bool
    symmetry: bool
    bounds: bool
    on: str | None
    quick: bool
    by_phase: bool
    faults: Path | None
    workers: int | None
    force: bool

    def check(self, source: object) -> None:
        """Refuse unknown values, and options that need another.

        Raises:
            AdviceError: one of these.
            ScenarioError: `--on` names no place to run.

        """
        plan.check_asked(self.budget, self.placements)
        check_crew(self.on)
        about = {"--symmetry": self.symmetry, "--bounds": self.bounds, "--on": self.on is not None}
        named = [option for option, is_there in about.items() if is_there]
        if named and not self.exhaustive:
            raise AdviceError(f"{named[0]}: expected --exhaustive beside it")
        if self.quick and self.by_phase:
            raise AdviceError("--by-phase: expected runs that tell when pages come, found --quick", "leave out --quick")
        is_recording = isinstance(source, (str, Path)) and recorded.is_recording(Path(source))
        if self.faults is not None and not is_recording:
            raise AdviceError(f"--faults: expected a recording to join it to, found {source}", "leave out --faults")

    def plan(self, buffers: Sequence[Buffer], constants: SystemConstants) -> Plan:
        """What is advised of buffers."""
        return plan.plan(buffers, constants, budget=self.budget, placements=self.placements, readings=self.readings)

    def key(self, about: str, constants: SystemConstants) -> str:
        """Eight hexadecimal digits that tell apart what leads to different plans."""
        asked = (about, asdict(constants.system), self.budget, self.placements, self.readings, self.quick)
        beside = () if self.faults is None else (str(self.faults.resolve()),)
        return hashlib.sha256(repr((*asked, *beside)).encode()).hexdigest()[:8]
