"""Runs along a numeric axis: from a sweep, or from any other runs that differ in a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.quantities import base
from octavo.report import nodes, shade
from octavo.report.runs import PLACEMENT, differences, machines_among
from octavo.runs import colours
from octavo.sweeps.axes import short_names
from octavo.sweeps.quantity import PERCENT, Quantity, quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.report.runs import Run

_LEAST = 3
"""The least number of values for an axis; two values become bars."""
_TOLD_ALONE = (PLACEMENT, "workload.name", nodes.NODE)
"""Keys whose values explain themselves."""
_SKIPPED = ("record.", "executor.")


def along(runs: Sequence[Run]) -> dict[str, Any] | None:
    """The axis, the runs along it, and a colour for each line; None if no key has enough numbers.

    The axis is the key with the most numbers. Any other difference, unless it follows from the axis or the placement,
    names the lines. Random draws of several keys produce no two similar points: then keys with fewer values than points
    name the lines, and points are not joined if another key was drawn for each, too.
    """
    simulated = [run for run in runs if run.simulated]
    values = [run.values for run in simulated]
    keys = [key for key in differences(values) if not key.startswith(_SKIPPED) and key != "name"]
    keys = nodes.told(keys)
    several = machines_among(keys)
    found = [(key, known) for key in keys if key not in several and (known := _numbers(values, key)) is not None]
    if not found:
        return None
    axis, (places, unit) = max(found, key=lambda one: len(set(one[1][0])))
    rest = [key for key in keys if key != axis and key not in several and _names_lines(values, key, axis)]
    rest = [key for key in rest if key == PLACEMENT or not _follows(values, key, PLACEMENT)]
    names = _lines(values, rest)
    rows = [
        {
            "run": run.number,
            "series": name,
            "value": place,
            "time_ms": run.time.median / 1e9,
            "faults": run.summary["manager"]["far_faults"] + run.summary["manager"]["protection_faults"],
            **({"low": run.time.low / 1e9, "high": run.time.high / 1e9} if run.others else {}),
        }
        for run, name, place in zip(simulated, names, places, strict=True)
    ]
    return {
        "key": axis,
        "unit": unit,
        "rows": sorted(rows, key=lambda row: (names.index(row["series"]), row["value"])),
        "colours": _colours(simulated, names),
        "joined": not any(_is_drawn(values, key, axis) for key in keys if key != axis),
    }


def _numbers(values: Sequence[Mapping[str, str]], key: str) -> tuple[list[float], str] | None:
    """The numbers of a key and their unit, if all runs have one and there are enough of them."""
    found = [quantity(flat.get(key)) for flat in values]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    sizes = [_size(each) for each in known]
    if len({kind for kind, _ in sizes}) > 1 or len({size for _, size in sizes}) < _LEAST:
        return None
    # All in the unit of the largest: resolved scenarios write each value in the unit that suits it.
    largest = max(zip(sizes, known, strict=True), key=lambda one: one[0][1])[1]
    one = _size(Quantity(1, largest.unit))[1]
    return [float(f"{size / one:.9g}") for _, size in sizes], largest.unit


def _size(found: Quantity) -> tuple[str, float]:
    """The base unit of a quantity, or the text after its number; and the number in that unit."""
    if found.unit in ("", PERCENT):
        return found.unit, float(found.number)
    one, kind = base(f"1{found.unit}")
    return kind, float(found.number * one)


def _names_lines(values: Sequence[Mapping[str, str]], key: str, axis: str) -> bool:
    """Whether a key separates lines; a key that follows from the axis does not.

    If each run has its own value along the axis, a key follows from the axis if it only grows or only shrinks along it.
    A key that does neither separates lines, unless it also has a different value in each run.
    """
    if _differs_in_each(values, axis):
        return not _is_monotone(values, key, axis) and not _differs_in_each(values, key)
    return not _follows(values, key, axis)


def _is_drawn(values: Sequence[Mapping[str, str]], key: str, axis: str) -> bool:
    """Whether a key has another value in each run, in no order along the axis: it was drawn at random."""
    return _differs_in_each(values, key) and not _is_monotone(values, key, axis)


def _is_monotone(values: Sequence[Mapping[str, str]], key: str, axis: str) -> bool:
    """Whether the numbers of a key only grow, or only shrink, along an axis."""
    along_it, own = _numbers(values, axis), [quantity(flat.get(key)) for flat in values]
    known = [_size(each)[1] for each in own if each is not None]
    if along_it is None or len(known) < len(values):
        return False
    ordered = [size for _, size in sorted(zip(along_it[0], known, strict=True))]
    return ordered in (sorted(ordered), sorted(ordered, reverse=True))


def _differs_in_each(values: Sequence[Mapping[str, str]], key: str) -> bool:
    return len({flat.get(key) for flat in values}) == len(values)


def _follows(values: Sequence[Mapping[str, str]], key: str, other: str) -> bool:
    """Whether a key has one value for each of another's."""
    pairs = {(flat.get(other), flat.get(key)) for flat in values}
    return len(pairs) == len({flat.get(other) for flat in values})


def _lines(values: Sequence[Mapping[str, str]], keys: Sequence[str]) -> list[str]:
    short = short_names(list(keys))
    return [
        ", ".join(flat.get(key, "–") if key in _TOLD_ALONE else f"{short[key]}={flat.get(key, '–')}" for key in keys)
        or "all runs"
        for flat in values
    ]


def _colours(runs: Sequence[Run], names: Sequence[str]) -> dict[str, str]:
    """The colour of each line: its placement's if lines are placements."""
    placements = {name: run.placement for run, name in zip(runs, names, strict=True)}
    if len(set(placements.values())) < len(placements):
        return dict(zip(placements, colours.of(list(placements)), strict=True))
    shades = shade.of_placements(list(placements.values()))
    return {name: shades[placement] for name, placement in placements.items()}
