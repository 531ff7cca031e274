"""An allocator's log as a result folder: memory in use over time, and the lifetime of each allocation."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo._core import VERSION
from octavo.errors import ProfileError
from octavo.measurements.activity.mapping import PAGE_BYTES, PICOSECONDS
from octavo.measurements.activity.rows import LAST_ADDRESS, LONGEST
from octavo.measurements.imports.allocations import ALWAYS, lifetimes
from octavo.measurements.imports.profile import kernel_table
from octavo.runs import folder as folders
from octavo.runs.content import PROFILE, RESULT_FORMAT
from octavo.runs.result import RunResult

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octavo.measurements.imports.allocations import Allocation, Change

LIFETIMES = {
    "allocation": pl.String,
    "processor": pl.String,
    "address": pl.UInt64,
    "bytes": pl.UInt64,
    "began_ps": pl.UInt64,
    "ended_ps": pl.UInt64,
}
MEMORY = {"time_ps": pl.UInt64, "processor": pl.String, "bytes": pl.UInt64}


@dataclass(frozen=True)
class Log:
    """One action of an allocator; times are nanoseconds of one clock."""

    source: dict[str, Any]
    changes: Mapping[int, list[Change]]
    """By GPU, in order of time."""
    missing: list[str]
    """Information that such logs do not contain."""
    notes: Counter[str] = field(default_factory=Counter)
    kernels: pl.DataFrame | None = None
    """As those of a `Profile`; none if such logs have none."""
    gpus: Mapping[int, str] = field(default_factory=dict)
    """Names that are known."""
    timed: bool = True
    """Whether times are those of a clock."""
    has_segments: bool = False
    """Whether PyTorch's caching allocator cuts the memory that it logs out of segments of fixed sizes."""

    @property
    def span(self) -> tuple[int, int]:
        """The first time and the last one.

        Raises:
            ProfileError: nothing was allocated, or they are an impossible time apart.

        """
        times = [change.time for changes in self.changes.values() for change in changes]
        if not times:
            raise ProfileError(f"{self.source['file']} has no allocation", code="missing", file=self.source["file"])
        if self.kernels is not None:
            times += [*self.kernels["start"], *self.kernels["end"]]
        begin, end = min(times), max(times)
        if end - begin > LONGEST:
            raise ProfileError(
                f"{self.source['file']}: expected times within 104 days of each other", code="unexpected-value"
            )
        return begin, end

    def lives(self, notes: Counter[str]) -> dict[int, list[Allocation]]:
        """Allocations from their beginnings to their ends, by GPU."""
        return {gpu: lifetimes(changes, notes) for gpu, changes in sorted(self.changes.items())}


def checked(address: int, size: int, time: int) -> bool:
    """Whether a GPU can have such an address and size, and a recording such a time."""
    return 0 <= address < LAST_ADDRESS and 0 < size < LAST_ADDRESS and 0 <= time < ALWAYS - LONGEST


def write(log: Log, folder: Path, *, force: bool) -> RunResult:
    """Write the tables `memory_intervals` and `lifetimes`, that of kernels if there are any, and the summary.

    Raises:
        ProfileError: nothing was allocated, or the log spans an impossible time.
        OutputError: the folder cannot be written.

    """
    origin, end = log.span
    notes = Counter(log.notes)
    lives = log.lives(notes)
    if any(one.begin < origin == one.end for found in lives.values() for one in found):
        origin -= 1  # What the first row frees was there before it.
    held = {gpu: _held(found, origin, end) for gpu, found in lives.items()}
    rows = [_row(gpu, one, origin, end) for gpu, found in lives.items() for one in found]
    memory = [(time, f"gpu{gpu}", size) for gpu, steps in held.items() for time, size in steps]
    tables = {
        "memory_intervals": pl.DataFrame(sorted(memory), schema=MEMORY, orient="row"),
        "lifetimes": pl.DataFrame(rows, schema=LIFETIMES, orient="row"),
    }
    if log.kernels is not None:
        tables["kernels"] = kernel_table(log.kernels, origin)
    about = {
        "octavo": VERSION,
        "format": RESULT_FORMAT,
        "source": log.source,
        "time_ps": max(end - origin, 1) * PICOSECONDS,
        "launches": 0 if log.kernels is None else log.kernels.height,
        "footprint_bytes": sum(max(size for _, size in steps) for steps in held.values()),
        "capacity_bytes": None,
        "page_bytes": PAGE_BYTES,
        "gpus": [{"gpu": gpu, "name": log.gpus.get(gpu)} for gpu in lives],
        "allocations": len(rows),
        "never_freed_bytes": sum(one.bytes for found in lives.values() for one in found if one.end >= ALWAYS),
        "origin_ns": origin,
        "missing": log.missing,
        "notes": dict(sorted((+notes).items())),
    }
    with folders.locked(folder) as target:
        folders.check_replaceable(target, force=force)
        folders.save_tables(target, PROFILE, tables, about)
    return RunResult(folder)


def _row(gpu: int, one: Allocation, origin: int, end: int) -> tuple[Any, ...]:
    began = max(one.begin - origin, 0) * PICOSECONDS
    ended = None if one.end > end else (one.end - origin) * PICOSECONDS
    return one.name, f"gpu{gpu}", one.address, one.bytes, began, ended


def _held(found: list[Allocation], origin: int, end: int) -> list[tuple[int, int]]:
    """Allocated bytes from each time on; allocations from before the recording count from the beginning."""
    changes: Counter[int] = Counter()
    for one in found:
        changes[max(one.begin, origin)] += one.bytes
        if one.end <= end:
            changes[one.end] -= one.bytes
    steps, bytes_ = [], 0
    for time, change in sorted(changes.items()):
        bytes_ += change
        steps.append(((time - origin) * PICOSECONDS, bytes_))
    return steps
