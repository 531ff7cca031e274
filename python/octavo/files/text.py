"""Files that people or other tools write: a limit on their size catches devices and wrong files."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import TextIO

_MOST_BYTES = 64 << 20
"""Our choice: ten times the size of a sweep file with a million listed values."""

_LONGEST_LINE = 1 << 20
"""The most characters of a line; our choice: rows of logs have hundreds."""


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        OSError: it cannot be read, or is larger than such a file ever is.
        UnicodeDecodeError: it is not UTF-8.

    """
    return read_bytes(path).decode("utf-8").replace("\r\n", "\n")


def read_bytes(path: Path, expected: str = "a text file", most: int = _MOST_BYTES) -> bytes:
    """The content of a file.

    Raises:
        OSError: it cannot be read, or has more bytes than `most`.

    """
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"expected {expected}, found more than {most >> 20} MiB", str(path))
    return content


def reason(error: Exception) -> str:
    """Why a file could not be read, in words that fit into a sentence."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def lines(file: TextIO) -> Iterator[str]:
    """The lines of a text file that may be long, such as a log.

    Raises:
        OSError: one is longer than a line ever is.

    """
    while line := file.readline(_LONGEST_LINE + 1):
        if len(line) > _LONGEST_LINE:
            reason = f"expected lines of text, found one of more than {_LONGEST_LINE} characters"
            raise OSError(errno.EFBIG, reason, file.name)
        yield line
