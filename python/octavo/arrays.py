"""NumPy, for modules that work on arrays: it comes with the extra `arrays`, and is imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from octavo import extras

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:

    class _Later:
        """A module that is imported when one of its names is first used."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            extras.need("numpy")
            found = getattr(import_module(self._name), name)
            setattr(self, name, found)
            return found

    np, npt = _Later("numpy"), _Later("numpy.typing")

__all__ = ["np", "npt"]
