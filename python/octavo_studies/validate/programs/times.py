"""Measured times of programs: what `validation/gpu/programs.cu` prints, as medians and quartiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median, quantiles
from typing import TYPE_CHECKING

from octavo.errors import ValidationError
from octavo.plain import meant
from octavo_studies.validate import figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PHASES = ("allocate", "host_write", "copy_in", "kernels", "copy_out", "host_read", "free")
"""Parts of a program's time, in order; their sum is `total`."""
JUDGED = ("total", "kernels_event", "kernels_run")
"""The whole, its kernels by events on the GPU, and the same by a profiler, which counts nothing between launches."""
TIMES = (*PHASES, *JUDGED)
KINDS = ("device", "managed", "managed-prefetch", "pinned", "system")
_KEYS = ("program", "scale", "kind", "repetition")

Key = tuple[str, float, str]
"""Program, scale and kind of memory."""


@dataclass(frozen=True)
class Spread:
    """Seconds over repetitions."""

    low: float
    """The first quartile."""
    median: float
    high: float
    """The third quartile."""

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Spread:
        """Of some repetitions, or of a single one."""
        if len(seconds) == 1:
            return cls(seconds[0], seconds[0], seconds[0])
        low, _, high = quantiles(seconds, n=4, method="inclusive")
        return cls(low, median(seconds), high)

    def apart(self, other: Spread) -> bool:
        """Whether quartiles tell the two apart."""
        return self.high < other.low or other.high < self.low


@dataclass(frozen=True)
class Measured:
    """A program at a scale on a kind of memory."""

    program: str
    scale: float
    kind: str
    repetitions: int
    times: Mapping[str, Spread]
    """By name: those of `TIMES` that were measured."""

    @property
    def key(self) -> Key:
        """What tells it from all others."""
        return self.program, self.scale, self.kind


def read(path: Path) -> list[Measured]:
    """Every program, scale and kind of a file, in its order.

    Raises:
        ValidationError: the file cannot be used; the message names the line.

    """
    rows: dict[Key, list[dict[str, float]]] = {}
    for number, row in _rows(path):
        where = f"{path}:{number}"
        key = row["program"].strip(), _number(where, "scale", row["scale"]), _kind(where, row["kind"].strip())
        rows.setdefault(key, []).append({name: _number(where, name, row[name]) for name in TIMES if name in row})
    if not rows:
        raise ValidationError(
            f"{path}: expected a row for each repetition of a program, found none", code="missing", file=path
        )
    return [_measured(key, found) for key, found in rows.items()]


def _measured(key: Key, rows: Sequence[Mapping[str, float]]) -> Measured:
    times = {name: Spread.of([row[name] for row in rows]) for name in rows[0]}
    return Measured(*key, len(rows), times)


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    names, rows = figures.rows(path)
    hint = f"expected {', '.join((*_KEYS, *TIMES))}, as validation/gpu/programs.cu prints them; of the times, some"
    for name in _KEYS:
        if name not in names:
            raise ValidationError(f"{path}:1: column `{name}`: missing", hint, code="missing", file=path, key=name)
    if not set(JUDGED) & set(names):
        raise ValidationError(
            f"{path}:1: expected one of the columns {', '.join(JUDGED)}, found none", hint, code="missing", file=path
        )
    for number, row in rows:
        if None in row or None in row.values():
            raise ValidationError(
                f"{path}:{number}: expected as many values as there are columns", code="unexpected-value", file=path
            )
    return rows


def _kind(where: str, text: str) -> str:
    if text not in KINDS:
        raise ValidationError(f"{where}: unknown kind of memory `{text}`", meant(text, KINDS))
    return text


def _number(where: str, name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    least_is_fine = name not in ("scale", *JUDGED)
    if not math.isfinite(value) or value < 0 or not (value or least_is_fine):
        expected = "a number from 0 on" if least_is_fine else "a number above 0"
        raise ValidationError(
            f"{where}: `{name}`: expected {expected}, found `{text}`",
            code="unexpected-value",
            key=name,
            expected=expected,
            found=text,
        )
    return value
