"""Parquet tables as bytes and from files, where every failure has a clear error.

A sealed file has a hash of its whole content in its metadata, computed with zeros in place of the hash.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from octavo import _core
from octavo.errors import DamagedError
from octavo.files import digest

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

_SEAL = "octavo.blake2b"
_ARROW = b"ARROW:schema"
_NOTHING = b"0" * 32
_SEALED = re.compile(_SEAL.encode() + rb"\x18\x20([0-9a-f]{32})")
"""The name, and a text of 32 bytes in Thrift's compact protocol."""


def encoded(table: pl.DataFrame, **options: Any) -> bytes:
    """A table as a Parquet file: a full disk is then a system error, and not one of polars."""
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd", statistics=True, **options)
    return buffer.getvalue()


def read(path: Path, hint: str, *, verified: bool = False) -> pl.DataFrame:
    """A table. One that may be damaged (not `verified` by a hash) is decoded by our own reader first.

    Categories of such a table are read as text: what the Arrow format says about them cannot be checked.

    Raises:
        DamagedError: it is none.

    """
    import polars as pl  # noqa: PLC0415 - who reads no table does without

    if not verified:
        check(path, hint)
    try:
        if not verified:
            return pl.read_parquet(io.BytesIO(_without_arrow(path.read_bytes())))
        return pl.read_parquet(path, glob=False)  # Names may have brackets.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise DamagedError(f"{path} is damaged: expected a Parquet table, found: {reason}", hint, file=path) from None


def check(path: Path, hint: str) -> None:
    """Make sure that a table can be decoded: polars would print panics about damaged ones, or end the process.

    Raises:
        DamagedError: it cannot be decoded.

    """
    reason = _core.table_flaw(path)
    if reason is not None:
        raise DamagedError(f"{path} is damaged: expected a Parquet table, found: {reason}", hint, file=path)


def _without_arrow(content: bytes) -> bytes:
    """A file whose footer says nothing about Arrow types, or nothing that can be understood."""
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    return content[:footer] + content[footer:].replace(_ARROW, bytes(len(_ARROW)))


def sealed(table: pl.DataFrame, **options: Any) -> bytes:
    """A table as a Parquet file, with a hash of its whole content."""
    content = encoded(table, metadata={_SEAL: _NOTHING.decode()}, **options)
    start, end = _place(content) or (0, 0)
    return content[:start] + digest.of_bytes(content).encode() + content[end:]


def is_sealed(content: bytes) -> bool:
    """Whether a file contains its hash, right or wrong."""
    return _place(content) is not None


def flaw(content: bytes) -> str | None:
    """How a sealed file differs from what was written, as expected and found; None if it does not."""
    place = _place(content)
    if place is None:
        return f"expected a table with a hash (`{_SEAL}`), found none"
    start, end = place
    expected, found = content[start:end].decode(), digest.of_bytes(content[:start] + _NOTHING + content[end:])
    return None if found == expected else f"expected a file with BLAKE2b {expected}, found {found}"


def _place(content: bytes) -> tuple[int, int] | None:
    """The place of a file's hash: after everything that a table may contain."""
    found = list(_SEALED.finditer(content))
    return found[-1].span(1) if found else None
