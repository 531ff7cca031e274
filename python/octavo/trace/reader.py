"""Recorded traces: opened and looked at."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import octavo._core as _core
from octavo.errors import OutputError, TraceError, again
from octavo.files import manifest, parquet
from octavo.trace.engine import call
from octavo.trace.folder import check

if TYPE_CHECKING:
    from collections.abc import Iterator

_AGAIN = "record the trace again"


@contextmanager
def _as_trace_errors() -> Iterator[None]:
    try:
        yield
    except OutputError as error:
        raise again(error, TraceError) from None


@dataclass(frozen=True)
class Trace:
    """A recorded program in a folder; instructions are read on demand."""

    path: Path

    @cached_property
    def info(self) -> dict[str, Any]:
        """Counts by kernel and in total: instructions, lines, footprint, bytes; reads the whole trace.

        Raises:
            TraceError: the trace cannot be read.

        """
        check(self.path)
        info: dict[str, Any] = json.loads(call(_core.trace_info, str(self.path)))
        return info

    @property
    def instructions(self) -> pl.LazyFrame:
        """One row for each instruction, lazily: filter before you collect.

        Raises:
            TraceError: the trace has no manifest, and the instructions cannot be decoded.

        """
        check(self.path)
        path = self.path / "instructions.parquet"
        if manifest.read(self.path) is None:
            with _as_trace_errors():
                parquet.check(path, _AGAIN)
        return pl.scan_parquet(path, glob=False)

    @property
    def allocations(self) -> pl.DataFrame:
        """One row for each allocation: name, base, bytes."""
        return self._table("allocations")

    @property
    def actions(self) -> pl.DataFrame | None:
        """One row for each action of the whole program; empty if only launches were recorded."""
        return self._table("actions") if (self.path / "actions.parquet").is_file() else None

    @property
    def launches(self) -> pl.DataFrame:
        """One row for each kernel launch."""
        return self._table("launches")

    def _table(self, name: str) -> pl.DataFrame:
        check(self.path)
        with _as_trace_errors():
            return parquet.read(self.path / f"{name}.parquet", _AGAIN)

    def head(
        self, count: int = 10, *, launch: int | None = None, group: int | None = None, wavefront: int | None = None
    ) -> list[dict[str, Any]]:
        """Return the first rows that match, as dictionaries.

        Raises:
            TraceError: these rows cannot be read.

        """
        check(self.path)
        rows = call(_core.trace_head, str(self.path), count, launch, group, wavefront)
        found: list[dict[str, Any]] = json.loads(rows)
        return found

    def validate(self) -> int:
        """Check every rule of the format, and return the number of rows.

        Raises:
            TraceError: a rule is broken; the message names file, row and reason.

        """
        check(self.path)
        return int(call(_core.trace_validate, str(self.path)))


def open(path: str | Path) -> Trace:  # noqa: A001 - meant to be called as octavo.trace.open
    """Open a trace folder.

    Raises:
        TraceError: there is no trace, or it is damaged or of an unknown version.

    """
    trace = Trace(Path(path))
    trace.head(0)
    return trace
