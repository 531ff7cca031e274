"""Simulations of a program where it fits and where it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.errors import OctavoError, OutputError
from octavo.runs.execute import Point, attempt
from octavo.scenarios.scenario import LAUNCHES, Recipe

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from octavo.runs.execute import Progress
    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario

_QUIET = ("record.events=false", "record.interval=0ns")
_UNLIMITED = 'node.capacity={bytes="0B", footprint_percent=0}'


@dataclass(frozen=True)
class Run:
    """How runs are made."""

    root: Path
    workers: int | None
    force: bool
    watch: Callable[[Progress], None] | None


@dataclass(frozen=True)
class Runs:
    """Results; none of what cannot be run."""

    fits: RunResult
    in_place: RunResult | None
    """All of it in device memory that is large enough."""
    paging: RunResult | None
    strips: RunResult | None
    """All of it explicit, cut into strips."""
    can_be_cut: bool
    """Whether its launches can be cut between work-groups, each of which reaches no more than fits."""
    notes: tuple[str, ...]


def limit(room: int) -> str:
    """The change that gives a GPU this much memory for the program at scale 1."""
    return f'node.capacity={{bytes="{room}B", footprint_percent=0, shrinks=true}}'


def runs(scenario: Scenario, room: int, how: Run) -> Runs:
    """Run a program with all memory that it needs, and with `room` bytes at scale 1.

    Raises:
        OctavoError: it cannot be simulated at all, or a folder holds something else.

    """
    kind = "managed" if scenario.kind in (LAUNCHES, "explicit") else scenario.kind
    [fits] = attempt([_point("fits", scenario, kind, _UNLIMITED, how)], workers=1, force=how.force, watch=how.watch)
    if fits is None:
        raise OutputError(f"{how.root}: a run without limits has no result", code="no-result")
    others = {
        "in-place": _point("in-place", scenario, "explicit", _UNLIMITED, how),
        "paging": _point("paging", scenario, kind, limit(room), how),
        "strips": _point("strips", scenario, "explicit", limit(room), how),
    }
    found = {name: _tried(point, how) for name, point in others.items()}
    notes = tuple(f"{_WORDS[name]} cannot be simulated: {why}" for name, (_, why) in found.items() if why)
    can_be_cut = found["strips"][0] is not None
    in_place, paging, strips = (found[name][0] for name in others)
    return Runs(fits, in_place, paging, strips, can_be_cut, notes)


def _tried(point: Point, how: Run) -> tuple[RunResult | None, str]:
    """A result, or why there is none."""
    try:
        [found] = attempt([point], workers=1, force=how.force, watch=how.watch)
    except OctavoError as error:
        if error.code in _NO_ANSWER:
            return None, error.message
        raise
    return found, ""


_WORDS = {"in-place": "explicit memory", "paging": "paging on demand", "strips": "the program in strips"}
_NO_ANSWER = ("cannot-run", "no-room", "too-large", "bad-scenario", "unexpected-value")
"""Codes of errors that say that there is no such run, of a program that runs otherwise."""


def _point(name: str, scenario: Scenario, kind: str, capacity: str, how: Run) -> Point:
    made = Recipe(scenario.toml, "scenario", (f"program.kind={kind}", capacity, *_QUIET)).resolve()
    return Point(name, made, how.root / name)
