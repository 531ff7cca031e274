"""Remedies: the same scenario run again with one thing changed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from octavo.errors import InterruptedRun, OutputError, PolicyError, SimulationError
from octavo.explain.changes import PLACEMENT, changes
from octavo.explain.stalls import of_kernels, together
from octavo.runs import replicates
from octavo.runs.content import SCENARIO_FILE, is_finished
from octavo.runs.execute import Point, execute
from octavo.runs.replicates import Interval
from octavo.runs.result import RunResult
from octavo.runs.slugs import slug
from octavo.scenarios.scenario import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from octavo.runs.execute import Progress
    from octavo.scenarios.scenario import Scenario

BOUND = "ideal"
"""The placement that costs one cold read of each page and nothing else: a bound for those that move or copy pages."""
TIE = 0.005
"""A change of the time below which a single run counts as no difference; our choice."""
_UNCHANGED = "unchanged"
"""The name of replicates of the run itself."""
_REPLICATE = ", replicate "
"""The separator between a change and the number of a replicate in a point's name."""


@dataclass(frozen=True)
class Remedy:
    """One change and its outcome."""

    label: str
    override: str
    """The change as `--set` takes it; with ` --set ` between values that change together."""
    time_ps: float
    """The median, if there are replicates."""
    low_ps: float
    high_ps: float
    """The interval of that median; the time itself, if the change was run once."""
    change: float
    """Time relative to the original run, minus 1: -0.48 is 48 % less."""
    tie: bool
    """Whether the two times count as equal: their intervals overlap, or, for single runs, they are within 0.5 %."""
    replicates: int
    bound: bool
    """Whether it is no remedy but the bound that `ideal` sets."""
    folder: str
    """The run, or the first of its replicates."""

    @property
    def name(self) -> str:
        """The change in a few words."""
        return self.label.replace("`", "").partition(" instead of ")[0]

    @property
    def interval(self) -> Interval:
        """The time of the change with its interval."""
        return Interval(self.time_ps, self.low_ps, self.high_ps, self.replicates)

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, relative to the run."""
        before = self.time_ps / (1 + self.change)
        return self.low_ps / before, self.high_ps / before


@dataclass(frozen=True)
class Tried:
    """The outcome of the changes that ran."""

    remedies: list[Remedy]
    """Largest gain first."""
    failure: PolicyError | None
    """Why changes failed because of a user's policy."""


def tried(
    result: RunResult,
    root: str | Path,
    *,
    count: int = 1,
    workers: int | None = None,
    watch: Callable[[Progress], None] | None = None,
) -> Tried:
    """Run every change that the scenario can have.

    A change that cannot be simulated, such as a placement that the node has no memory for, is left out, unless all are.

    Raises:
        OutputError: the folder cannot be written.
        ScenarioError: the run has no replicates, or its scenario is refused.
        SimulationError: no change can be simulated.
        InterruptedRun: Ctrl-C; what is finished is kept.

    """
    replicates.check(count, [result.scenario])
    tries = _Tries(result, Path(root))
    if not tries.found:
        tries.recipe.resolve()  # Says why nothing can be changed, if the scenario itself is refused.
    finished, failure = _finished(tries.points(count), workers, watch)
    return Tried(tries.remedies(finished, count), failure)


def kept(result: RunResult, root: str | Path) -> list[Remedy]:
    """The changes of a run that are finished in a folder; nothing is run.

    Raises:
        OutputError: one is damaged.

    """
    tries = _Tries(result, Path(root))
    count = next(number for number in itertools.count(1) if not is_finished(tries.unchanged(number)))
    points = [point for point in tries.points(count) if is_finished(point.folder)]
    return tries.remedies(_named(points, (RunResult.load(point.folder) for point in points)), count)


def beside(run: Path) -> Path:
    """RUN-what-if next to a run: where its changes are kept by default.

    `.` and `..` have no name to which something could be added.
    """
    named = run.resolve() if run.name in ("", "..") else run
    return named.with_name(f"{named.name}-what-if")


