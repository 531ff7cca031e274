"""Axes: what a sweep varies."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.scenarios.scenario import overrides_of

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

Values = dict[str, object]
"""Values of a point by dotted key."""


@dataclass(frozen=True)
class Steps:
    """Values that are listed: of one key, or of several that step together."""

    keys: tuple[str, ...]
    steps: tuple[tuple[object, ...], ...]
    """Lists of values by key that step together: each step has one value for each key."""

    def values(self, step: int) -> Values:
        """The values of one step by key."""
        return dict(zip(self.keys, self.steps[step], strict=True))

    def draw(self, source: random.Random) -> Values:
        """One of the steps, all equally likely."""
        return self.values(source.randrange(len(self.steps)))


@dataclass(frozen=True)
class Range:
    """Every value of one key between two bounds, both included."""

    key: str
    low: int | float
    high: int | float
    unit: str
    log: bool
    whole: bool
    """Whether only whole numbers are allowed."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The only key."""
        return (self.key,)

    def value(self, number: float) -> Values:
        """A number between the bounds in the form of the scenario; fractions are rounded to nine digits."""
        kept: int | float = round(number) if self.whole else float(f"{number:.9g}")
        return {self.key: f"{kept}{self.unit}" if self.unit else kept}

    def draw(self, source: random.Random) -> Values:
        """A number between the bounds, all equally likely (or, with `log`, all orders of magnitude)."""
        if self.whole and not self.log:
            return self.value(source.randint(int(self.low), int(self.high)))
        if self.log:
            return self.value(math.exp(source.uniform(math.log(self.low), math.log(self.high))))
        return self.value(source.uniform(self.low, self.high))


Axis = Steps | Range


def assignments(values: Values) -> list[str]:
    """Values as overrides (`key=value`)."""
    return overrides_of(values)


def shown(value: object) -> str:
    """A value for people and for columns of text."""
    return value if isinstance(value, str) else json.dumps(value)


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """The last parts of dotted keys, as many as make them distinct; `name` alone is not enough."""
    names: dict[str, str] = {}
    for key in keys:
        parts = key.removesuffix(".name").split(".")
        count = 1
        while count < len(parts) and sum(_tail(other, count) == _tail(key, count) for other in keys) > 1:
            count += 1
        names[key] = _tail(key, count)
    return names


def _tail(key: str, count: int) -> str:
    return ".".join(key.removesuffix(".name").split(".")[-count:])
