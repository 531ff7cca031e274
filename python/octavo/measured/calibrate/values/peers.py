"""Bandwidth and latency between GPUs, pair by pair."""

from __future__ import annotations

from octavo.measured.calibrate.fits import line, plain
from octavo.measured.calibrate.values.value import Value

_COPY = ("peers", "peer_copy")


def _copies() -> list[Value]:
    bandwidth = "bandwidth of large copies between two GPUs"
    overhead = "overhead of a copy between two GPUs"
    both = "bandwidth of copies in both directions at once, bytes of both together"
    one_way: dict[str, str | float] = {"both": 0}
    return [
        Value("peer_copy_bandwidth", "B/s", *_COPY, bandwidth, line.TRANSFER, line.bandwidth, one_way, each_pair=True),
        Value("peer_copy_overhead", "s", *_COPY, overhead, line.TRANSFER, line.overhead, one_way, each_pair=True),
        Value("peer_copy_both", "B/s", *_COPY, both, line.TRANSFER, line.bandwidth, {"both": 1}, each_pair=True),
    ]


def _load(pattern: str) -> Value:
    about = f"useful bytes a second of {pattern} loads from another GPU's memory"
    name = f"peer_load_{pattern}"
    where = {"pattern": pattern}
    return Value(name, "B/s", "peers", "peer_load", about, plain.BYTES, plain.bandwidth, where, each_pair=True)


VALUES = [*_copies(), *map(_load, ("sequential", "random"))]
