"""Every placement of every buffer, simulated: the advice is measured against them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.advice import verification
from octavo.errors import AdviceError
from octavo.runs.execute import Progress, finished
from octavo.sweeps.crew import Crew, Job, LostCrewError, stopped
from octavo.sweeps.plan import Point as Task
from octavo.sweeps.run import crew

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from octavo.advice.facts import Placement
    from octavo.advice.proposal import Plan
    from octavo.runs.execute import Point
    from octavo.scenarios.scenario import Scenario

MOST_RUNS = 4096
"""The most placements of all buffers that are run; our choice: six buffers with four placements each."""
_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Exhausted:
    """Every placement that keeps the budget: the fastest first, those that do not fit into memory last."""

    points: pl.DataFrame
    """One row for each placement.

    Its columns are `placements` (a letter for each buffer: device, managed, prefetched (`f`) or pinned), `seconds`,
    `regret` (over the fastest: 0.1 is a tenth slower), `predicted` (seconds that the model takes it to gain over the
    present one), `device_bytes`, `is_advice`, `is_present`, and one for each buffer. Placements that do not fit into
    memory have no `seconds` and no `regret`."""

    @property
    def best(self) -> dict[str, Any]:
        """The fastest."""
        return self.points.row(0, named=True)

    @property
    def regret(self) -> float | None:
        """How much slower the advice is than the fastest, 0.1 for a tenth; none if the advice does not fit."""
        found: float | None = self.points.filter("is_advice")["regret"][0]
        return found

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"regret": self.regret, "best": self.best, "points": self.points.to_dicts()}


def choices(plan: Plan, placements: Sequence[Placement]) -> list[dict[str, Placement]]:
    """All placements of all buffers that keep the budget; the advice and the present one are among them.

    Raises:
        AdviceError: there are too many to run.

    """
    sizes = {each.buffer.name: each.buffer.size for each in plan.buffers}
    kinds = [_of(placements, present, plan.placements[name]) for name, present in plan.present.items()]
    count = prod(map(len, kinds))
    if count > MOST_RUNS:
        raise AdviceError(
            f"--exhaustive: {len(sizes)} buffers have {count:,} placements, expected at most {MOST_RUNS:,}",
            "leave some out (--placements device,managed), or check more of the model's candidates (--runs 16)",
            code="unexpected-value",
            key="exhaustive",
            expected=MOST_RUNS,
        )
    every = (dict(zip(sizes, combination, strict=True)) for combination in product(*kinds))
    return [choice for choice in every if _keeps(choice, sizes, plan)]


def _of(placements: Sequence[Placement], *others: Placement) -> list[Placement]:
    return [*placements, *(each for each in dict.fromkeys(others) if each not in placements)]


def _keeps(choice: Mapping[str, Placement], sizes: Mapping[str, int], plan: Plan) -> bool:
    """The present placement stays even if it exceeds the budget: the program has it already."""
    return verification.device_bytes(choice, sizes) <= plan.budget or choice == plan.present


def seconds(
    scenario: Scenario,
    plan: Plan,
    every: Sequence[Mapping[str, Placement]],
    root: Path,
    *,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
    on: str | None = None,
) -> dict[str, float | None]:
    """Simulated seconds of every placement, by label; none for those that do not fit into memory.

    Placements that are finished in `root` do not run again, unless `force` replaces them.

    Args:
        scenario: the program.
        plan: what the model proposes.
        every: the placements.
        root: folder of the runs.
        workers: runs at a time.
        force: replace finished runs.
        watch: called with the progress of the runs.
        on: what sweeps can run on: `local`, `ray`, or the address of a cluster; threads here if left out.

    Raises:
        AdviceError: none of them fits into memory.
        OctavoError: one cannot be simulated.

    """
    exchanged = plan.exchanged
    if on is not None:  # What fails there is run here again, and says why.
        points = verification.points(scenario, every, root, exchanged)
        elsewhere(list(points.values()), on, workers=workers, force=force, watch=watch)
        force = False
    times = verification.seconds(scenario, every, root, exchanged=exchanged, workers=workers, force=force, watch=watch)
    if all(time is None for time in times):
        raise AdviceError(
            "--exhaustive: no placement fits into memory", "more --memory, or other --placements", key="exhaustive"
        )
    return {verification.label(choice): time for choice, time in zip(every, times, strict=True)}


def table(plan: Plan, every: Sequence[Mapping[str, Placement]], simulated: Mapping[str, float | None]) -> Exhausted:
    """Every placement, from what was simulated, by label; the plan is the advice."""
    sizes = {each.buffer.name: each.buffer.size for each in plan.buffers}
    times = [simulated[verification.label(choice)] for choice in every]
    best = min(time for time in times if time is not None)
    rows = [
        {
            "placements": verification.label(choice),
            "seconds": time,
            "regret": None if time is None else time / best - 1,
            "predicted": verification.predicted(plan, choice),
            "device_bytes": verification.device_bytes(choice, sizes),
            "is_advice": choice == plan.placements,
            "is_present": choice == plan.present,
            **choice,
        }
        for choice, time in zip(every, times, strict=True)
    ]
    points = pl.DataFrame(rows, schema_overrides={"seconds": pl.Float64, "regret": pl.Float64, "predicted": pl.Float64})
    return Exhausted(points.sort("seconds", "placements", nulls_last=True))


def elsewhere(
    points: Sequence[Point],
    on: str,
    *,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> None:
    """Run every point that is not finished yet. Placements that fail leave nothing behind.

    Args:
        points: the runs and their folders.
        on: `local`, `ray`, or the address of a cluster, as of sweeps.
        workers: runs at a time; as many as there are cores if left out.
        force: replace finished results.
        watch: called with the progress of the runs.

    Raises:
        OutputError: a folder cannot be written or holds something else.
        ClusterError: the cluster cannot be used.
        InterruptedRun: Ctrl-C, or the cluster is lost; what is finished is kept.

    """
    results = finished(points, force=force)
    progress = Progress(len(points), [points[number].label for number in results], len(results))
    missing = [
        Job(Task(number, {}, point.label, point.scenario), point.folder)
        for number, point in enumerate(points)
        if number not in results
    ]
    if not missing:
        return
    hired = crew(on, workers)
    try:
        _carry_out(hired, missing, progress, watch or (lambda _: None))
    except (KeyboardInterrupt, LostCrewError) as cause:
        kept = len(progress.done) - len(progress.failed)
        raise stopped(cause, kept, progress.total, "runs") from None
    finally:
        hired.close()


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
