"""The request for a sweep: the file, or the same as a dictionary."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from octavo import _core, checks
from octavo.errors import ScenarioError, again
from octavo.files.text import read_text
from octavo.files.toml import parsed
from octavo.plain import meant
from octavo.runs.replicates import KEY
from octavo.scenarios import conflicts
from octavo.scenarios.scenario import Recipe, overrides_of
from octavo.sweeps.axes import Axis, Range, Steps, Values, assignments
from octavo.sweeps.quantity import quantity

_TABLES = ("scenario", "grid", "zip", "random")
_RANGE = ("low", "high", "log")
_RANDOM = ("points", "seed", "axes")


@dataclass(frozen=True)
class Spec:
    """A scenario and the axes along which it varies."""

    name: str
    """What messages call it."""
    base: Recipe
    listed: tuple[Steps, ...]
    """The grid's axes and then the groups that step together, in the order they were written."""
    drawn: tuple[Axis, ...] = ()
    """Axes with random values."""
    draws: int | None = None
    """How often."""
    seed: int = 0
    """Seed of random draws and of a search."""
    folder: Path = Path()
    """The folder in which relative paths along an axis begin."""
    text: str = ""
    """The file of the request, if it is one."""
    replicates: int = 1
    """How often each point runs, differing only in what its scenario leaves open."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All axes."""
        return (*self.listed, *self.drawn)

    @property
    def recorded(self) -> tuple[Axis, ...]:
        """All axes, and which replicate a run is if there are several."""
        if self.replicates == 1:
            return self.axes
        return (*self.axes, Steps((KEY,), tuple((number,) for number in range(self.replicates))))

    @property
    def keys(self) -> list[str]:
        """All dotted keys that vary."""
        return [key for axis in self.axes for key in axis.keys]


def read(source: str | Path | Mapping[str, Any]) -> Spec:
    """Read a sweep from a TOML file, or take it from a dictionary of the same form.

    Raises:
        ScenarioError: it cannot be read, holds something unknown, or has an axis without values or of another length
            than those it steps with.

    """
    try:
        return _read(source)
    except RecursionError:
        name = "sweep" if isinstance(source, Mapping) else source
        raise ScenarioError(f"{name}: tables or lists are nested too deeply") from None


def _read(source: str | Path | Mapping[str, Any]) -> Spec:
    if isinstance(source, Mapping):
        return _Reader("sweep", Path()).spec(source)
    path = checks.path("source", source, "a table, or the path of a TOML file")
    try:
        text = read_text(path)
        document = parsed(text)
    except OSError as error:
        raise ScenarioError(f"cannot read sweep {path}: {error.strerror}", code="unreadable", file=path) from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"cannot read sweep {path}: it is not UTF-8 text", code="unreadable", file=path) from error
    except ValueError as error:
        raise ScenarioError(f"{path}: not valid TOML: {error}", file=path) from error
    return _Reader(str(path), path.parent, text).spec(document)


