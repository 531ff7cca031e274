"""Logs of RMM, RAPIDS' memory manager: the CSV file that its `logging_resource_adaptor` writes."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.errors import ProfileError
from octavo.files.text import lines
from octavo.measurements.imports.allocations import Change
from octavo.measurements.imports.allocators import Log, checked, write
from octavo.measurements.imports.write import check_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.runs.result import RunResult

COLUMNS = ("Thread", "Time", "Action", "Pointer", "Size", "Stream")
"""Source: rmm/mr/device/logging_resource_adaptor.hpp, `header`."""
_TIME = re.compile(r"(\d+):(\d\d):(\d\d)[.:](\d{1,9})")
_HALF_A_DAY, _DAY = 43_200_000_000_000, 86_400_000_000_000
"""Nanoseconds. Logs have no dates: a time that goes back by more than half a day is of the next day, and vice versa."""
_DEVICE = re.compile(r"\.dev(\d{1,3})(?=\.)")
"""What `rmm.enable_logging` puts into the name of each GPU's file."""
_UNNAMED = "the GPU: RMM logs one of them, which stands here as gpu0"
OTHER_STREAMS = "rows of another thread or stream than the first one's, which are not told apart"
_MISSING = "faults, copies and kernels"


def import_rmm(path: str | Path | Sequence[str | Path], folder: str | Path, *, force: bool = False) -> RunResult:
    """Import a log of RMM, or those of several GPUs; the folder appears when everything is written, or not at all.

    Args:
        path: the CSV file, or several, one for each GPU: gpuN where the name has `.devN`, else in this order.
        folder: the result folder to write.
        force: replace a result that is there.

    Raises:
        ProfileError: a file cannot be read, or is no such log; the message names the line. Or two are of one GPU.
        OutputError: the folder cannot be written, or holds something.

    """
    folder = Path(folder)
    check_folder(folder, force=force)
    return write(read(path), folder, force=force)


def read(path: str | Path | Sequence[str | Path]) -> Log:
    """The log of one GPU, or of several; errors as `import_rmm`."""
    paths = [Path(path)] if isinstance(path, (str, Path)) else [Path(each) for each in path]
    notes: Counter[str] = Counter()
    changes = {gpu: _read(each, notes) for gpu, each in _by_gpu(paths).items()}
    source = {"tool": "rmm", "file": ", ".join(each.name for each in paths)}
    missing = [_MISSING] if len(paths) > 1 else [_UNNAMED, _MISSING]
    return Log(source, _together(changes), missing, notes)


def is_head(content: bytes) -> bool:
    """Whether a file that begins like this is such a log, or means to be one."""
    first = content.split(b"\n", 1)[0].decode(errors="replace")
    return tuple(name.strip() for name in first.split(",", 3)[:3]) == COLUMNS[:3]


def _by_gpu(paths: Sequence[Path]) -> dict[int, Path]:
    """The file of each GPU, by its name where all names say it.

    Raises:
        ProfileError: two are of one GPU.

    """
    named = [_DEVICE.search(path.name) for path in paths]
    found: dict[int, Path] = {}
    for number, (path, name) in enumerate(zip(paths, named, strict=True)):
        gpu = int(name[1]) if name and all(named) and len(paths) > 1 else number
        if gpu in found:
            message = f"{path}: expected the log of another GPU, found a second one of gpu{gpu}, beside {found[gpu]}"
            raise ProfileError(message, code="ambiguous", file=path, found=gpu)
        found[gpu] = path
    return found


def _together(changes: dict[int, list[Change]]) -> dict[int, list[Change]]:
    """Logs have times of day alone: one that begins half a day before another began after midnight."""
    begins = {gpu: found[0].time for gpu, found in changes.items() if found}
    last = max(begins.values(), default=0)
    late = {gpu for gpu, begin in begins.items() if begin < last - _HALF_A_DAY}
    return {
        gpu: [replace(each, time=each.time + _DAY) for each in found] if gpu in late else found
        for gpu, found in changes.items()
    }


def _read(path: Path, notes: Counter[str]) -> list[Change]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return _changes(path, csv.reader(lines(file)), notes)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ProfileError(f"cannot read {path}: {reason}", code="unreadable", file=path) from None


def _changes(path: Path, reader: Any, notes: Counter[str]) -> list[Change]:
    """The rows of a log, as `csv.reader` returns them."""
    head: list[str] = next(reader, [])
    if tuple(name.strip() for name in head) != COLUMNS:
        raise ProfileError(
            f"{path}:1: expected the columns {','.join(COLUMNS)}, found {','.join(head)[:100]}",
            code="unexpected-value",
            file=path,
            expected=COLUMNS,
        )
    changes: list[Change] = []
    days, before, first = 0, 0, None
    for row in reader:
        where = f"{path}:{reader.line_num}"
        if len(row) != len(COLUMNS):
            raise ProfileError(
                f"{where}: expected {len(COLUMNS)} values, found {len(row)}",
                code="unexpected-value",
                expected=len(COLUMNS),
                found=len(row),
            )
        place = row[0].strip(), row[5].strip()
        first = first or place
        notes[OTHER_STREAMS] += place != first
        action, time = row[2].strip(), _nanoseconds(where, row[1].strip())
        if time < before - _HALF_A_DAY:
            days += 1
        elif days and time > before + _HALF_A_DAY:
            days -= 1  # Threads log side by side: a row from before midnight can stand after one from after it.
        before = time
        if action not in ("allocate", "free"):
            notes[f"`{action[:40]}`, left out"] += 1
            continue
        address, size = _whole(where, "Pointer", row[3]), _whole(where, "Size", row[4])
        if not checked(address, size, time):
            notes["impossible addresses or sizes, left out"] += 1
            continue
        changes.append(Change(days * _DAY + time, address, size, action == "allocate", "device"))
    return sorted(changes, key=lambda change: change.time)


def _nanoseconds(where: str, text: str) -> int:
    found = _TIME.fullmatch(text)
    if found is None:
        raise ProfileError(
            f"{where}: `Time`: expected hours:minutes:seconds.fraction, found {text[:40]}",
            code="unexpected-value",
            key="Time",
        )
    hours, minutes, seconds, fraction = found.groups()
    return ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * 10**9 + int(fraction.ljust(9, "0"))


def _whole(where: str, column: str, text: str) -> int:
    try:
        return int(text.strip(), 0)
    except ValueError:
        raise ProfileError(
            f"{where}: `{column}`: expected a whole number, found {text.strip()[:40]}",
            code="unexpected-value",
            key=column,
        ) from None
