"""Logs of RMM, RAPIDS' memory manager: the CSV file that its `logging_resource_adaptor` writes."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.errors import ProfileError
from octavo.files.text import lines
from octavo.measured.imports.allocations import Change
from octavo.measured.imports.allocators import Log, checked, write
from octavo.measured.imports.write import check_folder

if TYPE_CHECKING:
    from octavo.runs.result import RunResult

COLUMNS = ("Thread", "Time", "Action", "Pointer", "Size", "Stream")
"""Source: rmm/mr/device/logging_resource_adaptor.hpp, `header`."""
_TIME = re.compile(r"(\d+):(\d\d):(\d\d)[.:](\d{1,9})")
_HALF_A_DAY, _DAY = 43_200_000_000_000, 86_400_000_000_000
"""Nanoseconds. Logs have no dates: a time that is more than half a day earlier than the last one belongs to the next
day, and vice versa."""
_MISSING = ["the GPU: RMM logs one of them, which stands here as gpu0", "faults, copies and kernels"]


def import_rmm(path: str | Path, folder: str | Path, *, force: bool = False) -> RunResult:
    """Import a log of RMM; the folder appears once everything is written, or not at all.

    Args:
        path: the CSV file.
        folder: the result folder to write.
        force: replace a result that is there.

    Raises:
        ProfileError: the file cannot be read, or is no such log; the message names the line.
        OutputError: the folder cannot be written, or holds something.

    """
    path, folder = Path(path), Path(folder)
    check_folder(folder, force=force)
    notes: Counter[str] = Counter()
    try:
        with path.open(encoding="utf-8", newline="") as file:
            changes = _changes(path, csv.reader(lines(file)), notes)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ProfileError(f"cannot read {path}: {reason}", code="unreadable", file=path) from None
    return write(Log({"tool": "rmm", "file": path.name}, {0: changes}, _MISSING, notes), folder, force=force)


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
    days, before = 0, 0
    for row in reader:
        where = f"{path}:{reader.line_num}"
        if len(row) != len(COLUMNS):
            raise ProfileError(
                f"{where}: expected {len(COLUMNS)} values, found {len(row)}",
                code="unexpected-value",
                expected=len(COLUMNS),
                found=len(row),
            )
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
