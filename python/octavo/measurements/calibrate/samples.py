"""Samples of a probe: its measurements, row by row, and what they were taken on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.measurements.calibrate.sidecar import Origin


@dataclass(frozen=True)
class Activity:
    """Unified-memory records that CUPTI wrote while the probe ran."""

    cupti: int
    """Version of the library's interface."""
    dropped: int
    """Records that CUPTI lost."""
    layout: str | None = None
    """Version of the records, such as `v3`, if it is known."""
    records: bytes = b""


@dataclass(frozen=True)
class Samples:
    """A finished probe."""

    probe: str
    table: pl.DataFrame
    origin: Origin
    date: str
    """Day on which it was measured, such as `2026-11-21`."""
    device: Mapping[str, Any] = field(default_factory=dict)
    """The GPU as its driver describes it."""
    host: Mapping[str, Any] = field(default_factory=dict)
    """The host's description of itself; empty if there is none."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Series that could not be measured here, each with the reason."""
    activity: Activity | None = None

    def series(self, name: str) -> pl.DataFrame:
        """Rows of one series, in the order they were measured."""
        return self.table.filter(pl.col("series") == name)
