"""The empirical roofline beside its predicted ceilings."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import polars as pl

from octavo.measured.calibrate.draw.panels import colour, fitted, panels, scale
from octavo.measured.calibrate.grid import ceilings, roofline_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from octavo.measured.calibrate.measured import Measured
    from octavo.measured.calibrate.samples import Samples
    from octavo.roofline import Roofline


def draw(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """Device placement by sparsity, host placement by re-migration: that is what their ceilings depend on."""
    model = roofline_of(samples, measured)
    rows = ceilings(samples, model)
    sigmas = rows["sigma"].unique().sort(descending=True).to_list()
    rhos = rows["rho"].unique().sort().to_list()
    paths = []
    for placement, key, values in (("device", "sigma", sigmas), ("host", "rho", rhos)):
        other = "rho" if key == "sigma" else "sigma"
        found = panels([f"{_symbol(key)} = {_value(value)}" for value in values], share_y=True)
        for axes, value in zip(found.axes, values, strict=True):
            chosen = rows.filter((pl.col("placement") == placement) & (pl.col(key) == value))
            _points(axes, chosen, other)
            if placement == "host":
                _scattered(axes, samples, value)
            _ceilings(axes, chosen, model)
            scale(axes, "x", "1", "operational intensity α, operations a byte")
        scale(found.axes[0], "y", "op/s", "operations a second")
        words = "device placement, with its copy" if placement == "device" else "host placement, on demand"
        title = f"Roofline of {words} (points: measured; dashed: predicted ceiling)"
        paths.append(found.save(folder / f"roofline_{placement}.png", title))
    return paths


def _points(axes: Axes, rows: pl.DataFrame, key: str) -> None:
    for index, value in enumerate(rows[key].unique().sort()):
        chosen = rows.filter(pl.col(key) == value).group_by("alpha").agg(pl.col("reached").median()).sort("alpha")
        name = f"{_symbol(key)} = {_value(value)}"
        axes.plot(
            chosen["alpha"], chosen["reached"], "os^vD<>"[index % 7], markersize=3.5, color=colour(index), label=name
        )


def _scattered(axes: Axes, samples: Samples, rho: float) -> None:
    """What is touched in single pages, which the driver's prefetches do not fit: hollow."""
    rows = samples.series("roofline_scattered").filter(pl.col("rho") == rho)
    if rows.height:
        found = rows.group_by("alpha", "sigma").agg(reached=(pl.col("count") / pl.col("seconds")).median())
        axes.plot(
            found["alpha"],
            found["reached"],
            "o",
            markersize=4.5,
            color="#333333",
            fillstyle="none",
            label="in single pages",
        )


def _ceilings(axes: Axes, rows: pl.DataFrame, model: Roofline | None) -> None:
    lines = rows.group_by("alpha").agg(pl.col("ceiling").first(), pl.col("canonical").first()).sort("alpha")
    if model is None:
        return
    fitted(axes, lines["alpha"], lines["ceiling"], paint="#333333", name="ceiling")
    axes.plot(lines["alpha"], lines["canonical"], color="#999999", linewidth=0.8, label="data on the device already")


def _symbol(key: str) -> str:
    return {"sigma": "σ", "rho": "ρ"}[key]


def _value(value: float) -> str:
    return str(Fraction(value).limit_denominator(1024))
