"""How fast a GPU calculates, and how many warps it needs for that."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from octavo.measurements.calibrate.fits import plain, saturation
from octavo.measurements.calibrate.node.draft import LANES
from octavo.measurements.calibrate.panels import colour, curve, mark, panels, points, scale
from octavo.measurements.calibrate.probes.probe import Probe, Series, Stage, Value

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octavo.measurements.calibrate.measurement import Measured
    from octavo.measurements.calibrate.node.draft import Draft
    from octavo.measurements.calibrate.samples import Samples

_SERIES = {
    "peak": Series("independent operations", ("type",)),
    "occupancy": Series("dependent operations or loads, by warps", ("what", "warps")),
}
_TYPES = {"fp32": "single-precision operations, a fused multiply-add being two", "int32": "32-bit integer operations"}
_WORK = {"fma": "dependent fused multiply-adds", "load": "dependent loads"}
_FMA = 2
"""Operations of a fused multiply-add."""


def _peak(kind: str) -> Value:
    about = f"{_TYPES[kind]}, a second"
    where = {"type": kind}
    return Value(f"peak_{kind}", "op/s", "arithmetic", "peak", about, plain.OPERATIONS, plain.operations, where)


def _warps(what: str) -> Value:
    about = f"warps a multiprocessor needs to hide the latency of {_WORK[what]}"
    fit = partial(saturation.first_saturated, key="warps", amount="count")
    where = {"what": what}
    name = f"warps_to_saturate_{what}"
    return Value(name, "1", "arithmetic", "occupancy", about, saturation.MODEL, fit, where)


_VALUES = [*map(_peak, _TYPES), *map(_warps, _WORK)]


def _derive(draft: Draft) -> None:
    """Cycles that a partition needs for 64 multiply-adds, and until the next ones that depend on them can start."""
    key = "compute.vector_alu"
    if (peak := draft.number("peak_fp32", f"{key}.occupancy")) is None:
        return
    lanes = draft.count("compute.units") * draft.count("compute.simds_per_unit") * LANES
    occupancy = max(1, round(lanes * _FMA / (peak * draft.cycle)))
    named = draft.named("peak_fp32")
    # The second of two warps begins as many cycles later as the first occupies the partition.
    latency = draft.count(f"{key}.latency") + (occupancy - draft.count(f"{key}.occupancy")) // 2
    draft.put_cycles(f"{key}.occupancy", occupancy, f"measured {named}: {lanes} lanes, two operations each")
    draft.put_cycles(f"{key}.latency", max(latency, occupancy), "the preset's, with that occupancy")


def _draw(samples: Samples, measured: Mapping[str, Measured], folder: Path) -> list[Path]:
    """Rates relative to the highest one, by warps."""
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


PROBE = Probe("arithmetic", _SERIES, _VALUES, _draw, {Stage.COMPUTE: _derive})
