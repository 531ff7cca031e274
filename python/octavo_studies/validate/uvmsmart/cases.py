"""Cases to compare with UVMSmart's rules: programs under policies, with memories that are too small for them."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

import octavo._core as _core
from octavo.api import inspect_workload
from octavo.arrays import np
from octavo.errors import ValidationError, of_engine
from octavo.files.links import inside
from octavo.runs.execute import Point
from octavo.runs.experiment import RUNS
from octavo.runs.slugs import slug
from octavo.scenarios.scenario import Recipe, Scenario
from octavo_studies.validate.uvmsmart.programs import (
    NODE,
    PAGE,
    POLICIES,
    PROGRAMS,
    UNITS,
    Policy,
    Program,
    octavo_memory,
)
from octavo_studies.validate.uvmsmart.trees import LEAF, ROOT, roots

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Accessed:
    """What a program's kernels access."""

    allocations: list[tuple[int, int]]
    """First page and pages of each buffer; each begins on a boundary of 2 MiB."""
    pages: np.ndarray
    times: np.ndarray
    """Pages in order, and how often each in a row."""
    stores: np.ndarray
    """Whether they are written."""
    launches: np.ndarray
    """The launch of each, from 0 on."""

    @property
    def footprint(self) -> int:
        """Pages of the trees of all allocations that kernels access: the others are not the GPU's there."""
        pages = np.unique(self.pages)
        used = [one for one in self.allocations if ((pages >= one[0]) & (pages < one[0] + one[1])).any()]
        return sum(count for one in used for _, count in roots(*one))


@dataclass(frozen=True)
class Case:
    """One program under one policy, with a memory of this many pages."""

    program: Program
    accessed: Accessed
    policy: Policy
    oversubscription: int
    capacity: int

    @property
    def reserve(self) -> int:
        """Pages that are kept free."""
        return self.capacity * self.policy.reserve // 100

    @property
    def scenario(self) -> Scenario:
        """Octavo's run."""
        memory = f'node.capacity={{bytes = "{self.capacity * PAGE}B", footprint_percent = 0}}'
        return _scenario(self.program, [*octavo_memory(self.program, self.policy, self.reserve), memory])

    def point(self, root: Path) -> Point:
        """Octavo's run, in a folder below `root`."""
        percent, policy = f"{self.oversubscription}%", slug(self.policy.name)
        label = f"{self.program.name} {percent} {self.policy.name}"
        return Point(label, self.scenario, inside(root, RUNS, self.program.name, str(self.oversubscription), policy))


def cases(only: Sequence[str] | None, oversubscriptions: Sequence[int]) -> list[Case]:
    """All programs under all policies; what is named twice is there once.

    Raises:
        ValidationError: a program that is not there, or a footprint that leaves no memory.

    """
    return [
        Case(program, accessed, policy, percent, _capacity(program, accessed.footprint, percent))
        for program in _chosen(only)
        for accessed in [_accessed(program)]
        for percent in sorted(set(oversubscriptions))
        for policy in POLICIES
    ]


def _capacity(program: Program, footprint: int, percent: int) -> int:
    """Pages of the memory: whole basic blocks, as memories are whole MiB there."""
    capacity = footprint * 100 // percent // LEAF * LEAF
    if capacity == 0:
        most = footprint * 100 // LEAF
        message = f"a footprint of {percent}% leaves `{program.name}` no memory: expected at most {most}%"
        raise ValidationError(message, f"its {footprint} pages of 4KiB come and go by {LEAF}")
    return capacity


def _chosen(only: Sequence[str] | None) -> list[Program]:
    if not only:
        return list(PROGRAMS)
    known = [program.name for program in PROGRAMS]
    for name in only:
        if name not in known:
            raise ValidationError(f"no program `{name}`", f"expected one of {', '.join(known)}")
    return [program for program in PROGRAMS if program.name in only]


def _scenario(program: Program, overrides: Sequence[str]) -> Scenario:
    recipe = Recipe.from_names(program.workload, "on-touch", NODE)
    options = [f"workload.{key}={value}" for key, value in program.options.items()]
    fixed = [f"node.compute.units={UNITS}", 'executor.kind="instant"']
    return recipe.with_overrides([*options, *fixed, *overrides]).resolve()


def _accessed(program: Program) -> Accessed:
    scenario = _scenario(program, [])
    try:
        _, columns = _core.page_order(scenario.toml)
    except _core.SimulationError as error:
        raise of_engine(error, ValidationError, f"{program.name}: {error.args[0]}") from None
    order = pl.read_parquet(io.BytesIO(_core.table_bytes(columns)))
    told = (order[name].to_numpy() for name in ("page", "times", "store", "launch"))
    return Accessed(_allocations(scenario), *told)


def _allocations(scenario: Scenario) -> list[tuple[int, int]]:
    found, first = [], 0
    for buffer in inspect_workload(scenario)["buffers"]:
        pages = -(-buffer["bytes"] // PAGE)
        found.append((first, pages))
        first += -(-pages // ROOT) * ROOT
    return found
