"""The rows of an export's tables as recorded activity, changes of memory, and kernels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from octavo.arrays import np
from octavo.measurements.activity.rows import (
    GPUS,
    IMPLAUSIBLE,
    LAST_ADDRESS,
    NO_ADDRESS,
    Rows,
    What,
    empty,
    note_each,
    plausible,
)
from octavo.measurements.imports import nsys_schema as schema
from octavo.measurements.imports.allocations import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from octavo.measurements.imports.nsys_export import Export, Numbers

    Flags = npt.NDArray[np.bool_]

MOST_BYTES = 1 << 47
"""Bytes of an allocation: all addresses that a process has with four levels of page tables on x86-64."""
_PROCESS_BITS = 24
"""Bits below the process in a global number of a process."""
_PROCESS_MASK = (1 << 24) - 1


@dataclass
class Read:
    """Rows found in a table, and the process of each; -1 if the table does not say."""

    rows: list[Rows] = field(default_factory=list)
    processes: list[Numbers] = field(default_factory=list)

    def joined(self) -> tuple[Rows, Numbers]:
        """All rows."""
        if not self.rows:
            return empty(0), np.zeros(0, np.int32)
        return np.concatenate(self.rows), np.concatenate(self.processes)


def activity(export: Export, notes: Counter[str]) -> tuple[Rows, Numbers]:
    """Unified-memory activity of all processes: rows, and the process of each."""
    read = Read()
    readers = {schema.GPU_FAULTS: _gpu_faults, schema.CPU_FAULTS: _cpu_faults, schema.COPIES: _copies}
    for table, reader in readers.items():
        if export.check(table):
            for rows, process in reader(export, notes):
                fit = plausible(rows)
                placed = rows["address"] > 0
                notes[IMPLAUSIBLE] += int((~fit).sum())
                notes[NO_ADDRESS] += int((fit & ~placed).sum())
                read.rows.append(rows[fit & placed])
                read.processes.append(process[fit & placed].astype(np.int32))
    return read.joined()


def _gpu_faults(export: Export, notes: Counter[str]) -> Iterator[tuple[Rows, Numbers]]:
    meaning = _table(export.meanings(schema.ACCESSES, notes))
    for chunk in export.chunks(schema.GPU_FAULTS):
        rows, fit = _rows(chunk, "address", chunk["numberOfPageFaults"], What.GPU_FAULT)
        rows["flag"] = meaning(chunk["faultAccessType"], notes, "unknown kind of access {}")
        rows["source"], known = _processor(chunk["deviceId"])
        yield _kept(rows, chunk, fit & known, notes)


def _cpu_faults(export: Export, notes: Counter[str]) -> Iterator[tuple[Rows, Numbers]]:
    for chunk in export.chunks(schema.CPU_FAULTS):
        rows, fit = _rows(chunk, "address", np.ones(len(chunk["start"]), np.int64), What.CPU_FAULT)
        yield _kept(rows, chunk, fit, notes)


def _copies(export: Export, notes: Counter[str]) -> Iterator[tuple[Rows, Numbers]]:
    kinds = {
        number: what for number, what in export.meanings(schema.COPY_KINDS, notes).items() if isinstance(what, int)
    }
    meaning = _table(export.meanings(schema.CAUSES, notes))
    for chunk in export.chunks(schema.COPIES):
        moved = np.isin(chunk["copyKind"], list(kinds))
        chunk = {name: values[moved] for name, values in chunk.items()}  # noqa: PLW2901 - others are not looked at
        rows, fit = _rows(chunk, "virtualAddress", chunk["bytes"], What.HOST_TO_DEVICE)
        for number, what in kinds.items():
            rows["what"][chunk["copyKind"] == number] = what
        rows["flag"] = meaning(chunk["migrationCause"], notes, "unknown cause of a migration {}")
        rows["source"], known_source = _end(chunk, rows["what"], "srcDeviceId", What.HOST_TO_DEVICE)
        rows["target"], known_target = _end(chunk, rows["what"], "dstDeviceId", What.DEVICE_TO_HOST)
        yield _kept(rows, chunk, fit & known_source & known_target, notes)


def _rows(chunk: dict[str, Numbers], address: str, value: Numbers, what: What) -> tuple[Rows, Flags]:
    """Rows with the columns that all tables share, and which of them have possible values."""
    rows = empty(len(value))
    fit = (chunk[address] >= -1) & (value >= 0) & (chunk["start"] >= 0)
    rows["start"], rows["what"] = chunk["start"], what
    rows["address"], rows["value"] = np.maximum(chunk[address], 0), np.maximum(value, 0)
    if "end" in chunk:
        rows["end"] = np.where(chunk["end"] >= chunk["start"], chunk["end"], -1)
    return rows, fit


def _end(chunk: dict[str, Numbers], what: Numbers, column: str, at_host: What) -> tuple[Numbers, Flags]:
    """The ends of copies; the GPU is the row's own, except for copies between GPUs that name the other one."""
    named = (what == What.DEVICE_TO_DEVICE) & (chunk[column] >= 0)
    processor, known = _processor(np.where(named, chunk[column], chunk["deviceId"]))
    host = what == at_host
    return np.where(host, 0, processor), known | host


