"""What a part of a study found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.files import disk, parquet
from octavo.runs.comparison import REPORT_FILE, save_report

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Found:
    """Results, and the folder that has them with pictures."""

    root: Path
    title: str
    points: pl.DataFrame
    """One row for each point; the study says what its columns are."""
    document: Mapping[str, Any]
    """What the report says, in its order: tables, lists and values by name."""
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """Tables that have files of their own, by name."""

    def __getattr__(self, name: str) -> Any:
        """A part of the report, or a table, by its name."""
        known = {**self.__dict__.get("document", {}), **self.__dict__.get("tables", {})}
        if name not in known:
            raise AttributeError(f"there is no `{name}`, but {', '.join(known)}")
        return known[name]

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        return {
            name: value.to_dicts() if isinstance(value, pl.DataFrame) else value
            for name, value in self.document.items()
        }

    def save(self, digest: str) -> None:
        """Write report and tables into the folder, which is open."""
        for name, table in self.tables.items():
            disk.write_bytes(self.root / f"{name}.parquet", parquet.encoded(table))
        save_report(self.root, digest, self.points, self.to_dict())


def write(root: Path, digest: str, tables: Mapping[str, pl.DataFrame | None], report: Mapping[str, Any]) -> None:
    """Write each table that there is as Parquet and as CSV, and the report, which says what was run by its digest."""
    for name, table in tables.items():
        if table is not None:
            disk.write_bytes(root / f"{name}.parquet", parquet.encoded(table))
            disk.write_text(root / f"{name}.csv", table.write_csv())
    disk.write_json(root / REPORT_FILE, {"experiment": digest, **report})


def compared(what: str, found: Any, published: Any) -> dict[str, Any]:
    """A row that has what is found beside what is published; None where nothing is."""
    return {"what": what, "found": found, "published": published}
