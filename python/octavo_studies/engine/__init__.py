"""What runs any study: settings, runs that are kept, parts, what was found, pictures, the command."""

from octavo_studies.engine import remarks, series, shown
from octavo_studies.engine.command import Answer, Asked, Command
from octavo_studies.engine.found import Found, compared, write
from octavo_studies.engine.part import Part, Row, each
from octavo_studies.engine.remarks import Judge, Judged, Remarks
from octavo_studies.engine.shown import Table, beside, counts, shares, values
from octavo_studies.engine.study import Run, Runs, Study

__all__ = [
    "Answer",
    "Asked",
    "Command",
    "Found",
    "Judge",
    "Judged",
    "Part",
    "Remarks",
    "Row",
    "Run",
    "Runs",
    "Study",
    "Table",
    "beside",
    "compared",
    "counts",
    "each",
    "remarks",
    "series",
    "shares",
    "shown",
    "values",
    "write",
]
