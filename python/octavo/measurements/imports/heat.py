"""Which ranges of memory samples found in use, as a result folder: for tiering, not a trace of accesses."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo._core import VERSION
from octavo.arrays import np
from octavo.errors import ProfileError
from octavo.measurements.activity.mapping import PAGE_BYTES, PICOSECONDS
from octavo.runs import folder as folders
from octavo.runs.content import PROFILE, RESULT_FORMAT
from octavo.runs.result import RunResult

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

COLUMNS = {
    "process": pl.Int64,
    "address": pl.UInt64,
    "bytes": pl.UInt64,
    "samples": pl.Float64,
    "loads": pl.UInt64,
    "stores": pl.UInt64,
    "memory_samples": pl.UInt64,
    "far_samples": pl.UInt64,
    "mean_weight": pl.Float64,
}
_ONE = 1 << 80
"""A sample for each byte: whole numbers add up without rounding."""
SHARES = (50, 90, 99)
"""Percent of all samples of which the summary says how little memory has them."""


@dataclass(frozen=True)
class Samples:
    """What a tool sampled."""

    source: dict[str, Any]
    rows: list[dict[str, Any]]
    """Ranges that do not overlap within a process, with the columns of `COLUMNS`; null where the tool does not say."""
    nanoseconds: int
    """From the first sample to the last; 0 if the tool does not say."""
    assumed: list[str]
    missing: list[str]
    notes: Counter[str] = field(default_factory=Counter)


def write(found: Samples, folder: Path, *, force: bool) -> RunResult:
    """Write the table `heat` and the summary.

    Raises:
        ProfileError: nothing was found in use.
        OutputError: the folder cannot be written.

    """
    table = pl.DataFrame(found.rows, schema=COLUMNS).sort("process", "address")
    total = float(table["samples"].sum())
    if total <= 0:
        message = f"{found.source['file']}: expected samples of memory in use, found none"
        raise ProfileError(message, code="missing", file=found.source["file"], key="samples")
    about = {
        "octavo": VERSION,
        "format": RESULT_FORMAT,
        "source": found.source,
        "time_ps": max(found.nanoseconds, 1) * PICOSECONDS,
        "launches": 0,
        "footprint_bytes": int(in_use(table)["bytes"].sum()),
        "capacity_bytes": None,
        "page_bytes": PAGE_BYTES,
        "gpus": [],
        "samples": total,
        "hot_bytes": {str(share): size for share, size in hot_bytes(table, SHARES)},
        "assumed": found.assumed,
        "missing": found.missing,
        "notes": dict(sorted((+found.notes).items())),
    }
    with folders.locked(folder) as target:
        folders.check_replaceable(target, force=force)
        folders.save_tables(target, PROFILE, {"heat": table}, about)
    return RunResult(folder)


def in_use(table: pl.DataFrame) -> pl.DataFrame:
    """Ranges with any sample: DAMON tells of all that it monitored."""
    return table.filter(pl.col("samples") > 0)


def hot_bytes(table: pl.DataFrame, shares: Iterable[int]) -> list[tuple[int, int]]:
    """The least memory that has each share of all samples, in percent; samples are spread evenly over a range."""
    order = table.with_columns(density=pl.col("samples") / pl.col("bytes")).sort("density", descending=True)
    sizes, counts = order["bytes"].to_numpy().astype(np.float64), order["samples"].to_numpy()
    sizes = np.concatenate([[0.0], np.cumsum(sizes)])
    counts = np.concatenate([[0.0], np.cumsum(counts)])
    return [(share, int(np.ceil(np.interp(counts[-1] * share / 100, counts, sizes)))) for share in shares]


def merged(regions: Iterable[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """Regions that may overlap (first byte, end, samples), as ranges that do not: each with its share of all samples.

    A region's samples are spread evenly over its bytes.
    """
    changes: dict[int, tuple[int, int]] = {}
    for start, end, samples in regions:
        each = int(samples * _ONE) // (end - start)
        for place, sign in ((start, 1), (end, -1)):
            covering, density = changes.get(place, (0, 0))
            changes[place] = (covering + sign, density + sign * each)
    found: list[tuple[int, int, int]] = []
    covering = density = 0
    places = sorted(changes)
    for start, end in pairwise(places):
        covering, density = covering + changes[start][0], density + changes[start][1]
        if found and covering and found[-1][1:] == (start, density):
            found[-1] = (found[-1][0], end, density)
        elif covering:
            found.append((start, end, density))
    return [(start, end, round(each * (end - start) / _ONE, 6)) for start, end, each in found]
