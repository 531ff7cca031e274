"""Runs many scenarios side by side, and keeps what is finished.

The engine releases Python's global lock, so threads use every core; results do not depend on their number. A run whose
decisions come from code outside Octavo has a process of its own beside its thread. Whatever that code does, the other
runs go on.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

import octavo._core as _core
from octavo import checks
from octavo.errors import InterruptedRun, OctavoError, OutOfMemoryError, PolicyError, SimulationError, of_engine
from octavo.files import disk, links, replacement
from octavo.isolation.errors import UnknownError
from octavo.isolation.process import Wish
from octavo.runs import folder, interrupts, lines, memory
from octavo.runs.result import RunResult
from octavo.runs.single import Limits, Order, carry_out, carry_out_apart, needs_a_process
from octavo.runs.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from octavo.scenarios.scenario import Scenario

_POLL_SECONDS = 0.1
_GRACE_SECONDS = 1.0
"""Wall time within which every run stops, unless it is in the middle of a policy's code."""
_PANIC = "PanicException"
"""The engine raises it for a defect in itself; the class cannot be imported by name."""
_TIMELINE, _LINES = "cannot write the timeline: ", "cannot write the lines: "
"""How the engine's errors about a timeline begin; only the engine knows the timeline's temporary name."""
_SHOWN = 10
"""The most failures that a message lists one by one."""


@dataclass(frozen=True)
class Point:
    """One run of an experiment and where its result goes."""

    label: str
    scenario: Scenario
    folder: Path
    timeline: Path | None = None
    """Where its Perfetto trace goes, if one is requested: the run then starts even if it is finished."""
    lines: Path | None = None
    """Where the lines of its GPUs' memories go: the same."""


@dataclass
class Progress:
    """How far an experiment has got."""

    total: int
    """Points to run in total; those found finished count as done."""
    done: list[str] = field(default_factory=list)
    """Labels of the finished points, in the order in which they finished."""
    kept: int = 0
    """How many of these were finished before."""
    running: dict[str, float] = field(default_factory=dict)
    """The share of each running point that is done."""
    failed: list[str] = field(default_factory=list)
    """Labels of points that are done but have no result, each with the reason."""


