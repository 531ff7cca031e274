"""JSON of rocprofv3 (`--output-format json`), as the database that `--output-format rocpd` would have written.

Source: rocprofiler-sdk, `source/lib/output/generateJSON.cpp` and `include/rocprofiler-sdk/cxx/serialization/save.hpp`:
`rocprofiler-sdk-tool` lists processes, each with `agents`, `kernel_symbols`, names of kinds and operations in
`strings`, and records by kind in `buffer_records`. Handles of agents are numbers of 64 bits without a sign.
"""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

from octavo.errors import ProfileError
from octavo.files.text import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ROOT = "rocprofiler-sdk-tool"
_MOST_BYTES = 1 << 30
"""Our choice: ten million records."""
_TYPES = {1: "CPU", 2: "GPU"}
"""Source: rocprofiler-sdk/fwd.h, `rocprofiler_agent_type_t`."""
_OPERATIONS = {1: "ALLOCATE", 2: "VMEM_ALLOCATE", 3: "FREE", 4: "VMEM_FREE"}
"""The same, `rocprofiler_memory_allocation_operation_t`: what numbers mean where `strings` does not say."""
_MEANINGS = {
    "VMEM_ALLOCATE": ("ALLOC", "VIRTUAL"),
    "VMEM_FREE": ("FREE", "VIRTUAL"),
    "ALLOCATE": ("ALLOC", "REAL"),
    "FREE": ("FREE", "REAL"),
}
"""Type and level of rocpd, by the ending of an operation's name, longer endings first."""
_AGAIN = "`rocprofv3 --sys-trace --output-format rocpd -- PROGRAM` or `--output-format json` writes one"
_CSV = "CSV of rocprofv3 has no sizes of copies: record with --output-format rocpd or json"
_LAST = (1 << 63) - 1
_TIMES = '"start" INT, "end" INT, pid INT'
_TABLES = {
    "info_agent": "id INT, type TEXT, type_index INT, name TEXT, product_name TEXT",
    "info_process": "id INT, pid INT, command TEXT",
    "info_kernel_symbol": "id INT, kernel_name TEXT, display_name TEXT",
    "kernel_dispatch": f"id INTEGER PRIMARY KEY, {_TIMES}, agent_id INT, kernel_id INT",
    "memory_copy": f"id INTEGER PRIMARY KEY, {_TIMES}, src_agent_id INT, dst_agent_id INT, size INT",
    "memory_allocate": f"id INTEGER PRIMARY KEY, {_TIMES}, agent_id INT, type TEXT, level TEXT, address INT, size INT",
}


def database(path: Path) -> sqlite3.Connection:
    """What a file holds, in memory.

    Raises:
        ProfileError: it is no JSON of rocprofv3, is of several processes, or lacks a value; the message names it.

    """
    process = _Value(path, _ROOT, _process(path))
    connection = sqlite3.connect(":memory:")
    for name, columns in _TABLES.items():
        connection.execute(f"CREATE TABLE rocpd_{name} ({columns})")
    try:
        for name, rows in _tables(process):
            for row in rows:
                marks = ", ".join("?" * len(row))
                connection.execute(f"INSERT INTO rocpd_{name} ({', '.join(row)}) VALUES ({marks})", [*_quoted(row)])  # noqa: S608
    except ProfileError:
        connection.close()
        raise
    return connection


def _process(path: Path) -> Any:
    """The only process of a file."""
    try:
        content = read_bytes(path, "JSON of rocprofv3", _MOST_BYTES)
        found = json.loads(content)
    except OSError as error:
        raise ProfileError(f"cannot read {path}: {error.strerror}", code="unreadable", file=path) from None
    except (ValueError, RecursionError):
        is_csv = content.startswith(b'"')
        message = f"{path}: expected a database or JSON of rocprofv3, found {'CSV' if is_csv else 'neither'}"
        raise ProfileError(message, _CSV if is_csv else _AGAIN, code="unexpected-value", file=path) from None
    processes = found.get(_ROOT) if isinstance(found, dict) else None
    if isinstance(processes, dict):
        return processes
    if not isinstance(processes, list):
        message = f"{path}: expected JSON of rocprofv3, with `{_ROOT}`, found none"
        raise ProfileError(message, _AGAIN, code="missing", file=path, key=_ROOT)
    if len(processes) != 1:
        message = f"{path}: expected the recording of one process, found {len(processes)}"
        raise ProfileError(message, code="ambiguous", file=path, key=_ROOT, expected=1, found=len(processes))
    return processes[0]


