"""Bulk copies: bandwidth by size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.measured.calibrate.draw.panels import colour, curve, fitted, panels, points, scale

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from octavo.measured.calibrate.measured import Measured
    from octavo.measured.calibrate.samples import Samples

_WAYS = {"h2d": "host to device", "d2h": "device to host"}
_RATE = pl.col("bytes") / pl.col("seconds")


def draw(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """Measured bandwidths with the fitted lines."""
    found = panels(["pinned memory", "pageable memory"], share_y=True)
    for axes, memory in zip(found.axes, ("pinned", "pageable"), strict=True):
        for index, (direction, words) in enumerate(_WAYS.items()):
            rows = samples.series("copy").filter(memory=memory, direction=direction)
            _draw(axes, rows, measured, f"{direction}_{memory}", words, index)
        if memory == "pinned":
            _draw(axes, samples.series("copy_both"), measured, "both", "both at once, bytes of both", 2)
        scale(axes, "x", "B", "size of one copy")
    scale(found.axes[0], "y", "B/s", "bandwidth")
    return [found.save(folder / "copies.png", "Bulk copies (dashed: overhead and bandwidth as fitted)")]


def _draw(axes: Axes, rows: pl.DataFrame, measured: Mapping[str, Measured], name: str, words: str, index: int) -> None:
    if rows.is_empty():
        return
    found = points(rows, "size", _RATE)
    curve(axes, found, "size", name=words, paint=colour(index), joined=False)
    overhead, bandwidth = measured.get(f"copy_overhead_{name}"), measured.get(f"copy_bandwidth_{name}")
    if overhead and bandwidth:
        ratio = 2 if name == "both" else 1
        amounts = [ratio * size for size in found["size"]]
        rates = [amount / (overhead.value + amount / bandwidth.value) for amount in amounts]
        fitted(axes, found["size"], rates, paint=colour(index))
