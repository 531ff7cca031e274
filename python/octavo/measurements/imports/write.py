"""A profile of a real program as a result folder: the tables of a simulated run, as far as the profile fills them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo._core import VERSION
from octavo.arrays import np
from octavo.files import disk
from octavo.measurements.activity.mapping import PAGE_BYTES, events
from octavo.measurements.activity.rows import COPIES, LONGEST, Rows, What, in_order
from octavo.measurements.imports import counts
from octavo.measurements.imports.allocations import Allocation, Change, Parts, attribute, lifetimes, unknown_ranges
from octavo.measurements.imports.profile import kernel_table
from octavo.measurements.imports.summary import summary
from octavo.runs import folder as folders
from octavo.runs.content import PROFILE, RESULT_FORMAT
from octavo.runs.result import RunResult

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.measurements.imports.profile import Profile


def check_folder(folder: Path, *, force: bool) -> None:
    """Make sure that a profile can be written to `folder`, before anything is read.

    Raises:
        OutputError: it cannot be written to, or holds something; `force` replaces results of Octavo, nothing else.

    """
    disk.check_writable(folder.parent)
    folders.mend(folder)
    folders.check_replaceable(folder, force=force)


def write(profile: Profile, folder: Path, *, force: bool) -> RunResult:
    """Write the tables; `folder` appears, or replaces an older one, once everything is written.

    Raises:
        OutputError: it cannot be written, or another process wrote it since it was checked.

    """
    tables, about = tabulated(profile)
    with folders.locked(folder) as target:
        folders.check_replaceable(target, force=force)
        folders.save_tables(target, PROFILE, tables, {"octavo": VERSION, "format": RESULT_FORMAT, **about})
    return RunResult(folder)


def tabulated(profile: Profile) -> tuple[dict[str, pl.DataFrame], dict[str, Any]]:
    """The tables by name, and the summary."""
    notes = Counter(profile.notes)
    rows = in_order(profile.rows, notes)
    kernels, changes = _in_time(profile, rows, notes)
    origin, end = _span(rows, kernels, changes)
    allocations, parts = _attributed(rows, lifetimes(changes, notes))
    table = events(rows, origin)
    first = np.full(len(rows), len(allocations), np.int32)
    first[parts.row[::-1]] = parts.allocation[::-1]
    names = pl.Series([*(one.name for one in allocations), None], dtype=pl.String)
    about = summary(profile, table, allocations, first, max(end - origin, 1))
    tables = {
        **counts.tables(allocations, parts, table, origin),
        "kernels": kernel_table(kernels, origin),
        "events": table.with_columns(names.gather(first).alias("allocation")),
    }
    return tables, {**about, "origin_ns": origin, "notes": dict(sorted((+notes).items()))}


def _in_time(profile: Profile, rows: Rows, notes: Counter[str]) -> tuple[pl.DataFrame, list[Change]]:
    """Kernels and changes of memory from the same recording as the rows."""
    if not len(rows):
        return profile.kernels, profile.changes
    middle = int(rows["start"][len(rows) // 2])
    kernels = profile.kernels.filter(pl.col("start") > middle - LONGEST, pl.col("end") < middle + LONGEST)
    changes = [change for change in profile.changes if abs(change.time - middle) < LONGEST]
    left_out = profile.kernels.height - kernels.height + len(profile.changes) - len(changes)
    notes["kernels and changes of memory at impossible times, left out"] += left_out
    return kernels, changes


def _span(rows: Rows, kernels: pl.DataFrame, changes: list[Change]) -> tuple[int, int]:
    """The first and the last nanosecond of any event."""
    times = [
        rows["start"],
        rows["end"][rows["end"] >= 0],
        kernels["start"].to_numpy(),
        kernels["end"].to_numpy(),
        np.array([change.time for change in changes], np.int64),
    ]
    found = [(int(some.min()), int(some.max())) for some in times if len(some)]
    return min((first for first, _ in found), default=0), max((last for _, last in found), default=0)


def _attributed(rows: Rows, known: list[Allocation]) -> tuple[list[Allocation], Parts]:
    """Allocations, with address ranges for rows outside all of them, and which parts of them rows touch."""
    time = rows["start"]
    whole_pages = ~np.isin(rows["what"], (*COPIES, What.THRASHING, What.REMOTE_MAP))
    address = rows["address"].astype(np.int64)
    address = np.where(whole_pages, address // PAGE_BYTES * PAGE_BYTES, address)
    size = np.where(whole_pages, PAGE_BYTES, np.maximum(rows["value"].astype(np.int64), 1))
    parts = attribute(known, time, address, size)
    inside = np.zeros(len(rows), np.bool_)
    inside[parts.row] = True
    outside = np.flatnonzero(~inside)
    ranges = unknown_ranges(address[outside], size[outside])
    more = attribute(ranges, time[outside], address[outside], size[outside])
    return [*known, *ranges], Parts(
        np.concatenate([parts.row, outside[more.row].astype(np.int32)]),
        np.concatenate([parts.allocation, more.allocation + np.int32(len(known))]),
        np.concatenate([parts.first, more.first]),
        np.concatenate([parts.pages, more.pages]),
        np.concatenate([parts.bytes, more.bytes]),
    )
