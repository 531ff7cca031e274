"""Measured values as text, in the notation of configuration files, and back: `55.2GB/s`, `1.2us`, `16KiB`."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

from octavo.quantities import count

if TYPE_CHECKING:
    from octavo.measurements.calibrate.measurement import Unit

_DIGITS = 5
"""Significant digits: one order finer than repetitions differ."""
_DECIMAL = {"": Decimal(1), "K": Decimal(10**3), "M": Decimal(10**6), "G": Decimal(10**9), "T": Decimal(10**12)}
_BINARY = {"": Decimal(1), "Ki": Decimal(2**10), "Mi": Decimal(2**20), "Gi": Decimal(2**30), "Ti": Decimal(2**40)}

_MULTIPLES: dict[Unit, dict[str, Decimal]] = {
    "s": {
        "ps": Decimal("1e-12"),
        "ns": Decimal("1e-9"),
        "us": Decimal("1e-6"),
        "ms": Decimal("1e-3"),
        "s": Decimal(1),
    },
    "B/s": {f"{prefix}B/s": factor for prefix, factor in _DECIMAL.items()},
    "B": {f"{prefix}B": factor for prefix, factor in _BINARY.items()},
    "op/s": {f"{prefix}op/s": factor for prefix, factor in {**_DECIMAL, "P": Decimal(10**15)}.items()},
    "1": {"": Decimal(1)},
}
_SMALLEST: dict[Unit, Decimal] = {"s": Decimal("1e-12"), "B/s": Decimal(1), "B": Decimal(1), "op/s": Decimal(1)}
"""The finest value of a configuration file; plain numbers have no such limit."""

EXPECTED: dict[Unit, str] = {
    "s": "a time such as 1.25us",
    "B/s": "a bandwidth such as 300GB/s",
    "B": "a size such as 16KiB",
    "op/s": "a rate such as 66.9Top/s",
    "1": "a number such as 0.95",
}


def text(value: float, unit: Unit) -> str:
    """A value in the multiple of its unit that reads best, to five significant digits; sizes to the byte."""
    exact = _finest(Decimal(str(value)), unit)
    name, factor = _multiple(exact, unit)
    return f"{_plain(exact / factor)}{name}"


def short(value: float, unit: Unit) -> str:
    """A value for people: three significant digits in the largest multiple below it; counts unchanged."""
    exact = Decimal(str(value))
    if unit == "1" and exact == exact.to_integral_value():
        return _plain(exact.to_integral_value())
    shown = [(name, _significant(exact / factor, 3)) for name, factor in _MULTIPLES[unit].items()]
    name, number_ = next((one for one in reversed(shown) if abs(one[1]) >= 1), shown[0])
    return f"{_plain(number_)}{name}" if value else f"0{'' if unit == '1' else unit}"


def number(found: str, unit: Unit) -> float:
    """The value that a text gives, in `unit`.

    Raises:
        ValueError: it is no quantity of this unit.

    """
    try:
        if unit == "s":
            return count(found, "ps") / 10**12
        value = float(found) if unit == "1" else float(count(found, unit))
    except ValueError:
        value = math.inf
    if not math.isfinite(value):
        raise ValueError(f"expected {EXPECTED[unit]}, found `{found}`")
    return value


def _finest(value: Decimal, unit: Unit) -> Decimal:
    smallest = _SMALLEST.get(unit, Decimal(0))
    digits = Decimal(0) if unit == "B" or not value else Decimal(1).scaleb(value.adjusted() - _DIGITS + 1)
    step = max(smallest, digits)
    return (value / step).to_integral_value() * step if step else value


def _significant(value: Decimal, digits: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(value.adjusted() - digits + 1)) if value else value


def _multiple(value: Decimal, unit: Unit) -> tuple[str, Decimal]:
    """The largest multiple that does not exceed the value; for sizes, one that leaves at most three decimals."""
    multiples = list(_MULTIPLES[unit].items())
    for name, factor in reversed(multiples):
        if abs(value) < factor:
            continue
        if unit != "B" or (value / factor * 1000) % 1 == 0:
            return name, factor
    return multiples[0]


def _plain(value: Decimal) -> str:
    written = f"{value:f}"
    return written.rstrip("0").rstrip(".") if "." in written else written
