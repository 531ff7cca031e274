"""What `octavo sweep` says of its points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.cli import footprint, trust
from octavo.cli.run import milliseconds
from octavo.errors import OctavoError
from octavo.runs import measures
from octavo.runs.result import RunResult
from octavo.sweeps.axes import short_names, shown
from octavo.sweeps.medians import TIME, level, once
from octavo.sweeps.medians import best as best_points
from octavo.sweeps.outcomes import with_machines
from octavo.sweeps.store import MEDIANS_FILE, PICTURE_FILES, TABLE_FILE, read_places
from octavo.sweeps.table import FAILED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from octavo.cli.sink import Sink
    from octavo.sweeps.run import Sweep
    from octavo.sweeps.search import Goal

_SHOWN = 40
"""The most points that are printed; the table has all."""
_NAMED = 4
"""The most points that are named as level with another one."""


class FailedPoints(OctavoError):  # noqa: N818 - named after what it reports
    """Some points of a sweep have no result."""


def show(sink: Sink, root: Path, planned: Sweep, table: pl.DataFrame) -> None:
    """Print the points and where they are kept, or the JSON document.

    Raises:
        FailedPoints: some of them have no result.

    """
    if sink.as_json:
        sink.document(_document(root, planned, table))
    if sink.human:
        _show(sink, planned, table)
        results = _results(root, table.head(_SHOWN).to_dicts())
        footprint.tell_all(sink, results)
        trust.tell(sink, results)
    files = [TABLE_FILE, *(name for name in (MEDIANS_FILE, *PICTURE_FILES) if (root / name).is_file())]
    sink.tell(f"Results: {root}, with {_listed(files)}")
    _complain_of_failures(root, table)


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[:-1] else names)


def _document(root: Path, planned: Sweep, table: pl.DataFrame) -> dict[str, Any]:
    several = planned.spec.replicates > 1
    machines = not several and bool(read_places(root))
    points = with_machines(root, table) if machines else table
    results = _results(root, table.to_dicts())
    beside = {"pressure": footprint.documents(results), "nodes": trust.documents(results)}
    found: dict[str, Any] = {"folder": str(root), "points": points.to_dicts(), **beside}
    if several:
        found["level_with"] = {str(point): others for point, others in level(table, _compared(planned)).items()}
    if planned.goal is None:
        return found
    ordered = best_points(table, planned.goal)
    beside = {"level_with_best": [row["point"] for row in ordered[1:]]} if several else {}
    return found | {"best": ordered[0] if ordered else None} | beside


def _results(root: Path, points: Sequence[Mapping[str, Any]]) -> list[RunResult]:
    """The results of points that have one."""
    return [RunResult(root / point["run"]) for point in points if point["run"]]


def _compared(planned: Sweep) -> str:
    """The measure that decides which points are level."""
    return planned.goal.metric if planned.goal else TIME


def _show(sink: Sink, planned: Sweep, table: pl.DataFrame) -> None:
    keys = planned.spec.keys
    names = short_names(keys)
    metric = planned.goal.metric if planned.goal else None
    extra = [metric] if metric and metric not in (TIME, "faults", "migrations") else []
    several = planned.spec.replicates > 1
    times = ["median time", "interval", "level with"] if several else ["time"]
    columns = ["point", *(names[key] for key in keys), "status", *times, "faults", "migrations", *extra]

    def spread(row: dict[str, Any]) -> list[str]:
        if not several:
            return []
        return ["–" if row[TIME] is None else measures.times(row).text, _points(ties.get(row["point"]))]

    def line(row: dict[str, Any]) -> list[str]:
        values = [str(row["point"]), *(shown(row[key]) for key in keys), row["status"]]
        if row["status"] == FAILED:
            return [*values, *["–"] * (2 + len(times) + len(extra))]
        counts = ("–" if row[name] is None else f"{row[name]:,.0f}" for name in ("faults", "migrations", *extra))
        time = "–" if row[TIME] is None else milliseconds(row[TIME])
        return [*values, time, *spread(row), *counts]

    tried, table = table.height, once(table) if planned.goal else table
    ties = level(table, _compared(planned), _SHOWN) if several else {}
    rows = table.head(_SHOWN).to_dicts()
    sink.table(planned.spec.name, columns, [line(row) for row in rows])
    if table.height > _SHOWN:
        sink.tell(f"and {table.height - _SHOWN} more points")
    if tried > table.height:
        sink.tell(f"{tried} trials, {tried - table.height} of them of a point that was known: each ran once")
    if planned.goal:
        _tell_best(sink, planned.goal, best_points(table, planned.goal), names, several=several)


def _tell_best(
    sink: Sink, goal: Goal, ordered: Sequence[dict[str, Any]], names: Mapping[str, str], *, several: bool
) -> None:
    """The best point of a search, by its values, and the points that are level with it."""
    if not ordered:
        return
    metric, first, *others = goal.metric, *ordered
    found = " ".join(f"{name}={shown(first[key])}" for key, name in names.items())
    value = milliseconds(first[metric]) if metric.endswith("_ps") else f"{first[metric]:,}"
    sink.tell(f"Best {metric}: {value} in point {first['point']}: {found}")
    if several and others:
        beside = ", ".join(str(row["point"]) for row in others)
        sink.tell(f"Level with it, as their intervals overlap: points {beside}")


def _points(numbers: Sequence[int] | None) -> str:
    """The first few points, for tables; a dash if there is nothing to compare."""
    if numbers is None:
        return "–"
    named = ", ".join(map(str, numbers[:_NAMED]))
    return f"{named} and {len(numbers) - _NAMED} more" if len(numbers) > _NAMED else named or "none"


def _complain_of_failures(root: Path, table: pl.DataFrame) -> None:
    failed = table.filter(status=FAILED)
    if failed.is_empty():
        return
    shown_ = [f"\n  point {row['point']}: {row['error']}" for row in failed.head(10).to_dicts()]
    more = f"\n  and {failed.height - 10} more" if failed.height > 10 else ""
    raise FailedPoints(
        f"{failed.height} of {table.height} points failed:{''.join(shown_)}{more}",
        f"{root / TABLE_FILE} has every error; the same command tries these points again",
    )
