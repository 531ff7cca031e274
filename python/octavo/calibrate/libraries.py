"""NVIDIA's libraries from their Python packages (`octavo[gpu]`), loaded where the engine finds them by name.

Once a shared library is loaded, opening it by its name gives the loaded one wherever its file is. Libraries that the
system knows need none of this, and who misses one says so: without NVRTC nothing is measured, without CUPTI the
driver's own records are.
"""

from __future__ import annotations

import importlib.util

NAMES = ("nvrtc", "cupti")
"""The compiler of kernels, and the recorder of what unified memory does."""


def load() -> None:
    """Load those that are installed."""
    if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.pathfinder") is None:
        return
    from cuda import pathfinder  # noqa: PLC0415 - an extra that few have

    for name in NAMES:
        try:
            pathfinder.load_nvidia_dynamic_lib(name)
        except (pathfinder.DynamicLibNotFoundError, RuntimeError):  # noqa: PERF203 - said by what needs it
            continue
