"""Quantities as scenarios write them."""

from __future__ import annotations

import re

SECONDS = {"s": 1e12, "ms": 1e9, "us": 1e6, "µs": 1e6, "ns": 1e3, "ps": 1.0}
"""Picoseconds of each unit of time."""
_HERTZ = {"GHz": 1e9, "MHz": 1e6, "kHz": 1e3, "Hz": 1.0}


def split(quantity: object) -> tuple[float, str]:
    """A quantity as scenarios write it (`1250ns`): its number and its unit.

    Raises:
        ValueError: it is none.

    """
    found = re.fullmatch(r"([\d.]+)\s*([A-Za-zµ/%]*)", str(quantity))
    if found is None:
        raise ValueError(f"expected a quantity, found {quantity}")
    return float(found[1]), found[2]


def picoseconds(time: object) -> float:
    """Picoseconds of a time as scenarios write it.

    Raises:
        ValueError: it is none.

    """
    number, unit = split(time)
    if unit not in SECONDS:
        raise ValueError(f"expected a time, found {time}")
    return number * SECONDS[unit]


def cycles(quantity: object) -> float:
    """Cycles of a number as scenarios write it.

    Raises:
        ValueError: it is none.

    """
    number, unit = split(quantity)
    if unit != "cycles":
        raise ValueError(f"expected cycles, found {quantity}")
    return number


def cycle(clock: object) -> float:
    """Picoseconds of one cycle of a clock (`1410MHz`).

    Raises:
        ValueError: it is no frequency.

    """
    number, unit = split(clock)
    if unit not in _HERTZ or not number:
        raise ValueError(f"expected a frequency, found {clock}")
    return 1e12 / (number * _HERTZ[unit])
