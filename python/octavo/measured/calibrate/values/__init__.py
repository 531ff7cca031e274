"""The registry of all measured values, in the order of the probes."""

from octavo.measured.calibrate.values import arithmetic, copies, launches, memory, peers, roofline, unified, zero_copy
from octavo.measured.calibrate.values.value import Value

VALUES: list[Value] = [
    *copies.VALUES,
    *launches.VALUES,
    *memory.VALUES,
    *arithmetic.VALUES,
    *zero_copy.VALUES,
    *unified.VALUES,
    *roofline.VALUES,
    *peers.VALUES,
]

__all__ = ["VALUES", "Value"]
