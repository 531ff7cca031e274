"""Whether a simulated machine reaches what its own values promise: bandwidth, arithmetic, latencies, copies.

`promised` says what the values of a node add up to, `probes` runs small programs that should reach it, and `check`
compares both.
"""

from octavo.gates.check import Gate, NodeCheck, check

__all__ = ["Gate", "NodeCheck", "check"]
