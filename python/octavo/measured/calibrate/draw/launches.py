"""Launches: time by their number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.measured.calibrate.draw.panels import colour, curve, fitted, panels, points, scale

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octavo.measured.calibrate.measured import Measured
    from octavo.measured.calibrate.samples import Samples

_HOW = {"stream": "into a stream", "graph": "as a graph"}


def draw(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """Measured times with the fitted lines."""
    found = panels(["empty kernels"])
    (axes,) = found.axes
    for index, (how, words) in enumerate(_HOW.items()):
        rows = points(samples.series("launch").filter(how=how), "count", pl.col("seconds"))
        curve(axes, rows, "count", name=words, paint=colour(index), joined=False)
        start, each = measured.get(f"launch_start_{how}"), measured.get(f"launch_{how}")
        if start and each:
            times = [start.value + count * each.value for count in rows["count"]]
            fitted(axes, rows["count"], times, paint=colour(index))
    scale(axes, "x", "1", "launches in a row")
    scale(axes, "y", "s", "time until all have run")
    return [found.save(folder / "launches.png", "Kernel launches (dashed: as fitted)")]
