"""NVIDIA's libraries from their Python packages (`octavo[gpu]`), loaded where the engine finds them by name.

Once a shared library is loaded, opening it by its name gives the loaded one wherever its file is. Libraries that the
system finds need none of this, and missing ones are reported where they are needed: without NVRTC nothing is measured,
without CUPTI the driver's records are missing.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
from pathlib import Path

NAMES = ("nvrtc", "cupti")
"""The compiler of kernels, and the recorder of unified-memory activity."""


_COMPILER = "libnvrtc.so.12"
"""The name under which the engine looks for NVRTC; it knows none of CUDA 13."""


def load() -> None:
    """Load those that are installed."""
    # Where a package of CUDA 13 is installed, too (other programs bring one), the search below would find that alone.
    for compiler in _compilers():
        with contextlib.suppress(OSError):
            ctypes.CDLL(str(compiler))
    if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.pathfinder") is None:
        return
    from cuda import pathfinder  # noqa: PLC0415 - an extra that few have

    for name in NAMES:
        try:
            pathfinder.load_nvidia_dynamic_lib(name)
        except (pathfinder.DynamicLibNotFoundError, RuntimeError):  # noqa: PERF203 - said by what needs it
            continue


def _compilers() -> list[Path]:
    """Files of `nvidia-cuda-nvrtc-cu12`, if it is installed."""
    if importlib.util.find_spec("nvidia") is None:
        return []
    found = importlib.util.find_spec("nvidia.cuda_nvrtc")
    places = found.submodule_search_locations if found else None
    return [file for place in places or () if (file := Path(place, "lib", _COMPILER)).exists()]
