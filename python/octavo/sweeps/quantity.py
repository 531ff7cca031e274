"""Numbers with a unit, as far as sweeps need them: to draw between two of them, and to order them in a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass

from octavo.quantities import split

PERCENT = "%"


@dataclass(frozen=True)
class Quantity:
    """A number and its unit, which is empty for a bare number."""

    number: int | float
    unit: str = ""

    @property
    def whole(self) -> bool:
        """Whether it was written without a fraction."""
        return isinstance(self.number, int)

    def value(self) -> object:
        """The value in the form of a scenario: a number, or text with the unit."""
        return f"{self.number}{self.unit}" if self.unit else self.number


def quantity(value: object) -> Quantity | None:
    """A number, or text such as `300GB/s` or `50%`; nothing for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return Quantity(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    number = _number(text.removesuffix(PERCENT))
    if number is not None:
        return Quantity(number, PERCENT if text.endswith(PERCENT) else "")
    try:
        return Quantity(*split(text))
    except ValueError:
        return None


def _number(text: str) -> int | float | None:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def numbers(values: list[object]) -> tuple[list[float], str] | None:
    """The values as numbers of one unit; None if one is no quantity or the units differ."""
    found = [quantity(value) for value in values]
    known = [each for each in found if each is not None]
    if len(known) < len(found) or len({each.unit for each in known}) != 1:
        return None
    return [float(each.number) for each in known], known[0].unit
