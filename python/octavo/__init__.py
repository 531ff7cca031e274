"""Octavo decides where the pages of a GPU node's unified memory live, and shows what every decision costs.

import octavo

comparison = octavo.compare(workload="fir", placements=["on-touch", "grit"], scale=0.0625)
print(comparison.speedups())
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from octavo import addresses, verbs

addresses.spare()

if TYPE_CHECKING:
    from octavo import advice, explain, generators, measurements, policies, report, roofline, tier, trace
    from octavo.advice.answer import Advice
    from octavo.advice.fit.answer import Fit
    from octavo.advice.fit.pipeline import fit
    from octavo.advice.pipeline import advise
    from octavo.api import inspect_workload, run, scenario, workload_program, workload_result
    from octavo.comparisons import compare
    from octavo.errors import (
        AdviceError,
        CalibrationError,
        DamagedError,
        InterruptedRun,
        OctavoError,
        OutputError,
        PolicyError,
        ProfileError,
        ScenarioError,
        SimulationError,
        TierError,
        TraceError,
        ValidationError,
        WorkloadError,
    )
    from octavo.files.notes import OctavoNote
    from octavo.runs.comparison import Comparison
    from octavo.runs.execute import Progress
    from octavo.runs.memory import limit_memory
    from octavo.runs.result import RunResult
    from octavo.scenarios.catalogue import listing, schema
    from octavo.scenarios.config import Config
    from octavo.scenarios.scenario import Scenario
    from octavo.sweeps.api import sweep
    from octavo.sweeps.outcomes import load_sweep

__all__ = [
    "Advice",
    "AdviceError",
    "CalibrationError",
    "Comparison",
    "Config",
    "DamagedError",
    "Fit",
    "InterruptedRun",
    "OctavoError",
    "OctavoNote",
    "OutputError",
    "PolicyError",
    "ProfileError",
    "Progress",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "SimulationError",
    "TierError",
    "TraceError",
    "ValidationError",
    "WorkloadError",
    "advice",
    "advise",
    "compare",
    "explain",
    "fit",
    "generators",
    "inspect_workload",
    "limit_memory",
    "listing",
    "load_sweep",
    "measurements",
    "policies",
    "report",
    "roofline",
    "run",
    "scenario",
    "schema",
    "sweep",
    "tier",
    "trace",
    "workload_program",
    "workload_result",
]

# Where the names are, for imports when they are first used: most programs use few.
_HOMES = {
    "octavo.advice.answer": ("Advice",),
    "octavo.advice.fit.answer": ("Fit",),
    "octavo.advice.fit.pipeline": ("fit",),
    "octavo.advice.pipeline": ("advise",),
    "octavo.comparisons": ("compare",),
    "octavo.api": (
        "inspect_workload",
        "run",
        "scenario",
        "workload_program",
        "workload_result",
    ),
    "octavo.scenarios.catalogue": (
        "listing",
        "schema",
    ),
    "octavo.runs.comparison": ("Comparison",),
    "octavo.errors": (
        "AdviceError",
        "CalibrationError",
        "DamagedError",
        "InterruptedRun",
        "OctavoError",
        "OutputError",
        "PolicyError",
        "ProfileError",
        "ScenarioError",
        "SimulationError",
        "TierError",
        "TraceError",
        "ValidationError",
        "WorkloadError",
    ),
    "octavo.files.notes": ("OctavoNote",),
    "octavo.runs.execute": ("Progress",),
    "octavo.runs.memory": ("limit_memory",),
    "octavo.runs.result": ("RunResult",),
    "octavo.scenarios.config": ("Config",),
    "octavo.scenarios.scenario": ("Scenario",),
    "octavo.sweeps.api": ("sweep",),
    "octavo.sweeps.outcomes": ("load_sweep",),
}
# Methods of results, by name: functions that stand above them.
verbs.attach(
    {
        "RunResult.plot": ("octavo.runs.pictures.of_run", "plot"),
        "RunResult.report": ("octavo.report.of_results", "of_run"),
        "RunResult.explain": ("octavo.explain.of_run", "of_run"),
        "Fit.plot": ("octavo.advice.fit.picture", "draw"),
        "Comparison.report": ("octavo.report.of_results", "of_comparison"),
    }
)
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in _HOME_OF:
        return import_module(f"{__name__}.{name}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
