"""The registry of probes: a file for each, with everything about it apart from its kernels.

They are in the order in which they run.
"""

from octavo.measurements.calibrate.probes import (
    arithmetic,
    copies,
    launches,
    memory,
    peers,
    roofline,
    unified,
    zero_copy,
)
from octavo.measurements.calibrate.probes.probe import Probe, Series, Value

PROBES: dict[str, Probe] = {
    probe.name: probe
    for probe in (
        copies.PROBE,
        launches.PROBE,
        memory.PROBE,
        arithmetic.PROBE,
        zero_copy.PROBE,
        *unified.PROBES,
        roofline.PROBE,
        peers.PROBE,
    )
}
"""By name."""
VALUES: list[Value] = [value for probe in PROBES.values() for value in probe.values]
"""Of all probes."""

__all__ = ["PROBES", "VALUES", "Probe", "Series", "Value"]
