"""The measured grid of sparsity, intensity and re-migration beside the ceilings that the roofline predicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.arrays import np
from octavo.roofline import Roofline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from octavo.measured.calibrate.measured import Measured
    from octavo.measured.calibrate.samples import Samples

_ABOVE = 1.01
"""A ceiling is made of medians, so that points on it scatter around it."""


def roofline_of(samples: Samples, measured: Mapping[str, Measured]) -> Roofline | None:
    """The machine as the roofline sees it: effective values of the same probe; nothing where one is missing."""
    names = ("roofline_peak", "roofline_bandwidth_device", "roofline_bandwidth_host")
    copies = samples.series("roofline").filter(pl.col("copy_seconds") > 0)
    if copies.is_empty() or any(name not in measured for name in names):
        return None
    peak, device, host = (measured[name].value for name in names)
    copied = (copies["bytes"] / copies["copy_seconds"]).median()
    return Roofline(peak, device, host, float(copied))  # type: ignore[arg-type]  # a column of numbers


def ceilings(samples: Samples, model: Roofline | None) -> pl.DataFrame:
    """Every row of the grid with the operations a second that it reached, and the ceilings predicted for it.

    Device placement pays for its bulk copy. Columns added: `reached`, `ceiling`, `canonical` and `share` (reached over
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

    Columns: `placement`, `points` (of sparsity, intensity and re-migration), `median` and `highest` of what a point
    reached (median over repetitions) over its ceiling, and `above`: points that passed it by more than a hundredth.
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
