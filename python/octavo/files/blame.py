"""Whose fault a system error is: the folder that is written, or something else that happened meanwhile."""

from __future__ import annotations

import errno
import os
from pathlib import Path

_OF_DISKS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}
"""System errors without a file name while something is written."""


def concerns(error: OSError, *written: Path) -> bool:
    """Whether an error concerns what is written, or our temporary files beside it."""
    if error.filename is None:
        return error.errno in _OF_DISKS
    names = [name for name in (error.filename, error.filename2) if isinstance(name, (str, bytes))]
    return any(_is_of(Path(os.fsdecode(name)).absolute(), target.absolute()) for name in names for target in written)


def _is_of(path: Path, target: Path) -> bool:
    """Whether a path is the target, is in it or on the way to it, or stands in for it."""
    if path in (target, *target.parents):
        return True
    return any(
        place == target or (place.parent == target.parent and _stands_in(place.name, target.name))
        for place in (path, *path.parents)
    )


def _stands_in(name: str, of: str) -> bool:
    return name.startswith(f".{of}.") or name == f"{of}.octavo-old"
