"""Estimates of runs, from short trials of some of them, each in a process of its own that leaves nothing behind.

Run as a program it is that process: a scenario comes in as JSON, what was found goes out as JSON.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import octavo._core as _core
from octavo.errors import ScenarioError, SimulationError
from octavo.files import parquet
from octavo.runs import folder, memory
from octavo.runs.tables import frame
from octavo.scenarios.scenario import Recipe

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from octavo.runs.execute import Point
    from octavo.scenarios.scenario import Scenario

TRIAL_SECONDS = 3.0
"""Wall time after which a trial is cut off; chosen."""
MOST_TRIALS = 8
"""Runs that are tried, evenly spread over all; chosen."""
_PATIENCE = 20.0
"""Trials that have not even begun after this many times their limit are given up; chosen."""


@dataclass(frozen=True)
class Estimate:
    """What runs would take; numbers of several runs follow from the mean of those that were tried."""

    runs: int
    """Runs in all."""
    finished: int
    """Runs whose results are there already."""
    tried: int
    ended: int
    """Trials that got to the end of their runs; the others were cut off."""
    seconds: float | None = None
    """Wall time of all missing runs, with so many workers; nothing if a trial was cut off before anything happened."""
    memory_bytes: tuple[int, int] | None = None
    """Of the run that takes most: what its trial took, and what it would take if it grew like that to the end."""
    needed_bytes: int | None = None
    """Of the run that takes most, from the sizes of its tables before it begins: what `--memory-limit` is held to."""
    disk_bytes: int | None = None
    """Results of all missing runs; nothing where trials were cut off and no smaller ones could be made."""
    disk_free_bytes: int = 0
    workers: int = 1


@dataclass(frozen=True)
class _Tried:
    share: float
    seconds: float
    base_bytes: int
    peak_bytes: int
    disk_bytes: int | None
    needed_bytes: int

    def seconds_in_all(self) -> float | None:
        return self.seconds / self.share if self.share > 0 else None

    def memory(self) -> tuple[int, int]:
        grown = (self.peak_bytes - self.base_bytes) / self.share if self.share > 0 else 0.0
        return self.peak_bytes, max(self.peak_bytes, self.base_bytes + int(grown))


def estimate(points: Sequence[Point], *, workers: int, force: bool, limit: float = TRIAL_SECONDS) -> Estimate:
    """Try some of the runs that are not finished yet; nothing is written.

    Raises:
        OutputError: a folder holds something else.
        SimulationError: a run cannot be simulated.

    """
    missing = [point for point in points if folder.finished(point.folder, point.scenario, force=force) is None]
    free = shutil.disk_usage(_existing(points[0].folder)).free
    if not missing:
        return Estimate(len(points), len(points), 0, 0, 0.0, None, None, 0, free, workers)
    step = -(-len(missing) // MOST_TRIALS)
    chosen = missing[::step]
    workers = min(workers, len(missing))
    most = memory.share(workers)
    tried = [_tried(point, limit, most) for point in chosen]
    seconds = _mean([one.seconds_in_all() for one in tried])
    disk = _mean([one.disk_bytes for one in tried])
    return Estimate(
        len(points),
        len(points) - len(missing),
        len(tried),
        sum(one.share == 1 for one in tried),
        None if seconds is None else seconds * len(missing) / workers,
        max(one.memory() for one in tried),
        max(one.needed_bytes for one in tried),
        None if disk is None else int(disk * len(missing)),
        free,
        workers,
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def _existing(path: Path) -> Path:
    """The nearest folder above that is there."""
    path = path.absolute()
    return path if path.is_dir() else _existing(path.parent)


def _tried(point: Point, limit: float, most: int | None) -> _Tried:
    found = _in_a_process(point.label, point.scenario, limit, most)
    if found.disk_bytes is not None or found.share == 0:
        return found
    scale = point.scenario.values.get("workload", {}).get("scale")
    try:  # A smaller run, which gets to its end, says how much results of it take.
        smaller = Recipe(point.scenario.toml, point.label, (f"workload.scale={scale * found.share / 2}",)).resolve()
        part = _in_a_process(point.label, smaller, limit, most)
    except (ScenarioError, SimulationError, TypeError):
        return found
    disk = None if part.disk_bytes is None else int(part.disk_bytes * 2 / found.share)
    return _Tried(found.share, found.seconds, found.base_bytes, found.peak_bytes, disk, found.needed_bytes)


def _in_a_process(label: str, scenario: Scenario, limit: float, most: int | None) -> _Tried:
    order = json.dumps({"scenario": scenario.toml, "limit": limit, "memory_limit": most})
    command = [sys.executable, "-m", "octavo.runs.trial"]
    try:
        done = subprocess.run(  # noqa: S603 - ourselves
            command, input=order, capture_output=True, text=True, check=False, timeout=limit * _PATIENCE
        )
    except subprocess.TimeoutExpired:
        raise SimulationError(f"{label}: nothing happened in {limit * _PATIENCE:.0f} s of a trial") from None
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise SimulationError(f"{label}: its trial ended with status {done.returncode}: {said}")
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise memory.refused(label, answer["error"])
    return _Tried(**answer)


def main() -> None:
    """Try one run."""
    order = json.load(sys.stdin)
    sys.stdout.write(json.dumps(_trial(order["scenario"], order["limit"], order["memory_limit"])))


def _trial(toml: str, limit: float, most: int | None) -> dict[str, Any]:
    share, base, began = 0.0, memory.peak(), time.monotonic()

    def report(reached: float, _time_ps: int) -> bool:
        nonlocal share
        share = reached
        return time.monotonic() - began < limit

    disk, needed = None, 0
    try:
        needed = sum(_core.memory_needed(toml))
        summary, tables = _core.run(toml, report, None, most)
        share = 1.0
    except _core.Interrupted:
        pass
    except (_core.SimulationError, _core.PolicyError) as error:
        return {"error": error.args[0]}
    seconds, peak = time.monotonic() - began, memory.peak()
    if share == 1.0:
        disk = len(toml) + len(summary) + sum(len(parquet.encoded(frame(columns))) for _, columns in tables)
    return {
        "share": share,
        "seconds": seconds,
        "base_bytes": base,
        "peak_bytes": peak,
        "disk_bytes": disk,
        "needed_bytes": needed,
    }


if __name__ == "__main__":
    main()
