"""Placements simulated as whole programs, with each buffer in its kind of memory."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.advice import elsewhere
from octavo.runs.execute import Point, attempt, execute
from octavo.scenarios.scenario import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from octavo.advice.facts import Placement
    from octavo.runs.execute import Progress
    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario

_LETTERS = {"device": "d", "managed": "m", "pinned": "p"}
_LONGEST = 64
"""Letters of a folder's name; more buffers than that have the digest of their scenario."""


@dataclass(frozen=True)
class Found:
    """What simulating the present and the advised placement found."""

    present: float
    """Seconds of the whole program."""
    advised: float

    @property
    def gain(self) -> float:
        """Seconds."""
        return self.present - self.advised

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "present": self.present,
            "advised": self.advised,
            "gain": self.gain,
            "speedup": self.present / self.advised,
        }


def label(placements: Mapping[str, Placement]) -> str:
    """Placements in a word, a letter a buffer: `dmp`."""
    return "".join(_LETTERS[placement] for placement in placements.values())


def placed(scenario: Scenario, placements: Mapping[str, Placement]) -> Scenario:
    """The scenario as a whole program with each buffer in its placement."""
    kinds = [f"program.buffers.{json.dumps(name)}.kind={kind}" for name, kind in placements.items()]
    return Recipe(scenario.toml, "scenario", ("program.kind=managed", *kinds)).resolve()


def seconds(
    scenario: Scenario,
    choices: Sequence[Mapping[str, Placement]],
    root: Path,
    *,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
    on: str | None = None,
) -> list[float]:
    """Simulated seconds of the whole program under each choice.

    Those finished in `root` are not run again, unless `force` is to replace them. They run here, or `on` what sweeps
    can run on.

    Raises:
        OctavoError: one cannot be simulated, or a folder holds something else.

    """
    runs = _points(scenario, choices, root)
    if on is None:
        done: Sequence[RunResult | None] = execute(list(runs.values()), workers=workers, force=force, watch=watch)
    else:
        done = elsewhere.execute(list(runs.values()), on, workers=workers, force=force, watch=watch)
    found = dict(zip(runs, done, strict=True))
    return [_ended(found[label(choice)]).seconds for choice in choices]


def seconds_within(
    scenario: Scenario,
    choices: Sequence[Mapping[str, Placement]],
    root: Path,
    limit: float,
    *,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
    on: str | None = None,
) -> list[float | None]:
    """Simulated seconds of the whole program under each choice; nothing of those known to take longer than the limit.

    Raises:
        OctavoError: one cannot be simulated, or a folder holds something else.

    """
    runs, time_limit = _points(scenario, choices, root), round(limit * 1e12)
    if on is None:
        done: Sequence[RunResult | None] = attempt(
            list(runs.values()), time_limit, workers=workers, force=force, watch=watch
        )
    else:
        done = elsewhere.execute(
            list(runs.values()), on, workers=workers, force=force, watch=watch, time_limit=time_limit
        )
    found = dict(zip(runs, done, strict=True))
    return [None if (run := found[label(choice)]) is None else run.seconds for choice in choices]


def _points(scenario: Scenario, choices: Sequence[Mapping[str, Placement]], root: Path) -> dict[str, Point]:
    """One run for each choice, by its label."""
    quiet = Recipe(scenario.toml, "scenario", ("record.events=false", "record.interval=0ns")).resolve()
    labels = {label(choice): choice for choice in choices}
    return {name: _point(name, placed(quiet, choice), root) for name, choice in labels.items()}


def _ended(run: RunResult | None) -> RunResult:
    assert run is not None  # noqa: S101 - there was no limit of time
    return run


def _point(name: str, scenario: Scenario, root: Path) -> Point:
    folder = root / (name if len(name) <= _LONGEST else scenario.digest)
    return Point(name, scenario, folder)
