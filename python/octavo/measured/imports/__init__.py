"""Profiles of real programs, imported into the tables of simulated runs."""

from octavo.measured.imports.cupti import import_cupti
from octavo.measured.imports.nsys import import_nsys
from octavo.measured.imports.nsys_program import import_program
from octavo.measured.imports.nvprof import import_nvprof
from octavo.measured.imports.nvprof_tables import Nvprof
from octavo.measured.imports.rmm import import_rmm
from octavo.measured.imports.torch import import_torch

__all__ = ["Nvprof", "import_cupti", "import_nsys", "import_nvprof", "import_program", "import_rmm", "import_torch"]
