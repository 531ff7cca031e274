"""Recorded traces: opened and looked at."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

import octavo._core as _core
from octavo.trace.engine import call


@dataclass(frozen=True)
class Trace:
    """A recorded program in a folder; instructions are read when asked for."""

    path: Path

    @cached_property
    def info(self) -> dict[str, Any]:
        """Counts by kernel and in total: instructions, lines, footprint, bytes; reads the whole trace.

        Raises:
            TraceError: it cannot be read.

        """
        info: dict[str, Any] = json.loads(call(_core.trace_info, str(self.path)))
        return info

    @property
    def instructions(self) -> pl.LazyFrame:
        """One row for each instruction, lazily: filter before you collect."""
        return pl.scan_parquet(self.path / "instructions.parquet")

    @property
    def allocations(self) -> pl.DataFrame:
        """One row for each allocation: name, base, bytes."""
        return pl.read_parquet(self.path / "allocations.parquet")

    @property
    def actions(self) -> pl.DataFrame | None:
        """One row for each action of the whole program; none where launches alone were recorded."""
        path = self.path / "actions.parquet"
        return pl.read_parquet(path) if path.is_file() else None

    @property
    def launches(self) -> pl.DataFrame:
        """One row for each kernel launch."""
        return pl.read_parquet(self.path / "launches.parquet")

    def head(
        self, count: int = 10, *, launch: int | None = None, group: int | None = None, wavefront: int | None = None
    ) -> list[dict[str, Any]]:
        """Return the first rows that match, as dictionaries.

        Raises:
            TraceError: what is looked at cannot be read.

        """
        rows = call(_core.trace_head, str(self.path), count, launch, group, wavefront)
        found: list[dict[str, Any]] = json.loads(rows)
        return found

    def validate(self) -> int:
        """Check every rule of the format; returns how many rows there are.

        Raises:
            TraceError: a rule is broken; the message names file, row and reason.

        """
        return int(call(_core.trace_validate, str(self.path)))


def open(path: str | Path) -> Trace:  # noqa: A001 - meant to be called as octavo.trace.open
    """Open a trace folder.

    Raises:
        TraceError: there is none, or it is damaged, or of a version that this Octavo does not know.

    """
    trace = Trace(Path(path))
    trace.head(0)
    return trace
