"""Rows of a series as points: one table for each complete repetition."""

from __future__ import annotations

import polars as pl

from octavo.measurements.calibrate.fits.estimate import Unfit


def chosen(table: pl.DataFrame, **values: str | float) -> pl.DataFrame:
    """The rows with these parameters.

    Raises:
        Unfit: there are none.

    """
    rows = table
    for name, value in values.items():
        rows = rows.filter(pl.col(name) == value) if name in rows.columns else rows.clear()
    if rows.is_empty():
        named = " and ".join(f"{name} {value}" for name, value in values.items())
        raise Unfit(f"no samples with {named}" if named else "no samples")
    return rows


def whole_repetitions(table: pl.DataFrame, *keys: str) -> list[pl.DataFrame]:
    """One table a repetition, ordered by `keys`, for the repetitions that have every point of these keys.

    Large sizes may be repeated less often than small ones; a fit over half of the points would be a different fit.
    """
    points = table.select(keys).unique().height
    parts = (part.sort(*keys) for _, part in table.group_by("repetition", maintain_order=True))
    return [part for part in parts if part.select(keys).unique().height == points]


def at_largest(table: pl.DataFrame, key: str) -> pl.DataFrame:
    """The rows at the largest value of a parameter."""
    return table.filter(pl.col(key) == pl.col(key).max())


def rates(table: pl.DataFrame, amount: str) -> list[float]:
    """`bytes` or `count` a second of each row.

    Raises:
        Unfit: a row says no amount.

    """
    if missing := table[amount].null_count():
        raise Unfit(f"{missing} of {table.height} rows say no {amount}")
    return (table[amount] / table["seconds"]).to_list()
