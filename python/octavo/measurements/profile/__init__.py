"""Any program, watched from outside: its memory by NUMA node and mapping, its page faults, and GPU memory."""

from octavo.measurements.profile.watch import profile

__all__ = ["profile"]
