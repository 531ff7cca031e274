"""Pictures made from tables alone: bars, lines, heat maps and scatter plots."""

from octavo.runs.pictures.agreement import agreement
from octavo.runs.pictures.bars import bars, sections, shares
from octavo.runs.pictures.boxes import boxes
from octavo.runs.pictures.cells import heat_map
from octavo.runs.pictures.lines import lines
from octavo.runs.pictures.programs import breakdown, phases
from octavo.runs.pictures.sheet import COLUMN, FORMATS, PAGE, Picture, below, check_target, tidy, time_unit, write
from octavo.runs.pictures.times import lent, memory

__all__ = [
    "COLUMN",
    "FORMATS",
    "PAGE",
    "Picture",
    "agreement",
    "bars",
    "below",
    "boxes",
    "breakdown",
    "check_target",
    "heat_map",
    "lent",
    "lines",
    "memory",
    "phases",
    "sections",
    "shares",
    "tidy",
    "time_unit",
    "write",
]
