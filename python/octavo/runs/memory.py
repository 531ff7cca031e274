"""How much memory runs may take: what a user says, or what is free."""

from __future__ import annotations

import os
import re
import resource
import sys
from pathlib import Path

from octavo.errors import SimulationError

_UNITS = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "TiB": 1 << 40,
}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?) *([KMGT]?i?B)")
_CGROUP = Path("/sys/fs/cgroup")

HINT = "--memory-limit says otherwise; fewer --workers leave more for each; record.events=false records less"
"""What helps a run that would take too much."""

_limit: int | None = None
"""What the user said, in bytes, for all runs of this process; nothing for what is free."""


def amount(text: str) -> int:
    """Bytes as they are written: `8GiB` or `500MB`.

    Raises:
        ValueError: it is no amount of memory.

    """
    found = _AMOUNT.fullmatch(text.strip())
    if found is None or found[2] not in _UNITS:
        raise ValueError(f"expected an amount of memory such as 8GiB or 500MB, found {text}")
    return int(float(found[1]) * _UNITS[found[2]])


def limit_to(limit: int | None) -> None:
    """From now on the runs of this process may take so many bytes together; what is free, if nothing is said."""
    global _limit  # noqa: PLW0603 - one process, one limit
    _limit = limit


def refused(label: str, message: str) -> SimulationError:
    """What the engine says of a run, with what helps if it would take too much."""
    too_much = message.startswith("the run would take about ")
    return SimulationError(f"{label}: {message}", HINT if too_much else None)


def share(workers: int) -> int | None:
    """Bytes for each of so many runs side by side; nothing where the system does not say what is free."""
    most = free() if _limit is None else _limit
    return None if most is None else most // max(workers, 1)


def free() -> int | None:
    """Bytes that could be taken without anything else being pushed out; nothing where the system does not say."""
    known = [bytes_ for bytes_ in (_available(), _left_in_group()) if bytes_ is not None]
    return min(known, default=None)


def peak() -> int:
    """Most bytes that this process had. Where the system counts by program, those of its parent are not among them."""
    try:
        found = re.search(r"^VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    except OSError:
        found = None
    if found is not None:
        return int(found[1]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1024 if sys.platform == "linux" else 1)


def _available() -> int | None:
    """What the kernel thinks."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        pages, size = os.sysconf_names.get("SC_AVPHYS_PAGES"), os.sysconf_names.get("SC_PAGE_SIZE")
        return os.sysconf(pages) * os.sysconf(size) if pages is not None and size is not None else None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) << 10 if found else None


def _left_in_group() -> int | None:
    """What a container has left, if it has a limit."""
    try:
        most = (_CGROUP / "memory.max").read_text().strip()
        used = int((_CGROUP / "memory.current").read_text())
        kept = dict(line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines())
        # Files that were read and are not in use are given up before anybody fails.
        used -= int(kept.get("inactive_file", 0))
        return None if most == "max" else max(int(most) - used, 0)
    except (OSError, ValueError):
        return None
