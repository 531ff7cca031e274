"""All times and counts of measured programs as CSV, for people and for the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo_studies.validate.programs import records
from octavo_studies.validate.programs.times import JUDGED, TIMES

if TYPE_CHECKING:
    from octavo_studies.validate.programs.study import ProgramsValidation

_KEYS = ("program", "scale", "kind")
_DIGITS = 4


def sheet(found: ProgramsValidation) -> pl.DataFrame:
    """A row for each program, scale and kind.

    Times are in ms, to four digits, measured (the median) and simulated. Those that the comparison judges have their
    quartiles, too. Counts of recordings stand at the end: faults, and bytes by cause.
    """
    rows = found.rows.select(*_KEYS).unique(maintain_order=True)
    there = set(found.rows["time"])
    for time in (time for time in (*JUDGED, *TIMES[: -len(JUDGED)]) if time in there):
        rows = rows.join(_columns(found.rows.filter(time=time), time), on=_KEYS, maintain_order="left")
    if found.counts is not None:
        counts = [name for one in records.COUNTS for name in (one, f"simulated_{one}")]
        rows = rows.join(found.counts.select(*_KEYS, *counts), on=_KEYS, how="left", maintain_order="left")
    return rows


def _columns(rows: pl.DataFrame, time: str) -> pl.DataFrame:
    shown = ("measured", "low", "high", "simulated") if time in JUDGED else ("measured", "simulated")
    return rows.select(
        *_KEYS, *((1e3 * pl.col(name)).round_sig_figs(_DIGITS).alias(f"{time}_{name}_ms") for name in shown)
    )
