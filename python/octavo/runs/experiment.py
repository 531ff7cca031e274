"""Experiments: the same workloads under several variants of a scenario."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from octavo.errors import ScenarioError
from octavo.files.links import inside
from octavo.runs import measures, speedups
from octavo.runs.content import is_finished
from octavo.runs.execute import Point, Progress, execute
from octavo.runs.replicates import check as check_replicates
from octavo.runs.replicates import replicate
from octavo.runs.result import RunResult
from octavo.runs.slugs import slugs
from octavo.scenarios.scenario import SIMULATED, digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from octavo.runs.sharing import Alone
    from octavo.scenarios.scenario import Recipe, Scenario

RUNS = "runs"
ALONE = "alone"
REPLICATES = "replicates"


@dataclass(frozen=True)
class Variant:
    """A name for reports and the overrides (`key=value`) that make it."""

    label: str
    overrides: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """The results of an experiment and one row of measures for each."""

    results: dict[tuple[str, str], RunResult]
    """By workload and variant."""
    points: pl.DataFrame
    """One row for each workload and variant: see `octavo.runs.measures.row`."""
    alone: dict[Alone, RunResult]
    """The runs of each job alone, if requested."""
    replicates: dict[tuple[str, str], list[RunResult]] = field(default_factory=dict)
    """By workload and variant, all of its runs, the one in `results` first; empty if each ran once."""


class Experiment:
    """Every workload under every variant; the first of all variants is the default baseline."""

    def __init__(
        self,
        base: Recipe,
        workloads: Sequence[str] | None,
        variants: Sequence[Variant],
        called: Mapping[str, str] | None = None,
        *,
        alone: bool = False,
        replicates: int = 1,
        inputs: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Resolve every scenario, so that unusable ones are found before anything runs.

        Args:
            base: what all of them have in common.
            workloads: names of workloads; what `base` runs, one program or jobs, if left out.
            variants: changes to each.
            called: the workloads that are labelled otherwise than they are called: their names, by label.
            alone: whether each job also runs with the others idle.
            replicates: how often each scenario runs, with what it does not say done otherwise.
            inputs: changes to single workloads, by label; changes in `base` and variants come after them.

        Raises:
            ScenarioError: a workload or a variant cannot be used, two variants have the same label, or no job could run
                alone.

        """
        written = {workload: (called or {}).get(workload, workload) for workload in workloads or ()}
        named = {
            workload: [f"workload.name={name}", *(inputs or {}).get(workload, ()), *_options(base)]
            for workload, name in written.items()
        }
        self.workloads = list(workloads or [base.resolve().workload])
        for kind, names in (("workload", self.workloads), ("variant", [variant.label for variant in variants])):
            _refuse_repeats(kind, names)
        recipes = {
            (workload, variant.label): base.with_overrides([*named.get(workload, []), *variant.overrides])
            for workload in self.workloads
            for variant in variants
        }
        self.scenarios = {key: recipe.resolve() for key, recipe in recipes.items()}
        check_replicates(replicates, self.scenarios.values())
        self.replicates: dict[tuple[str, str, int], Scenario] = {
            (*key, number): replicate(scenario, number)
            for number in range(1, replicates)
            for key, scenario in self.scenarios.items()
        }
        self.alone: dict[Alone, Scenario] = {}
        for (workload, variant), recipe in recipes.items() if alone else ():
            for job, scenario in _each_alone(recipe, self.scenarios[workload, variant]).items():
                self.alone[workload, variant, job] = scenario

    @property
    def has_time(self) -> bool:
        """Whether all runs have times: those of the executor `instant` have none."""
        return all(scenario.executor == SIMULATED for scenario in self.scenarios.values())

    @property
    def digest(self) -> str:
        """Eight hexadecimal digits that tell experiments apart."""
        return digest([*self.scenarios.values(), *self.alone.values(), *self.replicates.values()])

    def points(self, root: Path) -> list[Point]:
        """Every run, with its folder below `root`."""
        workloads, variants = slugs(self.workloads), slugs(variant for _, variant in self.scenarios)
        jobs = slugs(job for _, _, job in self.alone)
        points = [
            Point(f"{workload} {variant}", scenario, inside(root, RUNS, workloads[workload], variants[variant]))
            for (workload, variant), scenario in self.scenarios.items()
        ]
        points += [
            Point(
                f"{workload} {variant} {job} alone",
                scenario,
                inside(root, ALONE, workloads[workload], variants[variant], jobs[job]),
            )
            for (workload, variant, job), scenario in self.alone.items()
        ]
        points += [
            Point(
                f"{workload} {variant} replicate {number}",
                scenario,
                inside(root, REPLICATES, str(number), workloads[workload], variants[variant]),
            )
            for (workload, variant, number), scenario in self.replicates.items()
        ]
        return points

    def run(
        self,
        root: Path,
        *,
        workers: int | None = None,
        force: bool = False,
        watch: Callable[[Progress], None] | None = None,
    ) -> Outcome:
        """Run what is not finished yet, each point in a folder of its own below `root`; errors as `execute`."""
        return self._outcome(execute(self.points(root), workers=workers, force=force, watch=watch))

    def finished(self, root: Path) -> Outcome | None:
        """The outcome of the variants that have all their runs below `root`; None if there are none."""
        points = dict(zip((*self.scenarios, *self.alone, *self.replicates), self.points(root), strict=True))
        broken = {key[1] for key, point in points.items() if not _is_finished(point)}
        part = copy(self)
        part.scenarios = {key: one for key, one in self.scenarios.items() if key[1] not in broken}
        part.alone = {key: one for key, one in self.alone.items() if key[1] not in broken}
        part.replicates = {key: one for key, one in self.replicates.items() if key[1] not in broken}
        kept = [RunResult(point.folder) for key, point in points.items() if key[1] not in broken]
        return part._outcome(kept) if part.scenarios else None

    def _outcome(self, found: Sequence[RunResult]) -> Outcome:
        results = dict(zip(self.scenarios, found, strict=False))
        alone = dict(zip(self.alone, found[len(results) :], strict=False))
        repeated = self._repeated(results, found[len(results) + len(alone) :])
        rows = [measures.row(workload, variant, result) for (workload, variant), result in results.items()]
        points = pl.DataFrame(rows, infer_schema_length=None)
        return Outcome(results, speedups.with_intervals(points, repeated), alone, repeated)

    def _repeated(
        self, results: Mapping[tuple[str, str], RunResult], further: Sequence[RunResult]
    ) -> dict[tuple[str, str], list[RunResult]]:
        """All runs of each scenario, if there are several."""
        found = {key: [result] for key, result in results.items()}
        for (workload, variant, _), result in zip(self.replicates, further, strict=True):
            found[workload, variant].append(result)
        return found if self.replicates else {}


