"""Device memory: latency over footprint and stride, bandwidth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from matplotlib import colormaps
from matplotlib.colors import to_hex

from octavo.measured.calibrate import quantities
from octavo.measured.calibrate.draw.panels import colour, curve, mark, panels, points, scale

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from octavo.measured.calibrate.measured import Measured
    from octavo.measured.calibrate.samples import Samples

_SPARSE = 4096
"""Stride in bytes from which a curve is about translation rather than caches."""
_LATENCY = pl.col("seconds") / pl.col("count")
_RATE = pl.col("bytes") / pl.col("seconds")


def draw(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """Chase and bandwidths."""
    return [_chase(samples, measured, folder), _bandwidth(samples, folder)]


def _chase(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> Path:
    rows = samples.series("chase")
    found = panels(["caches: strides below a page", "translation: strides of a page and more"], share_y=True)
    dense, sparse = found.axes
    _curves(dense, rows.filter(pl.col("stride") < _SPARSE))
    _curves(sparse, rows.filter(pl.col("stride") >= _SPARSE))
    scale(dense, "y", "s", "latency of a load")
    for level, words in (("l1", "L1"), ("l2", "L2"), ("memory", "memory")):
        if one := measured.get(f"{level}_latency"):
            mark(dense, "y", one.value, f"{words} {quantities.short(one.value, 's')}")
        if size := measured.get(f"{level}_capacity"):
            mark(dense, "x", size.value, f"{words} {quantities.short(size.value, 'B')}")
    if reach := measured.get("tlb_reach"):
        mark(sparse, "x", reach.value, f"TLB {quantities.short(reach.value, 'B')}")
    return found.save(folder / "chase.png", "Dependent loads of one thread (dotted: what was found)")


def _curves(axes: Axes, rows: pl.DataFrame) -> None:
    """A curve for each stride, from light to dark as they grow."""
    strides = rows["stride"].unique().sort().to_list()
    for index, stride in enumerate(strides):
        paint = to_hex(colormaps["viridis_r"](0.15 + 0.85 * index / max(1, len(strides) - 1)))
        found = points(rows.filter(pl.col("stride") == stride), "footprint", _LATENCY)
        name = f"stride {quantities.short(float(stride), 'B')}"
        curve(axes, found, "footprint", name=name, paint=paint, marker="os^vD<>pPX"[index % 10])
    scale(axes, "x", "B", "footprint")


def _bandwidth(samples: Samples, folder: Path) -> Path:
    found = panels(["STREAM", "random lines, widest load"])
    stream, lines = found.axes
    rows = samples.series("stream")
    for index, operation in enumerate(rows["operation"].unique(maintain_order=True)):
        curve(
            stream, points(rows.filter(operation=operation), "size", _RATE), "size", name=operation, paint=colour(index)
        )
    scale(stream, "x", "B", "size of an array")
    rows = samples.series("random_lines")
    widest = rows.filter(pl.col("width") == pl.col("width").max())
    for index, line in enumerate(widest["line"].unique().sort()):
        chosen = points(widest.filter(line=line), "footprint", _RATE)
        curve(lines, chosen, "footprint", name=f"{line} bytes of each line", paint=colour(4 + index))
    scale(lines, "x", "B", "footprint")
    for axes in found.axes:
        scale(axes, "y", "B/s", "bandwidth, useful bytes")
    return found.save(folder / "memory.png", "Device memory")
