"""Tables that several studies print."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from octavo.cli.sink import Sink


def counts(sink: Sink, title: str, table: pl.DataFrame) -> None:
    """A table of whole numbers; the first column names its rows."""
    rows = [[str(row[0]), *(f"{count:,}" for count in row[1:])] for row in table.iter_rows()]
    sink.table(title, table.columns, rows)


def values(sink: Sink, title: str, table: pl.DataFrame) -> None:
    """A table of any numbers and texts."""

    def text(value: object) -> str:
        return f"{value:.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)

    sink.table(
        title, [name.replace("_", " ") for name in table.columns], [list(map(text, row)) for row in table.rows()]
    )


def shares(sink: Sink, title: str, table: pl.DataFrame) -> None:
    """A table of shares in percent; the first column names its rows."""
    rows = [
        [str(row[0]), *("–" if share is None else f"{share:.0%}" for share in row[1:])] for row in table.iter_rows()
    ]
    sink.table(title, [name.replace("_", " ") for name in table.columns], rows)
