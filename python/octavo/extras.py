"""Features that need an extra of the package: whether it is installed, and the message if it is not."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

from octavo.errors import OctavoError
from octavo.files.notes import note

_EXTRAS = {"matplotlib": ("Matplotlib", "pictures"), "numpy": ("NumPy", "arrays"), "ray": ("Ray", "ray")}
"""Modules that may be missing from an installation: their names in sentences, and the extras that bring them."""


class ExtraError(OctavoError):
    """A feature that needs a package which is not installed."""

    exit_code = 2


def need(module: str) -> None:
    """Make sure that a module of an extra is installed.

    Raises:
        ExtraError: it is not.

    """
    if not has(module):
        name, extra = _EXTRAS[module]
        raise ExtraError(
            f"{name} is not installed",
            f"install it with `pip install 'octavo[{extra}]'`",
            code="not-installed",
            key=name,
        )


def has(module: str) -> bool:
    """Whether a module of an extra is installed."""
    return find_spec(module) is not None


def pictures() -> bool:
    """Whether pictures can be drawn beside tables; if not, say so once."""
    if not has("matplotlib"):
        _without_pictures()
    return has("matplotlib")


@cache
def _without_pictures() -> None:
    note("no pictures are drawn, as Matplotlib is not installed; `pip install 'octavo[pictures]'` installs it")