class _Tries:
    """Which changes a run can have, and where each is kept."""

    def __init__(self, result: RunResult, root: Path) -> None:
        self.result, self.root, self.scenario = result, root, result.scenario
        self.recipe = Recipe(self.scenario.toml, str(result.folder / SCENARIO_FILE))
        self.found = dict(changes(self.recipe, self.scenario, together(of_kernels(result))))

    def points(self, count: int) -> list[Point]:
        """Every change, and with several replicates the run itself, each this many times."""
        scenarios = {label: changed for label, (_, changed) in self.found.items()}
        if count > 1:
            scenarios[_UNCHANGED] = self.scenario
        return [
            Point(_called(label, number), replicates.replicate(one, number), _folder(self.root, label, one, number))
            for label, one in scenarios.items()
            for number in range(count)
        ]

    def unchanged(self, number: int) -> Path:
        """Where a replicate of the run itself is kept."""
        return _folder(self.root, _UNCHANGED, self.scenario, number)

    def remedies(self, finished: Iterable[tuple[str, RunResult]], count: int) -> list[Remedy]:
        """The outcome of the changes whose replicates have all finished; largest gain first."""
        times = _times(finished, count)
        before = times.pop(_UNCHANGED, replicates.interval([int(self.result.summary["time_ps"])]))
        found = [self._remedy(label, time, before) for label, time in times.items() if time.median]
        return sorted(found, key=lambda one: one.time_ps)

    def _remedy(self, label: str, time: Interval, before: Interval) -> Remedy:
        override, scenario = self.found[label]
        return Remedy(
            label=label,
            override=override,
            time_ps=time.median,
            low_ps=time.low,
            high_ps=time.high,
            change=time.median / before.median - 1,
            tie=_level(before, time),
            replicates=time.count,
            bound=override == f"{PLACEMENT}{BOUND}",
            folder=str(_folder(self.root, label, scenario, 0)),
        )


def _called(label: str, number: int) -> str:
    return f"{label}{_REPLICATE}{number}" if number else label


def _folder(root: Path, label: str, scenario: Scenario, number: int) -> Path:
    """Where a replicate of a change is kept."""
    return root / slug(_called(f"{label}-{scenario.digest}", number))


def _level(before: Interval, after: Interval) -> bool:
    """Whether two times count as equal."""
    if before.count > 1:
        return after.overlaps(before)
    return abs(after.median / before.median - 1) < TIE


def _times(finished: Iterable[tuple[str, RunResult]], count: int) -> dict[str, Interval]:
    """Times of the changes of which every replicate could be simulated."""
    found: dict[str, list[int]] = {}
    for label, one in finished:
        found.setdefault(label, []).append(int(one.summary["time_ps"]))
    return {label: replicates.interval(times) for label, times in found.items() if len(times) == count}


def _finished(
    points: list[Point], workers: int | None, watch: Callable[[Progress], None] | None
) -> tuple[list[tuple[str, RunResult]], PolicyError | None]:
    """The results of the points that can be simulated, each with its change, and the failure of a policy, if any."""
    try:
        return _named(points, execute(points, workers=workers, watch=watch)), None
    except InterruptedRun:
        raise
    except OutputError as error:
        if "--force" in (error.hint or ""):
            error.hint = "remove the folder of that run: the same command then runs it again"
        raise
    except SimulationError as error:
        done = [point for point in points if is_finished(point.folder)]
        if not done:
            raise
        failure = error if isinstance(error, PolicyError) else None
        return _named(done, execute(done, workers=workers)), failure


def _named(points: Sequence[Point], results: Iterable[RunResult]) -> list[tuple[str, RunResult]]:
    """Each result with the change that it replicates."""
    return [(point.label.partition(_REPLICATE)[0], one) for point, one in zip(points, results, strict=True)]
