"""Shared by all parts of the study: how a program is run, where results go."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo import api
from octavo.errors import ScenarioError
from octavo.files.links import inside
from octavo.reproduce.grace_hopper import systems
from octavo.reproduce.grace_hopper.programs import PROGRAMS
from octavo.runs.comparison import SAVED, experiment_folder, save_report
from octavo.runs.execute import Point, execute
from octavo.runs.experiment import RUNS, slug
from octavo.scenarios import lost
from octavo.scenarios.scenario import Recipe, Scenario, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import polars as pl

    from octavo.runs.execute import Progress
    from octavo.runs.result import RunResult

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

_OWN = {"program.kind": "--kind", "workload.name": "--program", "workload.scale": "--scale", "node.preset": "--node"}
"""Keys that the study sets, and the option that changes them."""

Key = tuple[str, ...]
"""A program, a kind, and what else tells a run from others."""


@dataclass(frozen=True)
class Study:
    """How the study is run."""

    output: Path | None = None
    """Folder of the results; one below `runs/` if left out."""
    overrides: tuple[str, ...] = ()
    """Changes to every scenario (`key=value`): seed and what `--set` says."""
    programs: tuple[str, ...] = tuple(PROGRAMS)
    kinds: tuple[str, ...] = KINDS
    node: str = NODE
    scale: float = SCALE
    """Footprint over the published one."""
    fewer: bool = False
    """Whether parts that vary something take few of its values."""
    workers: int | None = None
    force: bool = False
    watch: Callable[[Progress], None] | None = None

    def __post_init__(self) -> None:
        """Refuse what the study does not have.

        Raises:
            ScenarioError: an unknown program or kind.

        """
        for what, asked, known in (("program", self.programs, tuple(PROGRAMS)), ("kind", self.kinds, KINDS)):
            if unknown := [one for one in asked if one not in known]:
                raise ScenarioError(f"{what} `{unknown[0]}`: expected one of {', '.join(known)}")

    @cached_property
    def coherent(self) -> bool:
        """Whether CPU and GPU of the node are coherent, so that system memory is not moved by faults."""
        return "coherence" in self.recipe(("hotspot", "managed")).resolve().values["node"]

    @cached_property
    def root(self) -> Path:
        """Folder of all parts, which share their runs; one for each set of changes."""
        return self.output or Path("runs") / f"grace-hopper-{digest([self.recipe(('hotspot', 'managed')).resolve()])}"

    @property
    def interval(self) -> str:
        """Simulated time between samples."""
        return f"record.interval={max(1000, round(INTERVAL * self.scale))}ns"

    @cached_property
    def described(self) -> dict[str, Any]:
        """The node as it is shipped."""
        node: dict[str, Any] = _plain(self.node)["node"]
        return node

    def recipe(self, key: Key, extra: Iterable[str] = ()) -> Recipe:
        """One run as it is written: a program under a kind, without what is recorded beside totals."""
        program, kind = PROGRAMS[key[0]], key[1]
        only_gpu = () if kind == EXPLICIT else program.only_gpu_overrides()
        context = systems.context(self.described, self.scale * program.share)
        settings = (f"node.preset={self.node}", *context, "record.events=false", "record.interval=0ns")
        named = (*program.overrides(self.scale), f"program.kind={kind}", *only_gpu)
        return Recipe("", "arguments", (*settings, *named, *extra, *self.overrides))

    def peak(self, name: str) -> int:
        """Bytes of GPU memory that a program takes at most, when all of it is there: whole chunks for each buffer."""
        scenario = self.recipe((name, EXPLICIT)).resolve()
        buffers = api.workload_program(scenario, "explicit")["buffers"]
        return sum(-(-buffer["bytes"] // CHUNK) * CHUNK for buffer in buffers if buffer["kind"] == "device")

    def run(self, part: str, wanted: Mapping[Key, Iterable[str]]) -> Runs:
        """Run what is not finished yet.

        Raises:
            ScenarioError: something cannot be used.
            OutputError: a folder cannot be written, or holds something else.
            SimulationError: a scenario cannot be simulated; what is finished is kept.
            InterruptedRun: Ctrl-C; what is finished is kept.

        """
        lost.refuse(self.overrides, _OWN)
        varied = [key for extra in wanted.values() for change in extra for key in lost.keys_of(change)]
        lost.refuse(self.overrides, dict.fromkeys(varied, ""))
        scenarios = {key: self.recipe(key, extra).resolve() for key, extra in wanted.items()}
        root, digested = self.root / part, digest(scenarios.values())
        folders = {key: self._folder(key, scenario) for key, scenario in scenarios.items()}
        # What two keys mean may be the same run: small inputs leave few sizes of memory.
        points = {folder: Point(" ".join(key), scenarios[key], folder) for key, folder in folders.items()}
        with experiment_folder(root, digested, force=self.force, draws=True, writes=SAVED):
            done = execute(list(points.values()), workers=self.workers, force=self.force, watch=self.watch)
        found = dict(zip(points, done, strict=True))
        return Runs(root, digested, {key: found[folder] for key, folder in folders.items()})

    def _folder(self, key: Key, scenario: Scenario) -> Path:
        """Parts share equal runs, even under different names."""
        return inside(self.root, RUNS, slug(key[0]), f"{slug(key[1])}-{scenario.digest}")


def _plain(node: str) -> dict[str, Any]:
    """A scenario that says nothing but its node."""
    return Recipe("", "arguments", (f"node.preset={node}", "workload.name=hs")).resolve().values


@dataclass(frozen=True)
class Runs:
    """The runs of a part."""

    root: Path
    """Folder of the part."""
    digest: str
    results: dict[Key, RunResult]

    def part(self, title: str, points: pl.DataFrame, shown: pl.DataFrame, draw: Callable[[Path], None]) -> Part:
        """What the part found, with its tables and pictures left in its folder."""
        part = Part(self.root, title, points, shown)
        with experiment_folder(self.root, self.digest, force=False):
            draw(self.root)
            save_report(self.root, self.digest, points, part.to_dict())
        return part


@dataclass(frozen=True)
class Part:
    """What a part of the study found."""

    root: Path
    title: str
    points: pl.DataFrame
    """One row for each point: all measures."""
    shown: pl.DataFrame
    """What the command prints."""

    def to_dict(self) -> dict[str, Any]:
        """The part as JSON holds it."""
        return {"title": self.title, "shown": self.shown.to_dicts(), "points": self.points.to_dicts()}
