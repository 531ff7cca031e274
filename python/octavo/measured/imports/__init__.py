"""Profiles of real programs, imported into the tables of simulated runs."""

from octavo.measured.imports.cupti import import_cupti
from octavo.measured.imports.nsys import import_nsys

__all__ = ["import_cupti", "import_nsys"]