def _is_finished(point: Point) -> bool:
    """Whether the folder of a run holds its result, and not the result of another run that it should replace."""
    return is_finished(point.folder) and RunResult(point.folder).scenario == point.scenario


def _options(base: Recipe) -> list[str]:
    """Changes to the workload other than its name: repeated for each, as a new name drops the options before it."""
    keys = {one: one.partition("=")[0].strip() for one in base.overrides}
    return [one for one, key in keys.items() if key.startswith("workload.") and key != "workload.name"]


def _each_alone(recipe: Recipe, scenario: Scenario) -> dict[str, Scenario]:
    """The scenario with all other jobs idle, for each job that runs."""
    names = [job["name"] for job in scenario.jobs]
    if not names:
        raise ScenarioError("nothing to compare with alone: the scenario has no jobs", "write [[job]] tables")
    if scenario.executor == "instant":
        raise ScenarioError(
            "no slow-down without time: the executor `instant` has no times", "leave --alone out", code="no-time"
        )
    running = [job["name"] for job in scenario.jobs if not job.get("idle")]
    idle = {name: f'job."{name}".idle=true' for name in names}
    return {
        name: recipe.with_overrides([idle[other] for other in names if other != name]).resolve() for name in running
    }


def _refuse_repeats(kind: str, names: Sequence[str]) -> None:
    if not names:
        raise ScenarioError(f"no {kind} to run")
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ScenarioError(f"{kind} `{name}` is named twice")
