"""Regions that Linux' DAMON found in use, as DAMO records them: JSON, plain or packed, or text of `perf script`."""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.errors import ProfileError
from octavo.files.text import read_bytes, reason
from octavo.measurements.activity.rows import LONGEST
from octavo.measurements.imports.heat import Samples, merged
from octavo.measurements.imports.heat import write as write_heat
from octavo.measurements.imports.write import check_folder

if TYPE_CHECKING:
    from octavo.runs.result import RunResult

_MOST_BYTES = 128 << 20
"""Ours, packed and unpacked: as Python's objects, each byte of JSON takes about 21."""
_BEGINS = 64
"""Characters that show which kind of text it is; ours."""
_MOST_TARGETS = 1 << 16
_TARGET = ("kdamond_idx", "context_idx", "target_id")
"""What names a target: each context numbers its own from 0; source: damo, `DamonRecord`."""
_LAST_ADDRESS = 1 << 57
"""Addresses with five levels of page tables on x86-64."""
_ZLIB, _ZLIB_CHECK = b"\x78", 31
"""How a packed file begins; source: RFC 1950, 2.2."""
_AGAIN = "`damo report access --input FILE --json --raw_number` writes such JSON"
_LINE = re.compile(
    r"\s(\d+)\.(\d{1,9}): damon:damon_aggregated: target_id=(\d+) nr_regions=(\d+) (\d+)-(\d+): (\d+)(?: \d+)?\s*$"
)
"""Source: include/trace/events/damon.h; the age, the last number, came later."""
_THREAD = re.compile(r"\s*(kdamond\.\d+)\s")
"""The thread that monitors: each numbers its targets from 0; source: mm/damon/core.c, `__damon_start`."""


@dataclass
class _Target:
    """What was monitored: an address space."""

    regions: list[tuple[int, int, float]] = field(default_factory=list)
    times: list[int] = field(default_factory=list)


def import_damon(path: str | Path, folder: str | Path, *, force: bool = False) -> RunResult:
    """Import what DAMON monitored; the folder appears when everything is written, or not at all.

    Args:
        path: what `damo record` wrote (JSON, plain or packed with zlib), what `damo report access --json` prints, or
            the text of `perf script` with events `damon:damon_aggregated`.
        folder: the result folder to write.
        force: replace a result that is there.

    Raises:
        ProfileError: the file cannot be read, or is no such record; the message names the place.
        OutputError: the folder cannot be written, or holds something.

    """
    path, folder = Path(path), Path(folder)
    check_folder(folder, force=force)
    notes: Counter[str] = Counter()
    content = _content(path)
    read = _of_json if content[:_BEGINS].lstrip()[:1] == "[" else _of_text
    targets = read(path, content, notes)
    rows = [_row(number, *one) for number, target in enumerate(targets) for one in merged(target.regions)]
    times = [time for target in targets for time in target.times]
    source = {"tool": "damon", "file": path.name, "bytes": path.stat().st_size, "snapshots": len(times)}
    assumed = [
        "accesses are spread evenly over a region: DAMON checks one page of each",
        "a region's checks that found it in use stand for how often it is used",
    ]
    missing = [
        "whether accesses were loads or stores, and accesses between checks",
        "whose addresses these are (a process', or physical ones): `process` counts targets",
    ]
    span = max(times, default=0) - min(times, default=0)
    if span > LONGEST:
        raise ProfileError(f"{path}: expected times within 104 days of each other", code="unexpected-value")
    return write_heat(Samples(source, rows, span, assumed, missing, notes), folder, force=force)


def _row(target: int, start: int, end: int, samples: float) -> dict[str, Any]:
    return {"process": target, "address": start, "bytes": end - start, "samples": samples}


def _content(path: Path) -> str:
    try:
        content = read_bytes(path, "a record of DAMON", _MOST_BYTES)
    except OSError as error:
        raise ProfileError(f"cannot read {path}: {reason(error)}", code="unreadable", file=path) from None
    if content[:1] == _ZLIB and int.from_bytes(content[:2], "big") % _ZLIB_CHECK == 0:
        unpack = zlib.decompressobj()
        try:
            content = unpack.decompress(content, _MOST_BYTES)
        except zlib.error as error:
            raise ProfileError(f"{path} is damaged: {error}", code="damaged", file=path) from None
        if not unpack.eof:
            message = f"{path} is cut off, or unpacks to more than {_MOST_BYTES >> 20} MiB"
            raise ProfileError(message, code="damaged", file=path)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        message = f"{path}: expected JSON of DAMO or text of `perf script`, found neither"
        raise ProfileError(message, _AGAIN, code="unexpected-value", file=path, key="format") from None


