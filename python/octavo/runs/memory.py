"""The memory for runs: a user's limit, or the free memory."""

from __future__ import annotations

import os
import re
import resource
import sys
from pathlib import Path

import octavo._core as _core
from octavo import addresses, checks
from octavo.addresses import NO_MORE
from octavo.errors import ScenarioError, SimulationError, of_engine
from octavo.plain import shortened
from octavo.quantities import bytes_of

_MOST_QUOTED = 200
"""The most characters of an amount that a message quotes; our choice."""
_CGROUP = Path("/sys/fs/cgroup")

HINT = "--memory-limit says otherwise; fewer --workers leave more for each; record.events=false records less"
"""The hint for a run that would need too much."""

_limit: int | None = None
"""The user's limit in bytes, for all runs of this process; None for the free memory."""


def amount(text: str) -> int:
    """Bytes from a size such as `8GiB` or `500MB`.

    Raises:
        ValueError: it is no amount of memory, or more than any machine has.

    """
    try:
        return bytes_of(text)
    except ValueError:
        raise ValueError(
            f"expected an amount of memory such as 8GiB or 500MB, found {shortened(text, _MOST_QUOTED)}"
        ) from None


def limit_to(limit: int | None) -> None:
    """From now on the runs of this process may together use this many bytes; the free memory if none are given."""
    global _limit  # noqa: PLW0603 - one process, one limit
    _limit = limit


def limit_memory(limit: int | str | None) -> None:
    """Limit the memory of this process while runs are in progress, as `--memory-limit` does for a command.

    The limit includes what the process already uses, such as Python and its packages. A run that would need more is
    refused, and one that reaches the limit ends.

    Args:
        limit: bytes, or an amount such as `8GiB`; by default the memory that is free when runs begin.

    Raises:
        ScenarioError: the limit is not an amount of memory.

    Examples:
        >>> octavo.limit_memory("8GiB")
        >>> octavo.limit_memory(None)

    """
    try:
        text = limit if limit is None or isinstance(limit, str) else f"{checks.whole('limit', limit, least=0)}B"
        found = None if text is None else amount(text)
    except ValueError as error:
        raise ScenarioError(f"--limit: {error}", code="unexpected-value", key="limit") from None
    limit_to(found)


def refused(label: str, error: Exception, message: str = "") -> SimulationError:
    """The engine's error about a run, possibly in other words, with a hint if it would need too much."""
    made = of_engine(error, SimulationError, f"{label}: {message or error.args[0]}")
    made.hint = _hint() if made.code == "memory-limit" else None
    return made


def none_left(label: str) -> SimulationError:
    """The system refused more memory to a run."""
    return SimulationError(f"{label}: {NO_MORE}", _hint(), code="memory-limit")


def _hint() -> str:
    return HINT if addresses.limit() is None else f"{HINT}; `ulimit -v` counts, too"


def share(workers: int) -> int | None:
    """Bytes that this process may use if this many runs are side by side in it.

    It is what it uses apart from runs, plus the run's share of the rest; None if the number of runs is unknown.
    """
    left, around = free(), _core.memory_around()
    most = _limit if _limit is not None or left is None else left + (_core.memory_resident() or 0)
    rest = part(most and max(most - around, 0), workers)
    return None if most is None or rest is None else min(most, around) + rest


def whole(*, here: bool = True) -> int | None:
    """Bytes for processes that run side by side, one run each.

    It is the user's limit, or the free memory if the processes run here and not on a cluster. Memory of this process is
    no longer available to them.
    """
    if not here:
        return _limit
    return free() if _limit is None else max(_limit - _core.memory_around(), 0)


def part(most: int | None, runs: int) -> int | None:
    """The share of each if this many share the bytes."""
    return None if most is None else most // max(runs, 1)


def free() -> int | None:
    """Bytes that can be used without displacing anything else; None if the system does not say."""
    known = [bytes_ for bytes_ in (_available(), _left_in_group(), addresses.left()) if bytes_ is not None]
    return min(known, default=None)


def peak() -> int:
    """The most bytes that this process has used; in a count by program, its parent's are not included."""
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
    """Free memory of the container, if it has a limit."""
    try:
        most = (_CGROUP / "memory.max").read_text().strip()
        used = int((_CGROUP / "memory.current").read_text())
        kept = dict(line.split() for line in (_CGROUP / "memory.stat").read_text().splitlines())
        # Files that were read and are not in use are given up before an allocation fails.
        used -= int(kept.get("inactive_file", 0))
        return None if most == "max" else max(int(most) - used, 0)
    except (OSError, ValueError):
        return None
