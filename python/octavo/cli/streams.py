"""Standard streams that the shell closed: nobody reads them, and result files must not get their numbers."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


def open_closed() -> None:
    """Discard what is written to a closed standard stream, like `/dev/null`."""
    for number in range(3):
        if not _is_open(number):
            # The lowest number that is free, which is this one; processes that are started have it, too.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as above


def allow_all_letters() -> None:
    """Characters that a standard stream cannot encode are written as escapes; they do not end a command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def is_unicode(stream: TextIO) -> bool:
    """Whether a stream can encode every character."""
    return (stream.encoding or "utf-8").lower().startswith("utf")


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
