"""Zero-copy: bandwidth by warps, pattern and width."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.measured.calibrate.draw.panels import colour, curve, panels, points, scale
from octavo.measured.calibrate.fits.host_access import lines_apart

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octavo.measured.calibrate.measured import Measured
    from octavo.measured.calibrate.samples import Samples

_PATTERNS = ("sequential", "strided", "random")
_RATE = pl.col("bytes") / pl.col("seconds")


def draw(samples: Samples, _measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """A panel for each operation and pattern; strided accesses by the smallest stride of a line."""
    rows = samples.series("zero_copy")
    operations = rows["operation"].unique(maintain_order=True).to_list()
    titles = [f"{pattern} {operation}s" for operation in operations for pattern in _PATTERNS]
    found = panels(titles, columns=3, share_y=True)
    places = [(operation, pattern) for operation in operations for pattern in _PATTERNS]
    for number, (axes, (operation, pattern)) in enumerate(zip(found.axes, places, strict=True)):
        chosen = rows.filter(operation=operation, pattern=pattern)
        for index, width in enumerate(chosen["width"].unique().sort()):
            of_width = lines_apart(chosen.filter(width=width))
            name = f"{width} bytes a thread"
            curve(
                axes, points(of_width, "warps", _RATE), "warps", name=name, paint=colour(index), marker="os^"[index % 3]
            )
        scale(axes, "x", "1", "warps, in all" if number >= len(titles) - len(_PATTERNS) else "")
    # All panels share the axis, which is made once they are drawn.
    for axes in found.axes[:: len(_PATTERNS)]:
        scale(axes, "y", "B/s", "useful bandwidth")
    return [found.save(folder / "zero_copy.png", "Kernels that access pinned host memory")]
