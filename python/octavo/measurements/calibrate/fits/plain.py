"""Values that need no model: times as measured, and amounts divided by times."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from octavo.measurements.calibrate.fits.estimate import Estimate, Unfit, spread
from octavo.measurements.calibrate.fits.rows import at_largest, rates, whole_repetitions
from octavo.measurements.calibrate.quantities import short

TIME = "seconds of each repetition"
BYTES = "bytes / seconds of each repetition"
OPERATIONS = "operations / seconds of each repetition"
LARGEST_SIZE = "bytes / seconds at the largest size, for each repetition"
WIDEST = "bytes / seconds at the largest footprint and the widest load, for each repetition"
WITHIN = "bytes / seconds at the largest footprint of at most 3/4 of the cache and the widest load, for each repetition"
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


def bandwidth_within(table: pl.DataFrame, l2_bytes: int | None) -> Estimate:
    """Bytes a second at the largest footprint that the L2 cache surely holds, with the widest load.

    Raises:
        Unfit: no footprint is that small, or the size of the cache is not known.

    """
    rows = table.filter(4 * pl.col("footprint") <= 3 * (l2_bytes or 0))
    if rows.is_empty():
        raise Unfit("no footprint is at most 3/4 of the L2 cache")
    return bandwidth_of_widest(rows)


def median_over_sizes(table: pl.DataFrame) -> Estimate:
    """Seconds that do not depend on a size."""
    return spread([float(part["seconds"].median()) for part in whole_repetitions(table, "size")])  # type: ignore[arg-type]  # a column of numbers


def _size(rows: pl.DataFrame, key: str) -> str:
    return short(float(rows[key][0]), "B")
