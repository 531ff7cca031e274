"""Useful bandwidth of memory that migrates on demand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from octavo.measured.calibrate.fits import saturation
from octavo.measured.calibrate.fits.rows import at_largest
from octavo.measured.calibrate.quantities import short

if TYPE_CHECKING:
    from octavo.measured.calibrate.fits.estimate import Estimate

MODEL = "bytes / seconds at the largest size and the smallest stride, highest median over blocks in flight"
PATTERNS = ("sequential", "strided", "random")


def bandwidth(table: pl.DataFrame) -> Estimate:
    """Useful bytes a second."""
    largest = at_largest(table, "size")
    rows = largest.filter(pl.col("stride") == pl.col("stride").min())
    found = saturation.plateau(rows, "blocks", "bytes")
    size, stride = (short(float(rows[name][0]), "B") for name in ("size", "stride"))
    return replace(found, note=f"size {size}, stride {stride}, {found.note}")
