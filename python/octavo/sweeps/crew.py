"""Workers that run the points of a sweep: processes on this machine, or a cluster."""

from __future__ import annotations

import contextlib
import queue
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from octavo.errors import InterruptedRun, OctavoError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octavo.sweeps.plan import Point

T = TypeVar("T")


@dataclass(frozen=True)
class Job:
    """A point that has to run, and the folder its result goes to."""

    point: Point
    folder: Path
    time_limit: int | None = None
    """Picoseconds of simulated time after which the point may be given up, without a result."""


@dataclass(frozen=True)
class Place:
    """Where a job ran, if not on this machine."""

    machine: str
    """For people."""
    engine: str
    """The build of Octavo there, in hexadecimal digits."""


class LostCrewError(OctavoError):
    """The workers are gone: nobody can run the rest."""

    code = "lost-machines"


@dataclass(frozen=True)
class Ended:
    """A job that is over."""

    job: Job
    error: str | None
    """Why there is no result; None if the result is in its folder, or if the time limit was reached."""
    place: Place | None = None


class Crew(Protocol):
    """Runs jobs side by side. A job's results do not depend on who ran it."""

    @property
    def slots(self) -> int:
        """How many jobs it runs at a time."""

    def expect(self, jobs: int) -> None:
        """Prepare for this many jobs: they share memory, as far as there are slots for them. None is running."""

    def start(self, job: Job) -> None:
        """Begin a job; there must be a free slot."""

    def poll(self, seconds: float) -> list[Ended]:
        """Jobs that ended, after waiting at most that long for the first."""

    def shares(self) -> Mapping[str, float]:
        """By label of each running point, how much of it is done (0 to 1)."""

    def close(self) -> None:
        """Stop what is running and release everything."""


def arrived(come: queue.SimpleQueue[T], seconds: float) -> list[T]:
    """Everything that has arrived, after waiting at most that long for the first; without waiting if that is 0."""
    found: list[T] = []
    with contextlib.suppress(queue.Empty):
        found.append(come.get(timeout=seconds) if seconds else come.get_nowait())
        while True:
            found.append(come.get_nowait())
    return found


def stopped(cause: BaseException, kept: int, total: int, what: str) -> InterruptedRun:
    """The run was stopped: by Ctrl-C or SIGTERM, or because the workers are lost."""
    why = f"{cause.message};" if isinstance(cause, LostCrewError) else "stopped:"
    return InterruptedRun(f"{why} {kept} of {total} {what} are finished and kept", "the same command resumes")
