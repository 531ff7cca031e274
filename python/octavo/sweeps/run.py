"""Runs a sweep: keeps what is finished, stores each point as soon as it is done, and continues when one fails."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Any

from octavo import checks
from octavo.errors import ScenarioError
from octavo.runs import execute as runs
from octavo.runs import measures
from octavo.runs.execute import Progress, default_workers
from octavo.runs.replicates import KEY as REPLICATE
from octavo.runs.replicates import check as check_replicates
from octavo.runs.replicates import check_count
from octavo.runs.result import RunResult
from octavo.scenarios.scenario import SIMULATED
from octavo.sweeps import picture, plan, search
from octavo.sweeps.crew import Crew, Job, LostCrewError, stopped
from octavo.sweeps.medians import TIME, medians
from octavo.sweeps.processes import Processes
from octavo.sweeps.store import MEDIANS_FILE, PICTURE_FILES, RUNS, Store, opened, run_folder
from octavo.sweeps.table import FAILED, schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import polars as pl

    from octavo.runs.pictures.requests import Asked
    from octavo.sweeps.axes import Values
    from octavo.sweeps.plan import Point
    from octavo.sweeps.search import Goal
    from octavo.sweeps.spec import Spec

_POLL_SECONDS = 0.1
_RAY = "ray"


@dataclass(frozen=True)
class Sweep:
    """A sweep that can run: everything that can be refused beforehand has been checked."""

    spec: Spec
    goal: Goal | None
    points: list[Point]
    """All points; empty while they are still searched for."""
    digest: str
    """Hexadecimal digits that distinguish sweeps."""

    @classmethod
    def of(cls, spec: Spec, goal: Goal | None = None, seed: int | None = None, replicates: int = 1) -> Sweep:
        """Plan a sweep.

        Raises:
            ScenarioError: an axis names nothing, a value cannot be used, or the goal is unknown.

        """
        check_count(replicates)
        spec = replace(spec, seed=spec.seed if seed is None else seed, replicates=replicates)
        if replicates > 1 and REPLICATE in spec.keys:
            raise ScenarioError(
                f"{spec.name}: `{REPLICATE}` is an axis, and --replicates sets it",
                "leave one of them out",
                code="conflict",
                key=REPLICATE,
            )
        if replicates > 1:
            check_replicates(replicates, [plan.first(spec).scenario])
        if seed is not None and goal is None and not spec.drawn:
            raise ScenarioError(f"{spec.name}: a seed, but nothing is drawn at random", "leave it out, or add [random]")
        if goal is None:
            return cls(spec, None, plan.points(spec), plan.digest(spec))
        search.check(goal, measures.NAMES)
        plan.check_count(spec, goal.trials * replicates)
        _check_time(spec, goal)
        return cls(spec, goal, [], plan.digest(spec, goal.described()))

    @property
    def total(self) -> int:
        """How many points there are."""
        return self.goal.trials * self.spec.replicates if self.goal else len(self.points)

    def runs(self, root: Path) -> list[runs.Point]:
        """All runs, each in a folder below `root`; for a search, the first point once for each trial."""
        points = self.points or [plan.first(self.spec)] * self.total
        return [runs.Point(point.label, point.scenario, root / RUNS / point.folder) for point in points]

    def described(self) -> dict[str, Any]:
        """What `sweep.json` says."""
        about: dict[str, Any] = {"sweep": self.digest, "name": self.spec.name, "axes": self.spec.keys}
        if self.spec.replicates > 1:
            about["replicates"] = self.spec.replicates
        return about | ({"search": self.goal.described(), "seed": self.spec.seed} if self.goal else {})

    def run(
        self,
        root: Path,
        *,
        workers: int | None = None,
        on: str | None = None,
        force: bool = False,
        watch: Callable[[Progress], None] | None = None,
        drawn: Asked | None = None,
    ) -> pl.DataFrame:
        """Run what is not finished yet, in a folder; returns the table, failed points included.

        It is a table of medians if there are replicates. `drawn` requests a picture, too.

        Raises:
            OutputError: the folder cannot be written, is in use or holds something else.
            ClusterError: the cluster cannot be used.
            InterruptedRun: Ctrl-C, or the cluster is lost; what is finished is kept.

        """
        for point in self.points:
            run_folder(root, point)
        writes = self._writes(drawn=drawn is not None)
        with opened(root, self.described(), schema(self.spec.recorded), force=force, writes=writes) as store:
            running = _Running(store, Progress(self.total), watch or (lambda _: None), lambda: crew(on, workers), force)
            try:
                running.all(self)
            except (KeyboardInterrupt, LostCrewError) as cause:
                store.collect(running.rows)
                kept = sum(row["status"] != FAILED for row in running.rows)
                raise stopped(cause, kept, self.total, "points") from None
            finally:
                running.close()
            metric = self.goal.metric if self.goal else TIME
            table = medians(store.collect(running.rows), self.spec.replicates, metric)
            if self.spec.replicates > 1:
                store.write_medians(table)
            if drawn is not None:
                picture.draw(root, self.spec, table, self.goal, drawn)
            return table

    def _writes(self, *, drawn: bool) -> list[str]:
        """Files in addition to those of every sweep."""
        draws = drawn and picture.without(self.spec, self.goal) is None
        return [*([MEDIANS_FILE] if self.spec.replicates > 1 else []), *(PICTURE_FILES if draws else ())]


def _check_time(spec: Spec, goal: Goal) -> None:
    """Refuse to search for a time if there is none."""
    executor = plan.first(spec).scenario.executor
    if goal.metric.endswith("_ps") and executor != SIMULATED:
        raise ScenarioError(
            f"no `{goal.metric}` without time: expected the executor {SIMULATED}, found {executor}",
            code="no-time",
            expected=SIMULATED,
            found=executor,
        )


def crew(on: str | None, workers: int | None) -> Crew:
    """Who runs the points: processes here, a Ray cluster (`ray`), or the cluster at an address.

    Raises:
        ScenarioError: it is none of these.
        ClusterError: the cluster cannot be used.

    """
    check_crew(on)
    workers = checks.workers(workers)
    if on is None or on == "local":
        return Processes(workers or default_workers())
    from octavo.sweeps.cluster import RayCluster  # noqa: PLC0415 - only where it is asked for

    return RayCluster(None if on == _RAY else on, workers)


def check_crew(on: str | None) -> None:
    """Refuse names that are no place to run; whether a cluster exists shows later.

    Raises:
        ScenarioError: it is none.

    """
    if on not in {None, "local", _RAY} and not str(on).startswith(f"{_RAY}://"):
        raise ScenarioError(
            f"--on: cannot run on `{on}`",
            "expected local, ray, or an address such as ray://head:10001",
            code="unexpected-value",
            key="on",
            found=on,
        )


@dataclass
class _Running:
    """A sweep in progress."""

    store: Store
    progress: Progress
    watch: Callable[[Progress], None]
    hire: Callable[[], Crew]
    force: bool
    rows: list[dict[str, Any]] = field(default_factory=list)
    """Points that are done, in the order in which they finished."""
    results: dict[str, RunResult] = field(default_factory=dict)
    """Results by scenario, since two points of a random sweep or a search may be the same."""
    _crew: Crew | None = None

    def all(self, sweep: Sweep) -> None:
        if sweep.goal is None:
            self.points(sweep.points)
        else:
            self._search(sweep, sweep.goal)

    def points(self, points: Sequence[Point]) -> None:
        missing = [point for point in points if not self._keep(point)]
        self.progress.kept += len(points) - len(missing)
        first = {point.scenario.toml: point for point in reversed(missing)}
        self._carry_out([point for point in missing if first[point.scenario.toml] is point])
        for point in missing:
            if first[point.scenario.toml] is not point:
                self._repeat(point, first[point.scenario.toml])
        self.watch(self.progress)

    def close(self) -> None:
        if self._crew is not None:
            self._crew.close()

    def _keep(self, point: Point) -> bool:
        """Use a result that exists already."""
        found = self.results.get(point.scenario.toml) or self.store.finished(point, force=self.force)
        if found is None:
            return False
        self._land(point, found, None)
        return True

    def _carry_out(self, points: Sequence[Point]) -> None:
        if not points:
            return
        self._crew = self._crew or self.hire()
        self._crew.expect(len(points))
        waiting = deque(points)
        underway = 0
        while waiting or underway:
            while waiting and underway < self._crew.slots:
                point = waiting.popleft()
                self._crew.start(Job(point, self.store.run_folder(point)))
                underway += 1
            for ended in self._crew.poll(_POLL_SECONDS):
                underway -= 1
                found = None if ended.error else RunResult(ended.job.folder)
                self.store.tell_place(ended.job.point, ended.place)
                self._land(ended.job.point, found, ended.error)
            self.progress.running = dict(self._crew.shares())
            self.watch(self.progress)

    def _repeat(self, point: Point, same: Point) -> None:
        """A point with the scenario of another one that is done already."""
        error = next(row["error"] for row in self.rows if row["point"] == same.number)
        self._land(point, self.results.get(point.scenario.toml), error)

    def _land(self, point: Point, found: RunResult | None, error: str | None) -> None:
        self.rows.append(self.store.land(point, found, error))
        if found is not None:
            self.results[point.scenario.toml] = found
        else:
            self.progress.failed.append(f"{point.label}: {error}")
        self.progress.done.append(point.label)

    def _search(self, sweep: Sweep, goal: Goal) -> None:
        def run(trials: list[Values]) -> list[float | None]:
            first = len(self.rows)
            repeated = [values for trial in trials for values in plan.repeated(sweep.spec, trial)]
            found = [self._usable(sweep.spec, number, values) for number, values in enumerate(repeated, first)]
            self.points([point for point in found if point is not None])
            rows = sorted(self.rows[first:], key=lambda row: int(row["point"]))
            return [_median([row[goal.metric] for row in part]) for part in _parts(rows, sweep.spec.replicates)]

        search.search(sweep.spec.axes, goal, sweep.spec.seed, run)

    def _usable(self, spec: Spec, number: int, values: Values) -> Point | None:
        """The point of a trial; a point without a valid scenario has failed."""
        try:
            return plan.point(spec, number, values)
        except ScenarioError as error:
            self._land(plan.unusable(spec, number, values), None, error.message)
            return None


def _parts(rows: Sequence[dict[str, Any]], size: int) -> list[Sequence[dict[str, Any]]]:
    return [rows[first : first + size] for first in range(0, len(rows), size)]


def _median(values: Sequence[float | None]) -> float | None:
    """The median over the replicates of a trial; None if one of them failed."""
    known = [value for value in values if value is not None]
    return median(known) if len(known) == len(values) else None
