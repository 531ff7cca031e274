"""Where generated traces lie: in the user's cache, the ones used last, as many as have room."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo import _core
from octavo.errors import OutputError, again
from octavo.files import disk

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = "OCTAVO_CACHE"
"""Environment variable that names another folder."""
_MOST_BYTES = 8 << 30
"""Bytes of traces that are kept; chosen."""
_DIGITS = 32


def folder() -> Path:
    """The folder of generated traces; `$OCTAVO_CACHE` chooses another."""
    given = os.environ.get(FOLDER)
    if given:
        return Path(given).absolute() / "workloads"
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home).absolute() / "octavo" / "workloads"


def key(asked: dict[str, Any]) -> str:
    """What tells what was asked for apart from all else: the source by its digest, options, scale, seed, and Octavo."""
    where = asked["name"].rpartition("/")[2]
    text = json.dumps({**asked, "name": where, "octavo": _core.VERSION}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def notes_of(path: Path) -> Path:
    """Where the notes about a trace lie."""
    return path.with_suffix(".notes")


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait until no other process generates a trace; systems without locks do not wait.

    Raises:
        OutputError: the folder cannot be written to.

    """
    _prepare(path.parent)
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        yield
        return
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def keep(path: Path, text: str) -> None:
    """Write a file of the cache; errors as `alone`."""
    _prepare(path.parent)
    disk.write_text(path, text)


def _prepare(place: Path) -> None:
    """Make sure that the folder is there and can be written to.

    Raises:
        OutputError: it cannot.

    """
    try:
        disk.check_writable(place)
    except OutputError as error:
        hint = f"choose another folder with the environment variable {FOLDER}"
        raise again(error, OutputError, hint=hint) from None


def touch(path: Path) -> None:
    """Note that a trace was used now."""
    os.utime(path)


def make_room() -> None:
    """Remove the traces that were not used for longest, until the others take no more than they may."""
    traces = sorted(folder().glob("*.trace"), key=lambda path: path.stat().st_mtime, reverse=True)
    taken = 0
    for path in traces:
        taken += sum(file.stat().st_size for file in path.iterdir())
        if taken > _MOST_BYTES:
            remove(path)


def remove(path: Path) -> None:
    """Remove a trace; what cannot be removed stays."""
    shutil.rmtree(path, ignore_errors=True)
