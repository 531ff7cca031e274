"""Unified-memory activity of a real program, from any recorder: one row for each event that the driver reports.

The numbers come from CUPTI (cupti_activity.h, CUDA 12.9); the other recorders pass on its records.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

from octavo.arrays import np, npt

ROW = [
    ("start", "<i8"),
    ("end", "<i8"),
    ("address", "<u8"),
    ("value", "<u8"),
    ("processors", "<u8"),
    ("what", "u1"),
    ("flag", "u1"),
    ("source", "u1"),
    ("target", "u1"),
]
"""Columns and their types, as NumPy takes them.

`start` and `end` are nanoseconds of one clock; `end` is -1 where it has no meaning. `value` is bytes, or merged faults
for `GPU_FAULT`. `what` is a `What`; `flag` an `Access`, `Cause` or `MapCause`, as `what` has it. `source` and `target`
are
processors: 0 is the host, 1 the first GPU. `processors` has a bit for each GPU that competes for thrashing memory."""

Rows: TypeAlias = "npt.NDArray[np.void]"
"""An array of `ROW`."""


class What(IntEnum):
    """The kind of event in a row (`CUpti_ActivityUnifiedMemoryCounterKind`)."""

    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    CPU_FAULT = 3
    GPU_FAULT = 4
    THRASHING = 5
    THROTTLING = 6
    REMOTE_MAP = 7
    DEVICE_TO_DEVICE = 8


COPIES = (What.HOST_TO_DEVICE, What.DEVICE_TO_HOST, What.DEVICE_TO_DEVICE)
"""Rows of events that move bytes."""


class Access(IntEnum):
    """What faulted (`CUpti_ActivityUnifiedMemoryAccessType`)."""

    UNKNOWN = 0
    READ = 1
    WRITE = 2
    ATOMIC = 3
    PREFETCH = 4


class Cause(IntEnum):
    """Why bytes travel (`CUpti_ActivityUnifiedMemoryMigrationCause`)."""

    UNKNOWN = 0
    USER = 1
    """The program requested it, as by cudaMemPrefetchAsync."""
    COHERENCE = 2
    """A fault, or a launch on a GPU that cannot fault."""
    PREFETCH = 3
    """The driver guessed that it would be needed."""
    EVICTION = 4
    ACCESS_COUNTERS = 5


class MapCause(IntEnum):
    """Why memory is mapped remotely (`CUpti_ActivityUnifiedMemoryRemoteMapCause`)."""

    UNKNOWN = 0
    COHERENCE = 1
    THRASHING = 2
    POLICY = 3
    OUT_OF_MEMORY = 4
    EVICTION = 5


@dataclass
class Activity:
    """Recorded rows, and notes about what could not be used."""

    rows: Rows
    notes: Counter[str] = field(default_factory=Counter)
    """Losses, guesses and unknown values, and how many of each."""


def empty(count: int) -> Rows:
    """Rows without any values yet."""
    rows = np.zeros(count, ROW)
    rows["end"] = -1
    return rows


GPUS = 254
"""How many GPUs a processor number of one byte can distinguish, besides the host."""
LONGEST = 1 << 53
"""Nanoseconds that a recording may take, 104 days: picoseconds of that still fit into 64 bits."""
IMPLAUSIBLE = "records with impossible times, sizes or processors, left out"
NO_ADDRESS = "records without an address, left out"
LAST_ADDRESS = 1 << 57
"""No GPU or processor has longer virtual addresses (five levels of page tables on x86-64)."""
_MOST_BYTES = 1 << 32
"""The driver works on blocks of 2 MiB; much more than one is an error."""


def plausible(rows: Rows) -> npt.NDArray[np.bool_]:
    """Which rows can be true, as far as addresses and sizes show."""
    sized = rows["value"] <= _MOST_BYTES
    fit: npt.NDArray[np.bool_] = (
        (rows["address"] < LAST_ADDRESS) & (sized | (rows["what"] == What.THROTTLING)) & (rows["start"] >= 0)
    )
    return fit


def in_order(rows: Rows, notes: Counter[str]) -> Rows:
    """Rows in order of time; those far from the others are left out and counted.

    A clock that was not read gives 0; the row in the middle shows when the recording happened.
    """
    if not len(rows):
        return rows
    middle = (len(rows) - 1) // 2
    near = np.abs(rows["start"] - np.partition(rows["start"], middle)[middle]) < LONGEST
    notes[IMPLAUSIBLE] += int((~near).sum())
    rows = rows if near.all() else rows[near]
    start = rows["start"]
    ordered = rows.copy() if (start[1:] >= start[:-1]).all() else rows[np.argsort(start, kind="stable")]
    ordered["end"][ordered["end"] - ordered["start"] > LONGEST] = -1
    return ordered


def note_each(notes: Counter[str], text: str, values: npt.ArrayLike) -> None:
    """Count values that are not understood; `text` has a place for the value."""
    for value, count in zip(*np.unique(values, return_counts=True), strict=True):
        notes[text.format(value)] += int(count)
