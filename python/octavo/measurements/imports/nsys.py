"""Profiles by Nsight Systems, from its SQLite exports."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.arrays import np
from octavo.errors import InterruptedRun, ProfileError
from octavo.measurements.activity.rows import COPIES
from octavo.measurements.imports import nsys_rows
from octavo.measurements.imports import nsys_schema as schema
from octavo.measurements.imports.nsys_export import opened
from octavo.measurements.imports.profile import Profile
from octavo.measurements.imports.write import check_folder, write

if TYPE_CHECKING:
    from octavo.measurements.imports.nsys_export import Export, Numbers, Watch
    from octavo.runs.result import RunResult


def import_nsys(
    path: str | Path,
    folder: str | Path,
    *,
    process: int | None = None,
    force: bool = False,
    watch: Watch | None = None,
) -> RunResult:
    """Import an SQLite export of Nsight Systems; the folder appears once everything is written, or not at all.

    Args:
        path: what `nsys export --type sqlite` wrote; it is not changed.
        folder: the result folder to write.
        process: the process to import, where several used unified memory.
        force: replace a result that is there.
        watch: called with the share that is read and the table that is being read.

    Raises:
        ProfileError: the file is no export, is damaged, lacks a column that is needed, or tells nothing of unified
            memory.
        OutputError: the folder cannot be written, or holds something.
        InterruptedRun: Ctrl-C; nothing is written.

    """
    path, folder = Path(path), Path(folder)
    check_folder(folder, force=force)
    try:
        with opened(path, watch) as export:
            profile = read(export, process)
        return write(profile, folder, force=force)
    except KeyboardInterrupt:
        raise InterruptedRun("stopped: nothing is written") from None


def read(export: Export, wanted: int | None) -> Profile:
    """The contents of an export about one process.

    Raises:
        ProfileError: see `import_nsys`.

    """
    for table in schema.TABLES:
        export.check(table)
    notes: Counter[str] = Counter()
    rows, processes = nsys_rows.activity(export, notes)
    if not len(rows):
        raise ProfileError(_nothing(export, notes), f"{schema.RECORD}{_EXPLICIT}")
    process = _process(export, processes, wanted)
    own = np.isin(processes, (process, -1))
    notes["rows of other processes, left out"] += int((~own).sum())
    changes, others = nsys_rows.changes(export, process, notes)
    return Profile(
        source=source(export, process),
        rows=rows if own.all() else rows[own],
        changes=changes,
        kernels=nsys_rows.kernels(export, process, notes),
        gpus=_gpus(export, process),
        other_memory=others,
        missing=_missing(export, rows),
        notes=notes,
    )


_EXPLICIT = "; if the program copies by itself, --program FILE.py makes a workload of it"


def _nothing(export: Export, notes: Counter[str]) -> str:
    left_out = sum(notes.values())
    what = "unified-memory activity that can be used" if left_out else "unified-memory activity"
    tables = ", ".join((schema.GPU_FAULTS, schema.CPU_FAULTS))
    found = f"; {left_out} rows could not be used" if left_out else ""
    if others := _unread(export):
        found += f"; found {', '.join(others)}, which no known schema ({schema.KNOWN_SCHEMAS}) has"
    return f"{export.path} tells of no {what}: neither {tables} nor copies of managed memory in {schema.COPIES}{found}"


def _unread(export: Export) -> list[str]:
    """Tables of unified memory that this importer does not read."""
    others = (name for name in sorted(export.columns) if name not in schema.TABLES and not name.startswith("ENUM_"))
    return [name for name in others if "_UM_" in name or "UNIFIED_MEM" in name]


def _process(export: Export, processes: Numbers, wanted: int | None) -> int:
    """The process to import: the requested one, or the only one; -1 if the export names none."""
    numbers, counts = np.unique(processes[processes >= 0], return_counts=True)
    found = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    listed = ", ".join(f"{number} ({found[number]:,} rows)" for number in sorted(found, key=lambda one: -found[one]))
    if wanted is not None:
        if wanted not in found:
            raise ProfileError(
                f"{export.path}: process {wanted} has no unified-memory activity",
                f"those that have: {listed or 'none'}",
                file=export.path,
                code="missing",
                key="process",
                found=wanted,
            )
        return wanted
    if len(found) > 1:
        raise ProfileError(
            f"{export.path} has unified memory of {len(found)} processes, each with addresses of its own",
            f"choose one with --process: {listed}",
            file=export.path,
            code="ambiguous",
            key="process",
            found=len(found),
        )
    return next(iter(found), -1)


def source(export: Export, process: int) -> dict[str, Any]:
    """What a process of an export was, and what recorded it."""
    names = {
        int(nsys_rows.process(np.array(number))): name
        for number, name in export.rows("PROCESSES", ["globalPid", "name"])
        if isinstance(number, int) and isinstance(name, str)
    }
    return {
        "tool": "nsys",
        "file": export.path.name,
        "bytes": export.path.stat().st_size,
        "version": export.metadata("EXPORT_PRODUCT_VERSION"),
        "schema": export.metadata("EXPORT_SCHEMA_VERSION"),
        "process": None if process < 0 else process,
        "program": names.get(process),
    }


def _gpus(export: Export, process: int) -> dict[int, str]:
    """Names of the GPUs in the numbering of the process, or of the system if that is missing."""
    names = {
        number: name
        for number, name in export.rows("TARGET_INFO_GPU", ["id", "name"])
        if isinstance(number, int) and isinstance(name, str)
    }
    own = [
        (number, gpu)
        for gpu, number, pid in export.rows("TARGET_INFO_CUDA_DEVICE", ["gpuId", "cudaId", "pid"])
        if pid == process and gpu in names
    ]
    return {number: names[gpu] for number, gpu in own} if own else names


def _missing(export: Export, rows: np.ndarray[Any, Any]) -> list[str]:
    """Data that were not recorded, or events that did not happen."""
    found = [text for table, text in schema.MISSING.items() if table not in export.columns]
    if not np.isin(rows["what"], COPIES).any():
        found.append("copies of managed memory: none recorded")
    found += [f"what is in {table}, which no known schema has" for table in _unread(export)]
    return [*found, NEVER]


NEVER = "thrashing, throttling and remote mappings: Nsight Systems does not export them"
