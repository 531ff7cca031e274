"""The addresses of this process, if `ulimit -v` limits them: addresses that are only reserved count, too."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

NO_MORE = "the system has no more memory for it: `ulimit -v`, a container or the machine limits it"
"""The message about a run that the system refused memory."""
NO_MORE_STATUS = 71
"""The status of a process that the engine ended for this reason: `EX_OSERR` of `sysexits.h`."""
_ARENAS = -8
"""`M_ARENA_MAX` of the GNU C library's `mallopt`."""
_LOADED = 256 << 20
"""Addresses of Python with its packages loaded; measured with polars 1 and numpy 2 on x86-64 Linux."""
_THREADS, _THREAD = 10, 10 << 20
"""Threads that are started later besides one for each core, and the addresses of each; measured there."""
_WRITTEN = 64 << 20
"""Addresses that packages set aside later, when they write tables; measured there."""


def limit() -> int | None:
    """Bytes of addresses that this process may have; None for any number."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def spare() -> None:
    """If addresses are limited, stop allocators from reserving any; call it before they are first used."""
    if limit() is None or not sys.platform.startswith("linux"):
        return
    # The engine's allocator would take 1 GiB at once, the C library's 64 MiB for each thread.
    os.environ.setdefault("MIMALLOC_ARENA_RESERVE", "0")
    import ctypes  # noqa: PLC0415 - only where addresses are limited

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_ARENAS, 1)


def lacking() -> str | None:
    """The message if packages alone need more addresses than the limit allows; None if they do not."""
    most, least = limit(), _LOADED + _later()
    if most is None or most >= least:
        return None
    return f"`ulimit -v` allows {most >> 20} MiB of addresses, but Python and its packages take about {least >> 20} MiB"


def left() -> int | None:
    """Bytes of addresses for runs, beside those that packages will take later.

    None if there is no limit, or if the system does not say how many are in use.
    """
    most = limit()
    try:
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return None
    return None if most is None else max(most - taken - _later(), 0)


def _later() -> int:
    return _WRITTEN + _THREAD * (_THREADS + (os.cpu_count() or 1))