def default_workers() -> int:
    """Cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def execute(
    points: Sequence[Point],
    *,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> list[RunResult]:
    """Run every point that is not finished yet; returns the results in the order of the points.

    Raises:
        OutputError: a folder cannot be written or holds something else.
        SimulationError: scenarios cannot be simulated; the other points run all the same, and are kept.
        InterruptedRun: Ctrl-C; what is finished is kept.

    """
    results = _results(points, (None, False), workers, watch, force=force)
    return [results[index] for index in range(len(points))]


def attempt(
    points: Sequence[Point],
    time_limit: int | None = None,
    *,
    may_fill: bool = False,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> list[RunResult | None]:
    """Run every point that is not finished yet; those that cannot finish have no result.

    Args:
        points: the runs and their folders.
        time_limit: picoseconds of simulated time; no limit if left out. A run that ends in time has its result; one
            that does not leaves nothing, or its result if it ends soon after. Which of the two does not depend on the
            machine or on `workers`.
        may_fill: whether a run that ends because a simulated memory is full has no result; otherwise it is an error.
        workers: runs at a time; as many as there are cores if left out.
        force: replace finished results.
        watch: called with the progress of the runs.

    Raises:
        OutputError: a folder cannot be written or holds something else.
        SimulationError: scenarios cannot be simulated; the other points run all the same, and are kept.
        InterruptedRun: Ctrl-C; what is finished is kept.

    """
    results = _results(points, (time_limit, may_fill), workers, watch, force=force)
    return [results.get(index) for index in range(len(points))]


def _results(
    points: Sequence[Point],
    bounds: tuple[int | None, bool],
    workers: int | None,
    watch: Callable[[Progress], None] | None,
    *,
    force: bool,
) -> dict[int, RunResult]:
    """Results by the index of their point; runs that exceeded their time or, if allowed, their memory have none."""
    results = finished(points, force=force)
    progress = Progress(len(points), [points[index].label for index in results], len(results))
    missing = [index for index in range(len(points)) if index not in results]
    workers = checks.workers(workers) or default_workers()
    time_limit, may_fill = bounds
    together = min(workers, len(missing))
    here = Limits(memory.share(together), time_limit)
    apart = Limits(memory.part(memory.whole(), together), time_limit)
    runs = _Runs(points, progress, (here, apart), may_fill=may_fill, force=force)
    return results | runs.all(missing, workers, watch or (lambda _: None))


def finished(points: Sequence[Point], *, force: bool) -> dict[int, RunResult]:
    """Results that exist already, by the index of their point; one whose timeline is requested has to run again.

    Raises:
        OutputError: a folder or a timeline cannot be written, or a folder holds something else.

    """
    results: dict[int, RunResult] = {}
    for index, point in enumerate(points):
        disk.check_writable(links.followed(point.folder).parent)
        folder.mend(point.folder)
        found = folder.finished(point.folder, point.scenario, force=force)
        if point.timeline is not None:
            disk.check_file(point.timeline)
            replacement.check_made(point.timeline, replacement.TIMELINE)
        if point.lines is not None:
            lines.check(point.lines, point.scenario, point.timeline, force=force)
        if found is not None and point.timeline is None and point.lines is None:
            results[index] = found
    return results


class _Runs:
    """Runs in progress."""

    def __init__(
        self, points: Sequence[Point], progress: Progress, limits: tuple[Limits, Limits], *, may_fill: bool, force: bool
    ) -> None:
        """Nothing runs yet.

        Args:
            points: all runs.
            progress: how far they are.
            limits: of a run in this process, and of one in a process of its own.
            may_fill: whether a run that is out of memory has no result, as one over time; else it is a failure.
            force: replace what folders hold.

        """
        self._points, self._progress, (self._here, self._apart) = points, progress, limits
        self._may_fill, self._force = may_fill, force
        self._wish = Wish.GO_ON
        self._results: dict[int, RunResult] = {}
        self._failures: dict[int, OctavoError] = {}
        self._inside: set[int] = set()
        """Threads of this process that are in the engine."""

    def all(self, missing: Sequence[int], workers: int, watch: Callable[[Progress], None]) -> dict[int, RunResult]:
        """Carry out what is missing; return the results."""
        threads = Threads(workers)
        with interrupts.noted() as struck:
            pending = {threads.submit(partial(self._run, self._points[index])): index for index in missing}
            threads.close()
            try:
                while pending and not struck.once.is_set():
                    self._collect(pending)
                    watch(self._progress)
            except KeyboardInterrupt:  # Raised by a handler of the user's own.
                struck.once.set()
            except BaseException:
                self._settle(pending, struck)
                raise
            if struck.once.is_set():
                kept = self._settle(pending, struck) + len(self._progress.done) - len(self._failures)
                raise InterruptedRun(
                    f"stopped: {kept} of {self._progress.total} runs are finished and kept",
                    "the same command resumes",
                )
        if self._failures:
            raise _summed_up([self._failures[index] for index in sorted(self._failures)], len(self._points))
        return self._results

    def _collect(self, pending: dict[Future[None], int]) -> None:
        """Note which runs have ended, after waiting a moment for them."""
        finished, _ = wait(pending, timeout=_POLL_SECONDS, return_when="FIRST_COMPLETED")
        for future in finished:
            index = pending.pop(future)
            point = self._points[index]
            failure = self._failure(future, point)
            self._progress.done.append(point.label)
            if isinstance(failure, OctavoError):
                self._failures[index] = failure
                self._progress.failed.append(f"{point.label}: {failure.message}")
            elif failure is None:
                self._results[index] = RunResult(point.folder)

    def _settle(self, pending: dict[Future[None], int], struck: interrupts.Struck) -> int:
        """Stop what is running and wait for it, unless Ctrl-C comes again; returns how many finished meanwhile."""
        self._wish = Wish.STOP
        busy = {future for future in pending if not future.cancel()}
        grace = time.monotonic() + _GRACE_SECONDS
        while busy and not struck.again.is_set():
            _, busy = wait(busy, timeout=_POLL_SECONDS)
            if time.monotonic() > grace:
                self._interrupt_policies()
        self._wish = Wish.KILL
        # Processes are gone soon; a class of the user's that sleeps in a thread of this process is left to itself.
        wait(busy, timeout=_GRACE_SECONDS)
        done = [future for future in pending if future.done() and not future.cancelled()]
        return sum(future.exception() is None for future in done)

    def _interrupt_policies(self) -> None:
        """Raise an exception in the runs that have not stopped: they are in the middle of a policy's code."""
        for thread in list(self._inside):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))

    def _run(self, point: Point) -> None:
        def report(share: float) -> bool:
            self._progress.running[point.label] = share
            return self._wish == Wish.GO_ON

        apart = needs_a_process(point.scenario)
        limits = self._apart if apart else self._here
        order = Order(point.scenario, point.folder, limits, point.timeline, self._force, point.lines)
        self._progress.running[point.label] = 0.0
        try:
            if apart:
                carry_out_apart(order, report, lambda: self._wish)
            else:
                self._run_inside(order, report)
        finally:
            del self._progress.running[point.label]

    def _run_inside(self, order: Order, report: Callable[[float], bool]) -> None:
        self._inside.add(threading.get_ident())
        try:
            carry_out(order, report)
        finally:
            self._inside.discard(threading.get_ident())

    def _failure(self, future: Future[None], point: Point) -> OctavoError | Limit | None:
        """The error of a run, if any; or the limit that it reached, which leaves no result."""
        try:
            future.result()
        except _core.OverTime:
            return Limit.TIME
        except _core.SimulationError as error:
            failure = _explained(error, point)
            return Limit.MEMORY if self._may_fill and isinstance(failure, OutOfMemoryError) else failure
        except OctavoError as error:
            return error
        except MemoryError:
            return memory.none_left(point.label)
        except BaseException as error:
            if type(error).__name__ != _PANIC and not isinstance(error, UnknownError):
                raise
            return SimulationError(f"{point.label}: the engine failed, which is a fault of Octavo's: {error}")
        return None


