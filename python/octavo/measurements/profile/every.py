"""The sampling interval, as people write it: `100ms`."""

from __future__ import annotations

from octavo.errors import ProfileError
from octavo.quantities import count

LEAST, MOST = 1_000_000, 3_600_000_000_000
"""Our choice: a shorter interval would go mostly into reading /proc, and a longer one shows no detail."""


def nanoseconds(text: str) -> int:
    """A time between samples in nanoseconds.

    Raises:
        ProfileError: it is none, or out of range.

    """
    try:
        time = count(text, "ps") // 1000
    except ValueError:
        raise ProfileError(
            f"--every: expected a time with its unit such as 100ms, found `{text}`",
            code="unexpected-value",
            key="every",
            found=text,
        ) from None
    if not LEAST <= time <= MOST:
        raise ProfileError(
            f"--every: expected a time from 1ms to 3600s, found `{text}`",
            code="unexpected-value",
            key="every",
            found=text,
        )
    return time
