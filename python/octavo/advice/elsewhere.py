"""Runs of a search on what runs the points of sweeps: processes on this machine, or a Ray cluster."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from octavo.errors import SimulationError
from octavo.runs.execute import Progress, finished
from octavo.sweeps.crew import Crew, Job, LostCrewError, stopped
from octavo.sweeps.plan import Point as Task
from octavo.sweeps.run import crew

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from octavo.runs.execute import Point
    from octavo.runs.result import RunResult

_POLL_SECONDS = 0.1


def execute(
    points: Sequence[Point],
    on: str,
    *,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
    time_limit: int | None = None,
) -> list[RunResult | None]:
    """Run every point that is not finished yet; returns the results in the order of the points.

    Args:
        points: the runs and their folders.
        on: `local`, `ray`, or the address of a cluster, as of sweeps.
        workers: runs at a time; as many as there are cores if left out.
        force: replace finished results.
        watch: called with the progress of the runs.
        time_limit: picoseconds of simulated time; runs that are not over by then may have no result.

    Raises:
        OutputError: a folder cannot be written or holds something else.
        SimulationError: one cannot be simulated; the others run all the same, and are kept.
        ClusterError: the cluster cannot be used.
        InterruptedRun: Ctrl-C, or the cluster is lost; what is finished is kept.

    """
    results = finished(points, force=force)
    progress = Progress(len(points), [points[number].label for number in results], len(results))
    missing = [
        Job(Task(number, {}, point.label, point.scenario), point.folder, time_limit)
        for number, point in enumerate(points)
        if number not in results
    ]
    if missing:
        hired = crew(on, workers)
        try:
            _carry_out(hired, missing, progress, watch or (lambda _: None))
        except (KeyboardInterrupt, LostCrewError) as cause:
            kept = len(progress.done) - len(progress.failed)
            raise stopped(cause, kept, progress.total, "runs") from None
        finally:
            hired.close()
    if progress.failed:
        raise SimulationError(
            f"{len(progress.failed)} of {len(points)} runs failed: {progress.failed[0]}",
            "finished runs are kept; the same command tries the failed ones again",
        )
    left = [number for number in range(len(points)) if number not in results]
    ended = finished([points[number] for number in left], force=False)
    results |= {left[index]: result for index, result in ended.items()}
    return [results.get(number) for number in range(len(points))]


def _carry_out(hired: Crew, jobs: Sequence[Job], progress: Progress, watch: Callable[[Progress], None]) -> None:
    hired.expect(len(jobs))
    waiting, underway = deque(jobs), 0
    while waiting or underway:
        while waiting and underway < hired.slots:
            hired.start(waiting.popleft())
            underway += 1
        for ended in hired.poll(_POLL_SECONDS):
            underway -= 1
            label = ended.job.point.label
            progress.done.append(label)
            if ended.error is not None:
                progress.failed.append(f"{label}: {ended.error}")
        progress.running = dict(hired.shares())
        watch(progress)
