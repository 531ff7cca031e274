"""The picture of a sweep: a line or bars for one axis, lines or a heat map for two, progress for a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo import extras
from octavo.files import folder_locks
from octavo.files.notes import note
from octavo.runs import measures, pictures
from octavo.runs.pictures.requests import save
from octavo.runs.result import RunResult
from octavo.scenarios.about import briefs
from octavo.sweeps.axes import short_names, shown
from octavo.sweeps.quantity import numbers
from octavo.sweeps.store import PICTURE, PICTURE_FILES
from octavo.sweeps.table import OK

if TYPE_CHECKING:
    from pathlib import Path

    from octavo.runs.pictures import Picture
    from octavo.runs.pictures.requests import Asked
    from octavo.sweeps.search import Goal
    from octavo.sweeps.spec import Spec

_TOGETHER = ", "
"""The separator between keys that step together, and between their values."""
_MOST_CELLS = 40
"""The most rows or columns of a readable heat map."""


def without(spec: Spec, goal: Goal | None) -> str | None:
    """Why a sweep has no picture, if that is known before it runs: what was expected and what was found."""
    axes = len(spec.axes)
    if goal is not None or axes == 1 or (axes == 2 and not spec.drawn):
        return None
    found = f"{axes} axes" + (" with draws at random" if spec.drawn else "")
    return f"expected one axis, two that are listed, or a search, found {found}"


def draw(root: Path, spec: Spec, table: pl.DataFrame, goal: Goal | None, wanted: Asked) -> None:
    """Draw what can be drawn into the sweep's open folder; nothing for more than two axes, or without results."""
    points = table.filter(pl.col("status") == OK)
    if goal is not None:
        points = points.filter(pl.col(goal.metric).is_not_null())
    found = None if points.is_empty() or not extras.pictures() else _below(root, spec, points, goal, wanted.width)
    if found is not None:
        save(found, root, PICTURE, wanted)
        return
    for name in PICTURE_FILES:
        folder_locks.remove(root / name)
    if wanted.said:
        why = "no point has a result" if points.is_empty() else f"an axis has more than {_MOST_CELLS} values"
        note(f"{spec.name}: no picture is drawn, as {why}")


def _below(root: Path, spec: Spec, points: pl.DataFrame, goal: Goal | None, width: float) -> Picture | None:
    """The picture, which says below what it is of."""

    def said() -> str:
        return briefs(RunResult(root / run).scenario.values for run in points["run"])

    with pictures.below(said):
        return _picture(spec, points, goal, width)


def _picture(spec: Spec, points: pl.DataFrame, goal: Goal | None, width: float) -> Picture | None:
    if goal is not None:
        return _progress(points, goal, width)
    if without(spec, goal) is not None:
        return None
    points, axes = _named_axes(spec, points)
    if len(axes) == 1:
        return _one(points, axes[0], _drawn(points), width)
    return _two(points, (axes[0], axes[1]), _drawn(points), width)


def _named_axes(spec: Spec, points: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """A column for each axis. Keys that step together need all of their values if the first value alone is repeated."""
    axes, short = [], short_names(spec.keys)
    for axis in spec.axes:
        steps = points.select(axis.keys)
        if steps[axis.keys[0]].n_unique() == steps.n_unique():
            axes.append(axis.keys[0])
            continue
        axes.append(_TOGETHER.join(short[key] for key in axis.keys))
        texts = [_TOGETHER.join(map(shown, step)) for step in steps.iter_rows()]
        points = points.with_columns(pl.Series(axes[-1], texts))
    return points, axes


def _drawn(points: pl.DataFrame) -> str:
    """What pictures show: times, or faults if there are points without time."""
    return "time_ps" if measures.has_time(points) else "faults"


def _progress(points: pl.DataFrame, goal: Goal, width: float) -> Picture:
    """The metric of every trial and the best one so far."""
    trials, found = [float(number) for number in points["point"]], _measured(points, goal.metric)
    best = found.cum_min() if goal.direction == "minimize" else found.cum_max()
    series = {"trial": (trials, found.to_list()), "best so far": (trials, best.to_list())}
    title = f"Search: {goal.direction} {goal.metric}"
    return pictures.lines(None, series, ("trial", _named(goal.metric)), title=title, width=width)


def _one(points: pl.DataFrame, key: str, metric: str, width: float) -> Picture:
    measured = _measured(points, metric)
    found = numbers(points[key].to_list())
    if found is None:
        table = pl.DataFrame({key: [shown(value) for value in points[key]], _word(metric): measured})
        reached = zip(table[key], *_ends(points, metric), strict=True)
        whiskers = {(str(name), _word(metric)): (pair[0], pair[1]) for name, *pair in reached if pair}
        title = f"{_word(metric).capitalize()} by {key}"
        return pictures.bars(None, table, xlabel=_named(metric), title=title, intervals=whiskers, width=width)
    values, unit = found
    ordered = sorted(zip(values, measured, *_ends(points, metric), strict=True))
    x, y, *ends = (list(column) for column in zip(*ordered, strict=True))
    return pictures.lines(
        None,
        {_word(metric): (x, y)},
        (_with_unit(key, unit), _named(metric)),
        title=f"{_word(metric).capitalize()} by {key}",
        intervals={_word(metric): (ends[0], ends[1])} if ends else None,
        width=width,
    )


def _two(points: pl.DataFrame, axes: tuple[str, str], metric: str, width: float) -> Picture | None:
    """Lines if one of the axes has numbers and the other has not, else a heat map."""
    first, second = axes
    first_numbers, second_numbers = (numbers(points[key].to_list()) for key in (first, second))
    if first_numbers is None and second_numbers is not None:
        return _lines(points, (second, first), metric, width)
    if first_numbers is not None and second_numbers is None:
        return _lines(points, (first, second), metric, width)
    return _heat_map(points, axes, metric, width)


def _lines(points: pl.DataFrame, axes: tuple[str, str], metric: str, width: float) -> Picture:
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
    return pictures.lines(
        None,
        series,
        (_with_unit(along, unit), _named(metric)),
        title=f"{_word(metric).capitalize()} by {along} and {by}",
        intervals=intervals,
        width=width,
    )


def _heat_map(points: pl.DataFrame, axes: tuple[str, str], metric: str, width: float) -> Picture | None:
    down, across = axes
    rows, columns = (points[key].unique(maintain_order=True).to_list() for key in (down, across))
    if max(len(rows), len(columns)) > _MOST_CELLS:
        return None
    places = list(zip(points[down], points[across], strict=True))

    def grid(found: pl.Series) -> list[list[float]]:
        cells = dict(zip(places, found, strict=True))
        return [[cells.get((row, column), float("nan")) for column in columns] for row in rows]

    values, ends = grid(_measured(points, metric)), [grid(found) for found in _ends(points, metric)]
    texts = [shown(value) for value in rows], [shown(value) for value in columns]
    single = [key for key in axes if _TOGETHER not in key]
    names = {**dict(zip(axes, axes, strict=True)), **short_names(single)}
    title = f"{_named(metric)} by {names[down]} and {names[across]}"
    if not ends:
        return pictures.heat_map(None, values, *texts, (down, across), title, width=width)
    title = f"{title}, with intervals of replicates"
    return pictures.heat_map(None, values, *texts, (down, across), title, width=width, ends=(ends[0], ends[1]))


def _ends(points: pl.DataFrame, metric: str) -> list[pl.Series]:
    """The ends of the intervals of a measure; None for points that ran once."""
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
