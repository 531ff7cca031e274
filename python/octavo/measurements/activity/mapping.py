"""Recorded activity as rows of an `events` table, in the format of simulated runs.

docs/results.md explains columns and kinds; docs/real-programs.md says how records are converted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.arrays import np
from octavo.measurements.activity.rows import COPIES, Access, Activity, Cause, MapCause, Rows, What, in_order
from octavo.runs.events import KINDS, code

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.uint64]

PAGE_BYTES = 4096
"""The driver keeps track of pages of 4 KiB, the smallest size; larger pages count as several."""
PICOSECONDS = 1000
"""Picoseconds of a nanosecond."""
CAUSES = ("user", "coherence", "prefetch", "eviction", "access_counters", "thrashing", "policy", "out_of_memory")
"""Why bytes move or memory is mapped remotely, as in column `cause`."""

_FAULTS = {
    Access.UNKNOWN: "unknown_fault",
    Access.READ: "read_fault",
    Access.WRITE: "write_fault",
    Access.ATOMIC: "atomic_fault",
    Access.PREFETCH: "prefetch_fault",
}
_MOVES = {
    Cause.UNKNOWN: "migration",
    Cause.USER: "user_migration",
    Cause.COHERENCE: "migration",
    Cause.PREFETCH: "prefetch",
    Cause.EVICTION: "eviction",
    Cause.ACCESS_COUNTERS: "counter_migration",
}
_OTHERS = {
    What.CPU_FAULT: "cpu_fault",
    What.THRASHING: "thrashing",
    What.THROTTLING: "throttling",
    What.REMOTE_MAP: "remote_map",
}


def table(found: Activity) -> pl.DataFrame:
    """The `events` table of recorded activity, with time 0 at its first row; see `events`.

    Rows at impossible times are left out and added to the notes.
    """
    rows = in_order(found.rows, found.notes)
    found.notes = +found.notes
    return events(rows, int(rows["start"][0]) if len(rows) else 0)


def events(rows: Rows, origin: int) -> pl.DataFrame:
    """The `events` table of recorded activity, in order of time.

    Args:
        rows: activity, as `in_order` leaves it.
        origin: the nanosecond that is time 0; no row starts before it.

    Returns: the columns of simulated runs, and those that only profiles have. These are `duration_ps` (how long it
        took), `faults` (merged into one row), `bytes` (that moved or were mapped), `cause` and `processors` (a bit for
        each GPU that competes for thrashing memory). They are null where they mean nothing.

    """
    sized = np.isin(rows["what"], (*COPIES, What.THRASHING, What.REMOTE_MAP))
    faults = np.isin(rows["what"], (What.CPU_FAULT, What.GPU_FAULT))
    ended = rows["end"] >= 0
    return pl.DataFrame(
        {
            "time_ps": _picoseconds(rows["start"] - origin),
            "kind": pl.Series(kinds(rows)).replace_strict(range(len(KINDS)), KINDS, return_dtype=pl.Enum(KINDS)),
            "address": rows["address"] // PAGE_BYTES * PAGE_BYTES,
            "pages": np.where(sized, pages(rows["address"], rows["value"]), 1).astype(np.uint64),
            "from": rows["source"].astype(np.uint64),
            "to": rows["target"].astype(np.uint64),
            "duration_ps": _where(ended, _picoseconds(np.where(ended, rows["end"] - rows["start"], 0))),
            "faults": _where(faults, rows["value"]),
            "bytes": _where(sized, rows["value"]),
            "cause": causes(rows),
            "processors": _where(rows["what"] == What.THRASHING, rows["processors"]),
        }
    )


def kinds(rows: Rows) -> npt.NDArray[np.uint8]:
    """The kind of each row, as `octavo.runs.events.KINDS` numbers them."""
    table = np.zeros((max(What) + 1, 256), np.uint8)
    for one in COPIES:
        for cause, name in _MOVES.items():
            table[one, cause] = code(name)
    for access, name in _FAULTS.items():
        table[What.GPU_FAULT, access] = code(name)
    for one, name in _OTHERS.items():
        table[one] = code(name)
    found: npt.NDArray[np.uint8] = table[rows["what"], rows["flag"]]
    return found


def causes(rows: Rows) -> pl.Series:
    """The cause of each row whose cause is known."""
    table = np.full((max(What) + 1, 256), len(CAUSES), np.uint8)
    for one, meaning in {**dict.fromkeys(COPIES, Cause), What.REMOTE_MAP: MapCause}.items():
        for cause in meaning:
            if cause.name.lower() in CAUSES:
                table[one, cause] = CAUSES.index(cause.name.lower())
    names = [*CAUSES, None]
    return pl.Series(table[rows["what"], rows["flag"]]).replace_strict(
        range(len(names)), names, return_dtype=pl.Enum(CAUSES)
    )


def pages(address: Numbers, size: Numbers) -> Numbers:
    """How many pages a range of bytes touches; at least one."""
    ends = -(-(address % PAGE_BYTES + size).astype(np.int64) // PAGE_BYTES)
    return np.maximum(ends, 1).astype(np.uint64)


def _picoseconds(nanoseconds: npt.NDArray[np.int64]) -> Numbers:
    return nanoseconds.astype(np.uint64) * np.uint64(PICOSECONDS)


def _where(here: npt.NDArray[np.bool_], values: Numbers) -> pl.Series:
    """Numbers, and null where they have no meaning."""
    return pl.select(pl.when(pl.Series(here)).then(pl.Series(values.astype(np.uint64)))).to_series()
