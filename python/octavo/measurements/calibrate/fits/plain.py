"""Values that need no model: times as measured, and amounts divided by times."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from octavo.measurements.calibrate.fits.estimate import Estimate, spread
from octavo.measurements.calibrate.fits.rows import at_largest, rates, whole_repetitions
from octavo.measurements.calibrate.quantities import short

if TYPE_CHECKING:
    import polars as pl

TIME = "seconds of each repetition"
BYTES = "bytes / seconds of each repetition"
OPERATIONS = "operations / seconds of each repetition"
LARGEST_SIZE = "bytes / seconds at the largest size, for each repetition"
WIDEST = "bytes / seconds at the largest footprint and the widest load, for each repetition"
OVER_SIZES = "median over sizes, for each repetition"


def seconds(table: pl.DataFrame) -> Estimate:
    """Seconds of each row."""
    return spread(table["seconds"].to_list())


def bandwidth(table: pl.DataFrame) -> Estimate:
    """Bytes a second of each row."""
    return spread(rates(table, "bytes"))


def operations(table: pl.DataFrame) -> Estimate:
    """Operations a second of each row."""
    return spread(rates(table, "count"))


def bandwidth_at_largest_size(table: pl.DataFrame) -> Estimate:
    """Bytes a second at the largest size."""
    rows = at_largest(table, "size")
    return replace(bandwidth(rows), note=f"size {_size(rows, 'size')}")


def bandwidth_of_widest(table: pl.DataFrame) -> Estimate:
    """Bytes a second at the largest footprint, with the widest load."""
    rows = at_largest(at_largest(table, "footprint"), "width")
    return replace(
        bandwidth(rows), note=f"{rows['width'][0]} bytes a thread in a footprint of {_size(rows, 'footprint')}"
    )


def median_over_sizes(table: pl.DataFrame) -> Estimate:
    """Seconds that do not depend on a size."""
    return spread([float(part["seconds"].median()) for part in whole_repetitions(table, "size")])  # type: ignore[arg-type]  # a column of numbers


def _size(rows: pl.DataFrame, key: str) -> str:
    return short(float(rows[key][0]), "B")
