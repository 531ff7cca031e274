"""What advice is about: a scenario and its machine, or a recording, which has none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from octavo import api
from octavo.advice import systems
from octavo.errors import AdviceError
from octavo.scenarios.scenario import Scenario, is_scenario_file

if TYPE_CHECKING:
    from octavo.advice.systems import SystemConstants
    from octavo.arguments import Arguments


def of_program(source: str | Path | Scenario | None, arguments: Arguments) -> tuple[Scenario, SystemConstants]:
    """The scenario of a program, and the machine that it runs on.

    Raises:
        OctavoError: the source or the node cannot be used.

    """
    node = arguments.get("node")
    measured = systems.measured_of(node) if node is not None else None
    if source is None or (isinstance(source, (str, Path)) and not is_scenario_file(source)):
        arguments["node"] = node = node or systems.DEFAULT_NODE
    scenario = api.scenario(source, **arguments)
    name = str(node) if node is not None else "the scenario's node"
    return scenario, systems.from_scenario(scenario, name=name, measured=measured)


def refuse_changes(path: Path, kind: str, arguments: Arguments) -> None:
    """Refuse arguments that change a scenario: only the node is missing from a `kind` of file without one.

    Raises:
        AdviceError: there are some.

    """
    named = [name for name, value in arguments.items() if name != "node" and value not in (None, [], (), {})]
    if named:
        options = ", ".join("--set" if name == "overrides" else f"--{name}" for name in named)
        raise AdviceError(
            f"{path}: a {kind} has no scenario to change", f"leave out {options}", code="conflict", file=path
        )


def assumed_node(arguments: Arguments) -> tuple[str, ...]:
    """A note that the default node was taken, if none is named."""
    named = arguments.get("node") is not None
    return () if named else (f"no --node given: taken to run on {systems.DEFAULT_NODE}",)
