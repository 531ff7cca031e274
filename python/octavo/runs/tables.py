"""The engine's columns as polars frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBERS = {"u64": "<u8", "f64": "<f8"}


def frame(columns: Sequence[tuple[str, str, bytes | list[str], list[str]]]) -> pl.DataFrame:
    """A frame of columns given as (name, kind, values, names of codes)."""
    return pl.DataFrame([_series(*column) for column in columns])


def _series(name: str, kind: str, values: bytes | list[str], names: list[str]) -> pl.Series:
    if isinstance(values, list):
        return pl.Series(name, values, dtype=pl.String)
    if kind == "category":
        codes = pl.Series(name, np.frombuffer(values, dtype=np.uint8))
        return codes.replace_strict(range(len(names)), names, return_dtype=pl.Enum(names))
    return pl.Series(name, np.frombuffer(values, dtype=_NUMBERS[kind]))
