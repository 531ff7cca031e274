"""Cost of memory that CPU and GPU share: managed, or allocated by the system where the platform supports that."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from octavo.measured.calibrate.fits import demand, fault_cost, fetches, line, ping_pong, plain
from octavo.measured.calibrate.values.value import Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from octavo.measured.calibrate.fits.estimate import Estimate

_KINDS = {"managed": "managed memory", "system": "memory allocated by the system"}
_WAYS = {"to_gpu": "to the GPU", "to_cpu": "to the CPU"}
_SIDES = ("gpu", "cpu")
HINTS = ("none", "read_mostly", "preferred_host", "preferred_gpu", "accessed_by_gpu", "accessed_by_host")
PHASES = ("gpu_read", "gpu_read_again", "cpu_read", "gpu_write", "cpu_write")
DUPLICATION_PHASES = ("gpu_read", "cpu_read", "gpu_read_again", "cpu_write", "gpu_read_after_write")


def _values(kind: str) -> list[Value]:
    return [
        *(_first_touch(kind, side) for side in _SIDES),
        *(_demand(kind, way, pattern) for way in _WAYS for pattern in demand.PATTERNS),
        *(_fault(kind, way, part) for way in _WAYS for part in _FAULT_PARTS),
        *(_fetch(kind, number) for number in range(1, len(fetches.GOLDEN) + 1)),
        *_touches(kind),
        *(value for way in _WAYS for value in _prefetch(kind, way)),
        *(_advise(kind, hint, phase) for hint in HINTS for phase in PHASES),
        *(_ping_pong(kind, side) for side in _SIDES),
        *(_duplication(kind, phase) for phase in DUPLICATION_PHASES),
    ]


def _first_touch(kind: str, side: str) -> Value:
    about = f"bytes a second of fresh {_KINDS[kind]} that the {side.upper()} touches first"
    return _at_largest(kind, f"first_touch_bandwidth_{side}", "first_touch", about, {"by": side})


def _demand(kind: str, way: str, pattern: str) -> Value:
    about = f"useful bytes a second of {pattern} accesses to {_KINDS[kind]} that migrates {_WAYS[way]} on demand"
    where = {"direction": way, "pattern": pattern}
    name = f"{kind}_demand_bandwidth_{way}_{pattern}"
    return Value(name, "B/s", kind, "demand", about, demand.MODEL, demand.bandwidth, where)


_FAULT_PARTS: dict[str, tuple[str, Callable[..., Estimate]]] = {
    "group": ("what a group of faults takes, whatever it holds", fault_cost.group),
    "page": ("what each faulting page adds to its group, with what the driver fetches for it", fault_cost.page),
}


def _fault(kind: str, way: str, part: str) -> Value:
    words, fit = _FAULT_PARTS[part]
    about = f"{words}, migrating {_WAYS[way]}"
    return Value(f"{kind}_fault_{part}_{way}", "s", kind, "demand", about, fault_cost.MODEL, fit, {"direction": way})


def _fetch(kind: str, number: int) -> Value:
    about = f"what fault number {number} in a fresh block of 2 MiB fetches when its pages are touched in order"
    fit = partial(fetches.fetched, number=number)
    return Value(f"{kind}_fetch_{number}", "B", kind, "step", about, fetches.SIZES, fit)


def _touches(kind: str) -> list[Value]:
    in_order = "faults that fill a block of 2 MiB when its pages are touched in order (the tree of driver 595: 6)"
    random = "faults that fill a block of 2 MiB when its pages are touched at random (the tree of driver 595: about 14)"
    fault = "what the fault of a lone thread takes beside its bytes"
    speed = "bytes a second of what such a fault fetches"
    return [
        Value(f"{kind}_faults_a_block", "1", kind, "step", in_order, fetches.COUNT, fetches.faults_a_block),
        Value(f"{kind}_faults_a_block_random", "1", kind, "step_random", random, fetches.COUNT, fetches.faults_a_block),
        Value(f"{kind}_touch_fault", "s", kind, "step", fault, fetches.COST, fetches.fault),
        Value(f"{kind}_touch_bandwidth", "B/s", kind, "step", speed, fetches.COST, fetches.bandwidth),
    ]


def _prefetch(kind: str, way: str) -> list[Value]:
    where = {"direction": way}
    speed = f"bytes a second of {_KINDS[kind]} prefetched {_WAYS[way]} by a call"
    start = f"what such a call takes whatever its size, {_WAYS[way]}"
    names = (f"{kind}_prefetch_bandwidth_{way}", f"{kind}_prefetch_overhead_{way}")
    return [
        Value(names[0], "B/s", kind, "prefetch", speed, line.TRANSFER, line.bandwidth, where),
        Value(names[1], "s", kind, "prefetch", start, line.TRANSFER, line.overhead, where),
    ]


def _advise(kind: str, hint: str, phase: str) -> Value:
    about = f"bytes a second of phase {phase} on {_KINDS[kind]} with the hint {hint}"
    return _at_largest(kind, f"advise_{hint}_{phase}", "advise", about, {"hint": hint, "phase": phase})


def _ping_pong(kind: str, side: str) -> Value:
    about = f"what the {side.upper()} takes for each page that it takes back from the other side"
    name = f"{kind}_ping_pong_{side}"
    return Value(name, "s", kind, "ping_pong", about, ping_pong.MODEL, ping_pong.each_page, {"side": side})


def _duplication(kind: str, phase: str) -> Value:
    about = f"bytes a second of phase {phase} on {_KINDS[kind]} that is read-mostly"
    return _at_largest(kind, f"duplication_{phase}", "duplication", about, {"phase": phase})


def _at_largest(kind: str, name: str, series: str, about: str, where: dict[str, str | float]) -> Value:
    fit = plain.bandwidth_at_largest_size
    return Value(f"{kind}_{name}", "B/s", kind, series, about, plain.LARGEST_SIZE, fit, where)


VALUES = [value for kind in _KINDS for value in _values(kind)]
