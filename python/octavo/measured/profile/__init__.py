"""Any program, run and watched from outside: its memory by NUMA node and mapping, page faults, GPU memory."""

from octavo.measured.profile.watch import profile

__all__ = ["profile"]
