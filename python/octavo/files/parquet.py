"""Parquet tables as bytes and from files, where everything that goes wrong has a name."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import DamagedError

if TYPE_CHECKING:
    from pathlib import Path


def encoded(table: pl.DataFrame, **options: Any) -> bytes:
    """A table as a Parquet file has it: a full disk is then an error of the system, and not one of polars."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd", statistics=True, **options)
    return buffer.getvalue()


def read(path: Path, hint: str) -> pl.DataFrame:
    """A table.

    Raises:
        DamagedError: it is none; polars may panic over damaged ones.

    """
    try:
        return pl.read_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DamagedError(f"{path} is damaged: expected a Parquet table, found: {reason}", hint) from None
