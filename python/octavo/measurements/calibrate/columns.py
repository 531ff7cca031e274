"""Columns of samples.

Every row of every series has `repetition` (from 0), `seconds`, `bytes` (useful bytes moved) and `count` (calls,
launches, accesses or operations); parameters that a series does not have are null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping


COMMON: Mapping[str, type[pl.DataType]] = {
    "series": pl.String,
    "repetition": pl.Int64,
    "seconds": pl.Float64,
    "bytes": pl.Int64,
    "count": pl.Int64,
}

_WORDS = ("direction", "memory", "what", "how", "operation", "type", "pattern", "by", "hint", "phase", "side")
_FRACTIONS = ("sigma", "alpha", "copy_seconds")
_NUMBERS = (
    *("size", "footprint", "stride", "width", "line", "warps", "blocks", "pages", "page", "order", "round", "rho"),
    *("source", "target", "both", "access", "rank", "atomics"),
)
PARAMETERS: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys((*_WORDS, "placement"), pl.String),
    **dict.fromkeys(_FRACTIONS, pl.Float64),
    **dict.fromkeys(_NUMBERS, pl.Int64),
}
