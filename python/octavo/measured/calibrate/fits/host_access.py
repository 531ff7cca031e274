"""Accesses of kernels to pinned host memory: the best that enough warps get."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from octavo.measured.calibrate.fits import saturation
from octavo.measured.calibrate.fits.estimate import spread
from octavo.measured.calibrate.fits.rows import at_largest, rates

if TYPE_CHECKING:
    from octavo.measured.calibrate.fits.estimate import Estimate

MODEL = "bytes / seconds, highest median over warps, at the widest access and the smallest stride of a line or more"
TRIP = "bytes in flight / (bytes / seconds) at the fewest warps and the widest access (Little's law)"
LANES = 32
"""Threads of a warp."""
TOGETHER = 4
"""Loads of a thread that are in flight together (`TOGETHER` of the probe's kernels)."""
LINE = 128
"""Bytes of a cache line, the most that neighbours can share."""
PATTERNS = ("sequential", "strided", "random")


def bandwidth(table: pl.DataFrame) -> Estimate:
    """Useful bytes a second."""
    rows = _rows(table)
    found = saturation.plateau(rows, "warps", "bytes")
    stride = f", stride {rows['stride'][0]} B" if rows["pattern"][0] == "strided" else ""
    return replace(found, note=f"{rows['width'][0]} bytes a thread{stride}, {found.note}")


def warps(table: pl.DataFrame) -> Estimate:
    """Warps, in all, that this bandwidth takes."""
    return saturation.first_saturated(_rows(table), "warps", "bytes")


def round_trip(table: pl.DataFrame) -> Estimate:
    """Seconds from a warp's loads to their answers: of the fewest warps measured, that wait for nothing else.

    Raises:
        Unfit: rows do not state their bytes.

    """
    rows = _rows(table)
    few = rows.filter(pl.col("warps") == pl.col("warps").min())
    warps, width = few["warps"][0], few["width"][0]
    in_flight = warps * LANES * width * TOGETHER
    return spread([in_flight / rate for rate in rates(few, "bytes")], f"{warps} warps, {in_flight} bytes in flight")


def lines_apart(table: pl.DataFrame) -> pl.DataFrame:
    """Of strided accesses, the nearest of those that lie in a line each; others as they are."""
    lines = table.filter(pl.col("stride") >= LINE)
    return lines.filter(pl.col("stride") == pl.col("stride").min()) if lines.height else table


def _rows(table: pl.DataFrame) -> pl.DataFrame:
    return lines_apart(at_largest(table, "width"))
