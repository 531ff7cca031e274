"""The picture of a sweep: a line or bars for one axis, lines or a heat map for two, progress for a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo import extras
from octavo.files import shared
from octavo.runs import measures, pictures
from octavo.sweeps.axes import short_names, shown
from octavo.sweeps.quantity import numbers
from octavo.sweeps.store import PICTURE_FILE
from octavo.sweeps.table import OK

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.sweeps.search import Goal
    from octavo.sweeps.spec import Spec

_MOST_CELLS = 40
"""Rows or columns of a heat map that can still be read."""


def draw(root: Path, spec: Spec, table: pl.DataFrame, goal: Goal | None) -> Path | None:
    """Draw what can be drawn into the sweep's open folder; nothing for more than two axes, or without results."""
    points = table.filter(pl.col("status") == OK)
    path = root / PICTURE_FILE
    shared.remove(path)
    if points.is_empty() or not extras.pictures():
        return None
    if goal is not None:
        _progress(path, points.filter(pl.col(goal.metric).is_not_null()), goal)
    elif len(spec.axes) == 1:
        _one(path, points, spec.axes[0].keys[0], _drawn(points))
    elif len(spec.axes) == 2 and not spec.drawn:
        _two(path, points, (spec.axes[0].keys[0], spec.axes[1].keys[0]), _drawn(points))
    return path if path.is_file() else None


def _drawn(points: pl.DataFrame) -> str:
    """What pictures show: times, or faults if there are points without time."""
    return "time_ps" if measures.has_time(points) else "faults"


def _progress(path: Path, points: pl.DataFrame, goal: Goal) -> None:
    """The metric of every trial and the best so far."""
    trials, found = [float(number) for number in points["point"]], _measured(points, goal.metric)
    best = found.cum_min() if goal.direction == "minimize" else found.cum_max()
    series = {"trial": (trials, found.to_list()), "best so far": (trials, best.to_list())}
    pictures.lines(path, series, ("trial", _named(goal.metric)), title=f"Search: {goal.direction} {goal.metric}")


def _one(path: Path, points: pl.DataFrame, key: str, metric: str) -> None:
    measured = _measured(points, metric)
    found = numbers(points[key].to_list())
    if found is None:
        table = pl.DataFrame({key: [shown(value) for value in points[key]], _word(metric): measured})
        reached = zip(table[key], *_ends(points, metric), strict=True)
        whiskers = {(str(name), _word(metric)): (pair[0], pair[1]) for name, *pair in reached if pair}
        title = f"{_word(metric).capitalize()} by {key}"
        pictures.bars(path, table, xlabel=_named(metric), title=title, intervals=whiskers)
        return
    values, unit = found
    ordered = sorted(zip(values, measured, *_ends(points, metric), strict=True))
    x, y, *ends = (list(column) for column in zip(*ordered, strict=True))
    pictures.lines(
        path,
        {_word(metric): (x, y)},
        (_with_unit(key, unit), _named(metric)),
        title=f"{_word(metric).capitalize()} by {key}",
        intervals={_word(metric): (ends[0], ends[1])} if ends else None,
    )


def _two(path: Path, points: pl.DataFrame, axes: tuple[str, str], metric: str) -> None:
    """Lines if one of the axes has numbers and the other has not, else a heat map."""
    first, second = axes
    first_numbers, second_numbers = (numbers(points[key].to_list()) for key in (first, second))
    if first_numbers is None and second_numbers is not None:
        _lines(path, points, (second, first), metric)
    elif first_numbers is not None and second_numbers is None:
        _lines(path, points, (first, second), metric)
    else:
        _heat_map(path, points, axes, metric)


def _lines(path: Path, points: pl.DataFrame, axes: tuple[str, str], metric: str) -> None:
    along, by = axes
    series: dict[str, tuple[list[float], list[float]]] = {}
    intervals: dict[str, tuple[list[float], list[float]]] = {}
    unit = ""
    for (name,), part in points.group_by(by, maintain_order=True):
        values, unit = numbers(part[along].to_list()) or ([], "")
        ordered = sorted(zip(values, _measured(part, metric), *_ends(part, metric), strict=True))
        x, y, *ends = (list(column) for column in zip(*ordered, strict=True))
        series[shown(name)] = (x, y)
        if ends:
            intervals[shown(name)] = (ends[0], ends[1])
    pictures.lines(
        path,
        series,
        (_with_unit(along, unit), _named(metric)),
        title=f"{_word(metric).capitalize()} by {along} and {by}",
        intervals=intervals,
    )


def _heat_map(path: Path, points: pl.DataFrame, axes: tuple[str, str], metric: str) -> None:
    down, across = axes
    rows, columns = (points[key].unique(maintain_order=True).to_list() for key in (down, across))
    if max(len(rows), len(columns)) > _MOST_CELLS:
        return
    cells = dict(zip(zip(points[down], points[across], strict=True), _measured(points, metric), strict=True))
    values = [[cells.get((row, column), float("nan")) for column in columns] for row in rows]
    texts = [shown(value) for value in rows], [shown(value) for value in columns]
    names = short_names([down, across])
    title = f"{_named(metric)} by {names[down]} and {names[across]}"
    pictures.heat_map(path, values, *texts, (down, across), title)


def _ends(points: pl.DataFrame, metric: str) -> list[pl.Series]:
    """The ends of the intervals of a measure; nothing of points that ran once."""
    names = [f"{metric}{end}" for end in (measures.LOW, measures.HIGH)]
    if names[0] not in points.columns:
        return []
    return [points[name] * (1e-9 if metric.endswith("_ps") else 1.0) for name in names]


def _word(metric: str) -> str:
    return metric.removesuffix("_ps")


def _measured(points: pl.DataFrame, metric: str) -> pl.Series:
    """A measure as it is drawn: times in milliseconds."""
    return points[metric] * 1e-9 if metric.endswith("_ps") else points[metric].cast(pl.Float64)


def _named(metric: str) -> str:
    return f"{metric.removesuffix('_ps')} in ms" if metric.endswith("_ps") else metric


def _with_unit(key: str, unit: str) -> str:
    return f"{key} in {'µs' if unit == 'us' else unit}" if unit else key
