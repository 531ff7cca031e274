"""The engine's columns as polars frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence


def frame(columns: Sequence[tuple[str, str, bytes | list[str], list[str]]]) -> pl.DataFrame:
    """A frame of columns given as (name, kind, values, names of codes)."""
    return pl.DataFrame([_series(*column) for column in columns])


def taken(columns: list[tuple[str, str, bytes | list[str], list[str]]]) -> pl.DataFrame:
    """The same of columns that nobody else needs: each is given up as soon as the frame has it."""
    return pl.DataFrame([_series(*columns.pop(0)) for _ in range(len(columns))])


def _series(name: str, kind: str, values: bytes | list[str], names: list[str]) -> pl.Series:
    if isinstance(values, list):
        return pl.Series(name, values, dtype=pl.String)
    if kind == "category":
        codes = pl.Series(name, [values]).cast(pl.List(pl.UInt8)).explode()
        return codes.replace_strict(range(len(names)), names, return_dtype=pl.Enum(names))
    if kind == "f64":
        return pl.Series(name, memoryview(values).cast("d"), dtype=pl.Float64)
    return pl.Series(name, memoryview(values).cast("Q"), dtype=pl.UInt64)
