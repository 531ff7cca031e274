"""Databases as nvprof writes them, made by hand: tables named after CUPTI's records, and rows with known answers."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PAGE, KIB, MIB = 4096, 1 << 10, 1 << 20
PID = 4711
A, B = 0x7F0000000000, 0x7F0000400000

TABLES = {
    "StringTable": "_id_ INTEGER PRIMARY KEY AUTOINCREMENT, value TEXT NOT NULL UNIQUE",
    "Version": "version INTEGER",
    "CUPTI_ACTIVITY_KIND_DEVICE": "_id_ INTEGER PRIMARY KEY AUTOINCREMENT, flags INT NOT NULL, "
    "globalMemoryBandwidth INT NOT NULL, globalMemorySize INT NOT NULL, id INT NOT NULL, name INT NOT NULL",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "_id_ INTEGER PRIMARY KEY AUTOINCREMENT, copyKind INT NOT NULL, "
    "srcKind INT NOT NULL, dstKind INT NOT NULL, flags INT NOT NULL, bytes INT NOT NULL, start INT NOT NULL, "
    "end INT NOT NULL, deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL",
    "CUPTI_ACTIVITY_KIND_MEMSET": "_id_ INTEGER PRIMARY KEY AUTOINCREMENT, value INT NOT NULL, bytes INT NOT NULL, "
    "start INT NOT NULL, end INT NOT NULL, deviceId INT NOT NULL",
    "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL": "_id_ INTEGER PRIMARY KEY AUTOINCREMENT, cacheConfig BLOB NOT NULL, "
    "registersPerThread INT NOT NULL, start INT NOT NULL, end INT NOT NULL, completed INT NOT NULL, "
    "deviceId INT NOT NULL, contextId INT NOT NULL, streamId INT NOT NULL, name INT NOT NULL",
    "CUPTI_ACTIVITY_KIND_CDP_KERNEL": "_id_ INTEGER PRIMARY KEY AUTOINCREMENT, start INT NOT NULL, name INT NOT NULL",
    "CUPTI_ACTIVITY_KIND_MEMORY": "_id_ INTEGER PRIMARY KEY AUTOINCREMENT, memoryKind INT NOT NULL, "
    "address INT NOT NULL, bytes INT NOT NULL, start INT NOT NULL, end INT NOT NULL, allocPC INT NOT NULL, "
    "freePC INT NOT NULL, processId INT NOT NULL, deviceId INT NOT NULL, contextId INT NOT NULL, name INT",
    "CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER": "_id_ INTEGER PRIMARY KEY AUTOINCREMENT, counterKind INT NOT NULL, "
    "value INT NOT NULL, start INT NOT NULL, end INT NOT NULL, address INT NOT NULL, srcId INT NOT NULL, "
    "dstId INT NOT NULL, streamId INT NOT NULL, processId INT NOT NULL, flags INT NOT NULL",
}


class Database:
    """Builds one file, which has all tables from the start, as those of nvprof have."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = sqlite3.connect(path)
        self.run("PRAGMA page_size = 512")  # Real files have larger pages; these are kept.
        for name, columns in TABLES.items():
            self.run(f"CREATE TABLE {name} ({columns})")
        self.insert("Version", version=11)
        for number, text in ((1, "_Z5saxpyifPfS_"), (2, "NVIDIA Test 1")):
            self.insert("StringTable", _id_=number, value=text)
        self.insert("DEVICE", flags=0, globalMemoryBandwidth=900_000_000, globalMemorySize=16 << 30, id=0, name=2)

    def run(self, script: str) -> None:
        self._database.executescript(script)

    def insert(self, table: str, **values: object) -> None:
        full = table if table in TABLES else f"CUPTI_ACTIVITY_KIND_{table}"
        names, marks = ", ".join(f'"{name}"' for name in values), ", ".join("?" * len(values))
        self._database.execute(f"INSERT INTO {full} ({names}) VALUES ({marks})", tuple(values.values()))  # noqa: S608

    def memory(self, start: int, address: int, size: int, *, kind: int = 3, end: int = 0, **more: object) -> None:
        row = {"memoryKind": kind, "address": address, "bytes": size, "start": start, "end": end, "allocPC": 1}
        self.insert("MEMORY", **(row | {"freePC": 0, "processId": PID, "deviceId": 0, "contextId": 1} | more))

    def copy(self, start: int, kind: int, size: int, **more: object) -> None:
        row = {"copyKind": kind, "srcKind": 1, "dstKind": 3, "flags": 0, "bytes": size, "start": start}
        self.insert("MEMCPY", **(row | {"end": start + 100, "deviceId": 0, "contextId": 1, "streamId": 7} | more))

    def kernel(self, start: int, end: int, **more: object) -> None:
        row = {"cacheConfig": b"\0", "registersPerThread": 16, "start": start, "end": end, "completed": end}
        row |= {"deviceId": 0, "contextId": 1, "streamId": 7, "name": 1}
        self.insert("CONCURRENT_KERNEL", **(row | more))

    def counter(self, start: int, kind: int, address: int, value: int, flags: int = 0, **more: object) -> None:
        row = {"counterKind": kind, "value": value, "start": start, "end": start + 50, "address": address}
        row |= {"srcId": 0, "dstId": 0, "streamId": 0, "processId": PID, "flags": flags}
        self.insert("UNIFIED_MEMORY_COUNTER", **(row | more))

    def save(self) -> Path:
        self._database.commit()
        self._database.close()
        return self.path


HTOD, DTOH, CPU_FAULT, GPU_FAULT, THRASHING = 1, 2, 3, 4, 5


def saxpy(path: Path) -> Path:
    """1 MiB of managed memory: two pages fault on the GPU, 64 KiB move there and back; it is fought over once."""
    made = Database(path)
    made.memory(1000, A, MIB, kind=5, end=9500)
    made.memory(1200, B, 8 * MIB)
    made.kernel(1900, 9000)
    made.counter(2000, GPU_FAULT, A, 3, 1)
    made.counter(2010, GPU_FAULT, A + PAGE, 5, 2)
    made.counter(2100, HTOD, A, 64 * KIB, 2)
    made.counter(3000, CPU_FAULT, A + 100, 0x401234)
    made.counter(3100, DTOH, A, 64 * KIB, 2)
    made.counter(3200, THRASHING, A, PAGE, srcId=1)
    return made.save()


def solver(path: Path) -> Path:
    """An explicit program: an input is copied in, a kernel runs 10 times for 40 us, the result comes back."""
    made = Database(path)
    made.memory(1000, A, 32 * MIB, end=4_000_000)
    made.memory(1100, A + 64 * MIB, 16 * MIB)
    made.copy(2000, 1, 32 * MIB)
    for number in range(10):
        made.kernel(1_000_000 + number * 50_000, 1_040_000 + number * 50_000)
    made.copy(3_000_000, 2, 16 * MIB)
    return made.save()
