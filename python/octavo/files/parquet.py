"""Parquet tables as bytes and from files, where everything that goes wrong has a name.

A sealed one has a hash of its whole file in its metadata, taken while zeros stand in its place.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import DamagedError
from octavo.files import digest

if TYPE_CHECKING:
    from pathlib import Path

_SEAL = "octavo.blake2b"
_NOTHING = b"0" * 32
_SEALED = re.compile(_SEAL.encode() + rb"\x18\x20([0-9a-f]{32})")
"""The name, and a text of 32 bytes in Thrift's compact protocol."""


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
        return pl.read_parquet(path, glob=False)  # Names may have brackets.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DamagedError(f"{path} is damaged: expected a Parquet table, found: {reason}", hint) from None


def sealed(table: pl.DataFrame, **options: Any) -> bytes:
    """A table as a Parquet file has it, with a hash of all that."""
    content = encoded(table, metadata={_SEAL: _NOTHING.decode()}, **options)
    start, end = _place(content) or (0, 0)
    return content[:start] + digest.of_bytes(content).encode() + content[end:]


def is_sealed(content: bytes) -> bool:
    """Whether a file says its hash, right or wrong."""
    return _place(content) is not None


def flaw(content: bytes) -> str | None:
    """What is wrong with a sealed file, as expected and found; None if it is as written."""
    place = _place(content)
    if place is None:
        return f"expected a table with a hash (`{_SEAL}`), found none"
    start, end = place
    expected, found = content[start:end].decode(), digest.of_bytes(content[:start] + _NOTHING + content[end:])
    return None if found == expected else f"expected a file with BLAKE2b {expected}, found {found}"


def _place(content: bytes) -> tuple[int, int] | None:
    """Where the hash of a file stands: behind everything that a table may say."""
    found = list(_SEALED.finditer(content))
    return found[-1].span(1) if found else None