class Limit(Enum):
    """A limit that ends a run without a result."""

    TIME = "time"
    MEMORY = "memory"


def _summed_up(failures: Sequence[OctavoError], total: int) -> OctavoError:
    """One error for all."""
    if len(failures) == 1:
        return failures[0]
    shown = [f"\n  {failure.message}" for failure in failures[:_SHOWN]]
    more = f"\n  and {len(failures) - _SHOWN} more" if len(failures) > _SHOWN else ""
    kind = PolicyError if any(isinstance(failure, PolicyError) for failure in failures) else SimulationError
    error = kind(f"{len(failures)} of {total} runs failed:{''.join(shown)}{more}", **failures[0].facts)
    error.hint = "finished runs are kept; the same command tries the failed ones again"
    return error


def _explained(error: _core.SimulationError, point: Point) -> SimulationError:
    """An error of the engine, in words for the user."""
    label = point.label
    if isinstance(error, _core.OutOfMemory):
        return of_engine(error, OutOfMemoryError, f"{label}: {error.args[0]}")
    if not isinstance(error, _core.PolicyError):
        message = str(error.args[0]).replace(_TIMELINE, f"cannot write the timeline {point.timeline}: ", 1)
        message = message.replace(_LINES, f"cannot write the lines {point.lines}: ", 1)
        return memory.refused(label, error, message)
    message, traceback = error.args
    failure = PolicyError(f"{label}: {message}", traceback)
    failure.__cause__ = error.__cause__
    return failure