@dataclass(frozen=True)
class _Reader:
    name: str
    folder: Path
    """The folder in which relative paths begin."""
    text: str = ""
    """The file, if it is one."""

    def spec(self, document: Mapping[str, Any]) -> Spec:
        """The whole file."""
        self._refuse_unknown("", document, _TABLES)
        groups = document.get("zip", [])
        groups = groups if isinstance(groups, list) else [groups]
        listed = [*self._grid(document.get("grid", {})), *(self._zip(group) for group in groups)]
        spec = Spec(self.name, self._base(document), tuple(listed), folder=self.folder, text=self.text)
        if "random" in document:
            spec = self._with_random(spec, self._table("random", document["random"]))
        self._refuse_repeats(spec)
        return spec

    def _base(self, document: Mapping[str, Any]) -> Recipe:
        scenario = document.get("scenario")
        if isinstance(scenario, str):
            return Recipe.from_file(self.folder / scenario)
        if scenario is None:
            raise self._error("scenario", "missing", "name a scenario file, or write the scenario as a table")
        lines = overrides_of(self._table("scenario", scenario))
        return Recipe("\n".join(lines), _within(self.name))

    def _grid(self, table: object) -> list[Steps]:
        axes = self._flat("grid", self._table("grid", table))
        return [Steps((key,), tuple((value,) for value in self._list("grid", key, values))) for key, values in axes]

    def _zip(self, table: object) -> Steps:
        axes = self._flat("zip", self._table("zip", table))
        lists = {key: self._list("zip", key, values) for key, values in axes}
        if not lists:
            raise self._error("zip", "no axis", "name at least two keys, each with a list of values")
        lengths = {key: len(values) for key, values in lists.items()}
        if len(set(lengths.values())) > 1:
            counted = ", ".join(f"`{key}` has {count}" for key, count in lengths.items())
            raise self._error("zip", f"expected lists of the same length: {counted} values")
        return Steps(tuple(lists), tuple(zip(*lists.values(), strict=True)))

    def _with_random(self, spec: Spec, table: Mapping[str, Any]) -> Spec:
        self._refuse_unknown("random.", table, _RANDOM)
        points = self._whole("random.points", table["points"], at_least=1) if "points" in table else None
        seed = self._whole("random.seed", table.get("seed", 0), at_least=0)
        axes = self._flat("random.axes", self._table("random.axes", table.get("axes", {})))
        if not axes:
            raise self._error("random.axes", "no axis", "name a key with a list of values, or with `low` and `high`")
        drawn = tuple(self._drawn(key, value) for key, value in axes)
        return replace(spec, drawn=drawn, draws=points, seed=seed)

    def _drawn(self, key: str, value: object) -> Axis:
        if isinstance(value, list):
            return Steps((key,), tuple((each,) for each in self._list("random.axes", key, value)))
        return self._range(key, self._table(f"random.axes.{key}", value))

    def _range(self, key: str, table: Mapping[str, Any]) -> Range:
        where = f"random.axes.{key}"
        self._refuse_unknown(f"{where}.", table, _RANGE)
        if "low" not in table or "high" not in table:
            raise self._error(where, "expected both `low` and `high`")
        low, high = quantity(table["low"]), quantity(table["high"])
        if low is None or high is None or low.unit != high.unit:
            found = f"{json.dumps(table['low'], default=str)} and {json.dumps(table['high'], default=str)}"
            raise self._error(where, f"expected two numbers, or two quantities of the same unit, found {found}")
        log = table.get("log", False)
        if not isinstance(log, bool):
            raise self._error(f"{where}.log", f"expected true or false, found {json.dumps(log, default=str)}")
        if low.number >= high.number or (log and low.number <= 0):
            expected = "`low` below `high`" + (" and above 0" if log else "")
            raise self._error(where, f"expected {expected}, found {low.value()} and {high.value()}")
        return Range(key, low.number, high.number, low.unit, log, low.whole and high.whole)

    def _flat(self, where: str, table: Mapping[str, Any]) -> list[tuple[str, object]]:
        """Nested tables as dotted keys, down to lists and, for random axes, bounds."""
        flat: list[tuple[str, object]] = []
        for key, value in table.items():
            bounds = where.startswith("random.") and isinstance(value, dict) and not value.keys().isdisjoint(_RANGE)
            if isinstance(value, dict) and value and not bounds:
                flat += [(f"{key}.{below}", found) for below, found in self._flat(f"{where}.{key}", value)]
            else:
                flat.append((key, value))
        return flat

    def _list(self, where: str, key: str, values: object) -> list[object]:
        where = f"{where}.{key}"
        if not isinstance(values, list):
            raise self._error(where, f"expected a list of values, found {json.dumps(values, default=str)}")
        if not values:
            raise self._error(where, "expected at least one value, found an empty list")
        texts = [self._text(where, value) for value in values]
        for index, text in enumerate(texts):
            if text in texts[:index] and where.startswith("grid"):
                raise self._error(where, f"{text} is listed twice")
        return values

    def _text(self, where: str, value: object) -> str:
        try:
            return json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise self._error(where, f"expected text, numbers, true, false or tables, found {value}") from None

    def _whole(self, where: str, value: object, *, at_least: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
            raise self._error(where, f"expected a whole number of at least {at_least}, found {value!r}")
        return value

    def _table(self, where: str, value: object) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            raise self._error(where, f"expected a table, found {json.dumps(value, default=str)}")
        return value

    def _refuse_unknown(self, prefix: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
        for key in table:
            if key not in known:
                raise self._error(f"{prefix}{key}", "unknown key", meant(key, known))

    def _refuse_repeats(self, spec: Spec) -> None:
        keys = spec.keys
        for index, key in enumerate(keys):
            if key in keys[:index]:
                raise self._error(key, "is on two axes")
        if not keys:
            raise ScenarioError(f"{self.name}: no axis", "write at least one of [grid], [zip] and [random.axes]")

    def _error(self, key: str, message: str, hint: str | None = None) -> ScenarioError:
        return ScenarioError(f"{placed(self.name, self.text, key)}: `{key}`: {message}", hint, key=key)


def placed(name: str, text: str, key: str) -> str:
    """The file and the line of a key in it, if there is one: a group of `[[zip]]` has no name of its own."""
    several = key.startswith("zip") and "[[zip]]" in text
    line = None if several or not text else _core.toml_line(text, key)
    return name if line is None else f"{name}:{line}"


def relocated(error: ScenarioError, spec: Spec) -> ScenarioError:
    """An error about a scenario that was written inside a sweep, with the line of the sweep's file if there is one."""
    within = _within(spec.name)
    if spec.base.name != within or error.file != within or error.line is None:
        return error
    words = error.message.removeprefix(f"{within}:{error.line}: ")
    line = _core.toml_line(spec.text, f"scenario.{error.key}") if spec.text and error.key else None
    made = again(error, ScenarioError, f"{within if line is None else f'{spec.name}:{line}'}: {words}")
    made.file, made.line = spec.name, line
    return made


def _within(name: str) -> str:
    """The name of a scenario in a sweep's table in messages."""
    return f"{name} [scenario]"


def with_changes(spec: Spec, changes: list[str]) -> Spec:
    """The sweep of a changed scenario.

    Raises:
        ScenarioError: a change is of a key that varies.

    """
    changed = replace(spec, base=spec.base.with_overrides(changes))
    for change in changes:
        for axis in spec.axes:
            key = conflicts.clash(changed.base, change, [assignments(values) for values in _all_values(axis)])
            if key is not None:
                raise ScenarioError(
                    f"{spec.name}: `{key}` is an axis, and `--set {change}` sets it",
                    "leave one of them out",
                    code="conflict",
                    key=key,
                )
    return changed


def _all_values(axis: Axis) -> list[Values]:
    """The steps of an axis; for bounds between which values are drawn, one draw."""
    if isinstance(axis, Steps):
        return [axis.values(step) for step in range(len(axis.steps))]
    return [axis.draw(random.Random(0))]  # noqa: S311 - a value, no secret
