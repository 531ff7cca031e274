"""Where lines for people go: how wide that is, and whether it shows bold and colours."""

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
"""Styles, as terminals call them."""
_CLEAR = "\r\033[K"
"""Empties the line and goes to its beginning."""
_USUAL_WIDTH = 80
"""Where nothing says how wide the output is."""


class Terminal:
    """Standard output, or standard error, as it is when a line is written."""

    def __init__(self, *, errors: bool = False, stream: TextIO | None = None, width: int | None = None) -> None:
        """Write to standard output, to standard `errors`, or to a stream; its width is what is found, or `width`."""
        self._errors, self._stream, self._width = errors, stream, width

    @property
    def stream(self) -> TextIO:
        """Where lines go."""
        return self._stream or (sys.stderr if self._errors else sys.stdout)

    @property
    def is_terminal(self) -> bool:
        """Whether somebody looks at it as it is written."""
        return self.stream.isatty()

    @property
    def width(self) -> int:
        """Its width in characters, at least 1: what `COLUMNS` says, or the terminal."""
        if self._width is not None:
            return self._width
        said = os.environ.get("COLUMNS", "")
        return max(int(said) if said.isdecimal() else _width(), 1)

    def line(self, text: str, *, bold: str = "", style: str = BOLD) -> None:
        """Write a line, which begins with what is `bold`."""
        marked = f"\033[{style}m{bold}\033[0m" if bold and self._has_styles else bold
        print(f"{marked}{text}", file=self.stream)

    @contextmanager
    def status(self, text: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
        """A line that says what is under way while the block runs, and a function that changes it (on terminals)."""
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
    """How many characters wide a text is on a terminal: letters of some scripts take two, marks above letters none."""
    if text.isascii():
        return len(text)
    return sum(_cells(letter) for letter in text)


def _cells(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
