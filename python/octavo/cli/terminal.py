"""The terminal for people: how wide it is, and whether it shows bold and colours."""

from __future__ import annotations

import os
import sys
import unicodedata
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

BOLD, RED = "1", "1;31"
"""Styles as terminal escape codes."""
_CLEAR = "\r\033[K"
"""Erase the line and return to its beginning."""
_USUAL_WIDTH = 80
"""The width if nothing says how wide the output is."""


class Terminal:
    """Standard output or standard error, looked up whenever a line is written."""

    def __init__(self, *, errors: bool = False, stream: TextIO | None = None, width: int | None = None) -> None:
        """Write to standard output, to standard `errors`, or to a stream, with the detected width or `width`."""
        self._errors, self._stream, self._width = errors, stream, width

    @property
    def stream(self) -> TextIO:
        """Where lines go."""
        return self._stream or (sys.stderr if self._errors else sys.stdout)

    @property
    def is_terminal(self) -> bool:
        """Whether someone watches the output as it is written."""
        return self.stream.isatty()

    @property
    def width(self) -> int:
        """Its width in characters, at least 1: from `COLUMNS`, or from the terminal."""
        if self._width is not None:
            return self._width
        said = os.environ.get("COLUMNS", "")
        return max(int(said) if said.isdecimal() else _width(), 1)

    def line(self, text: str, *, bold: str = "", style: str = BOLD) -> None:
        """Write a line that begins with the text `bold`."""
        marked = f"\033[{style}m{bold}\033[0m" if bold and self._has_styles else bold
        print(f"{marked}{text}", file=self.stream)

    @contextmanager
    def status(self, text: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
        """A line that shows what is in progress while the block runs, and a function that changes it (on terminals)."""
        shown = self.is_terminal and not quiet

        def show(now: str) -> None:
            if shown:
                print(f"{_CLEAR}{now[: self.width - 1]}", end="", file=self.stream, flush=True)

        show(text)
        try:
            yield show
        finally:
            show("")

    @property
    def _has_styles(self) -> bool:
        return self.is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in ("dumb", "unknown")


def _width() -> int:
    return next(filter(None, map(_width_of, range(3))), _USUAL_WIDTH)


def _width_of(stream: int) -> int:
    try:
        return os.get_terminal_size(stream).columns
    except (OSError, ValueError):  # It is no terminal.
        return 0


def cells(text: str) -> int:
    """The width of a text on a terminal: letters of some scripts take two columns, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(_cells(letter) for letter in text)


def _cells(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
