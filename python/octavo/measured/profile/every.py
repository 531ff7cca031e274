"""How often to sample, as people write it: `100ms`."""

from __future__ import annotations

import re
from fractions import Fraction

from octavo.errors import ProfileError

_UNITS = {"us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
"""Nanoseconds of each."""
LEAST, MOST = 1_000_000, 3_600_000_000_000
"""Chosen: reading /proc would take most of a shorter one, and longer ones show no detail."""


def nanoseconds(text: str) -> int:
    """A time between samples in nanoseconds.

    Raises:
        ProfileError: it is none, or out of range.

    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-zµ]+)", text.strip())
    if found is None or found[2] not in _UNITS:
        raise ProfileError(
            f"--every: expected a time with its unit such as 100ms, found `{text}`", f"units: {', '.join(_UNITS)}"
        )
    time = int(Fraction(found[1]) * _UNITS[found[2]])
    if not LEAST <= time <= MOST:
        raise ProfileError(f"--every: expected a time from 1ms to 3600s, found `{text}`")
    return time
