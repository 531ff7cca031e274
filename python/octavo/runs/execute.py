"""Runs many scenarios side by side, keeping what is finished.

The engine releases Python's global lock, so threads use every core; results do not depend on how many there are.
"""

from __future__ import annotations

import ctypes
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import octavo._core as _core
from octavo import given
from octavo.errors import InterruptedRun, OctavoError, OutOfMemoryError, PolicyError, SimulationError
from octavo.files import links, replaced
from octavo.runs import folder, interrupts, memory
from octavo.runs.result import RunResult
from octavo.trace.folder import check_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from octavo.scenarios.scenario import Scenario

_POLL_SECONDS = 0.1
_GRACE_SECONDS = 1.0
"""Wall time in which every run stops, unless it is in the middle of a policy's code."""
_PANIC = "PanicException"
"""The engine raises it for a defect of its own; the class cannot be imported by name."""
_TIMELINE = "cannot write the timeline: "
"""How the engine begins what it says of a timeline, whose temporary name it knows alone."""
_SHOWN = 10
"""Failures that a message tells one by one."""
_RUNNING: set[int] = set()
"""Threads that are in the engine."""


@dataclass(frozen=True)
class Point:
    """One run of an experiment and where its result goes."""

    label: str
    scenario: Scenario
    folder: Path
    timeline: Path | None = None
    """Where its Perfetto trace goes, if one is wanted: then it runs even if it is finished."""


@dataclass(frozen=True)
class _Limits:
    """What a run may take."""

    memory: int | None
    """Bytes."""
    time: int | None
    """Picoseconds of simulated time."""
    may_fill: bool = False
    """Whether a run that is out of memory has no result, as one that is over time; else it is a failure."""


@dataclass
class Progress:
    """How far an experiment is."""

    total: int
    """Points to run in all; those found finished count as done."""
    done: list[str] = field(default_factory=list)
    """Labels of the points that are finished, in the order they were."""
    kept: int = 0
    """How many of these were finished before."""
    running: dict[str, float] = field(default_factory=dict)
    """Share that is done of each point that is running."""
    failed: list[str] = field(default_factory=list)
    """Labels of the points, among those done, that have no result, each with the reason."""


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
    """Run every point that is not finished yet; those that cannot get to their end have no result.

    Args:
        points: the runs and their folders.
        time_limit: picoseconds of simulated time; no limit if left out. A run that takes no longer has its result; one
            that is not over by then leaves nothing, or its result if it ends soon after. Which of both does not depend
            on the machine or on `workers`.
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
    """Results by the index of their point; those that are over time, or may be out of memory and are, have none."""
    results = finished(points, force=force)
    progress = Progress(len(points), [points[index].label for index in results], len(results))
    missing = [index for index in range(len(points)) if index not in results]
    workers = given.workers(workers) or default_workers()
    limits = _Limits(memory.share(min(workers, len(missing))), *bounds)
    return results | _run_all(points, missing, progress, (workers, limits), watch or (lambda _: None), force=force)


def finished(points: Sequence[Point], *, force: bool) -> dict[int, RunResult]:
    """Results that are there already, by the index of their point; one whose timeline is wanted has to run again.

    Raises:
        OutputError: a folder or a timeline cannot be written, or a folder holds something else.

    """
    results: dict[int, RunResult] = {}
    for index, point in enumerate(points):
        folder.check_writable(links.followed(point.folder).parent)
        folder.mend(point.folder)
        found = folder.finished(point.folder, point.scenario, force=force)
        if point.timeline is not None:
            folder.check_file(point.timeline)
            replaced.check_made(point.timeline, replaced.TIMELINE)
        elif found is not None:
            results[index] = found
    return results


def _run_all(
    points: Sequence[Point],
    missing: Sequence[int],
    progress: Progress,
    means: tuple[int, _Limits],
    watch: Callable[[Progress], None],
    *,
    force: bool,
) -> dict[int, RunResult]:
    workers, limits = means
    stop = threading.Event()
    results: dict[int, RunResult] = {}
    failures: list[OctavoError] = []
    with interrupts.noted() as struck, ThreadPoolExecutor(max_workers=workers) as pool:
        one = partial(_run_one, force=force, limits=limits)
        pending = {pool.submit(one, points[index], stop, progress): index for index in missing}
        try:
            while pending and not struck.is_set():
                finished, _ = wait(pending, timeout=_POLL_SECONDS, return_when="FIRST_COMPLETED")
                for future in finished:
                    index = pending.pop(future)
                    found = _outcome(future, points[index], limits)
                    progress.done.append(points[index].label)
                    if isinstance(found, OctavoError):
                        failures.append(found)
                        progress.failed.append(f"{points[index].label}: {found.message}")
                    elif found is not None:
                        results[index] = found
                watch(progress)
        except KeyboardInterrupt:  # Raised by a handler of the user's own.
            struck.set()
        except BaseException:
            _settle(pool, stop, pending)
            raise
        if struck.is_set():
            kept = _settle(pool, stop, pending) + len(progress.done) - len(failures)
            raise InterruptedRun(
                f"stopped: {kept} of {progress.total} runs are finished and kept", "the same command resumes"
            )
    if failures:
        raise _summed_up(failures, len(points))
    return results


def _summed_up(failures: Sequence[OctavoError], total: int) -> OctavoError:
    """One error for all."""
    if len(failures) == 1:
        return failures[0]
    shown = [f"\n  {failure.message}" for failure in failures[:_SHOWN]]
    more = f"\n  and {len(failures) - _SHOWN} more" if len(failures) > _SHOWN else ""
    return SimulationError(
        f"{len(failures)} of {total} runs failed:{''.join(shown)}{more}",
        "finished runs are kept; the same command tries the failed ones again",
    )


def _settle(pool: ThreadPoolExecutor, stop: threading.Event, pending: dict[Future[RunResult], int]) -> int:
    """Stop what is running and wait for it; returns how many were finished meanwhile."""
    stop.set()
    pool.shutdown(wait=False, cancel_futures=True)
    _, busy = wait([future for future in pending if not future.cancelled()], timeout=_GRACE_SECONDS)
    while busy:
        _interrupt_policies()
        _, busy = wait(busy, timeout=_POLL_SECONDS)
    pool.shutdown()
    return sum(not future.cancelled() and future.exception() is None for future in pending)


def _interrupt_policies() -> None:
    """Raise an exception in the runs that have not stopped: they are in the middle of a policy's code."""
    for thread in list(_RUNNING):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))


