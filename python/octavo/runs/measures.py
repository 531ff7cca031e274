"""The numbers that comparisons are made of, from the summary of a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from octavo.runs.replicates import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl

    from octavo.runs.result import RunResult

CAUSES = (
    "local",
    "host",
    "migration",
    "remote_access",
    "duplication",
    "write_collapse",
    "eviction",
    "prefetch",
    "walk",
)
"""The causes of access time, under the engine's names."""

SHORT = {"remote_access": "remote", "duplication": "duplicate", "write_collapse": "collapse", "migration": "migrate"}
"""Shorter names of causes, for narrow tables."""

SCHEMES = ("on_touch", "access_counter", "duplication")
"""Schemes a page can have under GRIT."""

PHASES = ("allocation", "host_initialisation", "copies", "kernels", "host_results", "deallocation")
"""The phases of a whole program, in order, under the engine's names."""

OTHER = "other"
"""The name for a program's time outside these phases: waiting for the GPUs, advice."""

_MOVED = ("migration", "duplication", "write_collapse", "eviction", "prefetch")
"""The fields of links that count bytes moved by the driver."""
_COPIED = "copies"
"""The fields of links that count bytes copied by a program."""

_COUNTS = (
    "far_faults",
    "protection_faults",
    "migrations",
    "duplications",
    "collapses",
    "remote_maps",
    "prefetched",
    "evictions_written",
    "evictions_dropped",
)

TIME = "time_ps"

NAMES = (
    TIME,
    "faults",
    *_COUNTS,
    "lines",
    "remote_gpu_lines",
    "remote_host_lines",
    *(f"{cause}_ps" for cause in CAUSES),
    *(f"pages_{scheme}" for scheme in SCHEMES),
)
"""Every measure of a run, in the order of `row`; whole programs also have `PROGRAM_NAMES`."""

PROGRAM_NAMES = (*(f"{phase}_ps" for phase in PHASES), f"{OTHER}_ps", "migrated_bytes", "copied_bytes")
"""Measures that only whole programs have."""


def row(workload: str, variant: str, result: RunResult) -> dict[str, Any]:
    """One run as a row: times in picoseconds, counts, and pages by scheme at the end; for whole programs, phases.

    Runs without time have None instead of times.

    Raises:
        DamagedError: the result is not what was written.

    """
    summary = result.totals  # With names of strategies, and of runs without time, too.
    found = of_summary(workload, variant, summary)
    return {**found, **_bytes(result)} if "phases" in summary else found


def of_summary(workload: str, variant: str, summary: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a run's summary for its row: all except the bytes that a whole program moved and copied."""
    breakdown = summary.get("breakdown", {})
    manager = summary["manager"]
    counts = {name: manager[name] for name in _COUNTS}
    accesses = summary["accesses"]
    return {
        "workload": workload,
        "variant": variant,
        "time_ps": summary.get("time_ps"),
        "faults": counts["far_faults"] + counts["protection_faults"],
        **counts,
        "lines": accesses["load_lines"] + accesses["store_lines"],
        "remote_gpu_lines": accesses["remote_gpu_lines"],
        "remote_host_lines": accesses["remote_host_lines"],
        **{f"{cause}_ps": breakdown.get(f"{cause}_ps") for cause in CAUSES},
        **{f"pages_{scheme}": manager["pages_by_scheme"][scheme] for scheme in SCHEMES},
        **(_program(summary) if "phases" in summary else {}),
    }


def _program(summary: Mapping[str, Any]) -> dict[str, int]:
    phases = {f"{phase}_ps": summary["phases"][f"{phase}_ps"] for phase in PHASES}
    return {**phases, f"{OTHER}_ps": max(summary["time_ps"] - sum(phases.values()), 0)}


def _bytes(result: RunResult) -> dict[str, int]:
    # Each byte counts once: on the link of who sends it.
    links = result.table("links")
    links = links.filter(links["link"].str.contains("^(host|gpu)"))
    return {
        "migrated_bytes": sum(int(links[cause].sum()) for cause in _MOVED),
        "copied_bytes": int(links[_COPIED].sum()),
    }


def phases(point: dict[str, Any]) -> dict[str, int]:
    """The time of each phase of a point; launches alone consist only of kernels."""
    if point.get("kernels_ps") is None:
        return dict.fromkeys((*PHASES, OTHER), 0) | {"kernels": point["time_ps"]}
    return {phase: point[f"{phase}_ps"] for phase in (*PHASES, OTHER)}


def has_time(points: pl.DataFrame) -> bool:
    """Whether every point ran in simulated time."""
    return points["time_ps"].null_count() == 0


def has_phases(points: pl.DataFrame) -> bool:
    """Whether any point is a whole program."""
    return "kernels_ps" in points.columns


LOW, HIGH = "_low", "_high"
"""The endings of a measure's name for the ends of its interval."""


def times(point: Mapping[str, Any], metric: str = TIME) -> Interval:
    """The time of a point, or another measure; if it ran once, an interval without width."""
    found = point[metric]
    low, high = (point.get(f"{metric}{end}", found) for end in (LOW, HIGH))
    return Interval(found, low, high, point.get("replicates", 1))


def shares(point: dict[str, Any]) -> dict[str, float]:
    """Share of each cause in the time of a point's accesses; they add up to 1 (or all are 0, as without time)."""
    times = {cause: point[f"{cause}_ps"] or 0 for cause in CAUSES}
    total = sum(times.values())
    return {cause: time / total if total else 0.0 for cause, time in times.items()}


def geometric_mean(values: Iterable[float]) -> float:
    """Geometric mean of positive numbers."""
    logarithms = [math.log(value) for value in values]
    return math.exp(math.fsum(logarithms) / len(logarithms))
