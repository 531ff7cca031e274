"""CSV files of figures that users bring: their rows, with line numbers for messages."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from octavo.errors import ValidationError
from octavo.files.text import read_text, reason

if TYPE_CHECKING:
    from pathlib import Path


def rows(path: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Names of the columns, and each row with its line. A row may lack values, or have too many, under `None`.

    Raises:
        ValidationError: the file cannot be read.

    """
    try:
        reader = csv.DictReader(io.StringIO(read_text(path)), skipinitialspace=True)
        return list(reader.fieldnames or []), [(reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValidationError(f"cannot read {path}: {reason(error)}") from error
