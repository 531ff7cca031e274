"""How a study is run, and where its runs and results go."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from octavo.files.links import inside
from octavo.runs.comparison import SAVED, experiment_folder
from octavo.runs.execute import Point, Progress, execute
from octavo.runs.experiment import RUNS, slug
from octavo.scenarios.scenario import digest
from octavo_studies.engine.found import Found

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
        found = Found(self.root, title, points, document)
        with experiment_folder(self.root, self.digest, force=False):
            draw(found)
            found.save(self.digest)
        return found


@dataclass(frozen=True)
class Study:
    """What every study is told. A study adds what is its own."""

    name: ClassVar[str] = "study"
    """Of its folders below `runs/`."""

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
