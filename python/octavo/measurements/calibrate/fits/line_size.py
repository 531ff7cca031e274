"""The size of a cache line, from a chase through memory with growing strides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.measurements.calibrate.fits.estimate import Estimate, Unfit, spread
from octavo.measurements.calibrate.fits.rows import whole_repetitions

if TYPE_CHECKING:
    from collections.abc import Sequence

MODEL = "first stride at which a load through a footprint beyond every cache is as slow as with 512 B"
_STRIDES = 512
"""The largest stride in bytes that is considered: beyond it, translation slows loads down, too."""
_NEAR = 0.9


def line_size(table: pl.DataFrame) -> Estimate:
    """Bytes that a miss brings: at smaller strides, the next load finds its data there.

    Loads must follow one another in the order of their addresses, or at least share lines; if smaller strides are not
    faster, no size can be found.

    Raises:
        Unfit: smaller strides are not faster, or none was measured.

    """
    rows = table.filter(pl.col("stride") <= _STRIDES)
    shared = _shared_footprint(rows)
    parts = whole_repetitions(rows.filter(pl.col("footprint") == shared), "stride")
    strides = parts[0]["stride"].to_list()
    if len(strides) < 3:
        raise Unfit(f"needs 3 strides of up to {_STRIDES} B, found {len(strides)}")
    found = [_first(strides, (part["seconds"] / part["count"]).to_list()) for part in parts]
    if all(one == strides[0] for one in found):
        raise Unfit(
            f"loads are as slow with a stride of {strides[0]} B, the smallest one, as with larger ones", "no-step"
        )
    return spread(found)


def _shared_footprint(rows: pl.DataFrame) -> int:
    """The largest footprint that was measured at all strides."""
    strides = rows["stride"].n_unique()
    counts = rows.group_by("footprint").agg(pl.col("stride").n_unique()).filter(pl.col("stride") == strides)
    if counts.is_empty() or strides == 0:
        raise Unfit(f"no footprint was measured at every stride of up to {_STRIDES} B")
    return int(counts["footprint"].max())  # type: ignore[arg-type]  # sizes are integers


def _first(strides: Sequence[int], latencies: Sequence[float]) -> float:
    top = latencies[-1]
    return float(next(stride for stride, value in zip(strides, latencies, strict=True) if value >= _NEAR * top))
