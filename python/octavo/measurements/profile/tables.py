"""Samples as tables and totals: in the tables of simulated runs if the meaning is the same, otherwise in their own."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.measurements.profile.record import PEAKS, Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.measurements.profile.ending import Ending
    from octavo.measurements.profile.sampler import Sights

PICOSECONDS = 1000
"""Picoseconds of a nanosecond."""


def tables(record: Record) -> dict[str, pl.DataFrame]:
    """The tables by name: `memory_intervals` is as in simulated runs; only sampled programs have the others."""
    return {
        "memory_intervals": _frame(record.memory, ["time_ps", "processor:text", "bytes"]),
        "process_intervals": _frame(record.processes, _PROCESS_INTERVALS),
        "processes": _frame([_process(one) for one in record.family], _PROCESSES),
        "mappings": _frame([_mapping(one) for one in record.seen], _MAPPINGS),
        "mapping_intervals": _frame(record.mappings, _MAPPING_INTERVALS),
    }


_PROCESS_INTERVALS = [
    *("time_ps", "process", "resident_bytes", "anonymous_bytes", "file_bytes", "shared_bytes", "swap_bytes"),
    *("minor_faults", "major_faults"),
]
_PROCESSES = [
    *("process", "pid", "parent", "name:text", "began_ps", "ended_ps"),
    *("minor_faults", "major_faults", "most_resident_bytes"),
]
_MAPPINGS = [
    *("process", "mapping:text", "address", "bytes", "began_ps", "ended_ps"),
    *(f"{name}_bytes" for name in PEAKS),
]
_MAPPING_INTERVALS = ["time_ps", "process", "mapping:text", "address", "memory:text", "bytes"]


def _frame(rows: Sequence[Sequence[Any]], columns: Sequence[str]) -> pl.DataFrame:
    """A table; columns whose name ends in `:text` hold text, others whole numbers, and `_ps` is made of nanoseconds."""
    schema = {name.removesuffix(":text"): pl.String if name.endswith(":text") else pl.UInt64 for name in columns}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    return table.with_columns(pl.col(name) * PICOSECONDS for name in schema if name.endswith("_ps"))


def _process(one: Any) -> Sequence[Any]:
    return one.number, one.pid, one.parent, one.name, one.began, one.ended, one.minor, one.major, one.most


def _mapping(one: Any) -> Sequence[Any]:
    return one.process, one.name, one.address, one.bytes, one.began, one.ended, *(one.most[name] for name in PEAKS)


def summary(
    record: Record, sights: Sights, ending: Ending, samples: dict[str, int], missing: Sequence[str]
) -> dict[str, Any]:
    """Totals; `footprint_bytes` is the most that all memories together held at once."""
    at_once: dict[int, int] = {}
    for time, _, size in record.memory:
        at_once[time] = at_once.get(time, 0) + size
    gpus = sights.gpus
    if gpus is not None and gpus.guesses:
        record.notes["GPU memory that the driver called no process's own: what came since the start"] += gpus.guesses
    return {
        "time_ps": ending.span * PICOSECONDS,
        "launches": 0,
        "footprint_bytes": max(at_once.values(), default=0),
        "capacity_bytes": None,
        "page_bytes": os.sysconf("SC_PAGE_SIZE"),
        "gpus": [{"gpu": gpu.number, "name": gpu.name} for gpu in (gpus.about if gpus else [])],
        "exit": _exit(ending),
        "memories": _memories(record, sights),
        "processes": len(record.family),
        "faults": {
            "minor": sum(one.minor for one in record.family),
            "major": sum(one.major for one in record.family),
        },
        "used": {
            "minor_faults": ending.used.ru_minflt,
            "major_faults": ending.used.ru_majflt,
            "most_resident_bytes": ending.used.ru_maxrss << 10,
            "user_ps": int(ending.used.ru_utime * 1e12),
            "system_ps": int(ending.used.ru_stime * 1e12),
        },
        "samples": samples,
        "missing": list(missing),
        "notes": dict(sorted(record.notes.items())),
    }


def _exit(ending: Ending) -> dict[str, Any]:
    names = {number.value: number.name for number in signal.Signals}
    killed = ending.killed_by
    return {
        "status": ending.status,
        "signal": None if killed is None else names.get(killed, f"signal {killed}"),
        "signals_meanwhile": [names[number] for number in ending.signals],
    }


def _memories(record: Record, sights: Sights) -> list[dict[str, Any]]:
    """Each memory with the most bytes that it held at once."""
    capacities = {one.name: one.capacity for one in sights.memories}
    capacities |= {f"gpu{gpu.number}": gpu.capacity for gpu in (sights.gpus.about if sights.gpus else [])}
    nodes = {one.name: one.node for one in sights.memories}
    most = dict.fromkeys(capacities, 0)
    for _, memory, size in record.memory:
        most[memory] = max(most[memory], size)
    return [
        {"memory": name, "numa_node": nodes.get(name), "capacity_bytes": capacity, "most_bytes": most[name]}
        for name, capacity in capacities.items()
    ]
