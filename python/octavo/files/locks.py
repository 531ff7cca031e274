"""One writer per folder: a lock that the system releases when its process ends in any way."""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from octavo.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_PATIENCE_SECONDS = 2.0
"""Wall time in which the workers of a killed sweep notice it and end; our choice."""
_POLL_SECONDS = 0.05


@contextmanager
def held(file: Path, folder: Path) -> Iterator[None]:
    """Keep other writers out of `folder` with a lock on `file`, which exists only meanwhile.

    Systems without such locks (and file systems that refuse them) have no protection.

    Raises:
        OutputError: another process writes there; the message says which.

    """
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        yield
        return

    def locked(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True  # The file system has no locks.
        return True

    handle = _acquire(file, folder, locked)
    try:
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(_oneself()).encode(), 0)
        yield
    finally:
        file.unlink(missing_ok=True)
        os.close(handle)


def _acquire(file: Path, folder: Path, locked: Callable[[int], bool]) -> int:
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        if locked(handle) and _is_still(handle, file):
            return handle
        os.close(handle)
        if time.monotonic() > until:
            hint = "wait until it has ended, or choose another folder with -o"
            raise OutputError(f"cannot write to {folder}: {_holder(file)}", hint, code="in-use", file=folder)
        time.sleep(_POLL_SECONDS)


def _is_still(handle: int, file: Path) -> bool:
    """Whether the locked file still has this name: the previous holder may have removed it before releasing it."""
    try:
        return os.path.samestat(os.fstat(handle), file.stat())
    except FileNotFoundError:
        return False


def _oneself() -> dict[str, object]:
    since = datetime.now(timezone.utc).astimezone().isoformat(sep=" ", timespec="seconds")
    return {"pid": os.getpid(), "host": socket.gethostname(), "since": since}


def _holder(file: Path) -> str:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return f"process {found['pid']} on {found['host']} has been writing there since {found['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process is writing there"
