"""How a program of the study is run, and where results go."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from octavo import api
from octavo.errors import ScenarioError
from octavo.scenarios.scenario import Recipe
from octavo_studies.engine import study as engine
from octavo_studies.grace_hopper import systems
from octavo_studies.grace_hopper.programs import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from octavo.scenarios.scenario import Scenario

NODE = "gh200-numa"
"""The publication's machine had the GPU's memory as a NUMA node, as drivers up to R610 have it."""
EXPLICIT = "explicit"
WITHOUT_COPIES = ("managed", "system")
KINDS = (EXPLICIT, *WITHOUT_COPIES)
SCALE = 1 / 16
REDUCED_SCALE = 1 / 256
INTERVAL = 2_000_000
"""Nanoseconds between samples at scale 1; smaller inputs take less time, and have as many."""

CHUNK = 2 << 20
"""Bytes of what a driver takes from a GPU's memory at once."""

Key = tuple[str, ...]
"""A program, a kind, and what else tells a run from others."""


@dataclass(frozen=True)
class Study(engine.Study):
    """Programs and kinds of memory on a node."""

    name: ClassVar[str] = "grace-hopper"
    own: ClassVar[Mapping[str, str]] = {
        "program.kind": "--kind",
        "workload.name": "--program",
        "workload.scale": "--scale",
        "node.preset": "--node",
    }

    programs: tuple[str, ...] = tuple(PROGRAMS)
    kinds: tuple[str, ...] = KINDS
    node: str = NODE
    scale: float = SCALE
    """Footprint over the published one."""
    fewer: bool = False
    """Whether parts that vary something take few of its values."""

    def __post_init__(self) -> None:
        """Refuse what the study does not have.

        Raises:
            ScenarioError: an unknown program or kind.

        """
        for what, asked, known in (("program", self.programs, tuple(PROGRAMS)), ("kind", self.kinds, KINDS)):
            if unknown := [one for one in asked if one not in known]:
                raise ScenarioError(
                    f"{what} `{unknown[0]}`: expected one of {', '.join(known)}",
                    expected=known,
                    code="unknown-name",
                    key=what,
                    found=unknown[0],
                )

    @cached_property
    def coherent(self) -> bool:
        """Whether CPU and GPU of the node are coherent, so that system memory is not moved by faults."""
        return "coherence" in self.probe.values["node"]

    @cached_property
    def probe(self) -> Scenario:
        """One scenario of the study, spelled out."""
        return self.recipe(("hotspot", "managed")).resolve()

    @property
    def interval(self) -> str:
        """Simulated time between samples."""
        return f"record.interval={max(1000, round(INTERVAL * self.scale))}ns"

    @property
    def uncopied(self) -> list[str]:
        """The kinds in which nothing is copied."""
        return [kind for kind in self.kinds if kind in WITHOUT_COPIES]

    def counters(self, kind: str, *, on: bool) -> tuple[str, ...]:
        """Migration by access counters, where node and kind have it."""
        return systems.counters(self.coherent, kind, on=on)

    def recipe(self, key: Key, extra: Iterable[str] = (), /) -> Recipe:
        """One run as it is written: a program under a kind, without what is recorded beside totals."""
        program, kind = PROGRAMS[key[0]], key[1]
        only_gpu = () if kind == EXPLICIT else program.only_gpu_overrides()
        settings = (f"node.preset={self.node}", "record.events=false", "record.interval=0ns")
        named = (*program.overrides(self.scale), f"program.kind={kind}", *only_gpu)
        return Recipe("", "arguments", (*settings, *named, *extra, *self.overrides))

    def peak(self, name: str) -> int:
        """Bytes of GPU memory that a program takes at most, when all of it is there: whole chunks for each buffer."""
        scenario = self.recipe((name, EXPLICIT)).resolve()
        buffers = api.workload_program(scenario, "explicit")["buffers"]
        return sum(-(-buffer["bytes"] // CHUNK) * CHUNK for buffer in buffers if buffer["kind"] == "device")

    def place(self, key: Key, scenario: Scenario, /) -> tuple[str, ...]:
        """Parts share equal runs, even under different names."""
        return (key[0], f"{key[1]}-{scenario.digest}")
