"""Samples of memory accesses by Linux' `perf mem record`, as text of `perf mem report -D` or `perf script`."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.errors import ProfileError
from octavo.files.text import lines, reason
from octavo.measurements.activity.mapping import PAGE_BYTES
from octavo.measurements.imports.heat import Samples
from octavo.measurements.imports.heat import write as write_heat
from octavo.measurements.imports.write import check_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octavo.runs.result import RunResult

COLUMNS = ("PID", "TID", "IP", "ADDR", "LOCAL WEIGHT", "DSRC", "SYMBOL")
"""Source: tools/perf/builtin-mem.c, `report_raw_events`; `-p` and `--data-page-size` add two after ADDR."""
FURTHER = ("PHYS ADDR", "DATA PAGE SIZE")
_SCRIPT = re.compile(r"\s([0-9a-f]+)\s+([0-9a-f]+)\s+\|OP .*\|([A-Z]+ .*)$")
_ENDS = {"N/A", "No", "Yes", "Data", "Addr", "or", "&"}
"""Words of the last part of a data source; source: tools/perf/util/mem-events.c."""
_PID = re.compile(r"\s(\d+)(?:/\d+)?\s")
_AGAIN = "`perf mem record PROGRAM`, then `perf mem report -D -x, > FILE` writes such text"
_LOAD, _STORE = 1 << 1, 1 << 2
"""Kinds of access in the data source; source: include/uapi/linux/perf_event.h, `perf_mem_data_src`."""
_LEVEL_SHIFT, _NUMBER_SHIFT, _NUMBER_MASK, _UNKNOWN_NUMBER = 5, 33, 0xF, 0xF
_MEMORIES = 1 << 7 | 1 << 8 | 1 << 9
"""Of the levels: local memory, and remote memory one and two hops away."""
_FAR_MEMORIES = 1 << 8 | 1 << 9
_CXL, _RAM, _PMEM = 0x9, 0xD, 0xE
"""Of the numbers of levels, which newer processors give."""
_REMOTE = 1 << 37
"""The bit that says that a numbered level is another socket's."""
_MISS = 1 << 2
"""The bit of the levels that says that what they name had not the data."""
_SILENT = 1 << 0
"""The bit of the levels that says that none is known."""
_MOST_PAGES = 1 << 21
"""Ours: 8 GiB of pages that samples touched, each of which takes memory here."""
_QUIRK = "0x016"
"""What perf prints in front of addresses between blanks: its format has the parts of `0x%016x` in another order."""
_PLAIN_LENGTH = 18
_COMMAS = re.compile(r"\s*\d+,")
"""How a line begins that has commas between its columns."""
_USER_END = 1 << 63


@dataclass(slots=True)
class _Page:
    samples: int = 0
    loads: int = 0
    stores: int = 0
    memory: int = 0
    far: int = 0
    weight: int = 0
    weighed: int = 0


