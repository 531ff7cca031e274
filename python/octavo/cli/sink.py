"""Where commands print: one place, three formats."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import warnings
from typing import TYPE_CHECKING, Any

from octavo.cli import grid, streams
from octavo.cli.columns import Column, folded
from octavo.cli.terminal import BOLD, RED, Terminal
from octavo.files.notes import OctavoNote
from octavo.plain import escaped, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.errors import OctavoError

_MOST_NOTES = 5
_WHOLE_WORDS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}


class Sink:
    """Standard output for results: tables for people, or one JSON document, or nothing."""

    def __init__(self, *, as_json: bool, quiet: bool = False, terminal: Terminal | None = None) -> None:
        """`terminal` is where people read instead of standard output: commands that run programs name one."""
        self.as_json = as_json
        self.quiet = quiet
        self._terminal = terminal or Terminal()
        self._documents = sys.stdout
        if as_json:
            # What a policy prints must not get into the document.
            sys.stdout = sys.stderr

    @property
    def human(self) -> bool:
        """Whether a person reads."""
        return not (self.as_json or self.quiet)

    @property
    def unicode(self) -> bool:
        """Whether what people read shows letters beyond ASCII."""
        return streams.is_unicode(self._terminal.stream)

    def table(
        self,
        title: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        unbroken: Sequence[str] = (),
    ) -> None:
        """A table; columns after the first are right-aligned as numbers unless one of their cells is a word.

        If the columns do not fit, the rest is printed as further tables with the same names of rows. Cells of the
        columns `unbroken` stay on one line if there is room for them.
        """
        if not self.human:
            return
        rows = [[visible(cell) for cell in row] for row in rows]
        keys = _keys(rows, len(columns))
        given = [
            _column(visible(name), [row[index] for row in rows], key=index < keys, wished=name in unbroken)
            for index, name in enumerate(columns)
        ]
        for index, part in enumerate(folded(given, keys, self._terminal.width)):
            for row in _rows(visible(title) + (", continued" if index else ""), self._terminal):
                self._terminal.line("", bold=row)
            self._terminal.line("")
            head, *others = grid.lines(part, "─" if self.unicode else "-")
            self._terminal.line("", bold=head)
            for line in others:
                self._terminal.line(line)
            self._terminal.line("")

    def say(self, text: str) -> None:
        """A line for people; paths and commands in it can be copied whole."""
        if self.human:
            self._terminal.line(visible(text))

    def tell(self, sentence: str) -> None:
        """A sentence for people: on a terminal in lines of whole words, otherwise on one line."""
        for row in _rows(visible(sentence), self._terminal):
            self.say(row)

    def document(self, value: Mapping[str, Any] | Sequence[Any]) -> None:
        """The whole result, for programs."""
        if self.as_json:
            # An output that has no letters beyond ASCII gets them as JSON escapes.
            text = json.dumps(value, indent=2, ensure_ascii=not streams.is_unicode(self._documents))
            print(escaped(text), file=self._documents, flush=True)


def _column(name: str, cells: Sequence[str], *, key: bool, wished: bool) -> Column:
    """A number stays together with its unit, and the name of a row stays whole."""
    return Column(name, cells, key or grid.words(cells), wished)


def _keys(rows: Sequence[Sequence[str]], columns: int) -> int:
    """How many columns name a row: the first, and further names and numbers if rows would be equal without them."""
    for keys in range(1, columns):
        if keys > 1 and not grid.words([row[keys - 1] for row in rows]):
            break
        if len({tuple(row[:keys]) for row in rows}) == len(rows):
            return keys
    return 1


def _rows(text: str, terminal: Terminal) -> list[str]:
    """A text in lines of whole words: on a terminal, and where `COLUMNS` gives a width."""
    if not (terminal.is_terminal or "COLUMNS" in os.environ):
        return [text]
    lines = [textwrap.wrap(line, terminal.width, **_WHOLE_WORDS) for line in text.split("\n")]
    return [row for rows in lines for row in rows or [""]]


class Notes:
    """Print notes on standard error as they come: the first few, and at the end how many more there were."""

    def __enter__(self) -> None:
        self._said: list[str] = []
        self._shown = warnings.showwarning
        warnings.showwarning = self._show
        warnings.simplefilter("always", OctavoNote)

    def __exit__(self, *_: object) -> None:
        warnings.showwarning = self._shown
        if len(self._said) > _MOST_NOTES:
            print(f"note: and {len(self._said) - _MOST_NOTES} more of these", file=sys.stderr)

    def _show(self, message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if not issubclass(category, OctavoNote):
            self._shown(message, category, *where, **more)
            return
        if str(message) in self._said:
            return
        self._said.append(str(message))
        if len(self._said) <= _MOST_NOTES:
            for row in _rows(f"note: {shortened(str(message))}", Terminal(errors=True)):
                print(row, file=sys.stderr)


def complain(error: OctavoError) -> None:
    """The error and a hint, on standard error."""
    terminal = Terminal(errors=True)
    _complain(terminal, "error:", RED, error.message)
    if error.details:
        for row in _rows(shortened(error.details), terminal):
            terminal.line(row)
    if error.hint:
        _complain(terminal, "hint:", BOLD, error.hint)


def _complain(terminal: Terminal, label: str, style: str, text: str) -> None:
    first, *others = _rows(f"{label} {shortened(text)}", terminal)
    terminal.line(first.removeprefix(label), bold=label, style=style)
    for row in others:
        terminal.line(row)
