"""Requests for advice, and which options go together."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from octavo.advice import proposal, recording
from octavo.errors import AdviceError
from octavo.sweeps.run import check_crew

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.advice.facts import Buffer, Placement
    from octavo.advice.proposal import Plan
    from octavo.advice.systems import SystemConstants


@dataclass(frozen=True)
class Order:
    """A request; as `octavo.advise` explains it."""

    budget: int | None
    """Bytes of device memory; of a program at scale 1, until `at_scale`."""
    percent: int | None
    """The same as a share of what the buffers have."""
    placements: tuple[Placement, ...]
    readings: Literal["sound", "published"]
    runs: int
    """Simulations that check the proposal."""
    exhaustive: bool
    on: str | None
    quick: bool
    faults: Path | None
    workers: int | None
    force: bool

    def check(self, source: object) -> None:
        """Refuse unknown values, and options that need another.

        Raises:
            AdviceError: one of these.
            ScenarioError: `--on` names no place to run.

        """
        proposal.check_asked(self.budget, self.placements)
        check_crew(self.on)
        if self.on is not None and not self.exhaustive:
            raise AdviceError("--on: expected --exhaustive beside it", code="conflict", key="on")
        is_recording = isinstance(source, (str, Path)) and recording.is_recording(Path(source))
        if self.faults is not None and not is_recording:
            raise AdviceError(
                f"--faults: expected a recording to join it to, found {source}",
                "leave out --faults",
                code="unexpected-value",
                key="faults",
                found=source,
            )

    def on_gpus(self, gpus: int) -> Order:
        """The same on so many GPUs: a prefetch goes to one of them, so that it is none for a program of several.

        Raises:
            AdviceError: nothing else may be advised.

        """
        placements = tuple(each for each in self.placements if gpus == 1 or each != "prefetched")
        if not placements:
            raise AdviceError(
                f"--placements: expected others beside prefetched on {gpus} GPUs: a prefetch goes to one of them",
                "allow others, too, or --set node.gpus=1",
                code="unexpected-value",
                key="placements",
            )
        return replace(self, placements=placements)

    def at_scale(self, footprint: int, whole: int | None) -> Order:
        """The same for a program that is smaller than its whole: of bytes it gets its part."""
        if self.budget is None or whole is None or whole <= footprint:
            return self
        return replace(self, budget=-(-self.budget * footprint // whole))

    def plan(self, buffers: Sequence[Buffer], constants: SystemConstants, time: float = inf) -> Plan:
        """What the model proposes for buffers of a program that takes so many seconds as it is."""
        sizes = sum(buffer.size for buffer in buffers)
        budget = self.budget if self.percent is None else sizes * self.percent // 100
        return proposal.plan(
            buffers, constants, budget=budget, placements=self.placements, readings=self.readings, time=time
        )

    def key(self, about: str, constants: SystemConstants) -> str:
        """Eight hexadecimal digits that tell apart what leads to different plans."""
        asked = (about, asdict(constants.system), self.budget, self.placements, self.readings, self.quick, self.runs)
        faults = [] if self.faults is None else [str(self.faults.resolve())]
        beside = [*faults, *([] if self.percent is None else [f"{self.percent}%"])]
        return hashlib.sha256(repr((*asked, *beside)).encode()).hexdigest()[:8]
