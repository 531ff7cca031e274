"""Octavo beside a cycle-level simulator, and beside real GPUs: the same programs on both, and how far apart they are.

import octavo

found = octavo.validate.mgpusim("runs/validation", only=["fir"], gpus=[1])
print(found.rows, found.summaries[0].mape)
"""

from octavo.validate import uvmsmart
from octavo.validate.correlate import Correlation, correlate
from octavo.validate.counts import COUNTS, Count
from octavo.validate.measured import MachineValidation, machine
from octavo.validate.programs import ProgramsValidation, programs
from octavo.validate.study import Validation, mgpusim
from octavo.validate.summary import Goals, Summary

__all__ = [
    "COUNTS",
    "Correlation",
    "Count",
    "Goals",
    "MachineValidation",
    "ProgramsValidation",
    "Summary",
    "Validation",
    "correlate",
    "machine",
    "mgpusim",
    "programs",
    "uvmsmart",
]
