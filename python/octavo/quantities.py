"""Quantities as scenarios write them: `1.25us`, `16KiB`, `300GB/s`, `1GHz`, `100cycles`, all read by the core."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from octavo import _core

Base: TypeAlias = Literal["ps", "B", "B/s", "Hz", "cycles", "op/s"]
"""The unit in which each kind of quantity is a whole number."""
TIMES: Final = ("ps", "ns", "us", "µs", "ms", "s")
"""Units of time."""


def base(quantity: object) -> tuple[int, Base]:
    """How many base units a quantity is, and which: `(1250000, "ps")` of `1.25us`.

    Raises:
        ValueError: it is none, or finer than its base unit.

    """
    if not isinstance(quantity, str):
        raise ValueError(f"expected a quantity, found {quantity}")  # noqa: TRY004 - as of any other that is none
    unit, count = _core.quantity(quantity)
    return count, unit


def count(quantity: object, unit: Base) -> int:
    """How many base units a quantity of one kind is.

    Raises:
        ValueError: it is none, or of another kind.

    """
    found, kind = base(quantity)
    if kind != unit:
        raise ValueError(f"expected a quantity in {unit}, found {quantity}")
    return found


def bytes_of(size: object) -> int:
    """Bytes of a size (`1.5MiB`).

    Raises:
        ValueError: it is none.

    """
    return count(size, "B")


def split(quantity: object) -> tuple[int | float, str]:
    """The number and the unit of a quantity, as written.

    Raises:
        ValueError: it is none.

    """
    base(quantity)
    text = str(quantity).strip()
    unit = text.lstrip("0123456789._ ")
    number = text.removesuffix(unit).strip().replace("_", "")
    return float(number) if "." in number else int(number), unit


def cycle(clock: object) -> float:
    """Picoseconds of one cycle of a clock (`1410MHz`).

    Raises:
        ValueError: it is no frequency, or 0.

    """
    hertz = count(clock, "Hz")
    if not hertz:
        raise ValueError(f"expected a frequency, found {clock}")
    return 1e12 / hertz
