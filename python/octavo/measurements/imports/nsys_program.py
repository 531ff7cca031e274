"""Explicit programs in exports of Nsight Systems, as workloads: the same allocations, copies and kernels."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.arrays import np
from octavo.errors import ProfileError
from octavo.files import disk
from octavo.files.notes import note
from octavo.files.replacement import check_free
from octavo.generators.profiles import FORMAT
from octavo.measurements.imports import nsys_rows
from octavo.measurements.imports import nsys_schema as schema
from octavo.measurements.imports.device_memory import DeviceMemory
from octavo.measurements.imports.nsys import source as nsys_source
from octavo.measurements.imports.nsys_export import opened
from octavo.policies.new import class_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from octavo.measurements.imports.nsys_export import Export, Watch

_DEVICE = ("device", "device static", "managed", "managed static", "array")
"""Kinds of memory that kernels use."""
_RECORD = (
    "record with `nsys profile --trace=cuda --cuda-memory-usage=true PROGRAM`, then `nsys export --type sqlite REPORT`"
)
_ALLOCATES, _COPIES_IN, _COPIES_OUT, _FREES = range(4)
_DIRECTIONS = {"in": _COPIES_IN, "out": _COPIES_OUT}
_USUAL_SPEED = 1000.0
"""Gigabytes a second of a GPU that the export does not describe; chosen."""
_TEMPLATE = '''"""{program} as a workload for Octavo, made from {source} by `octavo import nsys`.

    octavo run {path} --scale 0.01 --kind explicit
    octavo compare {path} --scale 0.01 --kind explicit,managed
    octavo advise {path} --scale 0.01 --kind explicit

Recorded: ranges of device memory, copies, kernels and how long they ran. Assumed, as no profile tells it:

