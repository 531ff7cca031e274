"""Octavo decides where the pages of a GPU node's unified memory live, and shows what every decision costs.

import octavo

comparison = octavo.compare(workload="fir", placements=["on-touch", "grit"], scale=0.0625)
print(comparison.speedups())
"""

from octavo import policies, roofline, trace, validate
from octavo.api import compare, inspect_workload, run, scenario
from octavo.catalogue import listing, schema
from octavo.comparison import Comparison
from octavo.errors import (
    AdviceError,
    CalibrationError,
    InterruptedRun,
    OctavoError,
    OutputError,
    PolicyError,
    ProfileError,
    ScenarioError,
    SimulationError,
    TraceError,
    ValidationError,
)
from octavo.execute import Progress
from octavo.result import RunResult
from octavo.scenario import Scenario
from octavo.sweeps.api import sweep

__all__ = [
    "AdviceError",
    "CalibrationError",
    "Comparison",
    "InterruptedRun",
    "OctavoError",
    "OutputError",
    "PolicyError",
    "ProfileError",
    "Progress",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "SimulationError",
    "TraceError",
    "ValidationError",
    "compare",
    "inspect_workload",
    "listing",
    "policies",
    "roofline",
    "run",
    "scenario",
    "schema",
    "sweep",
    "trace",
    "validate",
]
