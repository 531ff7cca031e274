"""Data from real GPUs.

`activity` decodes what a driver reports about unified memory, `imports` turns profiles into results, `profile` runs a
program and samples its memory, `calibrate` measures a GPU and describes it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from octavo.measurements import activity, calibrate, imports, profile

__all__ = ["activity", "calibrate", "imports", "profile"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