def _of_json(path: Path, content: str, notes: Counter[str]) -> list[_Target]:
    """Records: lists of snapshots, each a list of regions."""
    try:
        records = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ProfileError(f"{path}: expected JSON: {error}", code="unexpected-value", file=path) from None
    found: dict[tuple[str, ...], _Target] = {}
    for number, record in enumerate(records):
        where = f"{path}: record {number}"
        snapshots = _list(where, record, "snapshots")
        if not isinstance(record, dict) or record.get("scheme_idx") is not None or record.get("scheme_filters"):
            notes["records of regions that a scheme chose, left out"] += 1
            continue
        target = found.setdefault(tuple(str(record.get(key))[:100] for key in _TARGET), _Target())
        for index, snapshot in enumerate(snapshots):
            _snapshot(f"{where}, snapshot {index}", snapshot, target, notes)
    return list(found.values())


def _snapshot(where: str, snapshot: object, target: _Target, notes: Counter[str]) -> None:
    end = _whole(where, snapshot, "end_time")
    target.times.append(end)
    regions = []
    for index, region in enumerate(_list(where, snapshot, "regions")):
        place = f"{where}, region {index}"
        start, last = _whole(place, region, "start"), _whole(place, region, "end")
        if start == last == 0:
            continue  # DAMO ends a file of one snapshot with such a region.
        regions.append((*_range(place, start, last), float(_count(place, region))))
    _add(where, regions, target, notes)


def _count(where: str, region: Any) -> int:
    """Checks that found a region in use."""
    value = region.get("nr_accesses")
    if isinstance(value, dict):
        if value.get("samples") is None and value.get("percent") is not None:
            message = f"{where}: `nr_accesses`: expected `samples`, found `percent` alone"
            raise ProfileError(message, _AGAIN, code="unexpected-value", key="nr_accesses")
        return _whole(where, value, "samples")
    return _whole(where, region, "nr_accesses")


def _add(where: str, regions: list[tuple[int, int, float]], target: _Target, notes: Counter[str]) -> None:
    """The regions of one snapshot, which cover each byte once."""
    ordered = sorted(regions)
    for before, after in pairwise(ordered):
        if after[0] < before[1]:
            message = f"{where}: expected regions that do not overlap, found {before[:2]} and {after[:2]}"
            raise ProfileError(message, code="unexpected-value", key="regions")
    notes["snapshots without any region"] += not regions
    target.regions += regions


def _range(where: str, start: int, end: int) -> tuple[int, int]:
    if not 0 <= start < end <= _LAST_ADDRESS:
        message = f"{where}: expected a first address below the last one, found {start} and {end}"
        raise ProfileError(message, code="unexpected-value", key="start")
    return start, end


def _list(where: str, entry: object, name: str) -> list[Any]:
    value = entry.get(name) if isinstance(entry, dict) else None
    if not isinstance(value, list):
        message = f"{where}: `{name}`: expected a list, found {type(value).__name__}"
        raise ProfileError(message, _AGAIN, code="unexpected-value", key=name)
    return value


def _whole(where: str, entry: object, name: str) -> int:
    """A whole number, which DAMO may write as text, with commas between thousands."""
    value = entry.get(name) if isinstance(entry, dict) else None
    text = value.replace(",", "") if isinstance(value, str) else str(value)
    if isinstance(value, bool) or not re.fullmatch(r"\d{1,20}(\.\d{1,9})?", text, re.ASCII):
        message = f"{where}: `{name}`: expected a whole number, found {str(value)[:40]}"
        raise ProfileError(message, _AGAIN, code="unexpected-value", key=name)
    return int(text.split(".")[0])


def _of_text(path: Path, content: str, notes: Counter[str]) -> list[_Target]:
    """Events of the kernel, one for each region; all regions of a snapshot follow one another."""
    found: dict[tuple[str, int], _Target] = {}
    open_: dict[tuple[str, int], list[tuple[int, int, float]]] = {}
    for number, line in enumerate(content.split("\n"), 1):
        where = f"{path}:{number}"
        event = _LINE.search(line)
        if event is None:
            if "damon_aggregated" in line:
                message = f"{where}: expected target_id=N nr_regions=N START-END: COUNT, found {line.strip()[-80:]}"
                raise ProfileError(message, code="unexpected-value", file=path)
            notes["lines that are no event damon:damon_aggregated"] += bool(line.strip())
            continue
        seconds, fraction, target, regions, start, end, count = event.groups()
        if len(found) > _MOST_TARGETS or any(len(each) > 20 for each in event.groups()):
            raise ProfileError(f"{where}: expected numbers of 64 bits, of few targets", code="unexpected-value")
        thread = _THREAD.match(line)
        key = (thread[1] if thread else "", int(target))
        now = open_.setdefault(key, [])
        now.append((*_range(where, int(start), int(end)), float(count)))
        if len(now) == int(regions):
            of = found.setdefault(key, _Target())
            of.times.append(int(seconds) * 10**9 + int(fraction.ljust(9, "0")))
            _add(where, open_.pop(key), of, notes)
        elif len(now) > int(regions):
            message = f"{where}: expected {regions} regions in a snapshot, found {len(now)}"
            raise ProfileError(message, code="unexpected-value", file=path, key="nr_regions")
    notes["regions of a snapshot that was cut off, left out"] += sum(map(len, open_.values()))
    if not found:
        message = f"{path}: expected records of DAMON, found none"
        raise ProfileError(message, _AGAIN, code="missing", file=path, key="format")
    return list(found.values())
