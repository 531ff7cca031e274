"""Profiles of real programs, imported into the tables of simulated runs."""

from octavo.measurements.imports.allocator_program import import_log
from octavo.measurements.imports.cupti import import_cupti
from octavo.measurements.imports.damon import import_damon
from octavo.measurements.imports.nsys import import_nsys
from octavo.measurements.imports.nsys_program import import_program
from octavo.measurements.imports.nvprof import import_nvprof
from octavo.measurements.imports.nvprof_tables import Nvprof
from octavo.measurements.imports.perf_mem import import_perf_mem
from octavo.measurements.imports.rmm import import_rmm
from octavo.measurements.imports.rocpd import import_rocprof
from octavo.measurements.imports.rocpd_tables import Rocpd
from octavo.measurements.imports.torch import import_torch

__all__ = [
    "Nvprof",
    "Rocpd",
    "import_cupti",
    "import_damon",
    "import_log",
    "import_nsys",
    "import_nvprof",
    "import_perf_mem",
    "import_program",
    "import_rmm",
    "import_rocprof",
    "import_torch",
]
