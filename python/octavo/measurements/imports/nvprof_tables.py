"""Databases of nvprof (`nvprof -o FILE`), open for reading as if they were exports of Nsight Systems.

Tables carry the names and fields of CUPTI's activity records (cupti_activity.h, CUDA 8 to 12: `CUpti_ActivityMemcpy`,
`...Kernel4`, `...Memory`, `...UnifiedMemoryCounter2`, `...Device2`); a table without rows may be there or not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from octavo.errors import ProfileError
from octavo.measurements.imports import nsys_schema as schema
from octavo.measurements.imports.nsys_export import Export

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from octavo.measurements.imports.nsys_export import Watch

DEVICES, MEMORY = "CUPTI_ACTIVITY_KIND_DEVICE", "CUPTI_ACTIVITY_KIND_MEMORY"
COUNTERS = "CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER"
COUNTER_COLUMNS = ("counterKind", "value", "start", "end", "address", "srcId", "dstId", "processId", "flags")
NESTED = {"CUPTI_ACTIVITY_KIND_CDP_KERNEL": "kernels that kernels launched, left out"}
_GPUS = "TARGET_INFO_GPU"


@dataclass(frozen=True)
class _Part:
    """Rows of one of nvprof's tables, as a part of a table that the readers know."""

    table: str
    columns: dict[str, str]
    """Our name of a column, and theirs, or a constant."""
    among: str = ""

    @property
    def needed(self) -> list[str]:
        return [theirs for theirs in self.columns.values() if theirs.isidentifier()]

    def select(self) -> str:
        chosen = ", ".join(f"{_quoted(theirs)} AS {_quoted(ours)}" for ours, theirs in self.columns.items())
        return f'SELECT {chosen} FROM "{self.table}"{self.among}'  # noqa: S608 - our own names


def _quoted(name: str) -> str:
    return f'"{name}"' if name.isidentifier() else name


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


_LAUNCH = {**_same("start", "end", "deviceId"), "shortName": "name"}
_COPY = {**_same("start", "end", "deviceId", "bytes", "copyKind"), "migrationCause": "-1", "virtualAddress": "-1"}
_ENDS = ("srcDeviceId", "dstDeviceId")
# CUPTI counts kinds of memory from 1, Nsight Systems from 0.
_KIND = {**_same("address", "bytes", "deviceId"), "memKind": '"memoryKind" - 1'}
_PARTS = {
    schema.KERNELS: [
        _Part("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", _LAUNCH),
        _Part("CUPTI_ACTIVITY_KIND_KERNEL", _LAUNCH),
    ],
    schema.COPIES: [
        _Part(schema.COPIES, {**_COPY, **dict.fromkeys(_ENDS, "-1")}),
        _Part(f"{schema.COPIES}2", {**_COPY, **_same(*_ENDS)}),
    ],
    schema.MEMORY: [
        _Part(MEMORY, {"start": "start", **_KIND, "memoryOperationType": "0"}),
        _Part(MEMORY, {"start": "end", **_KIND, "memoryOperationType": "1"}, ' WHERE "end" > 0'),
    ],
    COUNTERS: [_Part(COUNTERS, _same(*COUNTER_COLUMNS))],
    schema.STRINGS: [_Part(schema.NVPROF_TEXTS, {"id": "_id_", "value": "value"})],
}
_NAMED_GPUS = (
    f'SELECT device."id" AS "id", text."value" AS "name", device."globalMemoryBandwidth" * 1000 AS "memoryBandwidth" '  # noqa: S608
    f'FROM "{DEVICES}" AS device LEFT JOIN "{schema.NVPROF_TEXTS}" AS text ON text."_id_" = device."name"'
)
"""CUPTI has bandwidths in kilobytes a second."""


