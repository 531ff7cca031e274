"""The points of a sweep: which values, and the scenario that they make."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.errors import ScenarioError, again
from octavo.runs.replicates import IN_TIME, KEY
from octavo.runs.slugs import slug
from octavo.scenarios import nodes
from octavo.scenarios.scenario import Scenario
from octavo.sweeps.axes import Range, Values, assignments, short_names, shown
from octavo.sweeps.spec import relocated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from octavo.sweeps.spec import Spec

NODE = "node.preset"
_MOST_POINTS = 1_000_000
"""The most points of a sweep; our choice: more would take days just to resolve."""
_LONGEST_NAME = 80
"""The most characters in the name of a run's folder, so that no path becomes too long."""


@dataclass(frozen=True)
class Point:
    """One combination of values."""

    number: int
    values: Values
    label: str
    """The number and the values, for people."""
    scenario: Scenario

    @property
    def folder(self) -> str:
        """Name of the run's folder."""
        return f"{self.number:05d}-{slug(self.label.split(': ', 1)[1])}"[:_LONGEST_NAME].rstrip("-.")


def points(spec: Spec) -> list[Point]:
    """All points: the first axis varies slowest, random draws fastest.

    Every scenario is resolved, so that unusable ones are found before anything runs.

    Raises:
        ScenarioError: an axis names nothing, a value cannot be used, or random axes do not say how many points to draw.

    """
    count = math.prod(len(axis.steps) for axis in spec.listed) * (spec.draws or 1 if spec.drawn else 1)
    check_count(spec, count * spec.replicates)
    found = [values for one in combinations(spec) for values in repeated(spec, one)]
    return [point(spec, number, values) for number, values in enumerate(found)]


def check_count(spec: Spec, count: int) -> None:
    """Make sure that the number of points is reasonable.

    Raises:
        ScenarioError: there are too many.

    """
    if count > _MOST_POINTS:
        raise ScenarioError(
            f"{spec.name}: expected at most {_MOST_POINTS:,} points, found {count:,}",
            code="unexpected-value",
            expected=_MOST_POINTS,
            found=count,
        )


def repeated(spec: Spec, values: Values) -> list[Values]:
    """The values of each replicate of a point."""
    return [values] if spec.replicates == 1 else [{**values, KEY: number} for number in range(spec.replicates)]


def combinations(spec: Spec) -> Iterator[Values]:
    """The values of every point, in order."""
    lists = [[axis.values(step) for step in range(len(axis.steps))] for axis in spec.listed]
    for chosen in itertools.product(*lists, _draws(spec)):
        yield {key: value for values in chosen for key, value in values.items()}


def _draws(spec: Spec) -> list[Values]:
    """The values of the random axes: the same draws for every point of the grid."""
    if not spec.drawn:
        return [{}]
    if spec.draws is None:
        raise ScenarioError(
            f"{spec.name}: `random.points`: missing", "say how many points to draw", code="missing", key="random.points"
        )
    source = random.Random(spec.seed)  # noqa: S311 - nothing secret
    draws = []
    for _ in range(spec.draws):
        drawn: Values = {}
        for axis in spec.drawn:
            drawn |= axis.draw(source)
        draws.append(drawn)
    return draws


def point(spec: Spec, number: int, values: Values) -> Point:
    """The point with some values.

    Raises:
        ScenarioError: its scenario cannot be used; the message names the sweep and the point.

    """
    label = _label(spec, number, values)
    overrides = assignments(_placed(spec, values))
    try:
        base = spec.base.with_overrides([IN_TIME]) if values.get(KEY) else spec.base
        kept = [each for each in overrides if each != f"{KEY}=0"]
        return Point(number, values, label, base.with_overrides(kept).resolve())
    except ScenarioError as error:
        error = relocated(error, spec)
        message = error.message
        for key, override in zip(values, overrides, strict=True):
            if message.startswith(f"--set {override}: "):
                found = message.removeprefix(f"--set {override}: ")
                raise again(error, ScenarioError, f"{spec.name}: axis `{key}`: {found}") from None
        raise again(error, ScenarioError, f"{message} (in point {label} of {spec.name})") from None


def _placed(spec: Spec, values: Values) -> Values:
    """The values, with paths of files as the sweep means them."""
    return {key: nodes.placed(value, spec.folder) if key == NODE else value for key, value in values.items()}


def unusable(spec: Spec, number: int, values: Values) -> Point:
    """The point whose values make no valid scenario."""
    return Point(number, values, _label(spec, number, values), Scenario(""))


def _label(spec: Spec, number: int, values: Values) -> str:
    names = {**short_names(spec.keys), KEY: "replicate"}
    return f"{number}: " + " ".join(f"{names[key]}={shown(value)}" for key, value in values.items())


def first(spec: Spec) -> Point:
    """The point with the first value of each axis.

    Raises:
        ScenarioError: as `point`.

    """
    values: Values = {}
    for axis in spec.axes:
        values |= axis.value(axis.low) if isinstance(axis, Range) else axis.values(0)
    return point(spec, 0, values)


def digest(spec: Spec, search: object = None) -> str:
    """Sixteen hexadecimal digits that distinguish sweeps: the scenario, the axes, and how they are drawn or searched.

    Raises:
        ScenarioError: as `point`.

    """
    drawing = spec.draws if search is None else search
    further = [] if spec.replicates == 1 else [spec.replicates]
    asked = [first(spec).scenario.toml, [vars(axis) for axis in spec.axes], spec.seed, drawing, *further]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]
