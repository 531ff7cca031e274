"""Contrast of colours according to the Web Content Accessibility Guidelines, and colours with enough of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PAPER, DARK_PAPER = "#ffffff", "#12161c"
"""The backgrounds of pages."""
ENOUGH = 3.0
"""The least contrast of lines and bars with their surroundings: WCAG 2.2, criterion 1.4.11."""
_WHITE, _BLACK = "#ffffff", "#000000"
_STEPS = 128
"""Steps from a colour to white or black; our choice."""


def contrast(one: str, other: str) -> float:
    """From 1 for equal colours to 21 for black and white."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def in_the_dark(shades: Sequence[str]) -> list[str]:
    """Colours for dark paper, in order: each is visible on it, and the first two are distinguishable."""
    found = [_moved(shade, _WHITE, DARK_PAPER) for shade in shades]
    if len(found) > 1:
        found[:2] = _apart(found[0], found[1])
    return found


def on_paper(shades: Sequence[str]) -> list[str]:
    """Colours for white paper, in order: the first two, the main ones, are visible on it.

    Others stay unchanged, since darker versions would be too similar: they have names and dashes beside them.
    """
    return [*(_moved(shade, _BLACK, PAPER) for shade in shades[:2]), *shades[2:]]


def _apart(one: str, other: str) -> tuple[str, str]:
    """Two colours: the lighter one is made lighter and then, as far as needed, the darker one darker."""
    if _luminance(one) > _luminance(other):
        darker, lighter = _apart(other, one)
        return lighter, darker
    lighter = _moved(other, _WHITE, one)
    return _moved(one, _BLACK, lighter), lighter


def _moved(colour: str, towards: str, other: str) -> str:
    """A colour mixed with just enough of another one to stand out; all of the other one if nothing is enough."""
    mixed = (_mixed(colour, towards, step / _STEPS) for step in range(_STEPS + 1))
    return next((each for each in mixed if contrast(each, other) >= ENOUGH), towards)


def _mixed(colour: str, other: str, part: float) -> str:
    pairs = zip(_parts(colour), _parts(other), strict=True)
    return "#" + "".join(f"{round(255 * (one + part * (two - one))):02x}" for one, two in pairs)


def _luminance(colour: str) -> float:
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in _parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _parts(colour: str) -> list[float]:
    return [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