class Nvprof(Export):
    """An open database of nvprof; its tables appear under the names that exports of Nsight Systems have."""

    tool: ClassVar[str] = "nvprof"
    again: ClassVar[str] = "`nvprof -o FILE PROGRAM` writes one"
    record: ClassVar[str] = "record with `nvprof --track-memory-allocations on -o FILE PROGRAM`"
    known: ClassVar[str] = "those of CUDA 8 to 12"
    left_out: ClassVar[dict[str, str]] = {
        **Export.left_out,
        **NESTED,
        COUNTERS: "counters of unified memory, left out: the replay moves pages itself",
    }

    def __init__(self, path: Path, connection: sqlite3.Connection, watch: Watch | None = None) -> None:
        super().__init__(path, connection, watch)
        self._check(schema.NVPROF_TEXTS, ("_id_", "value"))
        if self._check(DEVICES, ("id", "name", "globalMemoryBandwidth")):
            self.columns[_GPUS] = ("id", "name", "memoryBandwidth")
        self._check_processes()

    def _check_tool(self) -> None:
        if schema.NVPROF_TEXTS not in self._stored:
            found = ", ".join(sorted(self._stored)[:5]) or "no table"
            hint = (
                "`octavo import nsys` reads exports of Nsight Systems" if schema.STRINGS in self._stored else self.again
            )
            message = f"{self.path} is no database of nvprof: expected the table {schema.NVPROF_TEXTS}, found {found}"
            raise ProfileError(message, hint, code="missing", file=self.path, key=schema.NVPROF_TEXTS)

    def _readable(self) -> dict[str, tuple[str, ...]]:
        return {
            table: tuple(parts[0].columns)
            for table, parts in _PARTS.items()
            if any(part.table in self._stored for part in parts)
        }

    def _relation(self, table: str) -> str:
        if table == _GPUS:
            return f"({_NAMED_GPUS})"
        parts = [part.select() for part in _PARTS.get(table, ()) if part.table in self._stored]
        return f"({' UNION ALL '.join(parts)})" if parts else super()._relation(table)

    def check(self, table: str) -> bool:
        """As for exports, of the tables of the file that stand for the given one."""
        found = [self._check(part.table, part.needed) for part in _PARTS.get(table, ())]
        return any(found)

    def _size(self, table: str) -> int:
        return sum(super(Nvprof, self)._size(part.table) for part in _PARTS[table] if part.table in self._stored)

    @property
    def schema(self) -> str:
        """The number that nvprof gives its tables."""
        return self.metadata("") or "of unknown version"

    def metadata(self, _name: str) -> str | None:
        """The one property that a database has: the number of its version."""
        if "version" not in self._stored.get("Version", ()):
            return None
        found = self._all('SELECT "version" FROM "Version" LIMIT 1')
        return str(found[0][0]) if found else None

    def _check_processes(self) -> None:
        """Kernels and copies do not name their process, so that a file can only be read if it is of one.

        Raises:
            ProfileError: it is of several.

        """
        found: set[object] = set()
        for table in (MEMORY, COUNTERS):
            if self._check(table, ("processId",)):
                found |= {pid for (pid,) in self._all(f'SELECT DISTINCT "processId" FROM "{table}" LIMIT 100')}  # noqa: S608
        if len(found) > 1:
            listed = ", ".join(sorted(map(str, found))[:5])
            message = f"{self.path}: expected one process, found {len(found)} ({listed}); kernels do not name theirs"
            hint = "`nvprof -o FILE.%p` writes a file for each process"
            raise ProfileError(
                message, hint, code="ambiguous", file=self.path, key="processId", expected=1, found=len(found)
            )

    def kernel_name(self, text: str) -> str:
        """Without namespaces and parameters: nvprof keeps the names that the compiler makes."""
        return _short_name(text)


_PIECE = re.compile(r"\d+")


def _short_name(name: str) -> str:
    """`scale` of `_ZN3lib5scaleEPf`; templates lose their arguments."""
    at, found = (3 if name.startswith("_ZN") else 2), name
    while name.startswith("_Z") and (piece := _PIECE.match(name, at)) and len(piece[0]) < 5:
        at = piece.end() + int(piece[0])
        found = name[piece.end() : at]
        if not name.startswith("_ZN"):
            break
    return found or name