def _processor(device: Numbers) -> tuple[Numbers, Flags]:
    known = (device >= 0) & (device < GPUS)
    return np.where(known, device + 1, 0), known


def _kept(rows: Rows, chunk: dict[str, Numbers], fit: Flags, notes: Counter[str]) -> tuple[Rows, Numbers]:
    notes[IMPLAUSIBLE] += int((~fit).sum())
    return rows[fit], process(chunk["globalPid"][fit])


def process(number: Numbers) -> Numbers:
    """The system's number of a process, from a global one; -1 if there is none."""
    return np.where(number >= 0, (number >> _PROCESS_BITS) & _PROCESS_MASK, -1)


def process_of(number: int) -> int:
    """As `process`, of one number."""
    return (number >> _PROCESS_BITS) & _PROCESS_MASK if number >= 0 else -1


def _table(meanings: dict[int, int | str]) -> Callable[[Numbers, Counter[str], str], Numbers]:
    """A function that maps numbers to flags. Unknown numbers become 0 and are counted."""
    numbers = np.array(sorted(meanings), np.int64)
    flags = np.array([meanings[number] for number in sorted(meanings)], np.int64)

    def translate(values: Numbers, notes: Counter[str], text: str) -> Numbers:
        at = np.minimum(np.searchsorted(numbers, values), len(numbers) - 1)
        known = numbers[at] == values
        note_each(notes, text, values[~known & (values >= 0)])
        return np.where(known, flags[at], 0)

    return translate


def changes(export: Export, wanted: int, notes: Counter[str]) -> tuple[list[Change], Counter[str]]:
    """Allocations and frees of a process's managed memory; for other memory, the allocated bytes by kind."""
    managed: list[Change] = []
    others: Counter[str] = Counter()
    if not export.check(schema.MEMORY):
        return managed, others
    kinds, operations = export.meanings(schema.MEMORY_KINDS, notes), export.meanings(schema.OPERATIONS, notes)
    for start, address, size, kind, operation, pid, _, name in export.records(schema.MEMORY):
        if process_of(pid) not in (wanted, -1):
            continue
        memory, allocates = str(kinds.get(kind, f"kind {kind}")), operations.get(operation)
        if allocates is None:
            notes[f"unknown operation {operation} on memory, left out"] += 1
        elif not is_memory(start, address, size):
            notes["allocations and frees with impossible times, addresses or sizes, left out"] += 1
        elif memory in schema.MANAGED:
            managed.append(Change(start, address, size, bool(allocates), memory, name if name else None))
        elif allocates:
            others[memory] += size
    return managed, others


def is_memory(start: int, address: int, size: int) -> bool:
    """Whether time, address and size of a change of memory are possible."""
    return start >= 0 and 0 < address < LAST_ADDRESS and 0 <= size <= min(MOST_BYTES, LAST_ADDRESS - address)


def kernels(export: Export, wanted: int, notes: Counter[str]) -> pl.DataFrame:
    """Launches of a process: `kernel`, `start` and `end` in nanoseconds, `gpu` from 0; in order of time."""
    pieces = [_NO_KERNELS]
    if export.check(schema.KERNELS):
        for chunk in export.chunks(schema.KERNELS):
            pid = process(chunk["globalPid"])
            own = (pid == wanted) | (pid == -1)
            fit = own & (chunk["start"] >= 0) & (chunk["end"] >= chunk["start"]) & (chunk["deviceId"] >= 0)
            notes["kernels with impossible times or GPUs, left out"] += int((own & ~fit).sum())
            columns = {"name": "shortName", "start": "start", "end": "end", "gpu": "deviceId"}
            pieces.append(pl.DataFrame({name: chunk[column][fit] for name, column in columns.items()}))
    found = pl.concat(pieces).sort("start", maintain_order=True)
    return found.select(_kernel_names(export, found["name"]), "start", "end", "gpu")


_NO_KERNELS = pl.DataFrame(schema=dict.fromkeys(("name", "start", "end", "gpu"), pl.Int64))


def _kernel_names(export: Export, numbers: pl.Series) -> pl.Series:
    used = set(numbers.unique().to_list())
    texts = export.rows(schema.STRINGS, ["id", "value"])
    names = {number: f"kernel {number}" for number in used}
    names |= {number: export.kernel_name(text) for number, text in texts if number in used and isinstance(text, str)}
    return numbers.replace_strict(names, return_dtype=pl.String).alias("kernel")
