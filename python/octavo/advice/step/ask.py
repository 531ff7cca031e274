"""From the file of a recorded step and a machine to the answer."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from octavo import api
from octavo.advice import systems
from octavo.advice.fit.costs import Costs
from octavo.advice.fit.machine import Asked
from octavo.advice.step import program as programs
from octavo.advice.step.answer import Needs, Point
from octavo.advice.step.levers import Lever, Machine, Tried, levers, tried
from octavo.advice.step.memory import Story, capability, workspace_of
from octavo.errors import AdviceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from octavo.advice.step.program import Program

_ANY_WORKLOAD = "vectoradd"
"""A scenario has to name one; a node does not depend on which."""
_MOST_BATCH = 1 << 20
"""Samples of a batch at most, as for replays."""
_POINTS = 12
"""Batch sizes of the frontier at most; chosen."""
_WORTH = 0.01
"""The share of the peak that a saving must reach to get a line; chosen, it only decides words."""


def ask(
    path: str | Path, *, node: str | Path | None = None, memory: int | str | None = None, batch: int | None = None
) -> Needs:
    """Say how much memory a recorded step needs, whether a GPU has it, and what to do if not.

    Args:
        path: what `octavo trace torch` wrote.
        node: a preset or a machine file; `cuda-sm90` if left out.
        memory: the GPU's memory, such as `24GB`, or percent of what the program has at most; the node's if left out.
        batch: samples of a batch, if the recording lets one choose.

    Raises:
        AdviceError: the file cannot be used, or its batch cannot be chosen.
        ScenarioError: there is no such node, or no such memory.

    """
    program = programs.read(path)
    size = _batch(program, batch)
    constants = systems.from_node(node or systems.DEFAULT_NODE)
    values = api.scenario(workload=_ANY_WORKLOAD, node=node or systems.DEFAULT_NODE).values
    workspace = workspace_of(capability(constants.name))
    machine = Machine(constants.system, Costs.of(constants), workspace)
    story = Story.of(program, size, workspace)
    duration = program.seconds(size, machine.system)
    base = tried(story, (), duration)
    found = Asked.of(memory, values["node"]).memory(base.peak.reserved, values["node"])
    needs = Needs(
        program=program,
        node=constants.name,
        about=constants.about,
        memory=found.gpu,
        reserve=found.reserve,
        batch=size,
        base=base,
        within=tried(story, (), duration, found.room),
        singles=[],
        singles_fit=[],
        together=None,
        notes=_notes(node, workspace),
    )
    return _with_frontier(_with_levers(needs, story, machine), machine)


def _notes(node: str | Path | None, workspace: int) -> tuple[str, ...]:
    assumed = () if node is not None else (f"no --node given: taken to run on {systems.DEFAULT_NODE}",)
    return (
        *assumed,
        f"cuBLAS has a workspace of {workspace:,} bytes for each thread that calls it",
        "times are the canonical roofline's in float32, operator by operator",
    )


def _batch(program: Program, batch: int | None) -> int:
    """The number of samples.

    Raises:
        AdviceError: it cannot be chosen.

    """
    if batch is None:
        return program.used
    if program.batch is None:
        raise AdviceError(
            f"{program.path}: the step was recorded with one batch size: expected no other",
            "record it with --vary NAME, the script's variable with the batch size",
            code="conflict",
            key="batch",
        )
    if not 1 <= batch <= _MOST_BATCH:
        raise AdviceError(
            f"expected a batch of 1 to {_MOST_BATCH:,}, found {batch}", code="unexpected-value", key="batch"
        )
    return batch


def _with_levers(needs: Needs, story: Story, machine: Machine) -> Needs:
    """The answer with what each lever saves, and the cheapest of them that make it fit."""
    duration, room = needs.base.seconds, needs.room
    found = levers(needs.program, needs.batch, machine)
    singles = [tried(story, (lever,), duration) for lever in found]
    least = needs.base.peak.allocated * (1 - _WORTH)
    singles = [one for one in singles if one.peak.allocated <= least]
    together = None
    if needs.verdict == "fails":
        fitting = [
            each
            for each in (tried(story, some, duration, room) for some in _together(found))
            if each.peak.fails is None
        ]
        together = min(fitting, key=lambda each: (each.seconds, len(each.levers)), default=None)
    fit = [tried(story, one.levers, duration, room).peak.fails is None for one in singles]
    return replace(needs, singles=singles, singles_fit=fit, together=together)


def _together(found: Sequence[Lever]) -> list[tuple[Lever, ...]]:
    """All sets of levers with one for each role at most."""
    sets = itertools.chain.from_iterable(itertools.combinations(found, count) for count in range(1, len(found) + 1))
    return [some for some in sets if len({lever.role for lever in some}) == len(some)]


def _with_frontier(needs: Needs, machine: Machine) -> Needs:
    """The answer with what other batch sizes need and take."""
    if needs.program.batch is None:
        return needs
    chosen = needs.chosen or tuple(itertools.chain.from_iterable(one.levers for one in needs.singles[:1]))

    def at(batch: int, with_levers: tuple[Lever, ...] = (), room: int | None = None) -> Tried:
        names = {lever.name for lever in with_levers}
        some = [lever for lever in levers(needs.program, batch, machine) if lever.name in names] if names else []
        story = Story.of(needs.program, batch, machine.workspace)
        return tried(story, some, needs.program.seconds(batch, machine.system), room)

    def fits(with_levers: tuple[Lever, ...]) -> Callable[[int], bool]:
        return lambda batch: at(batch, with_levers, needs.room).peak.fails is None

    largest = _largest(fits(()))
    largest_with = _largest(fits(chosen), max(largest, 1)) if chosen else None
    sizes = _sizes(max(largest, largest_with or 0, needs.batch))

    def point(batch: int, with_levers: tuple[Lever, ...]) -> Point:
        found = at(batch, with_levers)
        return Point(batch, found.peak.allocated, found.peak.reserved, found.seconds, fits(with_levers)(batch))

    return replace(
        needs,
        frontier=[point(batch, ()) for batch in sizes],
        frontier_with=[point(batch, chosen) for batch in sizes] if chosen else [],
        with_levers=chosen,
        largest=largest,
        largest_with=largest_with,
    )


def _largest(fits: Callable[[int], bool], begin: int = 1) -> int:
    """The largest batch that fits; 0 if none does."""
    low, high = 0, begin
    while high <= _MOST_BATCH and fits(high):
        low, high = high, high * 2
    high = min(high, _MOST_BATCH + 1)
    while high - low > max(low // 64, 1):
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _sizes(most: int) -> list[int]:
    """Powers of two up to twice a batch size, the last ones if there are too many."""
    powers = [1 << place for place in range((2 * most).bit_length())]
    return powers[-_POINTS:]
