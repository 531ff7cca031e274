"""Estimates of runs, from short trials of some of them, each in a separate process that leaves nothing behind."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import octavo._core as _core
from octavo.errors import ScenarioError, SimulationError
from octavo.isolation import orders
from octavo.isolation.process import Process, VanishedError, Wish
from octavo.runs import folder, memory
from octavo.scenarios.scenario import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from octavo.runs.execute import Point
    from octavo.scenarios.scenario import Scenario

TRIAL_SECONDS = 3.0
"""Processor time after which a trial is cut off, so that a busy machine makes no difference; our choice."""
MOST_TRIALS = 8
"""The most runs that are tried, evenly spread over all; our choice."""
_STANDSTILL = 3.0
"""How many times its limit a trial continues if its run does not advance: it may report that it makes no progress; our
choice."""
_PATIENCE = 10.0
"""Trials are given up after this many times their limit of wall time; our choice."""
_FEWER = 1 / 16
"""The size of a smaller run if the whole one shows nothing; our choice."""
_MOST_SMALLER = 4
"""The most smaller runs that are tried for one run; our choice."""


@dataclass(frozen=True)
class Estimate:
    """What runs would need; for several runs, it follows from the mean of those that were tried."""

    runs: int
    """Runs in all."""
    finished: int
    """Runs that have a result already."""
    tried: int
    ended: int
    """Trials that reached the end of their runs; the others were cut off."""
    seconds: float | None = None
    """Wall time of all missing runs, with this many workers; None if a trial was cut off before anything happened."""
    memory_bytes: tuple[int, int] | None = None
    """For the largest run: the memory of its trial, and its memory if it grew like that to the end."""
    needed_bytes: int | None = None
    """For the largest run and the process around it, from the sizes of its tables before it begins.

    `--memory-limit` is checked against it before a run begins.
    """
    disk_bytes: int | None = None
    """Bytes of the results of all missing runs; None if trials were cut off and no smaller runs could be made."""
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
    table_bytes: int
    """The part for the tables of the node, which are the same for smaller runs."""

    def seconds_in_all(self) -> float | None:
        return self.seconds / self.share if self.share > 0 else None

    def memory(self) -> tuple[int, int]:
        """At least the peak; at most the value if it grew to the end, which the estimate limits."""
        grown = (self.peak_bytes - self.base_bytes) / self.share if self.share > 0 else self.needed_bytes
        return self.peak_bytes, max(self.peak_bytes, self.base_bytes + int(min(grown, self.needed_bytes)))

    def grown(self, scale: float) -> _Tried:
        """What the whole run would need, given that this one is only a fraction of it."""
        disk = None if self.disk_bytes is None else int(self.disk_bytes / scale)
        needed = self.table_bytes + int((self.needed_bytes - self.table_bytes) / scale)
        return replace(self, share=self.share * scale, disk_bytes=disk, needed_bytes=needed)

    def completed(self, other: _Tried) -> _Tried:
        """The same, with results that only a smaller run could give."""
        whole = other.seconds_in_all()
        if self.share or whole is None:
            return replace(self, disk_bytes=other.disk_bytes)
        return replace(self, share=self.seconds / max(whole, 2 * self.seconds), disk_bytes=other.disk_bytes)


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
        max(one.needed_bytes for one in tried) + _core.memory_around(),
        None if disk is None else int(disk * len(missing)),
        free,
        workers,
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def _existing(path: Path) -> Path:
    """The nearest existing folder above it."""
    path = path.absolute()
    return path if path.is_dir() else _existing(path.parent)


def _tried(point: Point, limit: float, most: int | None) -> _Tried:
    found = _in_a_process(point.label, point.scenario, limit, most)
    if found is not None and found.disk_bytes is not None:
        return found
    part, scale = _smaller(point, 0.0 if found is None else found.share, limit, most)
    if found is None and part is None:
        raise SimulationError(
            f"{point.label}: nothing happened in {limit * _PATIENCE:.0f} s of a trial", code="endless"
        )
    if part is None:
        return found  # type: ignore[return-value]  # one of the two is there
    return part.grown(scale) if found is None else found.completed(part.grown(scale))


def _smaller(point: Point, share: float, limit: float, most: int | None) -> tuple[_Tried | None, float]:
    """The largest smaller run that finished, or got furthest, and its size relative to the whole one."""
    scale, best = 1.0, cast("tuple[_Tried | None, float]", (None, 1.0))
    for _ in range(_MOST_SMALLER):
        scale *= share / 2 if share else _FEWER
        part = _at_scale(point, scale, limit, most)
        share = 0.0 if part is None else part.share
        best = best if part is None else (part, scale)
        if share == 1:
            break
    return best


def _at_scale(point: Point, scale: float, limit: float, most: int | None) -> _Tried | None:
    whole = point.scenario.values.get("workload", {}).get("scale")
    if whole is None:
        return None
    try:
        smaller = Recipe(point.scenario.toml, point.label, (f"workload.scale={whole * scale}",)).resolve()
        return _in_a_process(point.label, smaller, limit, most)
    except (ScenarioError, SimulationError):
        return None


def _in_a_process(label: str, scenario: Scenario, limit: float, most: int | None) -> _Tried | None:
    """The trial of a run; None if it did not even begin, for instance while a large graph is built."""
    order = {"scenario": scenario.toml, "limit": limit, "memory_limit": most}
    until = time.monotonic() + limit * _PATIENCE

    def wish() -> Wish:
        return Wish.GO_ON if time.monotonic() < until else Wish.KILL

    try:
        with Process("octavo.runs.trial") as process:
            return _Tried(**process.ask(order, wish=wish))
    except VanishedError as error:
        if wish() == Wish.KILL:
            return None
        raise SimulationError(f"{label}: its trial failed: {error.args[0]}") from None
    except _core.SimulationError as error:
        raise memory.refused(label, error) from None


def main() -> None:
    """Try runs."""
    orders.serve(_trial)


def _trial(order: dict[str, Any], _tell: Callable[..., None], stopped: orders.Stopped) -> dict[str, Any]:
    toml, limit, most = order["scenario"], order["limit"], order["memory_limit"]
    share, base, began = 0.0, memory.peak(), time.monotonic()
    first = moved = time.process_time()

    def report(reached: float, _time_ps: int) -> bool:
        nonlocal share, moved
        now = time.process_time()
        if reached > share:
            share, moved = reached, now
        patience = limit * _STANDSTILL if now - moved > limit / 2 else limit
        waits = time.monotonic() - began > limit * _PATIENCE * 3 / 4
        return now - first < patience and not waits and not stopped.wanted

    disk, needed = None, (0, 0, 0, 0)
    try:
        needed = _core.memory_needed(toml)
        summary, tables = _core.run(toml, report, None, most)
        share = 1.0
    except _core.Interrupted:
        pass
    seconds, peak = time.monotonic() - began, memory.peak()
    if share == 1.0:
        disk = len(toml) + len(summary) + sum(len(_core.table_bytes(columns)) for _, columns in tables)
    return {
        "share": share,
        "seconds": seconds,
        "base_bytes": base,
        "peak_bytes": peak,
        "disk_bytes": disk,
        "needed_bytes": sum(needed),
        "table_bytes": needed[0],
    }
