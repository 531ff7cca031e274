"""Where commands put what they have to say: one place, three manners."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import warnings
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from octavo.cli import streams
from octavo.cli.columns import Column, Laid, folded
from octavo.files.notes import OctavoNote
from octavo.plain import escaped, shortened, visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import JustifyMethod

    from octavo.errors import OctavoError

_MOST_NOTES = 5
_WHOLE_WORDS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}


class Sink:
    """Standard output for results: tables for people, or one JSON document, or nothing."""

    def __init__(self, *, as_json: bool, quiet: bool = False, console: Console | None = None) -> None:
        """People read `console` if there is one: standard error, for commands whose output is another program's."""
        self.as_json = as_json
        self.quiet = quiet
        self._console = console or Console(highlight=False)
        self._documents = sys.stdout
        if as_json:
            # What a policy prints must not get into the document.
            sys.stdout = sys.stderr

    @property
    def human(self) -> bool:
        """Whether a person reads."""
        return not (self.as_json or self.quiet)

    def table(
        self,
        title: str,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        unbroken: Sequence[str] = (),
    ) -> None:
        """A table; columns after the first are numbers unless any cell of theirs is a word.

        Where there is no room for all columns, the rest stand in further tables beside the same names of rows.
        Cells of the columns `unbroken` stay on one line where there is room for that.
        """
        if not self.human:
            return
        rows = [[visible(cell) for cell in row] for row in rows]
        keys = _keys(rows, len(columns))
        given = [
            _column(visible(name), [row[index] for row in rows], key=index < keys, wished=name in unbroken)
            for index, name in enumerate(columns)
        ]
        for index, part in enumerate(folded(given, keys, max(self._console.width, 1))):
            named = _rows(visible(title) + (", continued" if index else ""), self._console)
            # A table of long words is wider than the terminal, whose lines go on below.
            self._console.print(_drawn("\n".join(named), part), crop=False, soft_wrap=True)

    def say(self, text: str) -> None:
        """A line for people; paths and commands in it can be copied whole."""
        if self.human:
            self._console.print(visible(text), markup=False, soft_wrap=True)

    def tell(self, sentence: str) -> None:
        """A sentence for people: in rows of whole words on a terminal, one line anywhere else."""
        for row in _rows(visible(sentence), self._console):
            self.say(row)

    def document(self, value: Mapping[str, Any] | Sequence[Any]) -> None:
        """The whole result, for programs."""
        if self.as_json:
            # An output that has no letters beyond ASCII gets them as JSON escapes.
            text = json.dumps(value, indent=2, ensure_ascii=not streams.is_unicode(self._documents))
            print(escaped(text), file=self._documents, flush=True)


def _column(name: str, cells: Sequence[str], *, key: bool, wished: bool) -> Column:
    """A number stays whole with its unit, and so does what names a row."""
    return Column(name, cells, key or _words(cells), wished)


def _keys(rows: Sequence[Sequence[str]], columns: int) -> int:
    """How many columns name a row: the first, and further names and numbers if rows are the same without."""
    for keys in range(1, columns):
        if keys > 1 and not _words([row[keys - 1] for row in rows]):
            break
        if len({tuple(row[:keys]) for row in rows}) == len(rows):
            return keys
    return 1


def _drawn(title: str, part: Laid) -> Table:
    table = Table(
        title=escape(title),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, part.apart - 1, 0, 0),
        width=part.width,
    )
    for index, (column, width) in enumerate(zip(part.columns, part.widths, strict=True)):
        justify: JustifyMethod = "right" if index and _numbers(column.cells) else "left"
        table.add_column(escape(column.name), justify=justify, overflow="fold", width=width)
    for row in zip(*(column.cells for column in part.columns), strict=True):
        table.add_row(*map(escape, row))
    return table


_BEGIN_NUMBERS = "0123456789+-–−"


def _numbers(cells: Sequence[str]) -> bool:
    return all(cell[:1] in _BEGIN_NUMBERS for cell in cells)


def _words(cells: Sequence[str]) -> bool:
    """Whether each cell is a number, with its unit, or a single word."""
    return all(cell[:1] in _BEGIN_NUMBERS or " " not in cell for cell in cells)


def _rows(text: str, console: Console) -> list[str]:
    """A text in rows of whole words: on a terminal, and where `COLUMNS` says how wide what shows it is."""
    if not (console.is_terminal or "COLUMNS" in os.environ):
        return [text]
    lines = [textwrap.wrap(line, max(console.width, 1), **_WHOLE_WORDS) for line in text.split("\n")]
    return [row for rows in lines for row in rows or [""]]


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
            for row in _rows(f"note: {shortened(str(message))}", Console(stderr=True)):
                print(row, file=sys.stderr)


def complain(error: OctavoError) -> None:
    """What went wrong and what may help, on standard error."""
    console = Console(stderr=True, highlight=False)
    _complain(console, "error", "bold red", error.message)
    if error.details:
        for row in _rows(shortened(error.details), console):
            console.print(escape(row), soft_wrap=True)
    if error.hint:
        _complain(console, "hint", "bold", error.hint)


def _complain(console: Console, label: str, style: str, text: str) -> None:
    first, *others = _rows(f"{label}: {shortened(text)}", console)
    console.print(f"[{style}]{label}:[/]{escape(first.removeprefix(f'{label}:'))}", soft_wrap=True)
    for row in others:
        console.print(escape(row), soft_wrap=True)
