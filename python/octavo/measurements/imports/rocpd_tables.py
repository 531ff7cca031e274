"""Databases of rocprofv3 (`--output-format rocpd`), open for reading as if they were exports of Nsight Systems.

Each table's name ends with the recording's own number. Rows have their times themselves (ROCm 7.0) or by number of a
table of times, and name process and agent themselves or by their track. Source: rocprofiler-sdk,
`share/rocprofiler-sdk-rocpd/rocpd_tables.sql`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from octavo.errors import ProfileError
from octavo.measurements.imports import nsys_schema as schema
from octavo.measurements.imports import rocprof_json
from octavo.measurements.imports.nsys_export import Export, is_database

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    from octavo.measurements.imports.nsys_export import Watch

_KERNELS, _COPIES, _MEMORY = "rocpd_kernel_dispatch", "rocpd_memory_copy", "rocpd_memory_allocate"
_TIMES, _TRACKS, _AGENTS = "rocpd_timestamp", "rocpd_track", "rocpd_info_agent"
_PROCESSES, _SYMBOLS = "rocpd_info_process", "rocpd_info_kernel_symbol"
_NEEDED = {
    _KERNELS: ("kernel_id",),
    _COPIES: ("src_agent_id", "dst_agent_id", "size"),
    _MEMORY: ("type", "level", "address", "size"),
}
_STANDS_FOR = {schema.KERNELS: _KERNELS, schema.COPIES: _COPIES, schema.MEMORY: _MEMORY}
_IN, _OUT, _WITHIN, _HOST = 1, 2, 8, 9
"""Kinds of copies as Nsight Systems numbers them."""
_DEVICE = 2
"""The kind of memory that it gives this number."""
_PROCESS_BITS = 24
"""Nsight Systems' numbers of processes have so many bits below them."""