@dataclass
class _Found:
    pages: dict[tuple[int, int], _Page] = field(default_factory=dict)
    notes: Counter[str] = field(default_factory=Counter)
    levels: bool = False

    def add(self, pid: int, address: int, source: int, weight: int | None) -> None:
        """Count a sample."""
        if not address or address >= _USER_END:
            self.notes["samples without an address, or of the kernel's, left out"] += 1
            return
        page = self.pages.setdefault((pid, address // PAGE_BYTES), _Page())
        page.samples += 1
        page.loads += bool(source & _LOAD)
        page.stores += bool(source & _STORE)
        self.notes["samples that are neither loads nor stores"] += not source & (_LOAD | _STORE)
        self.notes["samples that missed a cache, without what served them"] += _missed(source)
        served = _served(source)
        self.levels |= served is not None
        page.memory += served in (_NEAR, _FAR)
        page.far += served == _FAR
        if weight is not None:
            page.weight += weight
            page.weighed += 1


_CACHE, _NEAR, _FAR = range(3)
"""What served an access: a cache, memory of this socket, or another memory (another socket's, CXL, persistent)."""


def _missed(source: int) -> bool:
    """Whether only what did not serve an access is known."""
    level = source >> _LEVEL_SHIFT
    return bool(level & _MISS) and not level & _MEMORIES


def _served(source: int) -> int | None:
    """What served an access; None if the processor does not say."""
    if _missed(source):
        return None
    number = source >> _NUMBER_SHIFT & _NUMBER_MASK
    if number in (_CXL, _PMEM) or (number == _RAM and source & _REMOTE):
        return _FAR
    if number not in (0, _UNKNOWN_NUMBER):
        return _NEAR if number == _RAM else _CACHE
    level = source >> _LEVEL_SHIFT
    if level & _SILENT or not level & 0x3FFF:
        return None
    return _FAR if level & _FAR_MEMORIES else _NEAR if level & _MEMORIES else _CACHE


def import_perf_mem(path: str | Path, folder: str | Path, *, force: bool = False) -> RunResult:
    """Import samples of `perf mem`; the folder appears when everything is written, or not at all.

    Args:
        path: the text of `perf mem report -D`, or of `perf script -F pid,addr,data_src,weight`.
        folder: the result folder to write.
        force: replace a result that is there.

    Raises:
        ProfileError: the file cannot be read, or is no such text; the message names the line.
        OutputError: the folder cannot be written, or holds something.

    """
    path, folder = Path(path), Path(folder)
    check_folder(folder, force=force)
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            found = _read(path, lines(file))
    except OSError as error:
        raise ProfileError(f"cannot read {path}: {reason(error)}", code="unreadable", file=path) from None
    weighed = any(page.weighed for page in found.pages.values())
    missing = [
        *([] if found.levels else ["levels of memory: this processor does not tell them"]),
        *([] if weighed else ["weights: none recorded"]),
        "times: the text has none",
        "accesses between samples, faults, copies and kernels",
    ]
    assumed = [
        f"each sample stands for its page of {PAGE_BYTES:,} bytes, and for as many accesses as any other; "
        "with a least latency (--ldlat), loads from caches are rarer than in truth",
    ]
    rows = [_row(pid, page, one, weighed, found.levels) for (pid, page), one in found.pages.items()]
    source = {"tool": "perf-mem", "file": path.name, "bytes": path.stat().st_size}
    return write_heat(Samples(source, rows, 0, assumed, missing, found.notes), folder, force=force)


def _row(pid: int, page: int, one: _Page, weighed: bool, levels: bool) -> dict[str, Any]:
    return {
        "process": pid,
        "address": page * PAGE_BYTES,
        "bytes": PAGE_BYTES,
        "samples": float(one.samples),
        "loads": one.loads,
        "stores": one.stores,
        "memory_samples": one.memory if levels else None,
        "far_samples": one.far if levels else None,
        "mean_weight": one.weight / one.weighed if weighed and one.weighed else None,
    }


def _read(path: Path, text: Iterable[str]) -> _Found:
    found, columns, number = _Found(), None, 0
    for number, line in enumerate(text, 1):
        where = f"{path}:{number}"
        if line.startswith("#"):
            columns = columns or _columns(where, line)
        elif columns:
            _raw(where, line.rstrip("\n"), columns, found)
        elif (script := _SCRIPT.search(" " + line.rstrip("\n"))) is not None:
            _script(where, script, line, found)
        elif line.strip():
            message = f"{where}: expected the columns {', '.join(COLUMNS)} or samples of `perf script`, found "
            raise ProfileError(message + line.strip()[:60], _AGAIN, code="unexpected-value", file=path, key="format")
        if len(found.pages) > _MOST_PAGES:
            raise ProfileError(f"{where}: expected samples of at most {_MOST_PAGES:,} pages", code="too-large")
    if not found.pages:
        message = f"{path}: expected samples, found none in {number:,} lines"
        raise ProfileError(message, _AGAIN, code="missing", file=path, key="samples")
    return found


def _script(where: str, script: re.Match[str], line: str, found: _Found) -> None:
    """A line of `perf script`: process, address, data source, and the weight if there is one."""
    address, source, end = script.groups()
    words = end.split()[1:]
    weight = int(words.pop()[:40]) if words and words[-1].isdecimal() else None
    if not _ENDS.issuperset(words):
        message = f"{where}: expected the weight alone after the data source, found {end[-60:]}"
        raise ProfileError(message, "`perf script -F pid,addr,data_src,weight` prints it", code="unexpected-value")
    named = _PID.search(" " + line[: script.start(1)])
    found.notes["samples that name no process"] += named is None
    place, kind, cost = _sized(where, int(address, 16), int(source, 16), weight or 0)
    found.add(int(named[1][-9:]) if named else 0, place, kind, None if weight is None else cost)


def _columns(where: str, line: str) -> tuple[str, ...] | None:
    """The columns that the first comment names; None if it is another comment."""
    names = tuple(name.strip() for name in line[1:].split(","))
    if names[:1] != COLUMNS[:1]:
        return None
    known = tuple(name for name in names if name not in FURTHER)
    if known != COLUMNS or names[:4] != COLUMNS[:4]:
        message = f"{where}: expected the columns {', '.join(COLUMNS)}, found {', '.join(names)[:200]}"
        raise ProfileError(message, _AGAIN, code="unexpected-value", key="format", expected=COLUMNS)
    return names


def _raw(where: str, line: str, columns: tuple[str, ...], found: _Found) -> None:
    """A line of `perf mem report -D`."""
    between = "," if _COMMAS.match(line) else None  # Symbols of C++ have commas, too.
    words = line.split(between, len(columns) - 1)
    if len(words) != len(columns):
        message = f"{where}: expected {len(columns)} values, found {len(words)}"
        raise ProfileError(message, _AGAIN, code="unexpected-value", expected=len(columns), found=len(words))
    row = dict(zip(columns, (word.strip() for word in words), strict=True))
    address = row["ADDR"]
    if between is None and address.startswith(_QUIRK):
        address = f"0x{address.removeprefix(_QUIRK)}"
    elif between is None and len(address) != _PLAIN_LENGTH:
        message = f"{where}: `ADDR`: expected 0x and 16 digits, or {_QUIRK} and digits, found {address[:40]}"
        raise ProfileError(message, "`perf mem report -D -x,` puts commas between columns", code="unexpected-value")
    pid, weight = (_whole(where, name, row[name], 10) for name in ("PID", "LOCAL WEIGHT"))
    place, source = _whole(where, "ADDR", address, 16), _whole(where, "DSRC", row["DSRC"], 16)
    if not 0 <= pid < 1 << 31:
        raise ProfileError(
            f"{where}: `PID`: expected a process, found {str(pid)[:40]}", code="unexpected-value", key="PID"
        )
    found.add(pid, *_sized(where, place, source, weight))


def _whole(where: str, column: str, text: str, base: int) -> int:
    try:
        return int(text, base)
    except ValueError:
        message = f"{where}: `{column}`: expected a whole number, found {text[:40]}"
        raise ProfileError(message, _AGAIN, code="unexpected-value", key=column) from None


def _sized(where: str, *numbers: int) -> tuple[int, ...]:
    for number in numbers:
        if not 0 <= number < 1 << 64:
            # In hexadecimal digits: Python writes no decimal ones of numbers as long as a line can have.
            message = f"{where}: expected numbers of 64 bits, found {hex(number)[:40]}"
            raise ProfileError(message, code="unexpected-value")
    return numbers
