"""Profiles by nvprof, from the databases that it writes: unified memory, or a whole program that copies by itself."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.arrays import np
from octavo.errors import InterruptedRun, ProfileError
from octavo.measurements.activity import LAYOUTS, decode
from octavo.measurements.activity.cupti import ACTIVITY_KIND
from octavo.measurements.activity.rows import COPIES, IMPLAUSIBLE, What
from octavo.measurements.imports import nsys_rows
from octavo.measurements.imports import nsys_schema as schema
from octavo.measurements.imports.nsys import EXPLICIT, gpus, source
from octavo.measurements.imports.nsys_export import opened
from octavo.measurements.imports.nvprof_tables import COUNTER_COLUMNS, COUNTERS, NESTED, Nvprof
from octavo.measurements.imports.profile import Profile
from octavo.measurements.imports.write import check_folder, write

if TYPE_CHECKING:
    from octavo.measurements.imports.nsys_export import Export, Watch
    from octavo.runs.result import RunResult

_RECORD = (
    "record with `nvprof --unified-memory-profiling per-process-device --track-memory-allocations on -o FILE PROGRAM`"
)


def import_nvprof(
    path: str | Path, folder: str | Path, *, force: bool = False, watch: Watch | None = None
) -> RunResult:
    """Import a database of nvprof; the folder appears once everything is written, or not at all.

    Args:
        path: what `nvprof -o` wrote; it is not changed.
        folder: the result folder to write.
        force: replace a result that is there.
        watch: called with the share that is read and the table that is being read.

    Raises:
        ProfileError: the file is no such database, is damaged, lacks a column that is needed, is of several processes,
            or tells nothing of unified memory.
        OutputError: the folder cannot be written, or holds something.
        InterruptedRun: Ctrl-C; nothing is written.

    """
    path, folder = Path(path), Path(folder)
    check_folder(folder, force=force)
    try:
        with opened(path, Nvprof, watch) as export:
            profile = read(export)
        return write(profile, folder, force=force)
    except KeyboardInterrupt:
        raise InterruptedRun("stopped: nothing is written") from None


def read(export: Export) -> Profile:
    """The contents of a database.

    Raises:
        ProfileError: see `import_nvprof`.

    """
    for table in (schema.KERNELS, schema.MEMORY, COUNTERS):
        export.check(table)
    notes: Counter[str] = Counter()
    found = decode(_records(export, notes), "v2")
    notes.update(found.notes)
    if not len(found.rows):
        lost = f"; {sum(notes.values())} rows could not be used" if sum(notes.values()) else ""
        message = f"{export.path} tells of no unified memory: expected rows of {COUNTERS}, found none{lost}"
        raise ProfileError(message, f"{_RECORD}{EXPLICIT}", code="missing", file=export.path, key=COUNTERS)
    changes, others = nsys_rows.changes(export, -1, notes)
    kernels = nsys_rows.kernels(export, -1, notes)
    for table, what in NESTED.items():
        notes[what] += export.count(table)
    return Profile(
        source=source(export, -1),
        rows=found.rows,
        changes=changes,
        kernels=kernels,
        gpus=gpus(export, -1),
        other_memory=others,
        missing=_missing(found.rows, {_NO_ALLOCATIONS: changes or others, _NO_KERNELS: kernels.height}),
        notes=notes,
    )


def _records(export: Export, notes: Counter[str]) -> bytes:
    """Rows of counters as the records of CUPTI that they were."""
    dtype = np.dtype(LAYOUTS["v2"])
    types = [dtype[name] for name in COUNTER_COLUMNS]
    rows = export.rows(COUNTERS, COUNTER_COLUMNS)
    fit = [row for row in rows if all(map(_is_value, row, types))]
    notes[IMPLAUSIBLE] += len(rows) - len(fit)
    records = np.zeros(len(fit), dtype)
    records["kind"] = ACTIVITY_KIND
    for name, values in zip(COUNTER_COLUMNS, zip(*fit, strict=True), strict=bool(fit)):
        records[name] = values
    return records.tobytes()


def _is_value(value: object, dtype: np.dtype[Any]) -> bool:
    return isinstance(value, int) and 0 <= value <= np.iinfo(dtype).max


_NO_ALLOCATIONS = (
    "allocations: none recorded (--track-memory-allocations on records them); address ranges stand in for them"
)
_NO_KERNELS = "kernels: none recorded"


def _missing(rows: np.ndarray[Any, Any], recorded: dict[str, object]) -> list[str]:
    """Data that were not recorded, or events that did not happen."""
    found = [text for text, some in recorded.items() if not some]
    for what, text in ((COPIES, "copies of managed memory"), ((What.GPU_FAULT,), "faults of GPUs")):
        if not np.isin(rows["what"], what).any():
            found.append(f"{text}: none recorded")
    return found
