"""Every placement of every buffer, simulated: what advice is measured against."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.advice import verify
from octavo.errors import AdviceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from octavo.advice.facts import Placement
    from octavo.advice.plan import Plan
    from octavo.runs.execute import Progress
    from octavo.scenarios.scenario import Scenario

MOST_RUNS = 4096
"""Placements of all buffers together that are run; chosen: twelve buffers with two placements each."""


@dataclass(frozen=True)
class Exhausted:
    """Every placement that fits the budget, the fastest first."""

    points: pl.DataFrame
    """`placements` (a letter a buffer: d, m, p), `seconds`, `regret` (over the fastest: 0.1 is a tenth slower),
    `device_bytes`, `is_advice`, `is_present`, and a column for each buffer."""

    @property
    def best(self) -> dict[str, Any]:
        """The fastest."""
        return self.points.row(0, named=True)

    @property
    def regret(self) -> float:
        """Of the advice: how much slower it is than the fastest, 0.1 for a tenth."""
        return float(self.points.filter("is_advice")["regret"][0])

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"regret": self.regret, "best": self.best, "points": self.points.to_dicts()}


def choices(plan: Plan, placements: Sequence[Placement]) -> list[dict[str, Placement]]:
    """All placements of all buffers that fit the budget; the advice and the present one are among them.

    Raises:
        AdviceError: there are too many.

    """
    sizes = {each.buffer.name: each.buffer.size for each in plan.buffers}
    kinds = [_of(placements, present, plan.placements[name]) for name, present in plan.present.items()]
    count = prod(map(len, kinds))
    if count > MOST_RUNS:
        raise AdviceError(
            f"--exhaustive: {len(sizes)} buffers have {count:,} placements, expected at most {MOST_RUNS:,}",
            "leave some out (--placements device,managed), or --verify the advice alone",
        )
    return [choice for choice in _each(list(sizes), kinds) if _fits(choice, sizes, plan)]


def _of(placements: Sequence[Placement], *others: Placement) -> list[Placement]:
    return [*placements, *(each for each in dict.fromkeys(others) if each not in placements)]


def _each(names: Sequence[str], kinds: Sequence[Sequence[Placement]]) -> Iterator[dict[str, Placement]]:
    for combination in product(*kinds):
        yield dict(zip(names, combination, strict=True))


def _fits(choice: Mapping[str, Placement], sizes: Mapping[str, int], plan: Plan) -> bool:
    """The present placement is kept whatever it takes: it is there."""
    return device_bytes(choice, sizes) <= plan.budget or choice == plan.present


def device_bytes(choice: Mapping[str, Placement], sizes: Mapping[str, int]) -> int:
    """What a choice takes of device memory."""
    return sum(sizes[name] for name, placement in choice.items() if placement == "device")


def run(
    scenario: Scenario,
    plan: Plan,
    placements: Sequence[Placement],
    root: Path,
    *,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> Exhausted:
    """Run every placement; those finished in `root` are not run again, unless `force` is to replace them.

    Raises:
        AdviceError: there are too many.
        OctavoError: one cannot be simulated.

    """
    every = choices(plan, placements)
    times = verify.seconds(scenario, every, root, workers=workers, force=force, watch=watch)
    sizes = {each.buffer.name: each.buffer.size for each in plan.buffers}
    best = min(times)
    rows = [
        {
            "placements": verify.label(choice),
            "seconds": time,
            "regret": time / best - 1,
            "device_bytes": device_bytes(choice, sizes),
            "is_advice": choice == plan.placements,
            "is_present": choice == plan.present,
            **choice,
        }
        for choice, time in zip(every, times, strict=True)
    ]
    return Exhausted(pl.DataFrame(rows).sort("seconds", "placements"))
