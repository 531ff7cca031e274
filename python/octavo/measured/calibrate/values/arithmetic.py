"""How fast a GPU calculates, and how many warps it needs to."""

from __future__ import annotations

from functools import partial

from octavo.measured.calibrate.fits import plain, saturation
from octavo.measured.calibrate.values.value import Value

_TYPES = {"fp32": "single-precision operations, a fused multiply-add being two", "int32": "32-bit integer operations"}
_WORK = {"fma": "dependent fused multiply-adds", "load": "dependent loads"}


def _peak(kind: str) -> Value:
    about = f"{_TYPES[kind]}, a second"
    where = {"type": kind}
    return Value(f"peak_{kind}", "op/s", "arithmetic", "peak", about, plain.OPERATIONS, plain.operations, where)


def _warps(what: str) -> Value:
    about = f"warps a multiprocessor needs to hide the latency of {_WORK[what]}"
    fit = partial(saturation.first_saturated, key="warps", amount="count")
    where = {"what": what}
    name = f"warps_to_saturate_{what}"
    return Value(name, "1", "arithmetic", "occupancy", about, saturation.MODEL, fit, where)


VALUES = [*map(_peak, _TYPES), *map(_warps, _WORK)]
