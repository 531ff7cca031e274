"""Notes beside a result: a warning in Python, a line `note:` on the command line."""

from __future__ import annotations

import warnings


class OctavoNote(UserWarning):
    """Nothing went wrong, but the user may want to act."""


def note(message: str) -> None:
    """Tell it once."""
    warnings.warn(message, OctavoNote, stacklevel=3)
