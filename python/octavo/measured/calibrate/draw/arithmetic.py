"""Arithmetic: how many warps it takes to hide latency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.measured.calibrate.draw.panels import colour, curve, mark, panels, points, scale

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octavo.measured.calibrate.measured import Measured
    from octavo.measured.calibrate.samples import Samples

_WORK = {"fma": "dependent fused multiply-adds", "load": "dependent loads"}


def draw(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """Rates over the highest one, by warps."""
    found = panels(list(_WORK.values()), share_y=True)
    for index, (axes, what) in enumerate(zip(found.axes, _WORK, strict=True)):
        rows = points(samples.series("occupancy").filter(what=what), "warps", pl.col("count") / pl.col("seconds"))
        top = rows["middle"].max()
        shares = rows.with_columns(pl.col("middle", "low", "high") / top)
        curve(axes, shares, "warps", name=_WORK[what], paint=colour(index))
        scale(axes, "x", "1", "warps on a multiprocessor")
        if enough := measured.get(f"warps_to_saturate_{what}"):
            mark(axes, "x", enough.value, f"{enough.value:g} warps", low=True)
        axes.set_ylim(0, 1.08)
    found.axes[0].set_ylabel("rate over the highest one", fontsize=9)
    return [found.save(folder / "occupancy.png", "Occupancy against latency", legend=False)]