{assumed}
"""

from __future__ import annotations

from octavo.generators.profiles import Recorded


class {name}(Recorded):
    """{kernels} kernels, {copies} copies, {buffers} ranges of device memory."""

    file = "{file}"
    sha256 = "{sha256}"

    # To say which buffers a kernel touches, uncomment this; `octavo workload inspect {path}` names the buffers.
    #
    # def touched(self, kernel):
    #     if kernel.name == "{kernel}":
    #         return [0]
    #     return self.alive(kernel)
'''


def import_program(
    path: str | Path, output: str | Path, *, process: int | None = None, force: bool = False, watch: Watch | None = None
) -> dict[str, Any]:
    """Write an explicit program of an SQLite export of Nsight Systems as a workload in Python.

    Args:
        path: what `nsys export --type sqlite` wrote; it is not changed.
        output: the Python file to write; the recorded program lies beside it, as `NAME.program.json`.
        process: the process, where several ran kernels.
        force: replace files that are there.
        watch: called with the share that is read and the table that is being read.

    Returns:
        The recorded program: `buffers`, `copies`, `kernels`, `assumed`, `notes`.

    Raises:
        ProfileError: the file is no export, is damaged, or tells no kernels or allocations.
        OutputError: a file is there already, or cannot be written.

    """
    path, output = Path(path), Path(output)
    if output.suffix != ".py":
        raise ProfileError(
            f"{output}: expected a file that ends in .py", code="unexpected-value", key="program", file=output
        )
    data = output.with_suffix(".program.json")
    for each in (output, data):
        check_free(each, force=force)
    with opened(path, watch) as export:
        found = read(export, process)
    text = disk.json_text(found)
    disk.write_text(data, text)
    disk.write_text(output, _source(found, output, data, hashlib.sha256(text.encode()).hexdigest()))
    for said, times in found["notes"].items():
        note(f"{path.name}: {said} ({times:,})")
    return found


def _source(found: dict[str, Any], output: Path, data: Path, sha256: str) -> str:
    return _TEMPLATE.format(
        program=_plain(found["source"]["program"] or "A program"),
        source=_plain(found["source"]["file"]),
        path=_plain(str(output)),
        name=class_name(output.stem),
        assumed="\n".join(f"- {each}" for each in found["assumed"]),
        file=_plain(data.name),
        sha256=sha256,
        kernel=_plain(found["kernels"][0][0]),
        **{key: f"{len(found[key]):,}" for key in ("kernels", "copies", "buffers")},
    )


def _plain(text: str) -> str:
    """A text of a profile as a source may hold it: without quotation marks, backslashes or further lines."""
    return re.sub(r"[^\w .,:;<>()*&/+=-]", "?", text)[:200]


def read(export: Export, wanted: int | None) -> dict[str, Any]:
    """The explicit program of one process.

    Raises:
        ProfileError: see `import_program`.

    """
    notes: Counter[str] = Counter()
    for table, what in ((schema.KERNELS, "kernels"), (schema.MEMORY, "allocations")):
        if not export.check(table):
            message = f"{export.path}: expected {what} (table {table}), found none"
            raise ProfileError(message, _RECORD, code="missing", file=export.path, key=table, expected=what)
    process = _process(export, wanted)
    kernels = nsys_rows.kernels(export, process, notes)
    _check_kernels(export, kernels, process)
    memory = _memory(export, process, [int(start) for start in kernels["start"]], notes)
    buffers, copies = memory.ranges(len(kernels))
    if not buffers:
        message = f"{export.path}: process {process} allocated no memory of a GPU while it was recorded"
        raise ProfileError(message, _RECORD, code="missing", file=export.path, key=schema.MEMORY)
    speed = _speed(export)
    _note(memory, kernels, notes)
    return {
        "octavo_program": FORMAT,
        "source": nsys_source(export, process),
        "gigabytes_per_second": speed or _USUAL_SPEED,
        "assumed": _assumed(memory, speed),
        "notes": {said: times for said, times in notes.items() if times},
        "buffers": buffers,
        "copies": copies,
        "kernels": [[name, end - start] for name, start, end in kernels.select("kernel", "start", "end").rows()],
    }


def _assumed(memory: DeviceMemory, speed: float | None) -> list[str]:
    told = (
        f"{speed:,.0f} GB/s, as the profile says"
        if speed
        else f"{_USUAL_SPEED:,.0f} GB/s, as the profile says of no GPU"
    )
    return [
        "a kernel touches all memory that is allocated, each line once, as far as its measured time allows at "
        f"{told}; else the same share of each range, and the next kernel goes on there",
        "it stores to ranges that are copied to the host later, and loads the others",
        "it computes for its measured time on a node like cuda-sm90, while its lines are on their way",
        f"copies, recorded without addresses, belong to the allocation of their size ({memory.guessed:,} of "
        f"{len(memory.copies):,} have no such allocation, or several); the host writes what is copied to the GPU just "
        "before, and reads what comes back just after",
        "kernels run one after another; ranges whose addresses were used again are there from the start",
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


def _check_kernels(export: Export, kernels: pl.DataFrame, process: int) -> None:
    if kernels.is_empty():
        message = f"{export.path}: expected kernels of process {process}, found none"
        raise ProfileError(message, _RECORD, code="missing", file=export.path, key=schema.KERNELS)
    gpus = kernels["gpu"].unique().sort().to_list()
    if len(gpus) > 1:
        message = f"{export.path}: expected kernels of one GPU, found those of {', '.join(map(str, gpus))}"
        raise ProfileError(message, code="unexpected-value", file=export.path, key="deviceId", expected=1, found=gpus)


def _memory(export: Export, process: int, starts: list[int], notes: Counter[str]) -> DeviceMemory:
    """What was allocated, freed and copied, in order of time."""
    memory, unmatched = DeviceMemory(), "frees of memory that was not seen to be allocated"
    # At the same time: allocations, copies, frees.
    for start, kind, address, size in sorted([*_changes(export, process, notes), *_copies(export, process, notes)]):
        launch = bisect_left(starts, start)
        if kind == _ALLOCATES:
            memory.allocate(address, size, launch)
        elif kind == _FREES:
            notes[unmatched] += not memory.free(address, launch)
        else:
            memory.copy(size, launch, inwards=kind == _COPIES_IN)
    return memory


def _changes(export: Export, process: int, notes: Counter[str]) -> Iterator[tuple[int, int, int, int]]:
    kinds, operations = export.meanings(schema.MEMORY_KINDS, notes), export.meanings(schema.OPERATIONS, notes)
    for start, address, size, kind, operation, pid, _ in export.records(schema.MEMORY):
        if nsys_rows.process_of(pid) not in (process, -1) or kinds.get(kind) not in _DEVICE:
            continue
        allocates = operations.get(operation)
        if allocates is None or not nsys_rows.is_memory(start, address, size) or (allocates and not size):
            notes["allocations and frees with impossible times, addresses or sizes, left out"] += 1
        else:
            yield start, _ALLOCATES if allocates else _FREES, address, size


def _copies(export: Export, process: int, notes: Counter[str]) -> Iterator[tuple[int, int, int, int]]:
    if not export.check(schema.COPIES):
        notes["copies: none recorded"] += 1
        return
    kinds = export.meanings(schema.EXPLICIT_COPIES, notes)
    for chunk in export.chunks(schema.COPIES):
        pids = nsys_rows.process(chunk["globalPid"])
        for start, size, number, pid in zip(chunk["start"], chunk["bytes"], chunk["copyKind"], pids, strict=True):
            kind = kinds.get(int(number))
            if pid not in (process, -1) or kind == "managed":
                continue
            if kind in _DIRECTIONS and start >= 0 and 0 < size <= nsys_rows.MOST_BYTES:
                yield int(start), _DIRECTIONS[str(kind)], 0, int(size)
            else:
                notes["copies within a GPU, between GPUs, of arrays, or of impossible sizes, left out"] += 1


def _speed(export: Export) -> float | None:
    """Gigabytes a second of the GPU's memory, where the export says it."""
    rows = export.rows("TARGET_INFO_GPU", ["memoryBandwidth"])
    found = [value for (value,) in rows if isinstance(value, (int, float)) and value > 0]
    return found[0] / 1e9 if found else None
