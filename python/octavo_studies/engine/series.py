"""Tables as pictures need them: one column for each bar, one series for each line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.runs import pictures

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def bars(path: Path, table: pl.DataFrame, index: str, columns: str, values: str, **how: Any) -> None:
    """Draw one group of bars for each value of `index`, with a bar for each of `columns`; see `pictures.bars`."""
    pictures.bars(path, table.select(index, columns, values).pivot(columns, index=index, values=values), **how)


def lines(
    path: Path, table: pl.DataFrame, by: str | Sequence[str], x: str, y: str, labels: tuple[str, str], **how: Any
) -> None:
    """Draw `y` over `x`, with a line for each value of `by`; `per` divides y. See `pictures.lines`."""
    per = how.pop("per", 1)
    keys = [by] if isinstance(by, str) else list(by)
    found = {
        ", ".join(map(str, key)): (rows[x].cast(pl.Float64).to_list(), (rows[y] / per).to_list())
        for key, rows in table.group_by(*keys, maintain_order=True)
    }
    pictures.lines(path, found, labels, **how)
