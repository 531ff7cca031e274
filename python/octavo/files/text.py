"""Text files that people write: small, so that a device or a wrong file is told from one of them."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_MOST_BYTES = 64 << 20
"""Chosen: the largest sweep file with a million listed values has a tenth of it."""


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        OSError: it cannot be read, or is larger than such a file ever is.
        UnicodeDecodeError: it is not UTF-8.

    """
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise OSError(errno.EFBIG, f"expected a text file, found more than {_MOST_BYTES >> 20} MiB", str(path))
    return content.decode("utf-8").replace("\r\n", "\n")
