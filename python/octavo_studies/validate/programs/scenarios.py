"""Which simulated run stands for a measured program."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from octavo.scenarios import conflicts
from octavo.scenarios.nodes import node_name
from octavo.scenarios.scenario import Recipe
from octavo.workloads import workload_program

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from octavo.scenarios.scenario import Scenario
    from octavo_studies.validate.programs.times import Measured

KINDS = {
    "device": "explicit",
    "managed": "managed",
    "managed-prefetch": "managed",
    "pinned": "pinned",
    "system": "system",
}
"""Octavo's kinds, by those of the measured programs."""
_CONTEXT = "node.host.costs.context=0ns"
"""Programs are timed when the context is there."""

_OWN = {"program.kind": "", "workload.name": "", "workload.scale": "", "node.preset": "--node"}
"""Keys that the comparison sets, and the option that changes them."""


def scenario(one: Measured, node: str | Path, changes: Sequence[str] = ()) -> Scenario:
    """The run of a measured program on a node.

    Raises:
        ScenarioError: a value cannot be used.

    """
    conflicts.refuse(changes, _OWN, "the comparison")
    recipe = Recipe.from_names(one.program, node=node_name(node)).with_overrides(
        [f"workload.scale={one.scale!r}", "node.capacity.shrinks=false"]  # The GPU had all of its memory.
    )
    inputs = inputs_of(recipe.resolve()) if one.kind == "managed-prefetch" else []
    prefetched = [f"program.buffers.{name}.prefetch=gpu0" for name in inputs]
    return recipe.with_overrides([f"program.kind={KINDS[one.kind]}", _CONTEXT, *prefetched, *changes]).resolve()


def inputs_of(source: Scenario) -> list[str]:
    """Buffers that the host has written when the first launch begins: what an explicit program copies in.

    Raises:
        ScenarioError: the workload cannot be built.

    """
    actions = workload_program(source, "explicit")["actions"]
    before = takewhile(lambda action: action["action"] != "launch", actions)
    return [action["buffers"][1] for action in before if action["action"] == "copy"]