def _outcome(future: Future[RunResult], point: Point, limits: _Limits) -> RunResult | OctavoError | None:
    """The result of a point, or what went wrong; nothing if it reached a limit."""
    try:
        return future.result()
    except _core.OverTime:
        return None
    except _core.SimulationError as error:
        failure = _failure(error, point)
        return None if limits.may_fill and isinstance(failure, OutOfMemoryError) else failure
    except OctavoError as error:
        return error
    except MemoryError:
        return memory.none_left(point.label)
    except BaseException as error:
        if type(error).__name__ != _PANIC:
            raise
        return SimulationError(f"{point.label}: the engine failed, which is a fault of Octavo's: {error}")


def _failure(error: _core.SimulationError, point: Point) -> SimulationError:
    """What went wrong in the engine, in words for the user."""
    label = point.label
    if isinstance(error, _core.OutOfMemory):
        return OutOfMemoryError(f"{label}: {error.args[0]}")
    if not isinstance(error, _core.PolicyError):
        message = str(error.args[0]).replace(_TIMELINE, f"cannot write the timeline {point.timeline}: ", 1)
        return memory.refused(label, message)
    message, traceback = error.args
    failure = PolicyError(f"{label}: {message}", traceback)
    failure.__cause__ = error.__cause__
    return failure


def _run_one(point: Point, stop: threading.Event, progress: Progress, *, force: bool, limits: _Limits) -> RunResult:
    with folder.locked(point.folder) as target:
        found = folder.finished(target, point.scenario, force=force)
        if found is None or point.timeline is not None:  # No other process wrote it since we looked.
            folder.save(target, point.scenario, *_simulated(point, stop, progress, limits))
    return RunResult(point.folder)


def _simulated(point: Point, stop: threading.Event, progress: Progress, limits: _Limits) -> tuple[str, Any]:
    def report(share: float, _time_ps: int) -> bool:
        progress.running[point.label] = share
        return not stop.is_set()

    check_all(point.scenario.traces)
    progress.running[point.label] = 0.0
    _RUNNING.add(threading.get_ident())
    try:
        with folder.replaced_file(point.timeline) as timeline:
            return _core.run(point.scenario.toml, report, timeline, limits.memory, limits.time)
    except _core.Interrupted:
        if stop.is_set():
            raise
        raise PolicyError(f"{point.label}: a policy raised KeyboardInterrupt, although nobody pressed Ctrl-C") from None
    finally:
        _RUNNING.discard(threading.get_ident())
        del progress.running[point.label]
