"""Interference of jobs: each job's time beside the others and alone, fairness, throughput.

Alone is the same scenario with every other job idle: the job has the same GPUs, compute units and memory as beside
them, and the rest stays unused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from octavo.runs.result import RunResult

JOB_COLUMNS = {
    "workload": pl.String,
    "variant": pl.String,
    "job": pl.String,
    "time_ps": pl.Int64,
    "alone_ps": pl.Int64,
    "slowdown": pl.Float64,
    "repetitions": pl.Int64,
    "faults": pl.Int64,
    "migrations": pl.Int64,
    "evictions": pl.Int64,
    "remote_lines": pl.Int64,
}
"""Columns of the table of jobs."""

Alone = tuple[str, str, str]
"""Workload, variant and job of a run of that job alone."""


def slowdowns(results: Mapping[tuple[str, str], RunResult], alone: Mapping[Alone, RunResult]) -> pl.DataFrame:
    """One row for each workload, variant and job that runs: times of its first repetition, and their ratio."""
    rows = [
        {
            "workload": workload,
            "variant": variant,
            "job": job["name"],
            "time_ps": job["time_ps"],
            "alone_ps": (own := _time(alone[workload, variant, job["name"]], job["name"])),
            "slowdown": job["time_ps"] / own,
            **{name: job[name] for name in ("repetitions", "faults", "migrations", "evictions", "remote_lines")},
        }
        for (workload, variant), result in results.items()
        for job in result.summary["jobs"]
        if job["time_ps"] is not None
    ]
    return pl.DataFrame(rows, schema=JOB_COLUMNS)


def _time(result: RunResult, name: str) -> int:
    return next(int(job["time_ps"]) for job in result.totals["jobs"] if job["name"] == name)


def sharing(jobs: pl.DataFrame) -> pl.DataFrame:
    """One row for each workload and variant: how evenly its jobs are slowed down, and their throughput.

    `fairness` is the smallest slow-down over the largest. The other two use the jobs' speeds relative to alone: `jain`
    is Jain's index, and `weighted_speedup` is their sum, which is n for n jobs without loss.
    """
    rows = [
        {
            "workload": workload,
            "variant": variant,
            "jobs": found.height,
            "worst_slowdown": max(found["slowdown"]),
            "fairness": fairness(found["slowdown"]),
            "jain": jain(found["slowdown"]),
            "weighted_speedup": weighted_speedup(found["slowdown"]),
        }
        for (workload, variant), found in jobs.group_by("workload", "variant", maintain_order=True)
    ]
    return pl.DataFrame(rows)


def fairness(slowdowns: Iterable[float]) -> float:
    """The smallest slow-down over the largest: 1 if all jobs are slowed down equally."""
    found = list(slowdowns)
    return min(found) / max(found)


def jain(slowdowns: Iterable[float]) -> float:
    """Jain's index of speeds relative to alone: 1 if all are equal, 1/n if one job has everything.

    R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984.
    """
    speeds = [1 / slowdown for slowdown in slowdowns]
    return sum(speeds) ** 2 / (len(speeds) * sum(speed**2 for speed in speeds))


def weighted_speedup(slowdowns: Iterable[float]) -> float:
    """The sum of speeds relative to alone."""
    return sum(1 / slowdown for slowdown in slowdowns)
