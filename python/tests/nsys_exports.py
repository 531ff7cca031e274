"""SQLite exports as Nsight Systems writes them, made by hand: its published tables, and rows with known answers."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PAGE = 4096
KIB = 1 << 10
MIB = 1 << 20
PID = 4711
GLOBAL_PID = (0x1A2 << 48) | (PID << 24)
"""As exports number processes: the machine, then the process, then the thread."""

MEMCPY = """
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (
    start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER,
    srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER,
    migrationCause INTEGER, graphNodeId INTEGER, virtualAddress INTEGER{copy_count});
"""
GPU_FAULTS = """
CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (
    start INTEGER NOT NULL, end INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    address INTEGER NOT NULL, numberOfPageFaults INTEGER NOT NULL, faultAccessType INTEGER NOT NULL);
"""
CPU_FAULTS = """
CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS (
    start INTEGER NOT NULL, globalPid INTEGER NOT NULL, address INTEGER NOT NULL, originalFaultPc INTEGER,
    CpuInstruction INTEGER NOT NULL, module INTEGER NOT NULL, unresolvedFaultPc INTEGER{source});
"""
MEMORY = """
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (
    start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    address INTEGER NOT NULL, pc INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER NOT NULL,
    memoryOperationType INTEGER NOT NULL, name TEXT, correlationId INTEGER, streamId INTEGER,
    localMemoryPoolAddress INTEGER, localMemoryPoolReleaseThreshold INTEGER, localMemoryPoolSize INTEGER,
    localMemoryPoolUtilizedSize INTEGER, importedMemoryPoolAddress INTEGER, importedMemoryPoolProcessId INTEGER);
"""
KERNELS = """
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
    start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER,
    cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL,
    gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL);
"""
COMMON = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT);
"""
ENUM = "CREATE TABLE {} (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"


class Export:
    """Builds one file; tables come into being when they get their first row, as they do in real exports."""

    def __init__(
        self, path: Path, *, copy_count: bool = True, source_file: bool = True, schema: str = "3.16.1"
    ) -> None:
        self.path = path
        self._database = sqlite3.connect(path)
        self._database.executescript(COMMON)
        self._tables = {
            "CUPTI_ACTIVITY_KIND_MEMCPY": MEMCPY.format(copy_count=", copyCount INTEGER" if copy_count else ""),
            "CUDA_UM_GPU_PAGE_FAULT_EVENTS": GPU_FAULTS,
            "CUDA_UM_CPU_PAGE_FAULT_EVENTS": CPU_FAULTS.format(
                source=", sourceFile INTEGER, sourceLine INTEGER" if source_file else ""
            ),
            "CUDA_GPU_MEMORY_USAGE_EVENTS": MEMORY,
            "CUPTI_ACTIVITY_KIND_KERNEL": KERNELS,
        }
        self._made: set[str] = set()
        self.insert("META_DATA_EXPORT", name="EXPORT_SCHEMA_VERSION", value=schema)
        self.insert("META_DATA_EXPORT", name="EXPORT_PRODUCT_VERSION", value="2024.6.2.225")
        self.insert("PROCESSES", globalPid=GLOBAL_PID, pid=PID, name="/opt/bin/program")
        self.insert("TARGET_INFO_GPU", vmId=0, id=0, name="NVIDIA Test 1")
        self.insert("StringIds", id=1, value="saxpy")

    def insert(self, table: str, **values: object) -> None:
        if table in self._tables and table not in self._made:
            self._database.executescript(self._tables[table])
            self._made.add(table)
        names, marks = ", ".join(f'"{name}"' for name in values), ", ".join("?" * len(values))
        query = f"INSERT INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - our own names
        self._database.execute(query, tuple(values.values()))

    def age(self) -> None:
        """Become an export of schema 2.9.1, which has other tables about itself and no copies' counts."""
        self._database.executescript(
            "ALTER TABLE META_DATA_EXPORT RENAME TO EXPORT_META_DATA;"
            "UPDATE EXPORT_META_DATA SET value = '2.9.1' WHERE name = 'EXPORT_SCHEMA_VERSION';"
            "ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY DROP COLUMN greenContextId;"
        )

    def enum(self, table: str, names: Sequence[tuple[int, str]]) -> None:
        self._database.execute(ENUM.format(table))
        for number, name in names:
            self.insert(table, id=number, name=name, label=name.title())

    def table(self, name: str, columns: str) -> None:
        """Make a table of other columns than usual."""
        self._database.execute(f"CREATE TABLE {name} ({columns})")
        self._made.add(name)

    def run(self, script: str) -> None:
        self._database.executescript(script)

    def copy(
        self, start: int, kind: int, address: int | None, size: int, cause: int | None = 2, **more: object
    ) -> None:
        row = {
            "start": start,
            "end": start + 100,
            "deviceId": 0,
            "contextId": 1,
            "streamId": 7,
            "globalPid": GLOBAL_PID,
        }
        row |= {"bytes": size, "copyKind": kind, "migrationCause": cause, "virtualAddress": address}
        self.insert("CUPTI_ACTIVITY_KIND_MEMCPY", **(row | more))

    def gpu_fault(self, start: int, address: int, count: int = 1, access: int = 1, **more: object) -> None:
        row = {"start": start, "end": start + 50, "globalPid": GLOBAL_PID, "deviceId": 0, "address": address}
        row |= {"numberOfPageFaults": count, "faultAccessType": access}
        self.insert("CUDA_UM_GPU_PAGE_FAULT_EVENTS", **(row | more))

    def cpu_fault(self, start: int, address: int, **more: object) -> None:
        row = {"start": start, "globalPid": GLOBAL_PID, "address": address, "CpuInstruction": 1, "module": 1}
        self.insert("CUDA_UM_CPU_PAGE_FAULT_EVENTS", **(row | more))

    def memory(
        self, start: int, address: int, size: int, *, allocates: bool = True, kind: int = 4, **more: object
    ) -> None:
        row = {"start": start, "globalPid": GLOBAL_PID, "deviceId": 0, "contextId": 1, "address": address, "pc": 0}
        row |= {"bytes": size, "memKind": kind, "memoryOperationType": 0 if allocates else 1}
        self.insert("CUDA_GPU_MEMORY_USAGE_EVENTS", **(row | more))

    def kernel(self, start: int, end: int, **more: object) -> None:
        row = {"start": start, "end": end, "deviceId": 0, "contextId": 1, "streamId": 7, "globalPid": GLOBAL_PID}
        row |= {"demangledName": 1, "shortName": 1, "registersPerThread": 16}
        row |= {f"{what}{axis}": 1 for what in ("grid", "block") for axis in "XYZ"}
        self.insert("CUPTI_ACTIVITY_KIND_KERNEL", **(row | more))

    def save(self) -> Path:
        self._database.commit()
        self._database.close()
        return self.path


