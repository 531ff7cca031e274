"""Unified-memory records of CUPTI's activity buffers, decoded.

Layouts: the header cupti_activity.h (and cupti_activity_deprecated.h) of the PyPI package nvidia-cuda-cupti-cu12
12.9.79, whose structures are packed to the byte and aligned to 8 (`ACTIVITY_RECORD_ALIGNMENT`). As gcc says of
them on x86-64 Linux: `CUpti_ActivityUnifiedMemoryCounter2` has 64 bytes, `...Counter3` (since CUDA 12.8) has 104, and
every field lies where the one before ends, so that neither has padding but the field of that name.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from octavo.arrays import np, npt
from octavo.errors import ProfileError
from octavo.measurements.activity.rows import (
    COPIES,
    GPUS,
    IMPLAUSIBLE,
    Access,
    Activity,
    Cause,
    MapCause,
    Rows,
    What,
    empty,
    note_each,
    plausible,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

ACTIVITY_KIND = 25
"""`CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER`."""
CPU = 0xFFFFFFFF
"""The number that stands for the host in records of throttling, and of memory that is mapped remotely."""

_COUNTER2 = [
    ("kind", "<u4"),  # offset 0
    ("counterKind", "<u4"),  # 4
    ("value", "<u8"),  # 8
    ("start", "<u8"),  # 16
    ("end", "<u8"),  # 24
    ("address", "<u8"),  # 32
    ("srcId", "<u4"),  # 40
    ("dstId", "<u4"),  # 44
    ("streamId", "<u4"),  # 48, means nothing
    ("processId", "<u4"),  # 52
    ("flags", "<u4"),  # 56
    ("pad", "<u4"),  # 60
]
LAYOUTS: dict[str, list[Any]] = {
    "v2": _COUNTER2,
    "v3": [*_COUNTER2, ("processors", "<u8", (5,))],  # offset 64
}
"""Versions of the structure: 2 until CUDA 12.7, 3 since. Columns and their types, as NumPy takes them."""

_LAST_TIME = (1 << 63) - 1
"""Nanoseconds; later times are errors."""
_NO_END = (What.CPU_FAULT, What.THRASHING, What.REMOTE_MAP)
"""Counters whose `end` has no meaning."""
_FROM_GPU = (What.DEVICE_TO_HOST, What.DEVICE_TO_DEVICE)
_TO_GPU = (What.HOST_TO_DEVICE, What.DEVICE_TO_DEVICE)
_FLAGS = {What.GPU_FAULT: Access, What.REMOTE_MAP: MapCause, **dict.fromkeys(COPIES, Cause)}
"""The meaning of `flags`, which other counters do not have."""

_Records: TypeAlias = "npt.NDArray[np.void]"


def decode(records: bytes, layout: str | None = None, *, dropped: int = 0) -> Activity:
    """Decode the unified-memory records of CUPTI activity buffers.

    Args:
        records: records one after another, without anything between them.
        layout: version of the structure, as in `LAYOUTS`; told from the records if left out.
        dropped: records that CUPTI itself could not keep.

    Returns: rows in the order of the records. Left out and counted are records that make no sense, a last record that
        was cut off, and what CUPTI dropped.

    Raises:
        ProfileError: the records are of another layout, or of other activities.

    """
    found = _records(records, layout)
    notes: Counter[str] = Counter()
    notes["records that CUPTI dropped"] = dropped
    notes["last record that is cut off"] = int(len(records) % found.dtype.itemsize > 0)
    rows = _rows(found, notes)
    return Activity(rows, +notes)


@cache
def _types() -> dict[str, np.dtype[np.void]]:
    """The layouts as types of NumPy."""
    return {name: np.dtype(columns) for name, columns in LAYOUTS.items()}


def _records(records: bytes, layout: str | None) -> _Records:
    fitting = [name for name, dtype in _types().items() if _fits(records, dtype)]
    if layout is None:
        if not fitting:
            raise _misfit(records, "v3")
        layout = max(fitting, key=lambda name: (len(records) % _types()[name].itemsize == 0, name))
    if layout not in LAYOUTS:
        raise ProfileError(
            f"unknown layout `{layout}` of CUPTI records",
            f"known layouts: {_known()}",
            code="other-format",
            found=layout,
        )
    if layout not in fitting:
        raise _misfit(records, layout, fitting)
    dtype = _types()[layout]
    return np.frombuffer(records, dtype, len(records) // dtype.itemsize)


def _fits(records: bytes, dtype: np.dtype[np.void]) -> bool:
    return bool((_kinds(records, dtype) == ACTIVITY_KIND).all())


def _kinds(records: bytes, dtype: np.dtype[np.void]) -> npt.NDArray[np.uint32]:
    """The first field of every record, including as much as there is of a last one that is cut off."""
    whole = np.frombuffer(records, dtype, len(records) // dtype.itemsize)["kind"]
    rest = records[len(whole) * dtype.itemsize :]
    return np.append(whole, np.frombuffer(rest[:4], "<u4")) if len(rest) >= 4 else whole


def _misfit(records: bytes, layout: str, fitting: Sequence[str] = ()) -> ProfileError:
    """Records that fit another layout than the given one, if there is such a layout."""
    kinds = _kinds(records, _types()[layout])
    first = int(np.flatnonzero(kinds != ACTIVITY_KIND)[0])
    other = f"; they look like layout {fitting[-1]}" if fitting else ""
    return ProfileError(
        f"CUPTI records of layout {layout}: expected activity kind {ACTIVITY_KIND} (unified memory) in every record, "
        f"found {kinds[first]} in record {first}{other}",
        f"known layouts: {_known()}",
        code="other-format" if fitting else "unexpected-value",
        line=first,
        key=layout,
        expected=fitting[-1] if fitting else ACTIVITY_KIND,
        found=int(kinds[first]),
    )


def _known() -> str:
    return ", ".join(f"{name} ({dtype.itemsize} bytes a record)" for name, dtype in _types().items())


def _rows(found: _Records, notes: Counter[str]) -> Rows:
    known = np.isin(found["counterKind"], list(What))
    note_each(notes, "records of unknown counter kind {}, left out", found["counterKind"][~known])
    found = found[known]
    what = found["counterKind"].astype(np.uint8)
    rows = empty(len(found))
    rows["what"], rows["address"], rows["processors"] = what, found["address"], _fighters(found, what)
    rows["value"] = np.where(what == What.CPU_FAULT, 1, found["value"])  # recorded is where the program was
    rows["flag"] = _flags(what, found["flags"], notes)
    timed = (found["start"] <= _LAST_TIME) & (found["end"] <= _LAST_TIME)
    rows["start"] = np.where(timed, found["start"], 0)
    ended = ~np.isin(what, _NO_END) & (found["end"] >= found["start"])
    rows["end"] = np.where(timed & ended, found["end"], 0)
    rows["end"][~(timed & ended)] = -1
    fit = timed & _ends(rows, found, what) & plausible(rows)
    notes[IMPLAUSIBLE] += int((~fit).sum())
    return rows[fit]


def _flags(what: npt.NDArray[np.uint8], flags: npt.NDArray[np.uint32], notes: Counter[str]) -> npt.NDArray[np.uint8]:
    """Causes and kinds of access; 0 stands for unknown everywhere, and for numbers that are unknown here."""
    found = np.zeros(len(what), np.uint8)
    for one, meaning in _FLAGS.items():
        rows = np.flatnonzero(what == one)
        known = np.isin(flags[rows], list(meaning))
        found[rows[known]] = flags[rows[known]]
        note_each(notes, f"unknown flag {{}} of {one.name.lower().replace('_', ' ')} records", flags[rows[~known]])
    return found


def _fighters(found: _Records, what: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """The GPUs among the first 64 that compete for thrashing memory."""
    third = "processors" in (found.dtype.names or ())
    masks = found["processors"][:, 0] if third else found["srcId"].astype(np.uint64)
    return np.where(what == What.THRASHING, masks, np.uint64(0))


def _ends(rows: Rows, found: _Records, what: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Fill in source and target where they have a meaning; return which rows have possible ones.

    Copies between the host and a GPU name the GPU alone: real records have 0 where the host would stand, as for GPU 0.
    """
    possible = np.ones(len(rows), np.bool_)
    named = {
        "source": (*_FROM_GPU, What.GPU_FAULT, What.THROTTLING, What.REMOTE_MAP),
        "target": (*_TO_GPU, What.REMOTE_MAP),
    }
    for name, column in (("source", "srcId"), ("target", "dstId")):
        device = found[column].astype(np.int64)
        meant = np.isin(what, named[name])
        host = (device == CPU) & ~np.isin(what, COPIES)
        fits = host | (device < GPUS)
        rows[name] = np.where(meant & fits & ~host, device + 1, 0)
        possible &= fits | ~meant
    return possible
