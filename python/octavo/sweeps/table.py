"""The table of a sweep: one row a point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.runs import measures
from octavo.sweeps.axes import Axis, Range, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octavo.runs.result import RunResult
    from octavo.sweeps.plan import Point

OK, FAILED = "ok", "failed"


def schema(axes: Sequence[Axis]) -> dict[str, pl.DataType]:
    """Columns: `point`, each axis by its dotted key, `status`, `error`, `run`, and the measures of `octavo.compare`."""
    columns: dict[str, pl.DataType] = {"point": pl.Int64()}
    for axis in axes:
        columns |= _axis_columns(axis)
    columns |= {"status": pl.String(), "error": pl.String(), "run": pl.String()}
    return columns | dict.fromkeys(measures.NAMES, pl.Int64())


def _axis_columns(axis: Axis) -> dict[str, pl.DataType]:
    if isinstance(axis, Range):
        kind: pl.DataType = pl.String() if axis.unit else pl.Int64() if axis.whole else pl.Float64()
        return {axis.key: kind}
    return {key: _kind(values) for key, values in zip(axis.keys, zip(*axis.steps, strict=True), strict=True)}


def _kind(values: Iterable[object]) -> pl.DataType:
    """Numbers and truth values unchanged; anything else, and mixtures, as text."""
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return pl.Boolean()
    if kinds == {int}:
        return pl.Int64()
    return pl.Float64() if kinds <= {int, float} else pl.String()


def row(point: Point, columns: dict[str, pl.DataType], found: RunResult | None, error: str | None) -> dict[str, Any]:
    """One point as a row: measures if there is a result, the error if there is none."""
    values = {key: shown(value) if columns[key] == pl.String() else value for key, value in point.values.items()}
    result: dict[str, Any] = dict.fromkeys(measures.NAMES)
    if found is not None:
        measured = measures.row("", "", found)
        result = {name: measured[name] for name in measures.NAMES}
    status = FAILED if found is None else OK
    run = None if found is None else f"{found.folder.parent.name}/{found.folder.name}"
    return {"point": point.number, **values, "status": status, "error": error, "run": run, **result}
