"""Profiles of real programs, imported into the tables of simulated runs."""

from octavo.measurements.imports.cupti import import_cupti
from octavo.measurements.imports.nsys import import_nsys
from octavo.measurements.imports.nsys_program import import_program
from octavo.measurements.imports.rmm import import_rmm
from octavo.measurements.imports.torch import import_torch

__all__ = ["import_cupti", "import_nsys", "import_program", "import_rmm", "import_torch"]
