"""PyTorch's memory snapshots as SQLite: as `memsnapdump dump2db` makes them of a pickle, or with the pickle's names.

Tables of each GPU: `block_N` (columns below) and `trace_entry_N`, whose `callstack` has the innermost frame last.
Source: github.com/codeasier/MemSnapDump, `tools/adaptors/database`. They have no times, only numbers of events.

Otherwise, `device_traces` has a row for each entry, with its `device`; `segments` and `blocks` are as in the pickle,
where a block names its `segment_id` and has its address as `addr`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from octavo.errors import ProfileError
from octavo.measurements.imports.allocations import Change
from octavo.measurements.imports.allocators import checked
from octavo.measurements.imports.nsys_export import Export, opened
from octavo.measurements.imports.torch_blocks import BEFORE, IMPOSSIBLE, MOST_GPUS, NO_TIMES, STEP

if TYPE_CHECKING:
    from collections import Counter

_TRACES, _SEGMENTS, _BLOCKS_OF = "device_traces", "segments", "blocks"
_COLUMNS = ("address", "requestedSize", "allocEventId", "freeEventId")
_BLOCKS = re.compile(r"block_(\d{1,3})")
_FRAME = re.compile(r"(.*\.py):(\d{1,9}) (.*)")


class Database(Export):
    """An open database."""

    tool: ClassVar[str] = "torch"
    again: ClassVar[str] = "`memsnapdump dump2db SNAPSHOT.pickle` writes one; the pickle can be imported as well"
    known: ClassVar[str] = "those of memsnapdump, 2026"

    def _check_tool(self) -> None:
        if not self.gpus() and _TRACES not in self._stored:
            found = ", ".join(sorted(self._stored)[:5]) or "no table"
            message = (
                f"{self.path} is no memory snapshot of PyTorch: expected the table block_0 or {_TRACES}, found {found}"
            )
            raise ProfileError(message, self.again, code="missing", file=self.path, key="block_0")

    def snapshot(self) -> dict[str, Any] | None:
        """The same as a pickle holds it, if the file has the pickle's names.

        Raises:
            ProfileError: a table lacks a column.

        """
        if not self._check(_TRACES, ("device", "action", "addr", "size")):
            return None
        traces: dict[int, list[dict[str, Any]]] = {}
        for entry in self._named(_TRACES):
            gpu = entry["device"]
            if not isinstance(gpu, int) or not 0 <= gpu < MOST_GPUS:
                message = f"{self.path}: table {_TRACES}: `device`: expected 0 to {MOST_GPUS - 1}, found {gpu!r}"
                raise ProfileError(message, code="unexpected-value", file=self.path, key="device")
            traces.setdefault(gpu, []).append(entry)
        of_segment: dict[object, list[dict[str, Any]]] = {}
        if self._check(_BLOCKS_OF, ("segment_id", "addr", "size", "state")):
            for block in self._named(_BLOCKS_OF):
                of_segment.setdefault(block["segment_id"], []).append({**block, "address": block["addr"]})
        segments = self._named(_SEGMENTS) if self._check(_SEGMENTS, ("id", "device", "address")) else []
        return {
            "device_traces": [traces.get(gpu, []) for gpu in range(max(traces, default=-1) + 1)],
            "segments": [{**each, "blocks": of_segment.get(each["id"], [])} for each in segments],
        }

    def _named(self, table: str) -> list[dict[str, Any]]:
        """Rows with the names of their columns, in order; frames are JSON."""
        columns = self._stored[table]
        order = "id" if "id" in columns else "rowid"
        rows = self._all(f'SELECT * FROM "{table}" ORDER BY "{order}"')  # noqa: S608 - our own names
        return [
            {name: _frames(value) if name == "frames" else value for name, value in zip(columns, row, strict=True)}
            for row in rows
        ]

    def gpus(self) -> list[int]:
        """The GPUs of which it has blocks."""
        return sorted(int(name[1]) for name in map(_BLOCKS.fullmatch, self._stored) if name)

    def blocks(self, gpu: int) -> list[tuple[object, ...]]:
        """Rows with `_COLUMNS`."""
        self._check(f"block_{gpu}", _COLUMNS)
        return self.rows(f"block_{gpu}", _COLUMNS)

    def frames(self, gpu: int) -> dict[object, str]:
        """The innermost Python function of each event, as `file:line function`."""
        named = {}
        for event, stack in self.rows(f"trace_entry_{gpu}", ("id", "callstack")):
            lines = stack.splitlines()[::-1] if isinstance(stack, str) else []
            frame = next(filter(None, map(_FRAME.fullmatch, lines)), None)
            if frame:
                named[event] = f"{Path(frame[1]).name}:{frame[2]} {frame[3]}"
        return named


def _frames(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return None


def read(path: Path, notes: Counter[str]) -> tuple[dict[str, Any] | None, dict[int, list[Change]]]:
    """What a pickle would hold, or else the allocations and frees of each GPU, in order of their events.

    Raises:
        ProfileError: the file is no such database, or is damaged.

    """
    with opened(path, Database) as database:
        snapshot = database.snapshot()
        if snapshot is not None:
            return snapshot, {}
        notes[NO_TIMES] += 1
        found = {gpu: _of(database, gpu, notes) for gpu in database.gpus()}
    return None, {gpu: rows for gpu, rows in found.items() if rows}


def _of(database: Database, gpu: int, notes: Counter[str]) -> list[Change]:
    named = database.frames(gpu)
    found = []
    for number, row in enumerate(database.blocks(gpu)):
        values = [value for value in row if isinstance(value, int)]
        if len(values) != len(_COLUMNS):
            message = f"{database.path}: row {number} of block_{gpu}: expected whole numbers, found {row}"
            raise ProfileError(message, code="unexpected-value", file=database.path, key=f"block_{gpu}")
        address, size, begin, end = values
        if not checked(address, size, max(begin, end, 0) * STEP) or -1 < end <= begin:
            notes[IMPOSSIBLE] += 1
            continue
        notes[f"blocks {BEFORE}; they are there from the start"] += begin < 0
        name = named.get(begin) or (BEFORE if begin < 0 else None)
        # Event 0 is the first of the recording; what was there before begins with it.
        found.append(Change(max(begin, 0) * STEP, address, size, True, "device", name))
        if end >= 0:
            found.append(Change(end * STEP, address, size, False, "device"))
    return sorted(found, key=lambda change: change.time)
