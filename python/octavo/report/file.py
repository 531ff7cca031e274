"""A report in a file, as notebooks show it."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    _Path = Path
else:
    _Path = type(Path())  # Before Python 3.12, only the system's own kind of path can be derived from.


class ReportFile(_Path):
    """The path of a report. Notebooks show a link to it."""

    def _repr_html_(self) -> str | None:
        """A link, relative to the working directory, which notebooks share with their pages; None for no file."""
        if not self.is_file():
            return None
        try:
            place = quote(Path(os.path.relpath(self)).as_posix())
        except ValueError:  # On another drive.
            place = Path(self).absolute().as_uri()
        size = self.stat().st_size / (1 << 20)
        return f'<p>Report: <a href="{escape(place)}" target="_blank">{escape(str(self))}</a> ({size:.1f} MiB)</p>'
