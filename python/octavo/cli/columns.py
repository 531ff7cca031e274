"""How wide the columns of a table are, so that no word and no number is broken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True)
class Column:
    """A column: its name, whose words stay whole, its cells, and whether a cell is one word (a name, a number)."""

    name: str
    cells: Sequence[str]
    one_word: bool

    @property
    def whole(self) -> Sequence[str]:
        """What must not be broken."""
        return self.cells if self.one_word else _words(self.cells)


def widths(columns: Sequence[Column], room: int) -> list[int]:
    """The width of each column in characters, at most `room` together if what must stay whole allows that."""
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
    return max(map(cell_len, words), default=1)
