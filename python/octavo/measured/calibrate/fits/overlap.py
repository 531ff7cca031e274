"""Overlap: how much of the shorter of two things hides behind the longer one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.measured.calibrate.fits.estimate import Estimate, Unfit, spread
from octavo.measured.calibrate.fits.rows import at_largest, chosen

if TYPE_CHECKING:
    import polars as pl

MODEL = "(kernel + copy - both) / min(kernel, copy) at the largest size, for each repetition"


def hidden_share(table: pl.DataFrame) -> Estimate:
    """The share of the shorter of kernel and copy that running both at once hides: 1 all of it, 0 nothing.

    Raises:
        Unfit: one of the three was not measured in any repetition.

    """
    largest = at_largest(table, "size")
    kernel, copy, both = (_by_repetition(largest, what) for what in ("kernel", "copy", "both"))
    common = [number for number in both if number in kernel and number in copy]
    if not common:
        raise Unfit("no repetition has kernel, copy and both")
    return spread([(kernel[n] + copy[n] - both[n]) / min(kernel[n], copy[n]) for n in common])


def _by_repetition(table: pl.DataFrame, what: str) -> dict[int, float]:
    rows = chosen(table, what=what)
    return dict(zip(rows["repetition"].to_list(), rows["seconds"].to_list(), strict=True))
