"""What a step needs of a GPU, whether that is there, and what to do if not."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from octavo.advice.step.program import ROLES
from octavo.plain import amount, seconds

if TYPE_CHECKING:
    from octavo.advice.step.levers import Lever, Tried
    from octavo.advice.step.program import Program, Role
    from octavo.scenarios.about import About

_WORDS: dict[Role, str] = {
    "parameter": "parameters",
    "gradient": "gradients",
    "state": "optimizer's state",
    "activation": "activations",
    "input": "inputs",
    "temporary": "temporary",
    "workspace": "cuBLAS's workspaces",
}


@dataclass(frozen=True)
class Point:
    """What a batch size needs and takes."""

    batch: int
    allocated: int
    reserved: int
    seconds: float
    fits: bool


@dataclass(frozen=True)
class Needs:
    """The answer."""

    program: Program
    node: str
    about: About
    memory: int
    """Bytes of the GPU."""
    reserve: int
    """What the driver and the context keep of it."""
    batch: int
    base: Tried
    """The program as it is, where memory does not end."""
    within: Tried
    """The same in this memory."""
    singles: list[Tried]
    """Each lever by itself, where memory does not end."""
    singles_fit: list[bool]
    """Whether it fits with each of them."""
    together: Tried | None
    """The cheapest levers with which it fits; none if it fits without, or not at all."""
    frontier: list[Point] = field(default_factory=list)
    """Batch sizes, with the program as it is."""
    frontier_with: list[Point] = field(default_factory=list)
    """The same with the levers that are advised, or with the first that saves anything."""
    with_levers: tuple[Lever, ...] = ()
    """Those levers."""
    largest: int | None = None
    """The largest batch that fits as it is, if the size can be chosen."""
    largest_with: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def room(self) -> int:
        """Bytes that PyTorch's allocator can have."""
        return self.memory - self.reserve

    @property
    def verdict(self) -> Literal["fits", "fails"]:
        """Whether the step runs in this memory."""
        return "fits" if self.within.peak.fails is None else "fails"

    def advice(self, role: Role) -> str:
        """What to do with memory of a role."""
        lever = next((one for one in self.chosen if one.role == role), None)
        if lever is None:
            return "keep"
        return {"recompute": "recompute (checkpoint)", "offload": "offload", "release": "release at once"}.get(
            lever.action, lever.name
        )

    @property
    def chosen(self) -> tuple[Lever, ...]:
        """The levers that are advised."""
        return () if self.together is None else self.together.levers

    def to_dict(self) -> dict[str, Any]:
        """For JSON: times in seconds, sizes in bytes."""
        return {
            "name": self.program.name,
            "node": self.node,
            "verdict": self.verdict,
            "memory": self.memory,
            "reserve": self.reserve,
            "usable": self.room,
            "batch": self.program.batch and self.batch,
            "peak": self.base.peak.to_dict(),
            "seconds": self.base.seconds,
            "fails": self.within.peak.fails and list(self.within.peak.fails),
            "advice": {role: self.advice(role) for role in ROLES},
            "levers": [{**_tried(one), "fits": fits} for one, fits in zip(self.singles, self.singles_fit, strict=True)],
            "chosen": None if self.together is None else _tried(self.together),
            "code": self.code,
            "largest_batch": self.largest,
            "largest_batch_with_levers": self.largest_with,
            "frontier": [asdict(point) for point in self.frontier],
            "frontier_with_levers": [asdict(point) for point in self.frontier_with],
            "frontier_levers": [lever.name for lever in self.with_levers],
            "assumed": list(self.program.assumed),
            "notes": list(self.notes),
            "nodes": [self.about.to_dict()],
        }

    @property
    def needs(self) -> str:
        """What it needs, in a sentence."""
        peak, program = self.base.peak, self.program
        size = f" with a batch of {self.batch:,}" if program.batch else ""
        return (
            f"{program.name}{size} has at most {amount(peak.allocated)} of GPU memory at once, and PyTorch's allocator "
            f"holds {amount(peak.reserved)} for that: in step {peak.step}, {peak.phase}."
        )

    @property
    def sentences(self) -> list[str]:
        """The answer for people."""
        kept = f"the driver and the context keep {amount(self.reserve)}"
        told = [f"{self.program.name} {self.verdict} in {amount(self.memory)} ({kept}).", self.needs]
        if self.within.peak.fails is not None:
            size, step, phase = self.within.peak.fails
            told.append(f"The allocation of {amount(size)} fails in step {step}, {phase}: CUDA out of memory.")
            told.append(self._way_out())
        if self.largest is not None:
            told.append(self._largest())
        return told

    def _way_out(self) -> str:
        if self.together is None:
            return "Nothing of what Octavo knows makes it fit: make the batch or the model smaller."
        names = " and ".join(lever.name for lever in self.chosen)
        return (
            f"With {names} it fits: {amount(self.together.peak.reserved)}, and a step takes "
            f"{seconds(self.together.seconds)} instead of {seconds(self.base.seconds)}."
        )

    def _largest(self) -> str:
        if not self.largest:
            return "No batch fits as the program is."
        said = f"The largest batch that fits is {self.largest:,}"
        if self.largest_with is not None and self.largest_with > self.largest:
            names = " and ".join(lever.name for lever in self.with_levers)
            said += f"; {self.largest_with:,} with {names}"
        return f"{said}."

    def roles(self) -> list[list[str]]:
        """A row for each role: bytes at the peak, and what to do."""
        found = self.base.peak.roles
        return [[_WORDS[role], amount(found[role]), self.advice(role)] for role in ROLES if found.get(role)]

    def options(self) -> list[list[str]]:
        """A row for each lever: what the program needs and takes with it."""
        return [
            [
                one.levers[0].name,
                amount(one.peak.allocated),
                amount(one.peak.reserved),
                seconds(one.seconds),
                "fits" if fits else "fails",
                one.levers[0].why,
            ]
            for one, fits in zip(self.singles, self.singles_fit, strict=True)
        ]

    @property
    def code(self) -> list[str]:
        """Lines to paste, for the levers that are advised."""
        lines: list[str] = []
        for lever in self.chosen:
            lines += ["", f"# {_WORDS[lever.role]}: {lever.name}", *lever.code]
        return lines[1:]


def _tried(one: Tried) -> dict[str, Any]:
    return {
        "levers": [
            {"name": lever.name, "role": lever.role, "action": lever.action, "why": lever.why} for lever in one.levers
        ],
        "peak": one.peak.to_dict(),
        "seconds": one.seconds,
    }
