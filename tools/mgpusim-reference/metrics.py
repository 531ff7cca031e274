"""What one run of a sample reports, added up over units of a kind."""

from __future__ import annotations

import math
import re
import sqlite3
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Where (a unit's location), what, how much.
Metric = tuple[str, str, float]

CACHE_OUTCOMES = ("hit", "miss", "mshr-hit")


def _sums() -> Iterator[tuple[str, tuple[str, str]]]:
    """Columns with the kind of unit and the metric that they add up.

    The kind is the location without GPU, shader array and indices.
    """
    yield "instructions", ("CU", "cu_inst_count")
    accesses = {"l1v": ("read", "write"), "l1s": ("read",), "l1i": ("read",), "l2": ("read", "write")}
    kinds = {"l1v": "L1VCache", "l1s": "L1SCache", "l1i": "L1ICache", "l2": "L2Cache"}
    for column, operations in accesses.items():
        for operation in operations:
            for outcome in CACHE_OUTCOMES:
                yield f"{column}_{operation}_{outcome}".replace("-", "_"), (kinds[column], f"{operation}-{outcome}")
    for column, kind in (("l1v_tlb", "L1VTLB"), ("l1s_tlb", "L1STLB"), ("l1i_tlb", "L1ITLB"), ("l2_tlb", "L2TLB")):
        for outcome in CACHE_OUTCOMES:
            yield f"{column}_{outcome}".replace("-", "_"), (kind, outcome)
    yield "dram_reads", ("DRAM", "read_trans_count")
    yield "dram_writes", ("DRAM", "write_trans_count")
    yield "dram_read_bytes", ("DRAM", "read_size")
    yield "dram_write_bytes", ("DRAM", "write_size")
    yield "rdma_outgoing", ("RDMA", "outgoing_trans_count")
    yield "rdma_incoming", ("RDMA", "incoming_trans_count")


SUMS = dict(_sums())
VECTOR_LINES = [("L1VCache", f"{operation}-{outcome}") for operation in ("read", "write") for outcome in CACHE_OUTCOMES]
LATENCIES = {
    "l1v_mean_latency_ns": "L1VCache",
    "l1s_mean_latency_ns": "L1SCache",
    "l1i_mean_latency_ns": "L1ICache",
    "l2_mean_latency_ns": "L2Cache",
}


def kind_of(location: str) -> tuple[str, str]:
    """('1', 'L1VCache') for 'GPU[1].SA[3].L1VCache[0]'; ('', 'Driver') outside a GPU."""
    gpu = re.match(r"GPU\[(\d+)\]\.", location)
    return (gpu.group(1) if gpu else "", re.sub(r"\[\d+\]", "", location.rsplit(".", 1)[-1]))


def read_metrics(path: Path) -> list[Metric]:
    """All metrics of one run, NaN and infinities left out."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        rows = database.execute("SELECT Location, What, Value FROM mgpusim_metrics").fetchall()
    return [
        (where, what, float(value)) for where, what, value in rows if value is not None and math.isfinite(float(value))
    ]


def number(value: float) -> int | float:
    """Whole numbers as such."""
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else value


def seconds(value: float) -> str:
    """The report adds times as floating point seconds; the clock has whole nanoseconds."""
    return f"{value:.9f}"


def _requests(metrics: list[Metric]) -> defaultdict[str, float]:
    """Reads and writes of each cache."""
    requests: defaultdict[str, float] = defaultdict(float)
    for where, what, value in metrics:
        if kind_of(where)[1].endswith("Cache") and what.split("-")[0] in {"read", "write"}:
            requests[where] += value
    return requests


def _additive(metrics: list[Metric]) -> Iterator[tuple[str, str, str, float]]:
    """GPU, kind of unit, metric and value of everything that can be added up, or of what can be made so."""
    requests = _requests(metrics)
    instructions = {where: value for where, what, value in metrics if what == "cu_inst_count"}
    for where, what, value in metrics:
        gpu, kind = kind_of(where)
        derived = what in {"cu_CPI", "simd_CPI", "simd_inst_count"} or what.startswith("SIMDCPIStack.")
        if kind == "L2ToDRAM" or derived or what.endswith("_avg_latency"):
            continue
        if what.startswith("CPIStack."):  # cycles per instruction of one compute unit
            yield gpu, kind, what.replace("CPIStack.", "cycles."), value * instructions.get(where, 0.0)
        elif what == "req_average_latency":
            yield gpu, kind, "latency_ns_times_requests", value * (1e9 * requests[where])
        elif what == "kernel_time":
            yield gpu, kind, "kernel_time_ns", value * 1e9
        else:
            yield gpu, kind, what, value


def _times(metrics: list[Metric]) -> dict[str, str]:
    """Kernel time as the driver has it, and of the slowest GPU."""
    kernel = [value for where, what, value in metrics if (where, what) == ("Driver", "kernel_time")]
    gpus = [value for where, what, value in metrics if what == "kernel_time" and where != "Driver"]
    if not kernel:
        raise ValueError("no kernel_time was reported")
    return {"kernel_time_s": seconds(kernel[-1]), "gpu_time_max_s": seconds(max(gpus, default=0.0))}


def _latencies(metrics: list[Metric], total: dict[tuple[str, str], float]) -> dict[str, str]:
    """Mean latencies of caches by request, of those that had any."""
    weights: dict[str, float] = {}
    requests = _requests(metrics)
    for where, what, _ in metrics:
        if what == "req_average_latency":
            kind = kind_of(where)[1]
            weights[kind] = weights.get(kind, 0.0) + requests[where]
    return {
        column: f"{total[kind, 'latency_ns_times_requests'] / weights[kind]:.2f}"
        for column, kind in LATENCIES.items()
        if weights.get(kind)
    }


def summarise(metrics: list[Metric]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Columns of the run's row, and rows of the table per GPU and kind of unit."""
    total: dict[tuple[str, str], float] = {}
    per_gpu: dict[tuple[str, str, str], tuple[int, float]] = {}
    for gpu, kind, what, value in _additive(metrics):
        total[kind, what] = total.get((kind, what), 0.0) + value
        count, so_far = per_gpu.get((gpu, kind, what), (0, 0.0))
        per_gpu[gpu, kind, what] = (count + 1, so_far + value)
    row: dict[str, Any] = dict(_times(metrics))
    row |= {column: number(total.get(part, 0.0)) for column, part in SUMS.items()}
    row["vector_lines"] = number(sum(total.get(part, 0.0) for part in VECTOR_LINES))
    row |= _latencies(metrics, total)
    units = [
        {"gpu": gpu, "unit": kind, "metric": what, "units": count, "value": number(round(value, 1))}
        for (gpu, kind, what), (count, value) in sorted(per_gpu.items())
        if value
    ]
    return row, units
