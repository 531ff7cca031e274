"""Cost of bulk copies between host and device."""

from __future__ import annotations

from octavo.measured.calibrate.fits import line, overlap, plain
from octavo.measured.calibrate.values.value import Value

_WAYS = {"h2d": "host to device", "d2h": "device to host"}


def _copy(direction: str, memory: str) -> list[Value]:
    where = {"direction": direction, "memory": memory}
    words = f"copies {_WAYS[direction]}, {memory} memory"
    names = (f"copy_bandwidth_{direction}_{memory}", f"copy_overhead_{direction}_{memory}")
    bandwidth = f"bandwidth of large {words}"
    overhead = f"overhead of a call, {words}"
    return [
        Value(names[0], "B/s", "copies", "copy", bandwidth, line.TRANSFER, line.bandwidth, where),
        Value(names[1], "s", "copies", "copy", overhead, line.TRANSFER, line.overhead, where),
    ]


def _issue(direction: str) -> Value:
    about = f"time until an asynchronous call returns, {_WAYS[direction]}, pinned memory"
    where = {"direction": direction}
    name = f"copy_issue_{direction}"
    return Value(name, "s", "copies", "copy_issue", about, plain.OVER_SIZES, plain.median_over_sizes, where)


def _both() -> list[Value]:
    bandwidth = "bandwidth of copies in both directions at once, bytes of both together, pinned memory"
    overhead = "overhead of a pair of copies in both directions at once"
    return [
        Value("copy_bandwidth_both", "B/s", "copies", "copy_both", bandwidth, line.TRANSFER, line.bandwidth),
        Value("copy_overhead_both", "s", "copies", "copy_both", overhead, line.TRANSFER, line.overhead),
    ]


def _overlap(direction: str) -> Value:
    about = f"share of the shorter of a busy kernel and a copy {_WAYS[direction]} that running both at once hides"
    where = {"direction": direction}
    name = f"copy_overlap_{direction}"
    return Value(name, "1", "copies", "copy_overlap", about, overlap.MODEL, overlap.hidden_share, where)


VALUES = [
    *(value for direction in _WAYS for memory in ("pinned", "pageable") for value in _copy(direction, memory)),
    *map(_issue, _WAYS),
    *_both(),
    *map(_overlap, _WAYS),
]
