"""How wide the columns of a table are, and how many tables they need, so that no word and no number is broken."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from octavo.cli.terminal import cells as cells_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True)
class Column:
    """A column: its name, whose words stay whole, its cells, and whether each cell is one word (a name, a number)."""

    name: str
    cells: Sequence[str]
    one_word: bool
    wished: bool = False
    """Whether cells stay on one line if there is room for them."""

    @property
    def whole(self) -> Sequence[str]:
        """Parts that must not be broken."""
        return self.cells if self.one_word or self.wished else _words(self.cells)

    @property
    def least(self) -> Column:
        """The same for little room: long names may be broken, and ranges before their second number."""
        if not self.one_word:
            return replace(self, cells=[_parted(cell) for cell in self.cells])
        return replace(self, cells=[cell.replace(" to ", f" to {_GAP}") for cell in self.cells])


@dataclass(frozen=True)
class Laid:
    """Columns side by side: their widths, and the blanks between them."""

    columns: Sequence[Column]
    widths: Sequence[int]
    apart: int

    @property
    def width(self) -> int:
        """The width of the whole table, with its margin."""
        return sum(self.widths) + self.apart * len(self.columns) + 1


_APART, _CLOSE = 2, 1
"""Blanks between columns: the usual number, and the number in a table that would not fit otherwise."""


def folded(columns: Sequence[Column], keys: int, width: int) -> list[Laid]:
    """One table, or several that all begin with the first `keys` columns if one does not fit the terminal."""
    whole = laid(columns, width)
    if whole.width <= width:
        return [whole]
    names, others = columns[:keys], columns[keys:]
    fewest = len(_groups(names, others, width))
    evened = (_groups(names, others, narrower) for narrower in range(width // 2, width, 4))
    groups = next((groups for groups in evened if len(groups) == fewest), _groups(names, others, width))
    return [_narrowed([*names, *group], keys, width) for group in groups]


def _groups(names: Sequence[Column], others: Sequence[Column], width: int) -> list[list[Column]]:
    """As many columns side by side as fit beside the names of the rows."""
    groups: list[list[Column]] = [[]]
    for column in others:
        if groups[-1] and laid([*names, *groups[-1], column], width).width > width:
            groups.append([])
        groups[-1].append(column)
    return groups


def laid(columns: Sequence[Column], width: int) -> Laid:
    """Columns in the layout that fits best: narrow only if the terminal has no room for more."""
    found = []
    for apart in (_APART, _CLOSE):
        found.append(Laid(*fitted(columns, width - apart * len(columns) - 1), apart))
        if found[-1].width <= width:
            return found[-1]
    return found[0]


def _narrowed(columns: Sequence[Column], keys: int, width: int) -> Laid:
    """Columns in which names of rows continue on the next line if nothing else helps."""
    found = laid(columns, width)
    if found.width <= width:
        return found
    return laid([*(replace(each, one_word=False) for each in columns[:keys]), *columns[keys:]], width)


_GAP = "\0"
"""Places where a cell may continue on the next line without a space."""
_COMPOUND = re.compile(r"[^_./]{3,}[_./](?=[^_./]{3})")
"""A part of a long name such as `uvm_perf_threshold`, up to a place where a line may end."""


def fitted(columns: Sequence[Column], room: int) -> tuple[list[Column], list[int]]:
    """Columns and their widths, together at most `room` if possible; wishes are the first to be given up."""
    given = widths(columns, room)
    if sum(given) <= room:
        return list(columns), given
    short = [each.least for each in columns]
    given = _widths_of_parts(short, room)
    plain = [replace(each, wished=False) for each in short]
    if sum(given) > room >= sum(without := _widths_of_parts(plain, room)):
        given = without
    return [_broken(each, width) for each, width in zip(short, given, strict=True)], given


def _widths_of_parts(columns: Sequence[Column], room: int) -> list[int]:
    return widths([replace(each, cells=_lines(each), one_word=False) for each in columns], room)


def _parted(cell: str) -> str:
    return _COMPOUND.sub(lambda part: part[0] + _GAP, cell)


def _lines(column: Column) -> list[str]:
    """Everything that needs a line of its own, as one word each."""
    if column.one_word:
        return [part.strip().replace(" ", "_") for cell in column.cells for part in cell.split(_GAP)]
    return [cell.replace(_GAP, " ") for cell in column.cells]


def _broken(column: Column, width: int) -> Column:
    """The column with some gaps replaced by line breaks, where a cell or a word is too long."""
    apart = [[cell] if column.one_word else cell.split(" ") for cell in column.cells]
    return replace(column, cells=[" ".join(_folded(word, width) for word in words) for words in apart])


def _folded(word: str, width: int) -> str:
    """A word on as many lines as it needs."""
    lines = [""]
    for part in word.split(_GAP):
        if lines[-1] and cells_of(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.rstrip() for line in lines)


def widths(columns: Sequence[Column], room: int) -> list[int]:
    """The width of each column in characters, together at most `room` if unbreakable words allow that."""
    least = [max(_longest(_words([column.name])), _longest(column.whole)) for column in columns]
    given = [_longest([*column.name.split("\n"), *column.cells]) for column in columns]
    while sum(given) > room:
        spare = [have - needed for have, needed in zip(given, least, strict=True)]
        if not any(spare):
            break
        given[max(range(len(given)), key=lambda index: (spare[index] > 0, given[index]))] -= 1
    return given


def _words(cells: Iterable[str]) -> list[str]:
    return [word for cell in cells for word in cell.split()]


def _longest(words: Iterable[str]) -> int:
    return max(map(cells_of, words), default=1)
