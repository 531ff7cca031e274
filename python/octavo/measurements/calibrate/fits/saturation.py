"""Saturation: how much of something (mostly warps) is needed until more of it brings nothing."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import polars as pl

from octavo.measurements.calibrate.fits.estimate import Estimate, Unfit, spread
from octavo.measurements.calibrate.fits.rows import rates, whole_repetitions

if TYPE_CHECKING:
    from collections.abc import Sequence

MODEL = "first point within 5 % of the highest rate, for each repetition"
_NEAR = 0.95
"""The share of the highest rate at which a rate counts as saturated: more than repetitions differ."""
_POINTS = 3


def first_saturated(table: pl.DataFrame, key: str, amount: str) -> Estimate:
    """The smallest value of `key` at which the rate of `amount` a second is near its maximum.

    Raises:
        Unfit: there are too few points, or the rate still rises at the last one.

    """
    if (points := table[key].n_unique()) < _POINTS:
        raise Unfit(f"saturation needs {_POINTS} points, found {points}")
    ordered = _ordered(table, key, amount)
    middle = [median(values) for values in zip(*(rate for _, rate in ordered), strict=True)]
    keys = ordered[0][0]
    if middle[-2] < _NEAR * middle[-1]:
        raise Unfit(f"the rate still rises at {keys[-1]:g} {key}, the last point", "not-saturated")
    return spread([_first(*one) for one in ordered])


def plateau(table: pl.DataFrame, key: str, amount: str) -> Estimate:
    """The highest rate of `amount` a second over all values of `key`, and where it is reached.

    It is the highest median over repetitions: the highest single sample would be chance.

    Raises:
        Unfit: there are no samples, or they say no amount.

    """
    ordered = _ordered(table, key, amount)
    keys = ordered[0][0]
    by_point = list(zip(*(rate for _, rate in ordered), strict=True))
    middle = [median(values) for values in by_point]
    best = middle.index(max(middle))
    rising = len(middle) > 1 and best == len(middle) - 1 and middle[-2] < _NEAR * middle[-1]
    note = f"at {key} {keys[best]:g}" + (", the last point, and still rising" if rising else "")
    return spread(list(by_point[best]), note)


def _ordered(table: pl.DataFrame, key: str, amount: str) -> list[tuple[list[float], list[float]]]:
    parts = whole_repetitions(table, key)
    if not parts:
        raise Unfit("there are no samples")
    return [(part[key].cast(pl.Float64).to_list(), rates(part, amount)) for part in parts]


def _first(keys: Sequence[float], rate: Sequence[float]) -> float:
    top = max(rate)
    return next(key for key, value in zip(keys, rate, strict=True) if value >= _NEAR * top)
