"""The same programs under UVMSmart's replayed rules and under Octavo, one configuration for all, nothing fitted."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import octavo._core as _core
from octavo.errors import ValidationError
from octavo.runs.tables import frame
from octavo.scenarios.scenario import Recipe, Scenario
from octavo.validate.uvmsmart.differences import Stepwise
from octavo.validate.uvmsmart.programs import (
    NODE,
    OVERSUBSCRIPTIONS,
    PAGE,
    POLICIES,
    PROGRAMS,
    UNITS,
    Policy,
    Program,
    octavo_policy,
)
from octavo.validate.uvmsmart.replay import Counts, Replay, StuckError
from octavo.validate.uvmsmart.trees import LEAF, ROOT, roots

if TYPE_CHECKING:
    from collections.abc import Sequence

COUNTS = ("faults", "migrated", "evicted", "thrashed")
"""What is compared, in pages but for the first."""
NEAR = 0.05
"""How far off a count may be to be near, as a share."""
_ARRIVALS = ("migration", "prefetch")
"""Kinds of events with which pages come to the GPU."""


@dataclass(frozen=True)
class Row:
    """One program under one policy, with a memory of this many pages; None where no page can leave."""

    program: str
    policy: str
    oversubscription: int
    capacity: int
    rules: Counts | None
    octavo: Counts | None
    differing: Counts | None = None
    """Of the rules with Octavo's two differences put in (`differences.Stepwise`)."""

    def error(self, count: str) -> float | None:
        """Of Octavo's count relative to that of the rules; None where one has none."""
        if self.rules is None or self.octavo is None:
            return None
        return _error(getattr(self.octavo, count), getattr(self.rules, count))

    def unexplained(self, count: str) -> float | None:
        """The same, relative to the rules with Octavo's differences."""
        if self.differing is None or self.octavo is None:
            return None
        return _error(getattr(self.octavo, count), getattr(self.differing, count))


def _error(ours: int, theirs: int) -> float:
    if theirs == 0:
        return 0.0 if ours == 0 else float("inf")
    return ours / theirs - 1


@dataclass(frozen=True)
class UvmsmartValidation:
    """All rows, and what they say together."""

    rows: list[Row]

    def within(self, count: str, share: float = NEAR) -> tuple[int, int]:
        """Rows in which a count is within a share of that of the rules, and all rows that both finish."""
        errors = [error for row in self.rows if (error := row.error(count)) is not None]
        return sum(abs(error) <= share for error in errors), len(errors)

    def explained(self, count: str) -> tuple[int, int]:
        """Rows in which a count is exactly that of the rules with Octavo's differences, and all that both finish."""
        errors = [error for row in self.rows if (error := row.unexplained(count)) is not None]
        return sum(error == 0 for error in errors), len(errors)

    def median_error(self, count: str) -> float | None:
        """The median size of a count's error; None if there are no rows that both finish."""
        errors = [abs(error) for row in self.rows if (error := row.error(count)) is not None]
        return median(errors) if errors else None

    def stuck(self) -> tuple[int, int]:
        """Rows in which both are stuck, and in which one alone is."""
        both = sum(row.rules is None and row.octavo is None for row in self.rows)
        one = sum((row.rules is None) != (row.octavo is None) for row in self.rows)
        return both, one

    def order(self) -> tuple[int, int]:
        """Pairs of policies of one program and memory that are in the same order by faults, and all that differ.

        UVMSmart adds a fixed time for each fault to the kernels' time, so that faults order its policies.
        """
        same = pairs = 0
        for one, other in combinations(self.rows, 2):
            if (one.program, one.oversubscription) != (other.program, other.oversubscription):
                continue
            if one.rules is None or other.rules is None or one.octavo is None or other.octavo is None:
                continue
            theirs = one.rules.faults - other.rules.faults
            if theirs != 0:
                pairs += 1
                same += (one.octavo.faults - other.octavo.faults) * theirs > 0
        return same, pairs

    def to_dict(self) -> dict[str, Any]:
        """Rows and summary, for JSON."""
        same, pairs = self.order()
        both, one = self.stuck()
        counts = {
            name: {
                "median_error": self.median_error(name),
                "within_5": self.within(name),
                "explained": self.explained(name),
            }
            for name in COUNTS
        }
        order = {"same": same, "pairs": pairs}
        summary = {"counts": counts, "order": order, "stuck": {"both": both, "one": one}}
        return {"summary": summary, "rows": [asdict(row) for row in self.rows]}


