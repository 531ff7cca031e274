"""The comparison with UVMSmart's rules as tables of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo_studies.validate.tables import Table
from octavo_studies.validate.uvmsmart.study import COUNTS

if TYPE_CHECKING:
    from octavo_studies.validate.uvmsmart.replay import Counts
    from octavo_studies.validate.uvmsmart.study import Row, UvmsmartValidation

SHOWN = COUNTS[:3]
"""Counts in each row; the others are in the summary alone."""
STUCK = "stuck"
"""No page can leave."""


def rows(found: UvmsmartValidation) -> Table:
    """Each program and policy: counts of the rules, and how far off Octavo's are."""
    columns = ["program", "policy: prefetch / eviction", "over", *(name for count in SHOWN for name in (count, ""))]
    return Table("UVMSmart's rules, and Octavo beside them", columns, [_cells(row) for row in found.rows])


def summary(found: UvmsmartValidation) -> Table:
    """All rows together."""
    cells = []
    for count in COUNTS:
        (within, both), (same, _), middle = found.within(count), found.within(count, 0), found.median_error(count)
        shown = ["–" if middle is None else f"{middle:.2%}", f"{within / both:.0%}" if both else "–"]
        cells.append([count, f"{both}", *shown, f"{same}"])
    columns = ["count", "rows", "median error", "within 5%", "the same"]
    return Table("Octavo beside UVMSmart's rules", columns, cells)


def said(found: UvmsmartValidation) -> str:
    """The order of policies, and who is stuck, in a sentence."""
    (same, pairs), (both, one) = found.order(), found.stuck()
    stuck = f" Of {len(found.rows)} rows, {both} are stuck under both and {one} under one alone." if both + one else ""
    return f"Policies are in the same order by faults in {same} of {pairs} pairs.{stuck}"


def _cells(row: Row) -> list[str]:
    cells = [row.program, row.policy, f"{row.oversubscription}%"]
    for count in SHOWN:
        cells += [_count(row.rules, count), _error(row, count)]
    return cells


def _count(counts: Counts | None, count: str) -> str:
    return STUCK if counts is None else f"{getattr(counts, count):,}"


def _error(row: Row, count: str) -> str:
    error = row.error(count)
    if error is not None:
        return f"{error:+.1%}"
    return "" if row.rules is None and row.octavo is None else f"Octavo: {_count(row.octavo, count)}"
