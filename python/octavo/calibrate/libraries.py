"""NVIDIA's libraries from their Python packages (`octavo[gpu]`), loaded where the engine finds them by name.

Once a shared library is loaded, opening it by its name gives the loaded one wherever its file is. Libraries that the
system knows need none of this.
"""

from __future__ import annotations

import ctypes.util
import importlib.util
from typing import Literal

Library = Literal["nvrtc", "cupti"]
PURPOSE: dict[Library, str] = {
    "nvrtc": "compiles the probes' kernels",
    "cupti": "records what unified memory does during the probes of managed memory",
}


def load(library: Library) -> str | None:
    """Load a library from its package or toolkit; nothing if it is there, and else the reason why not, in a line."""
    if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.pathfinder") is None:
        if ctypes.util.find_library(library):
            return None
        return f"lib{library} was not found, which {PURPOSE[library]}; `pip install octavo[gpu]` brings it"
    from cuda import pathfinder  # noqa: PLC0415 - an extra that few have

    try:
        pathfinder.load_nvidia_dynamic_lib(library)
    except (pathfinder.DynamicLibNotFoundError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        return f"lib{library} was not found, which {PURPOSE[library]}: {reason}"
    return None
