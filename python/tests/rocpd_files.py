"""Databases as rocprofv3 writes them, made by hand: the tables that are read, in both known layouts."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

UUID = "_00a1b2c3"
PID, KIB, MIB = 4711, 1 << 10, 1 << 20
A, B = 0x7F0000000000, 0x7F0000400000
CPU, GPU, OTHER_GPU = 1, 2, 3
"""Numbers of agents."""


class Database:
    """Builds one file; `timed` rows name their times by number, as newer versions do."""

    def __init__(self, path: Path, *, timed: bool = False, uuid: str = UUID) -> None:
        path.unlink(missing_ok=True)
        self.path, self.timed, self.uuid = path, timed, uuid
        self._database = sqlite3.connect(path)
        self.run("PRAGMA page_size = 512")
        place = "start_id INT, end_id INT, track_id INT" if timed else '"start" BIGINT, "end" BIGINT, pid INT, nid INT'
        agent = "" if timed else ", agent_id INT"
        for name, columns in {
            "metadata": "tag TEXT, value TEXT",
            "info_agent": "type TEXT, type_index INT, name TEXT, product_name TEXT",
            "info_process": "pid INT, command TEXT",
            "info_kernel_symbol": "kernel_name TEXT, display_name TEXT",
            "timestamp": "value BIGINT",
            "track": "pid INT, agent_id INT",
            "kernel_dispatch": f"{place}{agent}, kernel_id INT, dispatch_id INT",
            "memory_copy": f"{place}, dst_agent_id INT, src_agent_id INT, size INT",
            "memory_allocate": f"{place}{agent}, type TEXT, level TEXT, address INT, size INT",
        }.items():
            self.run(f'CREATE TABLE "rocpd_{name}{uuid}" (id INTEGER PRIMARY KEY AUTOINCREMENT, {columns})')
        self.run("CREATE VIEW kernels AS SELECT 1 AS id")
        self.insert("metadata", tag="schema_version", value="3")
        self.insert("info_process", pid=PID, command="./solver")
        for number, kind in enumerate(("CPU", "GPU", "GPU")):
            self.insert("info_agent", type=kind, type_index=max(number - 1, 0), name="gfx942", product_name="A GPU")
        self.insert("info_kernel_symbol", kernel_name="step(double*).kd", display_name="step(double*)")

    def run(self, script: str) -> None:
        self._database.executescript(script)

    def insert(self, table: str, **values: object) -> int:
        names, marks = ", ".join(f'"{name}"' for name in values), ", ".join("?" * len(values))
        done = self._database.execute(
            f'INSERT INTO "rocpd_{table}{self.uuid}" ({names}) VALUES ({marks})',  # noqa: S608
            tuple(values.values()),
        )
        return int(done.lastrowid or 0)

    def _placed(self, start: int, end: int, agent: int | None, *, named: bool) -> dict[str, object]:
        if self.timed:
            times = {
                name: self.insert("timestamp", value=value) for name, value in (("start_id", start), ("end_id", end))
            }
            return {**times, "track_id": self.insert("track", pid=1, agent_id=agent)}
        return {"start": start, "end": end, "pid": 1, "nid": 1, **({"agent_id": agent} if named else {})}

    def memory(self, start: int, address: int, size: int, *, kind: str = "ALLOC", agent: int | None = GPU) -> None:
        placed = self._placed(start, start + 10, agent, named=True)
        self.insert("memory_allocate", **placed, type=kind, level="REAL", address=address, size=size)

    def copy(self, start: int, size: int, source: int = CPU, goal: int = GPU) -> None:
        placed = self._placed(start, start + 10, None, named=False)
        self.insert("memory_copy", **placed, src_agent_id=source, dst_agent_id=goal, size=size)

    def kernel(self, start: int, end: int, agent: int = GPU) -> None:
        self.insert("kernel_dispatch", **self._placed(start, end, agent, named=True), kernel_id=1, dispatch_id=1)

    def save(self) -> Path:
        self._database.commit()
        self._database.close()
        return self.path


def solver(path: Path, *, timed: bool = False, **more: object) -> Path:
    """`filled`, as a database."""
    return filled(Database(path, timed=timed), **more)


def filled(made: Any, **more: object) -> Path:
    """Two arrays, one copied in and one copied out, and ten kernels; memory of the host, which is left out."""
    made.memory(900, B + MIB, MIB, agent=CPU)
    made.memory(1000, A, 2 * MIB)
    made.memory(1100, B, MIB)
    made.copy(1500, 2 * MIB)
    for number in range(10):
        made.kernel(2000 + number * 1000, 2900 + number * 1000)
    made.copy(12_500, MIB, GPU, CPU)
    made.memory(13_000, A, 0, kind="FREE", agent=None)
    for what, rows in more.items():
        for row in rows:
            getattr(made, what)(*row[0], **row[1])
    return made.save()


class Document:
    """Builds the same as JSON of rocprofv3."""

    def __init__(self, path: Path) -> None:
        self.path = path
        agents = [
            {"id": self._handle(number), "type": 1 if number == CPU else 2, "name": "gfx942", "product_name": "A GPU"}
            for number in (CPU, GPU, OTHER_GPU)
        ]
        names = [f"MEMORY_ALLOCATION_{name}" for name in ("NONE", "ALLOCATE", "VMEM_ALLOCATE", "FREE", "VMEM_FREE")]
        self.content: dict[str, Any] = {
            "metadata": {"pid": PID, "command": ["./solver"]},
            "agents": agents,
            "strings": {"buffer_records": [{"kind": "MEMORY_ALLOCATION", "operations": names}]},
            "kernel_symbols": [
                {"kernel_id": 1, "kernel_name": "step(double*).kd", "formatted_kernel_name": "step(double*)"}
            ],
            "buffer_records": {"kernel_dispatch": [], "memory_copy": [], "memory_allocation": []},
        }

    @staticmethod
    def _handle(number: int | None) -> dict[str, int]:
        """Beyond 63 bits, as real ones are; 0 for none."""
        return {"handle": 0 if number is None else (1 << 63) + number}

    def _record(self, kind: str, start: int, end: int, **more: object) -> None:
        row = {"kind": 0, "start_timestamp": start, "end_timestamp": end, "thread_id": 1, **more}
        self.content["buffer_records"][kind].append(row)

    def memory(self, start: int, address: int, size: int, *, kind: str = "ALLOC", agent: int | None = GPU) -> None:
        about = {"operation": 1 if kind == "ALLOC" else 3, "agent_id": self._handle(agent)}
        self._record("memory_allocation", start, start + 10, **about, address=hex(address), allocation_size=size)

    def copy(self, start: int, size: int, source: int = CPU, goal: int = GPU) -> None:
        ends = {"src_agent_id": self._handle(source), "dst_agent_id": self._handle(goal)}
        self._record("memory_copy", start, start + 10, **ends, bytes=size)

    def kernel(self, start: int, end: int, agent: int = GPU) -> None:
        about = {"agent_id": self._handle(agent), "kernel_id": 1, "dispatch_id": 1}
        self._record("kernel_dispatch", start, end, dispatch_info=about)

    def save(self) -> Path:
        self.path.write_text(json.dumps({"rocprofiler-sdk-tool": [self.content]}))
        return self.path
