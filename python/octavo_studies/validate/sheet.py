"""What is found of each run as CSV, for people and for the repository: exact times and counts, errors in percent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo_studies.validate.counts import COUNTS

if TYPE_CHECKING:
    from octavo_studies.validate.study import Validation

_EXACT = ("name", "kernel_time_ps", "kernel_time_reference_ps")
_ERRORS = {
    "kernel_time_error": "error_percent",
    "kernel_time_net_error": "net_error_percent",
    "launch_error": "by_launch_percent",
    "launch_worst": "worst_launch_percent",
}


def sheet(found: Validation) -> pl.DataFrame:
    """A row for each run: times and counts of both sides; errors to a hundredth of a percent."""
    errors = [(100 * pl.col(name)).round(2).alias(percent) for name, percent in _ERRORS.items()]
    counts = [name for count in COUNTS for name in (count.name, f"{count.name}_reference")]
    return found.rows.select(*_EXACT, *errors, "launches", *counts)
