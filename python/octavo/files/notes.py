"""Notes beside a result: a warning in Python, a line `note:` on the command line."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

import octavo._core as _core

if TYPE_CHECKING:
    from collections.abc import Iterator


class OctavoNote(UserWarning):
    """Nothing failed, but the user may want to act."""


def note(message: str) -> None:
    """Tell it once."""
    warnings.warn(message, OctavoNote, stacklevel=3)


@contextmanager
def notes_told() -> Iterator[None]:
    """Report what the engine assumes or ignores in files that it reads meanwhile, even if it refuses them."""
    try:
        yield
    finally:
        for text in _core.read_notes():
            note(text)
