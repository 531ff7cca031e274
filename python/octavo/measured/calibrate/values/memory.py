"""Bandwidth and latency of device memory and its caches."""

from __future__ import annotations

from functools import partial

from octavo.measured.calibrate.fits import hierarchy, levels, line_size, plain, reach
from octavo.measured.calibrate.values.value import Value

_LINES = (32, 64, 128)
_CAPACITY = f"end of the plateau; {levels.MODEL}"


def _stream(operation: str) -> Value:
    about = f"STREAM {operation}: bytes read and written a second"
    where = {"operation": operation}
    name = f"stream_bandwidth_{operation}"
    return Value(name, "B/s", "memory", "stream", about, plain.LARGEST_SIZE, plain.bandwidth_at_largest_size, where)


def _latency(level: hierarchy.Level, words: str) -> Value:
    about = f"latency of a load that {words} answers"
    fit = partial(hierarchy.latency, level=level)
    return Value(f"{level}_latency", "s", "memory", "chase", about, levels.MODEL, fit, told="l2_bytes")


def _capacity(level: hierarchy.Cache) -> Value:
    about = f"largest footprint measured that the {level.upper()} cache holds"
    fit = partial(hierarchy.capacity, level=level)
    return Value(f"{level}_capacity", "B", "memory", "chase", about, _CAPACITY, fit, told="l2_bytes")


def _random(line: int) -> Value:
    about = f"useful bytes a second of loads of {line} bytes at random addresses"
    name = f"random_line_bandwidth_{line}"
    where = {"line": line}
    return Value(name, "B/s", "memory", "random_lines", about, plain.WIDEST, plain.bandwidth_of_widest, where)


_REACH = "largest footprint measured that the TLB translates"
_MISS = "what a TLB miss adds to a load"
_PAGE = "memory that an entry of the TLB covers"
_LINE = "memory that a miss of every cache brings"

VALUES = [
    *map(_stream, ("copy", "scale", "add", "triad")),
    _latency("l1", "the L1 cache"),
    _latency("l2", "the L2 cache"),
    _latency("memory", "device memory"),
    _capacity("l1"),
    _capacity("l2"),
    Value("tlb_reach", "B", "memory", "chase", _REACH, reach.MODEL, reach.reach),
    Value("tlb_miss_latency", "s", "memory", "chase", _MISS, reach.MODEL, reach.miss),
    Value("tlb_page_size", "B", "memory", "chase", _PAGE, reach.PAGE_MODEL, reach.page),
    Value("line_size", "B", "memory", "chase", _LINE, line_size.MODEL, line_size.line_size),
    *map(_random, _LINES),
]
