"""How a study is run, and where its runs and results go."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from octavo.files.links import inside
from octavo.runs import pictures, unsourced_values
from octavo.runs.comparison import SAVED, experiment_folder
from octavo.runs.execute import Point, Progress, execute
from octavo.runs.experiment import RUNS
from octavo.runs.sizes import sizes
from octavo.runs.slugs import slug
from octavo.scenarios import conflicts
from octavo.scenarios.about import brief
from octavo.scenarios.scenario import Recipe, digest
from octavo_studies.engine.findings import Found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import polars as pl

    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario

Key = TypeVar("Key")


class Run(NamedTuple):
    """One run: what progress calls it, the scenario, and the names of the folders that hold its result."""

    label: str
    scenario: Scenario
    folders: tuple[str, ...]


@dataclass(frozen=True)
class Runs(Generic[Key]):
    """Runs that are finished, and the folder of what is made of them."""

    root: Path
    digest: str
    """Of all scenarios."""
    results: dict[Key, RunResult]

    def found(
        self,
        title: str,
        points: pl.DataFrame,
        document: Mapping[str, Any],
        draw: Callable[[Found], object] = lambda _: None,
    ) -> Found:
        """Leave tables, report and pictures in the folder.

        Args:
            title: of the table that is printed.
            points: one row for each point.
            document: what the report says: tables, lists and values by name.
            draw: draws the pictures into the folder.

        """
        nodes = unsourced_values.by_node(self.results.values())
        said = {"sizes": sizes(self.results.values()), "nodes": unsourced_values.documents(nodes)}
        found = Found(self.root, title, points, {**document, **said})
        with experiment_folder(self.root, self.digest, force=False), pictures.below(lambda: brief(nodes)):
            draw(found)
            found.save(self.digest)
        return found


@dataclass(frozen=True)
class Study:
    """What every study is told. A study adds what is its own."""

    name: ClassVar[str] = "study"
    """Of its folders below `runs/`."""
    own: ClassVar[Mapping[str, str]] = {}
    """Keys that the study sets itself, and the option of its command that changes each; empty if there is none."""

    output: Path | None = None
    """Folder of the results; one below `runs/`, named after what is run, if left out."""
    overrides: tuple[str, ...] = ()
    """Changes to every scenario (`key=value`)."""
    workers: int | None = field(default=None, kw_only=True)
    force: bool = field(default=False, kw_only=True)
    watch: Callable[[Progress], None] | None = field(default=None, kw_only=True, compare=False)

    @property
    def how(self) -> dict[str, Any]:
        """How runs are executed: arguments of `octavo.runs.execute.execute`."""
        return {"workers": self.workers, "force": self.force, "watch": self.watch}

    def folder(self, scenarios: Iterable[Scenario], *part: str) -> Path:
        """The folder of these runs and of what is made of them."""
        return self.output or Path("runs") / "-".join((self.name, *part, digest(scenarios)))

    def recipe(self, key: Any, changes: Any, /) -> Recipe:
        """One run as it is written, by what tells it from others and what a part changes."""
        raise NotImplementedError

    def place(self, key: Any, _scenario: Scenario, /) -> tuple[str, ...]:
        """Names of the folders of a run. Parts share equal runs with equal names."""
        return tuple(map(str, key))

    def label(self, key: Any, /) -> str:
        """What progress calls a run."""
        return " ".join(map(str, key))

    @cached_property
    def probe(self) -> Scenario:
        """One scenario of the study, which every change to all of them changes."""
        raise NotImplementedError

    @cached_property
    def root(self) -> Path:
        """Folder of all parts, which share their runs; one for each set of changes."""
        return self.folder([self.probe])

    def refuse(self, wanted: Mapping[Any, Any]) -> None:
        """Refuse changes that would be lost: of keys that the study sets, or that this part varies.

        Raises:
            ScenarioError: a change is lost.

        """
        varied = [key for changes in wanted.values() for change in changes for key in conflicts.keys_of(change)]
        conflicts.refuse(self.overrides, {**dict.fromkeys(varied, ""), **self.own})

    def run(self, part: str, wanted: Mapping[Key, Any]) -> Runs[Key]:
        """Run what a part wants and is not finished yet.

        Raises:
            ScenarioError: something cannot be used.
            OutputError, SimulationError, InterruptedRun: as `carry_out`.

        """
        self.refuse(wanted)
        runs = {}
        for key, changes in wanted.items():
            scenario = self.recipe(key, changes).resolve()
            runs[key] = Run(self.label(key), scenario, self.place(key, scenario))
        return self.carry_out(self.root / part, runs, self.root)

    def carry_out(
        self,
        root: Path,
        runs: Mapping[Key, Run],
        home: Path | None = None,
    ) -> Runs[Key]:
        """Run what is not finished yet. Runs with the same folder are one.

        Args:
            root: folder of what is made of the runs.
            runs: by anything that tells them apart.
            home: folder that has the runs, where parts of a study share them; `root` if left out.

        Raises:
            OutputError: a folder cannot be written, or holds something else.
            SimulationError: a scenario cannot be simulated; what is finished is kept.
            InterruptedRun: Ctrl-C; what is finished is kept.

        """
        places = {key: inside(home or root, RUNS, *map(slug, run.folders)) for key, run in runs.items()}
        points = {places[key]: Point(run.label, run.scenario, places[key]) for key, run in runs.items()}
        key_of_all = digest(run.scenario for run in runs.values())
        with experiment_folder(root, key_of_all, force=self.force, draws=True, writes=SAVED):
            done = execute(list(points.values()), **self.how)
        found = dict(zip(points, done, strict=True))
        return Runs(root, key_of_all, {key: found[place] for key, place in places.items()})
