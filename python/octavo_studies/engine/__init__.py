"""What runs any study: settings, runs that are kept, parts, what was found, pictures, the command."""

from octavo_studies.engine import remarks, series, tables
from octavo_studies.engine.command import Answer, Asked, Command
from octavo_studies.engine.findings import Found, compared, write
from octavo_studies.engine.part import Part, Row, each
from octavo_studies.engine.remarks import Judge, Judged, Remarks
from octavo_studies.engine.study import Run, Runs, Study
from octavo_studies.engine.tables import Table, beside, counts, shares, values

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
    "tables",
    "values",
    "write",
]
