"""Names for the plateaus of a dense pointer chase: L1, L2 and device memory."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import polars as pl

from octavo.measurements.calibrate import quantities
from octavo.measurements.calibrate.fits.estimate import Estimate, Unfit, spread
from octavo.measurements.calibrate.fits.levels import Plateau, plateaus
from octavo.measurements.calibrate.fits.rows import whole_repetitions

Cache = Literal["l1", "l2"]
Level = Literal["l1", "l2", "memory"]
DENSE = 128
"""The stride in bytes whose chase shows the caches: each load is on a line of its own, and all of each page is used."""
_CALLED_L2 = 4.0
"""The largest factor between the end of a plateau and the driver's figure for the size of the L2 cache. If a
multiprocessor fills only the near half of the cache, less than half of the size shows."""


def latency(table: pl.DataFrame, l2_bytes: int | None, level: Level) -> Estimate:
    """Seconds of a load that this level serves.

    Raises:
        Unfit: the curve has no such plateau.

    """
    named = [_named(one, l2_bytes) for one in _curves(table)]
    found = [one[level] for one in named if level in one]
    if 2 * len(found) <= len(named):
        raise Unfit(_missing(table, l2_bytes, level), "no-step")
    return spread([one.latency for one in found], _extent(found[len(found) // 2]))


def capacity(table: pl.DataFrame, l2_bytes: int | None, level: Cache) -> Estimate:
    """The largest measured footprint in bytes that this level still holds: a lower bound of its size.

    Raises:
        Unfit: the curve has no such plateau.

    """
    named = [_named(one, l2_bytes) for one in _curves(table)]
    found = [one[level] for one in named if level in one and one[level].next is not None]
    if 2 * len(found) <= len(named):
        raise Unfit(_missing(table, l2_bytes, level), "no-step")
    beyond = quantities.short(found[len(found) // 2].next or 0.0, "B")
    return spread([one.last for one in found], f"the next footprint measured, {beyond}, is slower")


def dense_stride(table: pl.DataFrame) -> int:
    """The stride of the curve that shows the caches.

    Raises:
        Unfit: that stride was not measured.

    """
    strides = sorted(table["stride"].unique().to_list())
    if DENSE not in strides:
        raise Unfit(f"expected a stride of {DENSE} B, found {', '.join(map(str, strides)) or 'none'}")
    return DENSE


def curve(table: pl.DataFrame, stride: int) -> list[tuple[list[float], list[float]]]:
    """Footprints and seconds a load at a stride, for each complete repetition."""
    rows = table.filter(pl.col("stride") == stride)
    return [
        (part["footprint"].cast(pl.Float64).to_list(), (part["seconds"] / part["count"]).to_list())
        for part in whole_repetitions(rows, "footprint")
    ]


def _curves(table: pl.DataFrame) -> list[list[Plateau]]:
    return [plateaus(*one) for one in curve(table, dense_stride(table))]


def _named(found: list[Plateau], l2_bytes: int | None) -> dict[Level, Plateau]:
    """Plateaus by level: L1 is the first, L2 all levels up to the cache's end, memory the next.

    An L2 cache in two halves has two plateaus, and slopes may contain a short one: the L2 latency is that of the
    plateau with most points, and the L2 ends with the last one.
    """
    end = _end_of_l2(found, l2_bytes)
    if end is None:
        return {}
    widest = max(found[min(1, end) : end + 1], key=lambda one: one.points)
    named: dict[Level, Plateau] = {"l2": replace(widest, last=found[end].last, next=found[end].next)}
    if end > 0:
        named["l1"] = found[0]
    if end + 1 < len(found):
        named["memory"] = found[end + 1]
    return named


def _end_of_l2(found: list[Plateau], expected: int | None) -> int | None:
    """The plateau whose end is nearest to the driver's figure for the L2 cache; without a figure, the second."""
    if not expected:
        return 1 if len(found) > 1 else None
    ends = [
        (abs(math.log(one.last / expected)), index)
        for index, one in enumerate(found)
        if one.next is not None and abs(math.log(one.last / expected)) <= math.log(_CALLED_L2)
    ]
    return min(ends)[1] if ends else None


def _missing(table: pl.DataFrame, l2_bytes: int | None, level: Level) -> str:
    found = plateaus(*curve(table, dense_stride(table))[0])
    ends = ", ".join(quantities.short(one.last, "B") for one in found if one.next is not None) or "none"
    beside = f"; the driver says that L2 has {quantities.short(float(l2_bytes), 'B')}" if l2_bytes else ""
    return f"no plateau that would be {level}: plateaus end at {ends}{beside}"


def _extent(one: Plateau) -> str:
    return f"plateau from {quantities.short(one.first, 'B')} to {quantities.short(one.last, 'B')}, stride {DENSE}"
