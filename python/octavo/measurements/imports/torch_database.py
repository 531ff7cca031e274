"""PyTorch's memory snapshots as SQLite, as `memsnapdump dump2db` makes them of a pickle: blocks and their events.

Tables of each GPU: `block_N` (columns below) and `trace_entry_N`, whose `callstack` has the innermost frame last.
Source: github.com/codeasier/MemSnapDump, `tools/adaptors/database`. They have no times, only numbers of events.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from octavo.errors import ProfileError
from octavo.measurements.imports.allocations import Change
from octavo.measurements.imports.allocators import checked
from octavo.measurements.imports.nsys_export import Export, opened
from octavo.measurements.imports.torch_blocks import BEFORE, IMPOSSIBLE, NO_TIMES, STEP

if TYPE_CHECKING:
    from collections import Counter

_COLUMNS = ("address", "requestedSize", "allocEventId", "freeEventId")
_BLOCKS = re.compile(r"block_(\d{1,3})")
_FRAME = re.compile(r"(.*\.py):(\d{1,9}) (.*)")


class Database(Export):
    """An open database."""

    tool: ClassVar[str] = "torch"
    again: ClassVar[str] = "`memsnapdump dump2db SNAPSHOT.pickle` writes one; the pickle can be imported as well"
    known: ClassVar[str] = "those of memsnapdump, 2026"

    def _check_tool(self) -> None:
        if not self.gpus():
            found = ", ".join(sorted(self._stored)[:5]) or "no table"
            message = f"{self.path} is no memory snapshot of PyTorch: expected the table block_0, found {found}"
            raise ProfileError(message, self.again, code="missing", file=self.path, key="block_0")

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


def changes(path: Path, notes: Counter[str]) -> dict[int, list[Change]]:
    """Allocations and frees of each GPU, in order of their events.

    Raises:
        ProfileError: the file is no such database, or is damaged.

    """
    with opened(path, Database) as database:
        notes[NO_TIMES] += 1
        found = {gpu: _of(database, gpu, notes) for gpu in database.gpus()}
    return {gpu: rows for gpu, rows in found.items() if rows}


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
