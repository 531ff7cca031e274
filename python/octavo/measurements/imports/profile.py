"""A profile of a real program, from any recorder."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.measurements.activity.mapping import PICOSECONDS

if TYPE_CHECKING:
    from octavo.measurements.activity.rows import Rows
    from octavo.measurements.imports.allocations import Change

KERNELS = {"kernel": pl.String, "start": pl.Int64, "end": pl.Int64, "gpu": pl.Int64}
"""Columns of the kernels of a profile."""


@dataclass(frozen=True)
class Profile:
    """The contents of a profile; times are nanoseconds of one clock."""

    source: dict[str, Any]
    """The source of the import."""
    rows: Rows
    """Unified-memory activity, in any order."""
    changes: list[Change] = field(default_factory=list)
    """Managed memory that is allocated or freed."""
    kernels: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=KERNELS))
    """`kernel`, `start`, `end`, `gpu`, in order of time."""
    gpus: dict[int, str] = field(default_factory=dict)
    """The known names of GPUs, by number."""
    other_memory: Counter[str] = field(default_factory=Counter)
    """Allocated bytes of memory that does not move, by kind."""
    missing: list[str] = field(default_factory=list)
    """What was not recorded."""
    notes: Counter[str] = field(default_factory=Counter)
    """Losses, guesses and unknown values, and how many of each."""


def kernel_table(kernels: pl.DataFrame, origin: int) -> pl.DataFrame:
    """The table `kernels` of a result that begins at `origin` nanoseconds."""
    times = {"began_ps": "start", "ended_ps": "end"}
    return kernels.select(
        "kernel",
        *(((pl.col(column) - origin) * PICOSECONDS).cast(pl.UInt64).alias(name) for name, column in times.items()),
        pl.col("gpu").cast(pl.UInt64),
    )
