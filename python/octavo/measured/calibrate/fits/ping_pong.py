"""Pages that CPU and GPU take from each other in turn."""

from __future__ import annotations

import polars as pl

from octavo.measured.calibrate.fits.estimate import Estimate, Unfit, spread
from octavo.measured.calibrate.fits.rows import at_largest

MODEL = "seconds / pages at the largest size, median over rounds but the first, for each repetition"


def each_page(table: pl.DataFrame) -> Estimate:
    """Seconds for each page that one side takes back.

    Raises:
        Unfit: only the first round was measured, in which nothing comes back yet.

    """
    rows = at_largest(table, "size").filter(pl.col("round") > 0)
    if rows.is_empty():
        raise Unfit("only the first round was measured, in which nothing comes back yet")
    each = rows.group_by("repetition").agg(value=(pl.col("seconds") / pl.col("pages")).median())
    return spread(each.sort("repetition")["value"].to_list())
