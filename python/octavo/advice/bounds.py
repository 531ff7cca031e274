"""Placements that cannot be the fastest, found out before their runs are over."""

from __future__ import annotations

import json
from math import inf
from typing import TYPE_CHECKING

from octavo.advice import verify
from octavo.files import disk, manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from octavo.advice.facts import Placement
    from octavo.advice.plan import Plan
    from octavo.runs.execute import Progress
    from octavo.scenarios.scenario import Scenario

    Choice = Mapping[str, Placement]

CUT_FILE = "cut.json"
"""Which runs were given up, and the seconds that they are known to exceed."""
_FIRST_ROUND = 8
"""Runs of the first round; each has twice as many as the one before. Chosen: the limit comes down early, and a cluster
has enough to do. Rounds do not depend on the number of workers, so that the same runs are given up everywhere."""


def seconds(
    scenario: Scenario,
    plan: Plan,
    choices: Sequence[Choice],
    root: Path,
    *,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
    on: str | None = None,
) -> dict[str, tuple[float | None, float]]:
    """Seconds of each choice and what it takes at least, by its label; without seconds, that is more than the fastest.

    The present and the advised placement run to their end. Then all others run in the order of their predicted costs,
    each until it ends or the clock of the simulation has passed the fastest time of the rounds before. Time in a
    simulation only goes forward: a run that is given up takes longer than another one that is finished.

    Raises:
        OctavoError: one cannot be simulated, a folder holds something else, or what an earlier search left is damaged.

    """
    first = [plan.placements, plan.present]
    cut = {} if force else _read(root.parent)
    times = verify.seconds(scenario, first, root, workers=workers, force=force, watch=watch, on=on)
    found = {verify.label(choice): (time, time) for choice, time in zip(first, times, strict=True)}
    known: dict[str, tuple[float | None, float]] = dict(found)
    best = min(times)
    rest = {verify.label(choice): choice for choice in choices if verify.label(choice) not in found}
    for names in _rounds(_by_prediction(rest, plan)):
        missing = [name for name in names if cut.get(name, 0.0) < best]
        ended = verify.seconds_within(
            scenario, [rest[name] for name in missing], root, best, workers=workers, force=force, watch=watch, on=on
        )
        now = dict(zip(missing, ended, strict=True))
        cut |= {name: best for name, time in now.items() if time is None}
        disk.write_json(root.parent / CUT_FILE, cut)
        known |= {name: (now.get(name), now.get(name) or cut[name]) for name in names}
        best = min([best, *(time for time in ended if time is not None)])
    return known


def _by_prediction(choices: Mapping[str, Choice], plan: Plan) -> list[str]:
    """Labels, those first that are predicted to be fast."""

    def cost(name: str) -> float:
        pairs = ((each.costs, choices[name][each.buffer.name]) for each in plan.buffers)
        return sum(costs[place].value if place in costs else inf for costs, place in pairs)

    return sorted(choices, key=lambda name: (cost(name), name))


def _rounds(names: Sequence[str]) -> Iterator[Sequence[str]]:
    at, size = 0, _FIRST_ROUND
    while at < len(names):
        yield names[at : at + size]
        at, size = at + size, 2 * size


def _read(folder: Path) -> dict[str, float]:
    """Times of an earlier search in the same folder; none if it was killed while it wrote them.

    Raises:
        DamagedError: the file is not what was written.

    """
    written = manifest.read(folder)
    if written is None or written.files.get(CUT_FILE) is None:
        return {}
    manifest.verify(folder, written, [CUT_FILE])
    found: dict[str, float] = json.loads((folder / CUT_FILE).read_text(encoding="utf-8"))
    return found
