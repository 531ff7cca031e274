"""A user's figures beside figures of runs: a table with a row for each figure, measured or simulated elsewhere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from octavo.errors import OutputError, ValidationError, again
from octavo.plain import meant
from octavo.quantities import TIMES, count
from octavo.runs import measures
from octavo.runs.result import RunResult
from octavo_studies.validate import figures

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS = ("run", "measure", "value")
_LEAST_RANKED = 3
"""Figures from which an order says anything."""


@dataclass(frozen=True)
class Pair:
    """A figure and what a run has in its place, both in the figure's unit."""

    run: str
    measure: str
    unit: str
    value: float
    found: float

    @property
    def error(self) -> float:
        """Error of the found value relative to the figure; infinite beside a figure of 0."""
        if self.value == 0:
            return 0.0 if self.found == 0 else math.inf
        return self.found / self.value - 1


@dataclass(frozen=True)
class Correlation:
    """All pairs, in the order of the table."""

    pairs: list[Pair]

    @property
    def measures(self) -> list[str]:
        """What was compared, in order."""
        return list(dict.fromkeys(pair.measure for pair in self.pairs))

    def summary(self) -> list[dict[str, Any]]:
        """For each measure: `count`, mean and median of the error's size, `within_10`, and Spearman's rank correlation.

        The correlation is missing for fewer than three figures, and where all are equal.
        """
        rows = []
        for name in self.measures:
            own = [pair for pair in self.pairs if pair.measure == name]
            errors = [abs(pair.error) for pair in own]
            rows.append(
                {
                    "measure": name,
                    "count": len(own),
                    "mean_error": mean(errors),
                    "median_error": median(errors),
                    "within_10": sum(error <= 0.1 for error in errors) / len(own),
                    "rank": spearman([pair.value for pair in own], [pair.found for pair in own]),
                }
            )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON holds it; an infinite error is null."""
        pairs = [{**vars(pair), "error": pair.error if math.isfinite(pair.error) else None} for pair in self.pairs]
        finite = [
            {
                key: None if isinstance(value, float) and not math.isfinite(value) else value
                for key, value in row.items()
            }
            for row in self.summary()
        ]
        return {"pairs": pairs, "summary": finite}


def correlate(table: str | Path) -> Correlation:
    """Put the figures of a CSV file beside runs.

    Its columns are `run` (a folder of results, relative to the file's own folder), `measure` (`time`, or any other of
    `octavo.runs.measures.NAMES`), `value`, and for times `unit`. Measures that end in `_ps` need no unit.

    Raises:
        ValidationError: the table cannot be used; the message names file and line.
        OutputError: a run cannot be read.

    """
    path = Path(table)
    pairs = [_pair(path, number, row) for number, row in _rows(path)]
    if not pairs:
        raise ValidationError(f"{path}: expected a row for each figure, found none", code="missing", file=path)
    return Correlation(pairs)


def _rows(path: Path) -> list[tuple[int, dict[str, str]]]:
    names, rows = figures.rows(path)
    known = (*COLUMNS, "unit")
    for name in COLUMNS:
        if name not in names:
            raise ValidationError(
                f"{path}:1: column `{name}`: missing",
                f"expected {', '.join(COLUMNS)}, and `unit`",
                code="missing",
                file=path,
                key=name,
            )
    for name in names:
        if name not in known:
            raise ValidationError(
                f"{path}:1: unknown column `{name}`",
                f"expected {', '.join(known)}",
                code="unknown-key",
                file=path,
                key=name,
                found=name,
            )
    return rows


def _pair(path: Path, number: int, row: dict[str, str]) -> Pair:
    where = f"{path}:{number}"
    if None in row or any(row[name] is None for name in COLUMNS):
        raise ValidationError(f"{where}: expected as many values as there are columns", code="unexpected-value")
    asked, unit = row["measure"].strip(), (row.get("unit") or "").strip()
    name = "time_ps" if asked == "time" else asked
    if name not in measures.NAMES:
        raise ValidationError(
            f"{where}: unknown measure `{asked}`",
            meant(asked, ["time", *measures.NAMES]),
            found=asked,
            code="unknown-name",
        )
    value = _number(where, row["value"])
    found = _measured(where, path.parent / row["run"].strip(), name)
    if found is None:
        raise ValidationError(f"{where}: the run has no `{asked}`")
    if name.endswith("_ps"):
        unit = unit or ("ps" if asked == name else "")
        if unit not in TIMES:
            told = f"`{unit}`" if unit else "none"
            raise ValidationError(
                f"{where}: `{asked}`: expected a unit of {', '.join(TIMES)}, found {told}",
                code="unexpected-value",
                key=asked,
                found=told,
            )
        return Pair(row["run"].strip(), asked, unit, value, found / count(f"1{unit}", "ps"))
    if unit:
        raise ValidationError(
            f"{where}: `{asked}` is a count: expected no unit, found `{unit}`", code="unexpected-value", found=unit
        )
    return Pair(row["run"].strip(), asked, "", value, float(found))


def _number(where: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0:
        raise ValidationError(
            f"{where}: `value`: expected a number from 0 on, found `{text}`",
            code="unexpected-value",
            key="value",
            found=text,
        )
    return value


def _measured(where: str, folder: Path, name: str) -> float | None:
    try:
        result = RunResult.load(folder)
    except OutputError as error:
        raise again(error, OutputError, f"{where}: {error.message}") from None
    found: float | None = measures.row("", "", result)[name]
    return found


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Rank correlation; equals share the mean of their ranks."""
    if len(first) < _LEAST_RANKED or len(set(first)) == 1 or len(set(second)) == 1:
        return None
    one, other = _ranks(first), _ranks(second)
    centre = (len(one) - 1) / 2
    cross = sum((a - centre) * (b - centre) for a, b in zip(one, other, strict=True))
    spread = [sum((rank - centre) ** 2 for rank in ranks) for ranks in (one, other)]
    return cross / math.sqrt(spread[0] * spread[1])


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]
