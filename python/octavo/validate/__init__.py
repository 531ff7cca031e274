"""Octavo beside a cycle-level simulator: the same recorded programs on both, and how far apart they are.

import octavo

found = octavo.validate.mgpusim("runs/validation", only=["fir"], gpus=[1])
print(found.rows, found.summaries[0].mape)
"""

from octavo.validate.counts import COUNTS, Count
from octavo.validate.study import Validation, mgpusim
from octavo.validate.summary import Goals, Summary

__all__ = ["COUNTS", "Count", "Goals", "Summary", "Validation", "mgpusim"]
