"""Tables that a study prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl


class Shown(Protocol):
    """Anything that can be printed as a table."""

    @property
    def title(self) -> str:
        """Above it."""

    @property
    def columns(self) -> Sequence[str]:
        """Heads of its columns."""

    @property
    def rows(self) -> Sequence[Sequence[str]]:
        """Rows of as many cells."""


class Table(NamedTuple):
    """A table as it is printed."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def counts(title: str, table: pl.DataFrame) -> Table:
    """A table of whole numbers; the first column names its rows."""
    return Table(title, table.columns, [[str(row[0]), *(f"{count:,}" for count in row[1:])] for row in table.rows()])


def values(title: str, table: pl.DataFrame) -> Table:
    """A table of any numbers and texts."""

    def text(value: object) -> str:
        return f"{value:.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)

    return Table(
        title, [name.replace("_", " ") for name in table.columns], [list(map(text, row)) for row in table.rows()]
    )


def shares(title: str, table: pl.DataFrame) -> Table:
    """A table of shares in percent; the first column names its rows."""
    rows = [[str(row[0]), *("–" if share is None else f"{share:.0%}" for share in row[1:])] for row in table.rows()]
    return Table(title, [name.replace("_", " ") for name in table.columns], rows)


def beside(title: str, rows: Iterable[dict[str, Any]], form: str = ".2f") -> Table:
    """What is found beside what is published, where something is."""
    texts = [
        (row["what"], *("–" if row[key] is None else format(row[key], form) for key in ("found", "published")))
        for row in rows
    ]
    return Table(title, ["", "found", "published"], texts)
