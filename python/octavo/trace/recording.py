"""Workloads written as traces."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import octavo._core as _core
from octavo.errors import ScenarioError, of_engine
from octavo.scenarios.conflicts import keys_of
from octavo.trace.engine import call
from octavo.trace.folder import written
from octavo.trace.reader import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.scenarios.scenario import Scenario


def record(scenario: Scenario, path: str | Path, changes: Sequence[str] = ()) -> Trace:
    """Write what a scenario runs as a trace: the whole program if its `kind` says so, else the launches alone.

    `changes` (`key=value`) are those that made the scenario; the trace names them with the command.

    Kernel models do not know all that a recording does: all lanes are active, grids have one dimension.

    Raises:
        TraceError: the folder exists already, or cannot be written.
        ScenarioError: the workload cannot be built.

    """
    size = scenario.values["workload"]["scale"]
    changed = {key for change in changes for key in keys_of(change)}
    options = {"program.kind": f"--kind {scenario.kind}", "workload.scale": f"--scale {size:g}"}
    named = [option for key, option in options.items() if key not in changed]
    named += [f"--set {shlex.quote(change)}" for change in changes]
    command = " ".join([f"octavo trace record {scenario.workload}", *named])
    try:
        with written(Path(path), replace=False) as place:
            call(_core.trace_record, scenario.toml, str(place), command)
    except _core.ScenarioError as error:
        raise of_engine(error, ScenarioError) from None
    except _core.SimulationError as error:
        raise of_engine(error, ScenarioError) from None
    return Trace(Path(path))
