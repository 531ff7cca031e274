"""Files that appear completely or not at all, and are on the disk once they do."""

from __future__ import annotations

import glob
import itertools
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from octavo.errors import OutputError
from octavo.files import blame, digest, links

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIX = ".octavo-new"
"""The endings of names of unfinished files and folders; the names begin with a dot."""
_NUMBERS = itertools.count()


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """A temporary file that takes the place of `path` when the block ends without an error.

    Raises:
        OutputError: it cannot be written; what was there before stays.

    """
    named = path
    try:
        path = links.followed(path)
        remove_leftovers(path.parent, path.name + ".")
        with _reserved(path) as temporary:
            yield temporary
            _appear(temporary, path)
    except OSError as error:
        if not blame.concerns(error, named, path):
            raise
        raise _refused(path, error) from error


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; errors as `replaced_file`."""
    try:
        path = links.followed(path)
        with _reserved(path) as temporary:
            temporary.write_bytes(content)
            _appear(temporary, path)
    except OSError as error:
        raise _refused(path, error) from error


def _appear(temporary: Path, path: Path) -> None:
    digest.sync(temporary)
    temporary.replace(path)
    digest.sync(path.parent)


def _refused(path: Path, error: OSError) -> OutputError:
    return OutputError(
        f"cannot write {path}: {reason(error)}", "what was there before stays", code="unwritable", file=path
    )


def reason(error: OSError) -> str:
    """Why the system refused, in its own words."""
    return error.strerror or str(error)


def remove_leftovers(folder: Path, of: str = "") -> None:
    """Remove unfinished files for the name `of`, or for any name, that killed processes left; those in use stay."""
    for path in folder.glob(f".{glob.escape(of)}*{SUFFIX}"):
        if path.is_file() and not path.is_symlink():
            _remove_if_left(path)


@contextmanager
def _reserved(path: Path) -> Iterator[Path]:
    """A name for an unfinished file, locked while its process lives."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{next(_NUMBERS)}{SUFFIX}")
    handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        _lock(handle)
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
        os.close(handle)


def _remove_if_left(path: Path) -> None:
    with suppress(OSError):
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        try:
            if _lock(handle):
                path.unlink(missing_ok=True)
        finally:
            os.close(handle)


def _lock(handle: int) -> bool:
    """Whether no other process uses the file, as far as the system can tell."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
