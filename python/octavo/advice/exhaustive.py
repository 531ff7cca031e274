"""Every placement of every buffer, simulated: what advice is measured against."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import comb, prod
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.advice import bounds, verify
from octavo.advice.symmetry import classes, representative
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
MOST_ROWS = 1 << 16
"""Placements that are told of; chosen: sixteen buffers with two placements each."""


@dataclass(frozen=True)
class Exhausted:
    """Every placement that fits the budget, the fastest first."""

    points: pl.DataFrame
    """One row for each placement.

    Its columns are `placements` (one letter for each buffer: d, m or p), `seconds`, `regret` (over the fastest: 0.1 is
    a tenth slower), `device_bytes`, `is_advice`, `is_present`, and one for each buffer. With symmetry there is also
    `run`, the placement that was run for it. With bounds there is also `at_least`, a lower bound in seconds. Placements
    whose run was given up have no `seconds` and no `regret`, and come last."""

    @property
    def best(self) -> dict[str, Any]:
        """The fastest."""
        return self.points.row(0, named=True)

    @property
    def regret(self) -> float:
        """How much slower the advice is than the fastest: 0.1 for a tenth."""
        return float(self.points.filter("is_advice")["regret"][0])

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"regret": self.regret, "best": self.best, "points": self.points.to_dicts()}


def choices(
    plan: Plan, placements: Sequence[Placement], alike: Sequence[Sequence[str]] = ()
) -> list[dict[str, Placement]]:
    """All placements of all buffers that fit the budget; the advice and the present one are among them.

    Raises:
        AdviceError: there are too many to run, of those that differ in more than which of the buffers that are `alike`
            lies where.

    """
    sizes = {each.buffer.name: each.buffer.size for each in plan.buffers}
    kinds = [_of(placements, present, plan.placements[name]) for name, present in plan.present.items()]
    among = dict(zip(sizes, kinds, strict=True))
    together = {name for names in alike for name in names}
    count = prod(len(among[name]) for name in sizes if name not in together)
    count *= prod(comb(len(names) + len(among[names[0]]) - 1, len(names)) for names in alike)
    if count > MOST_RUNS:
        raise AdviceError(
            f"--exhaustive: {len(sizes)} buffers have {count:,} placements, expected at most {MOST_RUNS:,}",
            "leave some out (--placements device,managed), try --symmetry, or --verify the advice alone",
        )
    rows = prod(map(len, kinds))
    if rows > MOST_ROWS:
        raise AdviceError(
            f"--exhaustive: {len(sizes)} buffers have {rows:,} placements, expected at most {MOST_ROWS:,} to list, of "
            f"which {count:,} would be run",
            "leave some out (--placements device,managed), or --verify the advice alone",
        )
    return [choice for choice in _each(list(sizes), kinds) if _fits(choice, sizes, plan)]


def _run_of(choice: Mapping[str, Placement], plan: Plan, alike: Sequence[Sequence[str]]) -> Mapping[str, Placement]:
    """The placement that runs for a choice: one of several like ones, unless it is the advice or the present one."""
    return choice if choice in (plan.placements, plan.present) else representative(choice, alike)


def _of(placements: Sequence[Placement], *others: Placement) -> list[Placement]:
    return [*placements, *(each for each in dict.fromkeys(others) if each not in placements)]


def _each(names: Sequence[str], kinds: Sequence[Sequence[Placement]]) -> Iterator[dict[str, Placement]]:
    for combination in product(*kinds):
        yield dict(zip(names, combination, strict=True))


def _fits(choice: Mapping[str, Placement], sizes: Mapping[str, int], plan: Plan) -> bool:
    """The present placement is kept even if it exceeds the budget: the program has it already."""
    return device_bytes(choice, sizes) <= plan.budget or choice == plan.present


def device_bytes(choice: Mapping[str, Placement], sizes: Mapping[str, int]) -> int:
    """What a choice takes of device memory."""
    return sum(sizes[name] for name, placement in choice.items() if placement == "device")


def run(  # noqa: PLR0913 - one for each thing that can be asked for
    scenario: Scenario,
    plan: Plan,
    placements: Sequence[Placement],
    root: Path,
    *,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
    on: str | None = None,
    symmetry: bool = False,
    bounded: bool = False,
) -> Exhausted:
    """Run every placement; those finished in `root` are not run again, unless `force` is to replace them.

    Args:
        scenario: the program.
        plan: the advice.
        placements: those that may be advised.
        root: folder of the runs.
        workers: runs at a time.
        force: replace finished runs.
        watch: called with the progress of the runs.
        on: what sweeps can run on: `local`, `ray`, or the address of a cluster; threads here if left out.
        symmetry: run one of the placements that differ in nothing but which of several like buffers lies where.
        bounded: give runs up as soon as they are known to take longer than the fastest so far.

    Raises:
        AdviceError: there are too many.
        OctavoError: one cannot be simulated.

    """
    alike = classes([each.buffer for each in plan.buffers]) if symmetry else []
    every = choices(plan, placements, alike)
    told_by = [_run_of(choice, plan, alike) for choice in every]
    known: Mapping[str, tuple[float | None, float]]
    if bounded:
        known = bounds.seconds(scenario, plan, told_by, root, workers=workers, force=force, watch=watch, on=on)
    else:
        times = verify.seconds(scenario, told_by, root, workers=workers, force=force, watch=watch, on=on)
        known = {verify.label(run): (time, time) for run, time in zip(told_by, times, strict=True)}
    pairs = list(zip(every, told_by, strict=True))
    return Exhausted(_table(plan, pairs, known, symmetry=symmetry, bounded=bounded))


def _table(
    plan: Plan,
    pairs: Sequence[tuple[Mapping[str, Placement], Mapping[str, Placement]]],
    known: Mapping[str, tuple[float | None, float]],
    *,
    symmetry: bool,
    bounded: bool,
) -> pl.DataFrame:
    """One row for each placement and what was run for it, from the seconds of the runs and what they take at least."""
    sizes = {each.buffer.name: each.buffer.size for each in plan.buffers}
    best = min(time for time, _ in known.values() if time is not None)
    rows = []
    for choice, run in pairs:
        time, at_least = known[verify.label(run)]
        rows.append(
            {
                "placements": verify.label(choice),
                "seconds": time,
                "regret": None if time is None else time / best - 1,
                "device_bytes": device_bytes(choice, sizes),
                "is_advice": choice == plan.placements,
                "is_present": choice == plan.present,
                **({"run": verify.label(run)} if symmetry else {}),
                **({"at_least": at_least} if bounded else {}),
                **choice,
            }
        )
    table = pl.DataFrame(rows, schema_overrides={"seconds": pl.Float64, "regret": pl.Float64})
    return table.sort("seconds", "placements", nulls_last=True)
