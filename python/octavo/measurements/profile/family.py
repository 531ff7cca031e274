"""Which processes belong to a program: it, its descendants, and those that left their parent behind.

The watcher becomes the reaper of orphans (`PR_SET_CHILD_SUBREAPER`). A process that daemonises, by starting a session
or losing its parent, becomes a child of the watcher and stays visible.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from octavo.measurements.profile import proc as kernel
from octavo.measurements.profile.proc import PROC, Stat

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37


@contextmanager
def adopting() -> Iterator[None]:
    """Be the parent of orphans during the block, if the system supports that."""
    try:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
    except (OSError, AttributeError):
        yield
        return
    before = ctypes.c_int()
    prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
    prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(_PR_SET_CHILD_SUBREAPER, before.value, 0, 0, 0)


class Family:
    """The processes of one program, as they come and go."""

    def __init__(self, first: int, others: set[int], proc: Path = PROC) -> None:
        """Begin with process `first`; `others` are children that the watcher had before, which do not belong to it."""
        self._proc = proc
        self._first = first
        self._others = others
        self._known: dict[int, int] = {}
        """When each known process started, by its number, since numbers are reused."""
        self._listed = kernel.lists_children(proc)

    def members(self) -> list[Stat]:
        """The processes that exist now, ordered by number, including one that nobody has waited for."""
        found = self._by_children() if self._listed else self._by_parents()
        self._known = {one.pid: one.started for one in found.values()}
        return [found[pid] for pid in sorted(found)]

    def reap(self, members: list[Stat]) -> None:
        """Wait for orphans that have ended, as no other process does that."""
        for one in members:
            if not one.alive and one.parent == os.getpid() and one.pid != self._first:
                with suppress(ChildProcessError):
                    os.waitpid(one.pid, os.WNOHANG)

    def _by_children(self) -> dict[int, Stat]:
        own = kernel.children(os.getpid(), self._proc)
        queue = [*self._known, self._first, *(pid for pid in own if pid not in self._others)]
        found: dict[int, Stat] = {}
        while queue:
            pid = queue.pop()
            one = None if pid in found else kernel.stat(pid, self._proc)
            if one is not None and self._known.get(pid, one.started) == one.started:
                found[pid] = one
                queue += kernel.children(pid, self._proc)
        return found

    def _by_parents(self) -> dict[int, Stat]:
        """All processes of a family: those with a parent or a session in it, until no more are found."""
        left = {one.pid: one for one in kernel.everyone(self._proc)}
        found: dict[int, Stat] = {}
        while True:
            more = {pid: one for pid, one in left.items() if pid not in found and self._belongs(one, found)}
            if not more:
                return found
            found |= more

    def _belongs(self, one: Stat, found: dict[int, Stat]) -> bool:
        if one.pid in self._known:
            return self._known[one.pid] == one.started
        adopted = one.parent == os.getpid() and one.pid not in self._others
        return one.pid == self._first or adopted or one.parent in found or one.session in found
