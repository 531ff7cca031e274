"""Kernels with given sparsity, intensity and re-migration, compared with the ceilings that the roofline predicts."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from octavo.arrays import np
from octavo.measurements.calibrate.fits import saturation
from octavo.measurements.calibrate.panels import colour, fitted, panels, scale
from octavo.measurements.calibrate.probes.probe import Probe, Series, Value
from octavo.roofline import Roofline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

    from octavo.measurements.calibrate.measurement import Measured
    from octavo.measurements.calibrate.samples import Samples

_GRID = ("placement", "sigma", "alpha", "rho")
_SERIES = {
    "roofline": Series("a kernel of given sparsity, intensity and re-migration", _GRID),
    "roofline_scattered": Series("the same, with what is touched in single pages", _GRID),
}
_HIGHEST = "{} / seconds of the dense kernel without re-migration, highest median over intensities"
_ABOVE = 1.01
"""A ceiling is computed from medians, so points on it scatter around it."""


def _bandwidth(placement: str) -> Value:
    about = f"effective bandwidth of a structure placed on the {placement}: β of the roofline's ceilings"
    fit = partial(saturation.plateau, key="alpha", amount="bytes")
    name = f"roofline_bandwidth_{placement}"
    return Value(name, "B/s", "roofline", "roofline", about, _HIGHEST.format("bytes"), fit, _dense(placement))


def _peak() -> Value:
    about = "highest rate of operations of the roofline's kernel"
    fit = partial(saturation.plateau, key="alpha", amount="count")
    how = _HIGHEST.format("operations")
    return Value("roofline_peak", "op/s", "roofline", "roofline", about, how, fit, _dense("device"))


def _dense(placement: str) -> dict[str, str | float]:
    return {"placement": placement, "sigma": 1.0, "rho": 1}


_VALUES = [*map(_bandwidth, ("device", "host")), _peak()]


def roofline_of(samples: Samples, measured: Mapping[str, Measured]) -> Roofline | None:
    """The machine as the roofline sees it: effective values of the same probe; None if one is missing."""
    names = ("roofline_peak", "roofline_bandwidth_device", "roofline_bandwidth_host")
    copies = samples.series("roofline").filter(pl.col("copy_seconds") > 0)
    if copies.is_empty() or any(name not in measured for name in names):
        return None
    peak, device, host = (measured[name].value for name in names)
    copied = (copies["bytes"] / copies["copy_seconds"]).median()
    return Roofline(peak, device, host, float(copied))  # type: ignore[arg-type]  # a column of numbers


def ceilings(samples: Samples, model: Roofline | None) -> pl.DataFrame:
    """Each row of the grid with the operations a second that it reached, and its predicted ceilings.

    Device placement includes its bulk copy. Columns added: `reached`, `ceiling`, `canonical` and `share` (reached over
    ceiling); without a model the last three are null.
    """
    rows = samples.series("roofline")
    copied = pl.col("copy_seconds").fill_null(0.0)
    found = rows.with_columns(reached=pl.col("count") / (pl.col("seconds") + copied))
    if model is None:
        none = pl.lit(None, dtype=pl.Float64)
        return found.with_columns(ceiling=none, canonical=none, share=none)
    alpha, sigma, rho = (rows[name].to_numpy() for name in ("alpha", "sigma", "rho"))
    predicted = model.ceilings(alpha, sigma, rho)
    on_device = (rows["placement"] == "device").to_numpy()
    ceiling = np.where(on_device, predicted.device, predicted.host)
    return found.with_columns(
        ceiling=pl.Series(ceiling), canonical=pl.Series(predicted.canonical), share=found["reached"] / ceiling
    )


def summary(probes: Iterable[Samples], measured: Mapping[str, Measured]) -> pl.DataFrame:
    """How near points come to their ceilings, by placement; empty where nothing was measured or predicted.

    Columns: `placement`, `points` (of sparsity, intensity and re-migration), `median` and `highest` of each point's
    median rate over its ceiling, and `above`: the points that exceed it by more than a hundredth.
    """
    for samples in probes:
        model = roofline_of(samples, measured) if samples.probe == "roofline" else None
        if model is None:
            continue
        each = ceilings(samples, model).group_by("placement", "sigma", "alpha", "rho").agg(pl.col("share").median())
        return (
            each.group_by("placement")
            .agg(
                points=pl.len(),
                median=pl.col("share").median(),
                highest=pl.col("share").max(),
                above=(pl.col("share") > _ABOVE).sum(),
            )
            .sort("placement")
        )
    return pl.DataFrame()


def _draw(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> list[Path]:
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
    """Points that touch single pages, which the driver's prefetches do not suit: hollow."""
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


PROBE = Probe("roofline", _SERIES, _VALUES, _draw)
