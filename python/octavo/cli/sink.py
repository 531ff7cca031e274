"""Where commands put what they have to say: one place, three manners."""

from __future__ import annotations

import json
import sys
import textwrap
import warnings
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from octavo.cli.columns import Column, fitted
from octavo.files.notes import OctavoNote
from octavo.plain import escaped, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.errors import OctavoError

_MOST_NOTES = 5
_APART, _CLOSE = 2, 1
"""Blanks between columns, usually and in a table that has no room for more."""


class Sink:
    """Standard output for results: tables for people, or one JSON document, or nothing."""

    def __init__(self, *, as_json: bool, quiet: bool = False, console: Console | None = None) -> None:
        """People read `console` if there is one: standard error, for commands whose output is another program's."""
        self.as_json = as_json
        self.quiet = quiet
        self._console = console or Console(highlight=False)

    @property
    def human(self) -> bool:
        """Whether a person reads."""
        return not (self.as_json or self.quiet)

    def table(
        self, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, unbroken: Sequence[str] = ()
    ) -> None:
        """A table; columns after the first are numbers unless any cell of theirs is a word.

        Cells of the columns `unbroken` stay on one line where there is room for that.
        """
        if not self.human:
            return
        rows = [[visible(cell) for cell in row] for row in rows]
        shown = [visible(name).replace("-", "-\n") if len(columns) > 8 else visible(name) for name in columns]
        given = [
            _column(name, [row[index] for row in rows], first=index == 0, wished=columns[index] in unbroken)
            for index, name in enumerate(shown)
        ]
        given, taken, apart = self._fitted(given)
        table = Table(
            title=escape(visible(title)),
            title_justify="left",
            title_style="bold",
            box=box.SIMPLE_HEAD,
            padding=(0, apart - 1, 0, 0),
        )
        for column, width in zip(given, taken, strict=True):
            numeric = _numbers(column.cells) and column is not given[0]
            table.add_column(escape(column.name), justify="right" if numeric else "left", overflow="fold", width=width)
        for row in zip(*(column.cells for column in given), strict=True):
            table.add_row(*map(escape, row))
        # A table of long words is wider than the terminal, whose lines go on below.
        table.width = sum(taken) + apart * len(columns) + 1
        self._console.print(table, crop=False, soft_wrap=True)

    def _fitted(self, columns: Sequence[Column]) -> tuple[list[Column], list[int], int]:
        """Columns, their widths, and how far apart they stand: closer only if the terminal has room for just that."""
        found = []
        for apart in (_APART, _CLOSE):
            room = self._console.width - apart * len(columns) - 1
            given, taken = fitted(columns, room)
            found.append((given, taken, apart))
            if sum(taken) <= room:
                return found[-1]
        return found[0]

    def say(self, text: str) -> None:
        """A line for people; paths and commands in it can be copied whole."""
        if self.human:
            self._console.print(visible(text), markup=False, soft_wrap=True)

    def tell(self, sentence: str) -> None:
        """A sentence for people: in rows of whole words on a terminal, one line anywhere else."""
        width = self._console.width if self._console.is_terminal else len(sentence) + 1
        for row in textwrap.wrap(visible(sentence), width, break_long_words=False, break_on_hyphens=False):
            self.say(row)

    def document(self, value: Mapping[str, Any] | Sequence[Any]) -> None:
        """The whole result, for programs."""
        if self.as_json:
            print(escaped(json.dumps(value, indent=2, ensure_ascii=False)))


def _column(name: str, cells: Sequence[str], *, first: bool, wished: bool) -> Column:
    """A number stays whole with its unit, and so does what names a row."""
    return Column(name, cells, first or _numbers(cells), wished)


def _numbers(cells: Sequence[str]) -> bool:
    return all(cell[:1] in "0123456789+-–" for cell in cells)


class Notes:
    """Puts notes on standard error as they come: the first few, and at the end how many more there were."""

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
            print(f"note: {shortened(str(message))}", file=sys.stderr)


def complain(error: OctavoError) -> None:
    """What went wrong and what may help, on standard error."""
    console = Console(stderr=True, highlight=False)
    console.print("[bold red]error:[/]", escape(shortened(error.message)), soft_wrap=True)
    if error.details:
        console.print(escape(shortened(error.details)), soft_wrap=True)
    if error.hint:
        console.print("[bold]hint:[/]", escape(shortened(error.hint)), soft_wrap=True)
