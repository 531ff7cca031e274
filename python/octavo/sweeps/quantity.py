"""Numbers with a unit, as far as sweeps need them: to draw between two of them, and to order them on a picture."""

from __future__ import annotations

import re
from dataclasses import dataclass

_QUANTITY = re.compile(r"([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([A-Za-zµ%][A-Za-zµ/%]*)?")


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
        """The value as a scenario holds it: a number, or text with the unit."""
        return f"{self.number}{self.unit}" if self.unit else self.number


def quantity(value: object) -> Quantity | None:
    """A number, or text such as `300GB/s`; nothing for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return Quantity(value)
    found = _QUANTITY.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    number = found[1]
    return Quantity(int(number) if re.fullmatch(r"[+-]?\d+", number) else float(number), found[2] or "")


def numbers(values: list[object]) -> tuple[list[float], str] | None:
    """The values as numbers of one unit; nothing if one is no quantity or the units differ."""
    found = [quantity(value) for value in values]
    known = [each for each in found if each is not None]
    if len(known) < len(found) or len({each.unit for each in known}) != 1:
        return None
    return [float(each.number) for each in known], known[0].unit
