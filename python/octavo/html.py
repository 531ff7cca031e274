"""Tables for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table that shows its texts literally, whatever characters they contain."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    top = f"<thead><tr>{head}</tr></thead>" if any(columns) else ""
    return f"<table><caption>{escape(caption)}</caption>{top}<tbody>{body}</tbody></table>"


def paragraph(text: str) -> str:
    """A text, unchanged."""
    return f"<p>{escape(text)}</p>"
