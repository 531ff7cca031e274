"""Profiles by rocprofv3, from its databases (`--output-format rocpd`): memory of GPUs over time, and kernels."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from octavo.errors import ProfileError
from octavo.measurements.imports import nsys_rows
from octavo.measurements.imports import nsys_schema as schema
from octavo.measurements.imports.allocations import Change
from octavo.measurements.imports.allocators import Log, checked, write
from octavo.measurements.imports.nsys import gpus, source
from octavo.measurements.imports.nsys_export import opened
from octavo.measurements.imports.rocpd_tables import Rocpd
from octavo.measurements.imports.write import check_folder

if TYPE_CHECKING:
    from octavo.runs.result import RunResult

_MISSING = ["faults and migrations of managed memory: rocprofv3 does not write them into such files"]


def import_rocprof(path: str | Path, folder: str | Path, *, force: bool = False) -> RunResult:
    """Import a database of rocprofv3; the folder appears when everything is written, or not at all.

    Args:
        path: what `rocprofv3 --output-format rocpd` wrote; it is not changed.
        folder: the result folder to write.
        force: replace a result that is there.

    Raises:
        ProfileError: the file is no such database, is damaged, lacks a column that is needed, is of several processes,
            or tells of no allocation of a GPU.
        OutputError: the folder cannot be written, or holds something.

    """
    path, folder = Path(path), Path(folder)
    check_folder(folder, force=force)
    notes: Counter[str] = Counter()
    with opened(path, Rocpd) as export:
        process, changes = _changes(export, notes)
        if not changes:
            message = f"{path}: expected allocations of GPUs, found none"
            raise ProfileError(message, Rocpd.record, code="missing", file=path, key=schema.MEMORY)
        kernels = nsys_rows.kernels(export, process, notes)
        about, named = source(export, process), gpus(export, process)
    missing = _MISSING if len(kernels) else [*_MISSING, "kernels: none recorded (--kernel-trace records them)"]
    return write(Log(about, changes, missing, notes, kernels, named), folder, force=force)


def _changes(export: Rocpd, notes: Counter[str]) -> tuple[int, dict[int, list[Change]]]:
    """The process, and its allocations and frees by GPU.

    A free names no GPU: it is of the one that allocated its address last.
    """
    if not export.check(schema.MEMORY):
        return -1, {}
    found: dict[int, list[Change]] = {}
    owner: dict[int, int] = {}
    rows = export.allocations()
    processes = {nsys_rows.process_of(row[-1]) for row in rows if isinstance(row[-1], int)} - {-1}
    if len(processes) > 1:
        message = f"{export.path}: expected allocations of one process, found those of {len(processes)}"
        raise ProfileError(message, code="ambiguous", file=export.path, key="process")
    fit = [row for row in rows if all(isinstance(value, int) for value in row[:4])]
    notes["allocations and frees with impossible times, addresses or sizes, left out"] += len(rows) - len(fit)
    for time, address, size, frees, gpu, _ in sorted(fit, key=lambda row: (row[0], row[3])):
        if not checked(address, size or bool(frees), time):
            notes["allocations and frees with impossible times, addresses or sizes, left out"] += 1
            continue
        number = owner.get(address) if frees else gpu
        if not isinstance(number, int) or number < 0:
            notes["frees of memory that was not seen to be allocated"] += 1
            continue
        owner[address] = number
        found.setdefault(number, []).append(Change(time, address, size, not frees, "device"))
    return next(iter(processes), -1), found
