"""Bandwidth and latency of kernels on pinned host memory."""

from __future__ import annotations

from octavo.measured.calibrate.fits import host_access, saturation
from octavo.measured.calibrate.values.value import Value


def _bandwidth(operation: str, pattern: str) -> Value:
    name = f"zero_copy_bandwidth_{operation}_{pattern}"
    about = f"useful bytes a second of {pattern} {operation}s of pinned host memory by a kernel"
    where = {"operation": operation, "pattern": pattern}
    return Value(name, "B/s", "zero_copy", "zero_copy", about, host_access.MODEL, host_access.bandwidth, where)


def _warps(operation: str) -> Value:
    about = f"warps, in all, that sequential {operation}s of pinned host memory need for their bandwidth"
    where = {"operation": operation, "pattern": "sequential"}
    name = f"zero_copy_warps_{operation}"
    return Value(name, "1", "zero_copy", "zero_copy", about, saturation.MODEL, host_access.warps, where)


def _round_trip() -> Value:
    about = "time from a load of pinned host memory to its answer, with little else on the link"
    where = {"operation": "read", "pattern": "sequential"}
    fit = host_access.round_trip
    return Value("zero_copy_round_trip_read", "s", "zero_copy", "zero_copy", about, host_access.TRIP, fit, where)


VALUES = [
    *(_bandwidth(operation, pattern) for operation in ("read", "write") for pattern in host_access.PATTERNS),
    *map(_warps, ("read", "write")),
    _round_trip(),
]
