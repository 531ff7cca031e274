"""CSV files of figures that users bring, may be packed with xz: their rows, with line numbers for messages."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from octavo.errors import ValidationError
from octavo.files import compression
from octavo.files.text import reason

if TYPE_CHECKING:
    from pathlib import Path

_MOST_BYTES = 64 << 20
"""As of any text."""


def rows(path: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Names of the columns, and each row with its line. A row may lack values, or have too many, under `None`.

    Raises:
        ValidationError: the file cannot be read.

    """
    try:
        text = compression.read(path, "a text file", _MOST_BYTES).decode().replace("\r\n", "\n")
        reader = csv.DictReader(io.StringIO(text), skipinitialspace=True)
        return list(reader.fieldnames or []), [(reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValidationError(f"cannot read {path}: {reason(error)}", code="unreadable", file=path) from error
