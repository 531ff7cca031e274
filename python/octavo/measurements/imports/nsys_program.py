"""Explicit programs in files of Nsight Systems and nvprof, as workloads: the same allocations, copies and kernels."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from octavo.arrays import np
from octavo.errors import ProfileError
from octavo.generators.profiles import FORMAT, USUAL_SPEED
from octavo.measurements.imports import nsys_rows, program_file
from octavo.measurements.imports import nsys_schema as schema
from octavo.measurements.imports.device_memory import DeviceMemory
from octavo.measurements.imports.nsys import source as nsys_source
from octavo.measurements.imports.nsys_export import Export, opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from octavo.measurements.imports.nsys_export import Watch

_DEVICE = ("device", "device static", "managed", "managed static", "array")
"""Kinds of memory that kernels use."""
_ALLOCATES, _COPIES_IN, _COPIES_OUT, _FREES = range(4)
_DIRECTIONS = {"in": _COPIES_IN, "out": _COPIES_OUT}


_ALL = -1
"""Stands for every GPU."""
_UNMATCHED = "frees of memory that was not seen to be allocated"
_IMPOSSIBLE = "allocations and frees with impossible times, addresses or sizes, left out"
_OTHER_COPIES = "copies within a GPU, of arrays, or of impossible sizes, left out"
_PEERS = "copies to or from another GPU, left out: what they bring is taken to be there"
_ELSEWHERE = "allocations and copies of a GPU that ran no kernels, left out"

_Notes = defaultdict[int, Counter[str]]
"""By GPU."""


class _Event(NamedTuple):
    """An allocation, a copy or a free. At the same time, they come in this order."""

    start: int
    kind: int
    address: int
    bytes: int
    gpu: int


def import_program(
    path: str | Path,
    output: str | Path,
    *,
    process: int | None = None,
    force: bool = False,
    watch: Watch | None = None,
    kind: type[Export] = Export,
) -> list[dict[str, Any]]:
    """Write an explicit program of a profiler's file as a workload in Python, for each GPU a class.

    Args:
        path: what `nsys export --type sqlite`, `nvprof -o` or rocprofv3 wrote; it is not changed.
        output: the Python file to write; the recorded program lies beside it, as `NAME.program.json`.
        process: the process, where several ran kernels.
        force: replace files that are there.
        watch: called with the share that is read and the table that is being read.
        kind: whose file it is: `Export` of Nsight Systems, `Nvprof` or `Rocpd`.

    Returns:
        The recorded program of each GPU that ran kernels: `buffers`, `copies`, `kernels`, `assumed`, `notes`.

    Raises:
        ProfileError: the file is no export, is damaged, or tells no kernels or allocations.
        OutputError: a file is there already, or cannot be written.

    """
    path, output = Path(path), Path(output)
    program_file.check(output, force=force)
    with opened(path, kind, watch) as export:
        found = read(export, process)
    program_file.write(output, found, ("profiles", "Recorded"), program_file.RECORDED, force=force)
    return found


def read(export: Export, wanted: int | None) -> list[dict[str, Any]]:
    """The explicit program of one process on each of its GPUs.

    Raises:
        ProfileError: see `import_program`.

    """
    notes = _Notes(Counter)
    for table, what in ((schema.KERNELS, "kernels"), (schema.MEMORY, "allocations")):
        if not export.check(table):
            message = f"{export.path}: expected {what} (table {table}), found none"
            raise ProfileError(message, export.record, code="missing", file=export.path, key=table, expected=what)
    process = _process(export, wanted)
    kernels = nsys_rows.kernels(export, process, notes[_ALL])
    if kernels.is_empty():
        message = f"{export.path}: expected kernels of process {process}, found none"
        raise ProfileError(message, export.record, code="missing", file=export.path, key=schema.KERNELS)
    gpus = kernels["gpu"].unique().sort().to_list()
    events = sorted([*_changes(export, process, notes), *_copies(export, process, notes)])
    by_gpu = defaultdict[int, list[_Event]](list)
    for one in _placed(export, events, gpus, notes):
        by_gpu[one.gpu].append(one)
    for table, what in export.left_out.items():
        notes[_ALL][what] += export.count(table)
    allocated = [gpu for gpu in gpus if any(one.kind == _ALLOCATES for one in by_gpu[gpu])]
    if not allocated:
        message = f"{export.path}: process {process} allocated no memory of a GPU while it was recorded"
        raise ProfileError(message, export.record, code="missing", file=export.path, key=schema.MEMORY)
    of_gpu = {gpu: kernels.filter(pl.col("gpu") == gpu) for gpu in gpus}
    for gpu in set(gpus).difference(allocated):
        notes[_ALL][f"kernels of gpu{gpu}, which allocated no memory, left out"] += len(of_gpu[gpu])
    return [_program(export, process, of_gpu[gpu], by_gpu[gpu], notes) for gpu in allocated]


def _placed(export: Export, events: Iterable[_Event], gpus: list[int], notes: _Notes) -> list[_Event]:
    """Events with their GPU; a free is of the one that allocated its address last.

    Raises:
        ProfileError: several GPUs ran kernels, and an allocation or a copy does not name its own.

    """
    owner: dict[int, int] = {}
    found = []
    for one in events:
        gpu = owner.pop(one.address, one.gpu) if one.kind == _FREES else one.gpu
        if gpu == _ALL and len(gpus) > 1 and one.kind != _FREES:
            message = f"{export.path}: expected the GPU of each allocation and copy, as {len(gpus)} GPUs ran kernels"
            raise ProfileError(message, code="unexpected-value", file=export.path, key="deviceId", found=gpus)
        gpu = gpus[0] if gpu == _ALL else gpu
        if one.kind == _ALLOCATES:
            owner[one.address] = gpu
        notes[_ALL][_ELSEWHERE] += one.kind != _FREES and gpu not in gpus
        found.append(one._replace(gpu=gpu))
    return found


def _program(
    export: Export, process: int, kernels: pl.DataFrame, events: Iterable[_Event], notes: _Notes
) -> dict[str, Any]:
    """What one GPU does."""
    gpu = int(kernels["gpu"][0])
    own = notes[_ALL] + notes[gpu]
    memory = _memory(events, kernels["start"].to_list(), own)
    buffers, copies = memory.ranges(len(kernels))
    speed = _speed(export, gpu)
    _note(memory, kernels, own)
    return {
        "octavo_program": FORMAT,
        "gpu": gpu,
        "source": nsys_source(export, process),
        "gigabytes_per_second": speed or USUAL_SPEED,
        "recorded": "ranges of device memory, copies, kernels and how long they ran",
        "about": f"{len(kernels):,} kernels, {len(copies):,} copies, {len(buffers):,} ranges of device memory.",
        "assumed": _assumed(memory, speed),
        "notes": {said: times for said, times in own.items() if times},
        "buffers": buffers,
        "copies": copies,
        "kernels": [[name, end - start] for name, start, end in kernels.select("kernel", "start", "end").rows()],
    }


def _assumed(memory: DeviceMemory, speed: float | None) -> list[str]:
    told = (
        f"{speed:,.0f} GB/s, as the profile says"
        if speed
        else f"{USUAL_SPEED:,.0f} GB/s, as the profile says of no GPU"
    )
    return [
        "a kernel touches all memory that is allocated, each line once, as far as its measured time allows at "
        f"{told}; else the same share of each range, and the next kernel goes on there",
        "it stores to ranges that are copied to the host later, and loads the others",
        "it computes for its measured time on a node like cuda-sm90, while its lines are on their way",
        f"copies, recorded without addresses, belong to the allocation of their size ({memory.guessed:,} of "
        f"{len(memory.copies):,} have no such allocation, or several); the host writes what is copied to the GPU just "
        "before, and reads what comes back just after",
        "kernels run one after another; a range whose addresses were used again is there from the first time to the "
        "last",
    ]


def _note(memory: DeviceMemory, kernels: pl.DataFrame, notes: Counter[str]) -> None:
    notes["copies larger than any allocation, left out"] += memory.lost
    overlapping = kernels["start"].to_numpy()[1:] < np.maximum.accumulate(kernels["end"].to_numpy())[:-1]
    notes["kernels that began before the one before had ended: they run one after another"] += int(overlapping.sum())


def _process(export: Export, wanted: int | None) -> int:
    """The process that ran kernels; -1 if none is named."""
    pids = [nsys_rows.process(chunk["globalPid"]) for chunk in export.chunks(schema.KERNELS)]
    found = sorted({int(pid) for each in pids for pid in np.unique(each)} - {-1})
    if wanted is not None and wanted not in found:
        message = f"{export.path}: process {wanted} ran no kernels, expected one of {', '.join(map(str, found))}"
        raise ProfileError(message, code="missing", file=export.path, key="process", expected=found, found=wanted)
    if wanted is None and len(found) > 1:
        message = f"{export.path}: expected kernels of one process, found {len(found)}"
        hint = f"choose one with --process: {', '.join(map(str, found))}"
        raise ProfileError(message, hint, code="ambiguous", file=export.path, key="process", found=len(found))
    return wanted if wanted is not None else next(iter(found), -1)


def _memory(events: Iterable[_Event], starts: list[int], notes: Counter[str]) -> DeviceMemory:
    """What was allocated, freed and copied, in order of time."""
    memory = DeviceMemory()
    for start, kind, address, size, _ in events:
        launch = bisect_left(starts, start)
        if kind == _ALLOCATES:
            memory.allocate(address, size, launch)
        elif kind == _FREES:
            notes[_UNMATCHED] += not memory.free(address, launch)
        else:
            memory.copy(size, launch, inwards=kind == _COPIES_IN)
    return memory


def _changes(export: Export, process: int, notes: _Notes) -> Iterator[_Event]:
    kinds, operations = (export.meanings(each, notes[_ALL]) for each in (schema.MEMORY_KINDS, schema.OPERATIONS))
    for start, address, size, kind, operation, pid, gpu, _ in export.records(schema.MEMORY):
        if nsys_rows.process_of(pid) not in (process, -1) or kinds.get(kind) not in _DEVICE:
            continue
        allocates = operations.get(operation)
        if allocates is None or not nsys_rows.is_memory(start, address, size) or (allocates and not size):
            notes[_ALL][_IMPOSSIBLE] += 1
        else:
            yield _Event(start, _ALLOCATES if allocates else _FREES, address, size, gpu)


def _copies(export: Export, process: int, notes: _Notes) -> Iterator[_Event]:
    if not export.check(schema.COPIES):
        notes[_ALL]["copies: none recorded"] += 1
        return
    kinds = export.meanings(schema.EXPLICIT_COPIES, notes[_ALL])
    columns = ("start", "bytes", "copyKind", "deviceId", "srcDeviceId", "dstDeviceId")
    for chunk in export.chunks(schema.COPIES):
        pids = nsys_rows.process(chunk["globalPid"])
        for pid, *row in zip(pids, *(chunk[name] for name in columns), strict=True):
            start, size, number, gpu, *ends = map(int, row)
            kind = kinds.get(number)
            if pid not in (process, -1):
                continue
            if kind == "managed":
                notes[gpu]["migrations of managed memory, left out: the replay makes its own"] += 1
            elif kind in _DIRECTIONS and start >= 0 and 0 < size <= nsys_rows.MOST_BYTES:
                yield _Event(start, _DIRECTIONS[str(kind)], 0, size, gpu)
            elif min(ends) >= 0 and ends[0] != ends[1]:
                for end in ends:
                    notes[end][_PEERS] += 1
            else:
                notes[gpu][_OTHER_COPIES] += 1


def _speed(export: Export, gpu: int) -> float | None:
    """Gigabytes a second of the GPU's memory, where the export says it."""
    rows = export.rows("TARGET_INFO_GPU", ["id", "memoryBandwidth"])
    found = {number: value for number, value in rows if isinstance(value, (int, float)) and value > 0}
    return found.get(gpu, next(iter(found.values()))) / 1e9 if found else None
