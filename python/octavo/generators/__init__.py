"""Workloads of one's own in Python: a class says which buffers and launches there are, and which lines they touch.

The file of such a class stands wherever a workload is named (`octavo run my_workload.py`). `octavo new workload
my_workload.py` writes a commented one, `docs/python-workloads.md` explains it.
"""

from octavo.generators.base import Generator
from octavo.generators.instructions import Instruction, atomic, barrier, compute, load, scalar, store, wait
from octavo.generators.parts import LINE_BYTES, Buffer, Exchange, Launch, reads, writes
from octavo.policies.options import option

__all__ = [
    "LINE_BYTES",
    "Buffer",
    "Exchange",
    "Generator",
    "Instruction",
    "Launch",
    "atomic",
    "barrier",
    "compute",
    "load",
    "option",
    "reads",
    "scalar",
    "store",
    "wait",
    "writes",
]