class _Value:
    """A value of the file, and where it is."""

    def __init__(self, path: Path, where: str, value: Any) -> None:
        self._path, self._where, self._value = path, where, value

    def __getitem__(self, key: str) -> _Value:
        if not isinstance(self._value, dict):
            raise self._refused("an object")
        if key not in self._value:
            message = f"{self._path}: {self._where}: expected the key `{key}`, found none"
            raise ProfileError(message, _AGAIN, code="missing", file=self._path, key=key)
        return _Value(self._path, f"{self._where}.{key}", self._value[key])

    def get(self, *keys: str) -> _Value:
        """The value of the first of some keys that there is; nothing if there is none."""
        for key in keys:
            if isinstance(self._value, dict) and key in self._value:
                return self[key]
        return _Value(self._path, self._where, None)

    @property
    def is_there(self) -> bool:
        return self._value is not None

    def each(self) -> Iterator[_Value]:
        """The values of a list; none of nothing."""
        if self._value is not None and not isinstance(self._value, list):
            raise self._refused("a list")
        for number, value in enumerate(self._value or ()):
            yield _Value(self._path, f"{self._where}[{number}]", value)

    @property
    def number(self) -> int:
        """A whole number that is no less than 0, also as text in base 16."""
        value = self._value
        if isinstance(value, str):
            try:
                value = int(value, 16)
            except ValueError:
                raise self._refused("a whole number") from None
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self._refused("a whole number")
        return value

    @property
    def text(self) -> str | None:
        """A text; nothing else is one."""
        return self._value.encode(errors="replace").decode() if isinstance(self._value, str) else None

    def _refused(self, expected: str) -> ProfileError:
        found = json.dumps(self._value)[:40]
        message = f"{self._path}: {self._where}: expected {expected}, found {found}"
        return ProfileError(message, code="unexpected-value", file=self._path, key=self._where, expected=expected)


def _small(number: int) -> int:
    """A number as a table can have it; larger ones are as impossible."""
    return min(number, _LAST)


def _quoted(row: dict[str, Any]) -> list[Any]:
    return [_small(value) if isinstance(value, int) else value for value in row.values()]


def _tables(process: _Value) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Rows of the tables of rocpd."""
    agents = _agents(process)
    yield "info_agent", [row for _, row in agents]
    index = {handle: row["id"] for handle, row in agents}
    about = process["metadata"]
    command = [each.text or "" for each in about.get("command").each()]
    yield "info_process", [{"id": 1, "pid": about["pid"].number, "command": " ".join(command) or None}]
    yield "info_kernel_symbol", [_symbol(each) for each in process.get("kernel_symbols").each()]
    records, operations = process["buffer_records"], _operations(process)

    def agent(of: _Value) -> int | None:
        return index.get(of["handle"].number) if of.is_there else None

    yield (
        "kernel_dispatch",
        [
            {
                **_times(each),
                "agent_id": agent(each["dispatch_info"]["agent_id"]),
                "kernel_id": each["dispatch_info"]["kernel_id"].number,
            }
            for each in records.get("kernel_dispatch").each()
        ],
    )
    yield (
        "memory_copy",
        [
            {
                **_times(each),
                "src_agent_id": agent(each["src_agent_id"]),
                "dst_agent_id": agent(each["dst_agent_id"]),
                "size": each["bytes"].number,
            }
            for each in records.get("memory_copy").each()
        ],
    )
    yield (
        "memory_allocate",
        [
            {
                **_times(each),
                "agent_id": agent(each.get("agent_id")),
                **dict(zip(("type", "level"), _meaning(operations, each["operation"].number), strict=True)),
                "address": each["address"].number,
                "size": each.get("allocation_size").number if each.get("allocation_size").is_there else 0,
            }
            for each in records.get("memory_allocation").each()
        ],
    )


def _times(record: _Value) -> dict[str, Any]:
    return {'"start"': record["start_timestamp"].number, '"end"': record["end_timestamp"].number, "pid": 1}


def _agents(process: _Value) -> list[tuple[int, dict[str, Any]]]:
    """Handles, and rows; GPUs are numbered among GPUs."""
    found: list[tuple[int, dict[str, Any]]] = []
    count = dict.fromkeys(_TYPES.values(), 0)
    for number, each in enumerate(process["agents"].each()):
        kind = _TYPES.get(each["type"].number, "other")
        place = each.get("logical_node_type_id")
        about = {"name": each.get("name").text, "product_name": each.get("product_name").text}
        index = place.number if place.is_there else count.get(kind, 0)
        count[kind] = count.get(kind, 0) + 1
        found.append((each["id"]["handle"].number, {"id": number + 1, "type": kind, "type_index": index, **about}))
    return found


def _symbol(each: _Value) -> dict[str, Any]:
    names = ("formatted_kernel_name", "demangled_kernel_name", "truncated_kernel_name")
    return {
        "id": each["kernel_id"].number,
        "kernel_name": each.get("kernel_name").text,
        "display_name": each.get(*names).text,
    }


def _operations(process: _Value) -> dict[int, str]:
    """The names of what is done with memory, by number."""
    for each in process.get("strings").get("buffer_records").each():
        if each.get("kind").text == "MEMORY_ALLOCATION":
            return {number: one.text or "" for number, one in enumerate(each.get("operations").each())}
    return _OPERATIONS


def _meaning(operations: dict[int, str], number: int) -> tuple[str, str]:
    name = operations.get(number, "")
    return next((meaning for ending, meaning in _MEANINGS.items() if name.endswith(ending)), ("NONE", "REAL"))
