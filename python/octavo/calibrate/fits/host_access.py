"""Accesses of kernels to pinned host memory: the best that enough warps get."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from octavo.calibrate.fits import saturation
from octavo.calibrate.fits.rows import at_largest

if TYPE_CHECKING:
    import polars as pl

    from octavo.calibrate.fits.estimate import Estimate

MODEL = "bytes / seconds, highest median over numbers of warps, at the widest access and the largest stride"
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


def _rows(table: pl.DataFrame) -> pl.DataFrame:
    return at_largest(at_largest(table, "width"), "stride")