class Rocpd(Export):
    """An open database of rocprofv3; its tables appear under the names that exports of Nsight Systems have."""

    tool: ClassVar[str] = "rocprof"
    again: ClassVar[str] = "`rocprofv3 --sys-trace --output-format rocpd -- PROGRAM` writes one"
    record: ClassVar[str] = (
        "record with `rocprofv3 --kernel-trace --memory-copy-trace --memory-allocation-trace --output-format rocpd "
        "-- PROGRAM`"
    )
    known: ClassVar[str] = "3 (ROCm 7)"
    left_out: ClassVar[dict[str, str]] = {}

    def __init__(self, path: Path, connection: sqlite3.Connection, watch: Watch | None = None) -> None:
        super().__init__(path, connection, watch)
        for table, needed in _NEEDED.items():
            if self._check(self._named(table), needed):
                self._check_times(table)

    @classmethod
    def connect(cls, path: Path) -> sqlite3.Connection:
        """Open a database, or what JSON of rocprofv3 would be as one."""
        return super().connect(path) if is_database(path) else rocprof_json.database(path)

    def _check_tool(self) -> None:
        found = [name for name in self._stored if name.startswith(_AGENTS)]
        if not found:
            there = ", ".join(sorted(self._stored)[:5]) or "no table"
            message = f"{self.path} is no database of rocprofv3: expected the table {_AGENTS}, found {there}"
            raise ProfileError(message, self.again, code="missing", file=self.path, key=_AGENTS)
        if len(found) > 1:
            message = f"{self.path}: expected the recording of one process, found {len(found)} together"
            raise ProfileError(
                message, "import each file that rocprofv3 wrote", code="ambiguous", file=self.path, key=_AGENTS
            )
        self._suffix = found[0].removeprefix(_AGENTS)
        self._check(self._named(_AGENTS), ("id", "type"))

    def _named(self, table: str) -> str:
        return table + self._suffix

    def _has(self, table: str, column: str) -> bool:
        return column in self._stored.get(self._named(table), ())

    def _check_times(self, table: str) -> None:
        """Refuse a table whose rows have no time or no place.

        Raises:
            ProfileError: it is one.

        """
        if self._has(table, "start"):
            self._check(self._named(table), ("start", "end", "pid"))
        else:
            self._check(self._named(table), ("start_id", "end_id", "track_id"))
            for other, needed in ((_TIMES, ("id", "value")), (_TRACKS, ("id", "pid", "agent_id"))):
                if not self._check(self._named(other), needed):
                    message = f"{self.path}: expected the table {other}, found none"
                    raise ProfileError(message, self.again, code="missing", file=self.path, key=other)

    def _readable(self) -> dict[str, tuple[str, ...]]:
        found = {ours: schema.TABLES[ours].columns for ours, table in _STANDS_FOR.items() if self._has(table, "id")}
        named = {"PROCESSES": ("globalPid", "name"), "TARGET_INFO_GPU": ("id", "name")}
        return {**found, **named, schema.STRINGS: ("id", "value")}

    def check(self, table: str) -> bool:
        """Whether there is a table that stands for the given one; its columns were checked."""
        return table in self.columns

    def _size(self, table: str) -> int:
        return super()._size(self._named(_STANDS_FOR[table])) if table in _STANDS_FOR else 0

    def count(self, table: str) -> int:
        """How many rows a table has."""
        return super().count(self._named(_STANDS_FOR.get(table, table)))

    def metadata(self, name: str) -> str | None:
        """A property of the recording."""
        wanted = {"EXPORT_SCHEMA_VERSION": "schema_version"}.get(name)
        table = self._named("rocpd_metadata")
        if wanted is None or not self._check(table, ("tag", "value")):
            return None
        found = self._all(f'SELECT "value" FROM "{table}" WHERE "tag" = ?', (wanted,))  # noqa: S608 - our own names
        return str(found[0][0])[:100] if found else None

    def _relation(self, table: str) -> str:
        made: dict[str, Callable[[], str]] = {
            schema.KERNELS: lambda: self._rows(_KERNELS, self._gpu_of_kernels()),
            schema.COPIES: lambda: self._rows(_COPIES, self._kind_of_copies()),
            schema.MEMORY: self._memory,
            schema.STRINGS: lambda: self._texts(_SYMBOLS, "id", self._either(_SYMBOLS, "display_name", "kernel_name")),
            "PROCESSES": lambda: self._texts(
                _PROCESSES, f'"pid" * {1 << _PROCESS_BITS}', self._either(_PROCESSES, "command", "name")
            ),
            "TARGET_INFO_GPU": lambda: self._texts(
                _AGENTS, self._either(_AGENTS, "type_index", "id"), self._either(_AGENTS, "product_name", "name")
            ),
        }
        return f"({made[table]()})" if table in made else super()._relation(table)

    def _texts(self, table: str, number: str, text: str) -> str:
        """Numbers and texts, under the names that Nsight Systems gives them."""
        ours = {_SYMBOLS: ("id", "value"), _PROCESSES: ("globalPid", "name"), _AGENTS: ("id", "name")}[table]
        number = f'"{number}"' if number.isidentifier() else number
        among = " WHERE \"type\" = 'GPU'" if table == _AGENTS else ""
        return f'SELECT {number} AS "{ours[0]}", {text} AS "{ours[1]}" FROM "{self._named(table)}"{among}'  # noqa: S608

    def _either(self, table: str, *columns: str) -> str:
        """The first of some columns that has a value."""
        have = [f'"{name}"' for name in columns if self._has(table, name)]
        return f"COALESCE({', '.join([*have, 'NULL', 'NULL'])})"

    def _rows(self, table: str, chosen: str, among: str = "") -> str:
        """Rows of a table with their times and process, and what is chosen of them."""
        name = self._named(table)
        if self._has(table, "start"):
            times, joined, pid = 'R."start" AS "start", R."end" AS "end"', "", 'R."pid"'
        else:
            times, pid = 'B."value" AS "start", E."value" AS "end"', 'T."pid"'
            joined = (
                f' JOIN "{self._named(_TIMES)}" AS B ON B."id" = R."start_id"'
                f' JOIN "{self._named(_TIMES)}" AS E ON E."id" = R."end_id"'
                f' JOIN "{self._named(_TRACKS)}" AS T ON T."id" = R."track_id"'
            )
        process = f'(SELECT "pid" * {1 << _PROCESS_BITS} FROM "{self._named(_PROCESSES)}" WHERE "id" = {pid})'  # noqa: S608
        return f'SELECT {times}, {process} AS "globalPid", {chosen} FROM "{name}" AS R{joined}{among}'  # noqa: S608

    def _agent(self, table: str) -> str:
        return 'R."agent_id"' if self._has(table, "agent_id") else 'T."agent_id"'

    def _gpu(self, agent: str) -> str:
        """The number of a GPU among the GPUs of the system, from 0."""
        chosen = self._either(_AGENTS, "type_index", "id")
        return f'(SELECT {chosen} FROM "{self._named(_AGENTS)}" WHERE "id" = {agent} AND "type" = \'GPU\')'  # noqa: S608

    def _gpu_of_kernels(self) -> str:
        return f'{self._gpu(self._agent(_KERNELS))} AS "deviceId", R."kernel_id" AS "shortName"'

    def _type(self, agent: str) -> str:
        return f'(SELECT "type" FROM "{self._named(_AGENTS)}" WHERE "id" = {agent})'  # noqa: S608 - our own names

    def _kind_of_copies(self) -> str:
        source, goal = self._type('R."src_agent_id"'), self._type('R."dst_agent_id"')
        kind = (
            f"CASE WHEN {source} = 'GPU' AND {goal} = 'GPU' THEN {_WITHIN} WHEN {goal} = 'GPU' THEN {_IN} "
            f"WHEN {source} = 'GPU' THEN {_OUT} ELSE {_HOST} END"
        )
        gpu = [self._gpu(f'R."{end}_agent_id"') for end in ("dst", "src")]
        return (
            f'COALESCE({gpu[0]}, {gpu[1]}) AS "deviceId", R."size" AS "bytes", {kind} AS "copyKind", '
            f'-1 AS "migrationCause", -1 AS "virtualAddress", {gpu[1]} AS "srcDeviceId", {gpu[0]} AS "dstDeviceId"'
        )

    def _memory(self) -> str:
        """Allocations on GPUs, and frees of addresses that one of them had: frees do not name their agent."""
        agent, place = self._agent(_MEMORY), 'R."address" AS "address", R."size" AS "bytes"'
        on_gpu = f"R.\"type\" = 'ALLOC' AND R.\"level\" = 'REAL' AND {self._type(agent)} = 'GPU'"
        had = self._rows(_MEMORY, 'R."address" AS "address"', f" WHERE {on_gpu}")
        freed = f'R."type" = \'FREE\' AND R."address" IN (SELECT "address" FROM ({had}))'  # noqa: S608
        chosen = f'{place}, {_DEVICE} AS "memKind", {{}} AS "memoryOperationType", {self._gpu(agent)} AS "deviceId"'
        allocations = self._rows(_MEMORY, chosen.format(0), f" WHERE {on_gpu}")
        return f"{allocations} UNION ALL {self._rows(_MEMORY, chosen.format(1), f' WHERE {freed}')}"

    def allocations(self) -> list[tuple[Any, ...]]:
        """Rows with time, address, bytes, 1 for a free, the GPU (null for frees) and the process's global number."""
        columns = '"start", "address", "bytes", "memoryOperationType", "deviceId", COALESCE("globalPid", -1)'
        return self._all(f"SELECT {columns} FROM {self._relation(schema.MEMORY)}")  # noqa: S608 - our own names
