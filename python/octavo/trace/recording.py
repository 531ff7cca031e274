"""Workloads written as traces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import octavo._core as _core
from octavo.errors import ScenarioError
from octavo.trace.engine import call
from octavo.trace.folder import written
from octavo.trace.reading import Trace

if TYPE_CHECKING:
    from octavo.scenarios.scenario import Scenario


def record(scenario: Scenario, path: str | Path) -> Trace:
    """Write what a scenario runs as a trace: the whole program if its `kind` says so, else the launches alone.

    Kernel models do not know all that a recording does: all lanes are active, grids have one dimension.

    Raises:
        TraceError: the folder exists already, or cannot be written.
        ScenarioError: the workload cannot be built.

    """
    size = scenario.values["workload"]["scale"]
    command = f"octavo trace record {scenario.workload} --kind {scenario.kind} --scale {size:g}"
    try:
        with written(Path(path), replace=False) as place:
            call(_core.trace_record, scenario.toml, str(place), command)
    except _core.ScenarioError as error:
        raise ScenarioError(*error.args) from None
    except _core.SimulationError as error:
        raise ScenarioError(error.args[0]) from None
    return Trace(Path(path))