def compare(
    *,
    only: Sequence[str] | None = None,
    oversubscriptions: Sequence[int] = OVERSUBSCRIPTIONS,
) -> UvmsmartValidation:
    """Replays UVMSmart's rules beside Octavo without time.

    Args:
        only: programs by name; all if left out.
        oversubscriptions: footprints, in percent of the memory.

    Raises:
        ValidationError: a program that is not there.

    """
    programs = _chosen(only)
    return UvmsmartValidation([row for program in programs for row in _rows(program, oversubscriptions)])


def _chosen(only: Sequence[str] | None) -> list[Program]:
    if not only:
        return list(PROGRAMS)
    known = {program.name: program for program in PROGRAMS}
    for name in only:
        if name not in known:
            raise ValidationError(f"no program `{name}`", f"expected one of {', '.join(known)}")
    return [known[name] for name in only]


def _rows(program: Program, oversubscriptions: Sequence[int]) -> list[Row]:
    allocations = _allocations(program)
    order = _order(program)
    footprint = _footprint(allocations, {page for page, _ in order})
    found = []
    for percent in oversubscriptions:
        # Whole basic blocks: there memories are whole MiB.
        capacity = footprint * 100 // percent // LEAF * LEAF
        for policy in POLICIES:
            rules = _replayed(Replay, (allocations, order), policy, capacity)
            differing = _replayed(Stepwise, (allocations, order), policy, capacity)
            octavo = _decided(program, policy, capacity)
            found.append(Row(program.name, policy.name, percent, capacity, rules, octavo, differing))
    return found


def _footprint(allocations: list[tuple[int, int]], accessed: set[int]) -> int:
    """Pages of the trees of all allocations that kernels access: the others are not the GPU's there."""
    used = [one for one in allocations if any(page in accessed for page in range(one[0], one[0] + one[1]))]
    return sum(pages for one in used for _, pages in roots(*one))


def _scenario(program: Program, overrides: Sequence[str]) -> Scenario:
    recipe = Recipe.from_names(program.workload, "on-touch", NODE)
    options = [f"workload.{key}={value}" for key, value in program.options.items()]
    fixed = [f"node.compute.units={UNITS}", 'executor.kind="instant"']
    return recipe.with_overrides([*options, *fixed, *overrides]).resolve()


def _allocations(program: Program) -> list[tuple[int, int]]:
    """First page and pages of each buffer; each begins on a boundary of 2 MiB."""
    scenario = _scenario(program, [])
    bytes_of = [buffer["bytes"] for buffer in json.loads(_core.inspect_workload(scenario.toml))["buffers"]]
    found, first = [], 0
    for size in bytes_of:
        pages = -(-size // PAGE)
        found.append((first, pages))
        first += -(-pages // ROOT) * ROOT
    return found


def _order(program: Program) -> list[tuple[int, int]]:
    """The pages that the program accesses, in order, and how often in a row."""
    _, columns = _core.page_order(_scenario(program, []).toml)
    values = {
        name: np.frombuffer(data, dtype="<u8").tolist() for name, _, data, _ in columns if isinstance(data, bytes)
    }
    return list(zip(values["page"], values["times"], strict=True))


def _replayed(
    rules: type[Replay], accessed: tuple[list[tuple[int, int]], list[tuple[int, int]]], policy: Policy, capacity: int
) -> Counts | None:
    allocations, order = accessed
    replay = rules(
        allocations,
        capacity=capacity,
        prefetch=policy.prefetch,
        eviction=policy.eviction,
        when_full=policy.when_full,
    )
    try:
        for page, times in order:
            replay.access(page, times)
    except StuckError:
        return None
    return replay.counts


def _decided(program: Program, policy: Policy, capacity: int) -> Counts | None:
    memory = f'node.capacity={{bytes = "{capacity * PAGE}B", footprint_percent = 0}}'
    scenario = _scenario(program, [*octavo_policy(policy), memory, "record.events=true"])
    try:
        text, tables = _core.run(scenario.toml)
    except _core.SimulationError as error:
        if not str(error).startswith("out of memory"):
            raise
        return None
    manager = json.loads(text)["manager"]
    migrated = manager["migrations"] + manager["prefetched"]
    return Counts(
        faults=manager["far_faults"],
        migrated=migrated,
        evicted=manager["evictions_written"] + manager["evictions_dropped"],
        thrashed=migrated - _came(frame(dict(tables)["events"])),
    )


def _came(events: pl.DataFrame) -> int:
    """How many pages ever came to the GPU: whatever comes beyond that comes again."""
    came = events.filter(pl.col("kind").cast(pl.String).is_in(_ARRIVALS)).select("address", "pages").unique()
    firsts = came["address"].to_numpy() // PAGE
    return len(
        {page for first, pages in zip(firsts, came["pages"], strict=True) for page in range(first, first + pages)}
    )
