"""One measured value with its spread, and the units that values have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Unit = Literal["s", "B/s", "B", "op/s", "1"]
"""Seconds, bytes a second, bytes, operations a second, or a plain number."""


@dataclass(frozen=True)
class Measured:
    """The result of a fit, in units without multiples: `value`, `low` and `high` are in `unit`.

    `low` and `high` are the quartiles over repetitions; with one repetition they are the value itself.
    """

    name: str
    """Key in the machine file, such as `copy_bandwidth_h2d_pinned`."""
    value: float
    unit: Unit
    low: float
    high: float
    repetitions: int
    """How many values the quartiles come from."""
    probe: str
    """The probe whose samples it comes from."""
    note: str = ""
    """A remark, such as which points a fit used."""