HTOD, DTOH, DTOD = 11, 12, 13
A, B = 0x7F0000000000, 0x7F0000400000


def saxpy(path: Path, **variant: object) -> Path:
    """Two managed allocations, of which one is freed and its address used again.

    At 1000 ns `a` (1 MiB), at 1100 `x` (64 KiB, a variable), at 1200 8 MiB of device memory. A GPU fault on each of
    the first two pages of `a`, a migration of 64 KiB, a prefetch of the next 64 KiB, a CPU fault and the first 64 KiB
    back, then to the GPU again. `a` is freed; `b` gets its address: an atomic fault and one page.
    """
    export = Export(path, **variant)  # type: ignore[arg-type]
    export.memory(1000, A, MIB)
    export.memory(1100, B, 64 * KIB, kind=6, name="x")
    export.memory(1200, 0x7F1000000000, 8 * MIB, kind=2)
    export.kernel(1900, 9000)
    export.gpu_fault(2000, A, 3)
    export.gpu_fault(2010, A + PAGE, 5, access=2)
    export.copy(2100, HTOD, A, 64 * KIB)
    export.copy(2300, HTOD, A + 64 * KIB, 64 * KIB, 3)
    export.cpu_fault(3000, A + 100)
    export.copy(3100, DTOH, A, 64 * KIB)
    export.copy(4000, HTOD, A, 64 * KIB)
    export.copy(4200, HTOD, B, 64 * KIB, 1)
    export.copy(4300, 1, None, 12345, None)
    export.memory(5000, A, MIB, allocates=False)
    export.memory(6000, A, 2 * PAGE)
    export.gpu_fault(7000, A + PAGE, 1, access=3)
    export.copy(7100, HTOD, A + PAGE, PAGE)
    return export.save()


def solver(path: Path, **variant: object) -> Path:
    """An explicit program on one GPU: two inputs are copied in, a kernel runs 30 times for 40 us, a result comes back.

    Between the kernels, scratch memory is freed and allocated again at its place, and 4 KiB are read back once.
    """
    age = variant.pop("age", False)
    export = Export(path, **variant)  # type: ignore[arg-type]
    device, at = {"kind": 2}, [A + number * 64 * MIB for number in range(4)]
    for place, size in zip(at, (32 * MIB, 16 * MIB, 48 * MIB, 8 * MIB), strict=True):
        export.memory(1000, place, size, **device)
    export.copy(2000, 1, None, 32 * MIB, None)
    export.copy(3000, 1, None, 16 * MIB, None)
    for number in range(30):
        start = 1_000_000 + number * 50_000
        export.kernel(start, start + 40_000)
        if number == 9:
            export.memory(start + 41_000, at[3], 8 * MIB, allocates=False, **device)
            export.memory(start + 42_000, at[3], 4 * MIB, **device)
            export.copy(start + 43_000, 2, None, 4 * KIB, None)
    export.copy(3_000_000, 2, None, 48 * MIB, None)
    for place, size in zip(at, (32 * MIB, 16 * MIB, 48 * MIB, 4 * MIB), strict=True):
        export.memory(4_000_000, place, size, allocates=False, **device)
    if age:
        export.age()
    return export.save()
