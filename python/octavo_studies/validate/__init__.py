"""Octavo beside a cycle-level simulator, and beside real GPUs: the same programs on both, and how far apart they are.

from octavo_studies import validate

found = validate.mgpusim("runs/validation", only=["fir"], gpus=[1])
print(found.rows, found.summaries[0].mape)
"""

from octavo_studies.validate import uvmsmart
from octavo_studies.validate.correlate import Correlation, correlate
from octavo_studies.validate.counts import COUNTS, Count
from octavo_studies.validate.machines import MachineValidation, machine
from octavo_studies.validate.programs import ProgramsValidation, programs
from octavo_studies.validate.study import Validation, mgpusim
from octavo_studies.validate.summary import Goals, Summary

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
