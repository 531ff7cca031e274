"""The memory of GPUs as a user gives it for a whole program: a share of the footprint, or bytes at scale 1."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from octavo.errors import ScenarioError
from octavo.plain import shortened
from octavo.quantities import bytes_of

if TYPE_CHECKING:
    from octavo.scenarios.scenario import Recipe

_PERCENT = re.compile(r"\s*([0-9]{1,6})\s*%\s*")
_MOST = 1 << 63
"""More bytes than any memory has."""
_EXPECTED = "expected a size such as 48GB, or whole percent of the footprint such as 60%"


def override(recipe: Recipe, memory: int | str) -> str:
    """Return the change that gives each GPU this memory, which shrinks with a program below scale 1.

    Args:
        recipe: what runs.
        memory: bytes for the program at scale 1 (`48GB`), or whole percent of its footprint (`60%`).

    Raises:
        ScenarioError: it is neither, bytes are for programs of different scales, or the scenario says how memory
            changes during a run.

    """
    scenario = recipe.resolve()
    if "change" in scenario.values["node"]["capacity"]:
        raise ScenarioError("--memory: the scenario says itself how memory changes", "leave it out", key="memory")
    if share := percent(memory):
        return f'node.capacity={{bytes="0B", footprint_percent={share}}}'
    if len(scenario.scales) > 1:
        raise ScenarioError(
            "--memory: expected programs of one scale, of which the memory is a part",
            "say percent of the footprint, or node.capacity.bytes",
            code="unexpected-value",
            key="memory",
        )
    return f'node.capacity={{bytes="{_bytes(memory)}B", footprint_percent=0, shrinks=true}}'


def percent(memory: object) -> int | None:
    """Whole percent of a footprint, if memory is said so."""
    found = _PERCENT.fullmatch(memory) if isinstance(memory, str) else None
    return int(found[1]) if found is not None else None


def _bytes(memory: object) -> int:
    try:
        found = memory if type(memory) is int else bytes_of(memory) if isinstance(memory, str) else 0
    except ValueError:
        found = 0
    if not 0 < found < _MOST:
        raise ScenarioError(f"--memory: {_EXPECTED}, found {shortened(str(memory))}", key="memory")
    return found
