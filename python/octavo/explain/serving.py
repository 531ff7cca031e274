"""How long requests waited for their tokens, in runs of workloads that serve (`llm-decode`, `moe-decode`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from octavo import api
from octavo.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario

WORKLOADS = ("llm-decode", "moe-decode")
KERNELS = ("attention", "feed-forward", "experts", "head")
"""Kernels that only these workloads have."""
_PICOSECONDS = 1e12


def tokens(result: RunResult) -> pl.DataFrame:
    """Every token that was made.

    Returns:
        `request`, `made_ps` (when), `first_ps` (of a request's first: time since the request arrived) and `next_ps` (of
        others: time since the one before). Both are missing if that was before the simulated steps began.

    Raises:
        OutputError: the run serves nothing, or more than one job does.

    """
    return _tokens(*_served(result))


def _tokens(made: Mapping[str, Any], began: list[int], ended: list[int]) -> pl.DataFrame:
    steps = pl.DataFrame({"step": range(len(began)), "began": began, "ended": ended})
    rows = pl.DataFrame(
        {name: made[name] for name in ("request", "made", "before", "arrived")},
        schema=dict.fromkeys(("request", "made", "before", "arrived"), pl.Int64),
        strict=False,
    )
    for name in ("made", "before"):
        rows = rows.join(steps.select(pl.col("step").alias(name), pl.col("ended").alias(f"{name}_ps")), name, "left")
    rows = rows.join(
        steps.select(pl.col("step").alias("arrived"), pl.col("began").alias("arrived_ps")), "arrived", "left"
    )
    return rows.select(
        "request",
        "made_ps",
        first_ps=pl.col("made_ps") - pl.col("arrived_ps"),
        next_ps=pl.col("made_ps") - pl.col("before_ps"),
    )


def shrunk(scales: Iterable[float]) -> str:
    """The words behind a rate of programs at these scales: none if all are whole."""
    below = sorted(scale for scale in scales if scale < 1)
    return f", of a shrunk model, at scale {' and '.join(f'{scale:g}' for scale in below)}" if below else ""


def latencies(result: RunResult) -> dict[str, Any]:
    """What users see: the wait in milliseconds that half, and 99 in a hundred, do not exceed; and tokens a second.

    For a job that repeats, its first repetition.

    Returns:
        `tokens`, `tokens_per_s`, and `count`, `p50_ms`, `p99_ms` of `first` (time to first token) and `next` (between
        tokens).

    Raises:
        OutputError: as `tokens`.

    """
    made, began, ended = _served(result)
    rows = _tokens(made, began, ended)
    seconds = (ended[-1] - began[0]) / _PICOSECONDS
    found: dict[str, Any] = {"tokens": rows.height, "tokens_per_s": rows.height / seconds}
    for name in ("first", "next"):
        waits = rows[f"{name}_ps"].drop_nulls() / 1e9
        quantiles = {f"p{share}_ms": waits.quantile(share / 100, "higher") for share in (50, 99)}
        found[name] = {"count": len(waits), **quantiles}
    return found


def serves(result: RunResult) -> bool:
    """Whether one program of a run serves requests."""
    return len(_serving(result.scenario.values)) == 1


def _serving(values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    every = [job["workload"] for job in values["job"]] if "job" in values else [values["workload"]]
    return [workload for workload in every if workload["name"] in WORKLOADS]


def _served(result: RunResult) -> tuple[Mapping[str, Any], list[int], list[int]]:
    """The schedule, and when each of its steps began and ended; for a job that repeats, its first repetition."""
    result.check_time()
    workload = _workload(result)
    made = api.workload_result(workload)
    began, ended = _steps(result, int(made["launches"][0]))
    steps = 1 + int(max(made["made"]))
    return made, began[:steps], ended[:steps]


def _workload(result: RunResult) -> Scenario:
    serving = _serving(result.scenario.values)
    if len(serving) != 1:
        expected = f"expected a run of one workload that serves ({', '.join(WORKLOADS)})"
        raise OutputError(
            f"{result.folder}: {expected}, found {len(serving)}",
            file=result.folder,
            found=len(serving),
            code="unexpected-value",
        )
    options = {key: value for key, value in serving[0].items() if key != "name"}
    seed = result.scenario.values.get("seed")
    overrides = [f"workload.{key}={value}" for key, value in options.items()]
    return api.scenario(workload=serving[0]["name"], seed=seed, overrides=overrides)


def _steps(result: RunResult, launches: int) -> tuple[list[int], list[int]]:
    """When each step began and ended: the first with its first kernel, others when the step before ended."""
    # With several jobs, names of kernels begin with the job's name.
    own = pl.col("kernel").str.split("/").list.last().is_in(KERNELS)
    kernels = result.table("kernels").filter(own).sort("began_ps", "ended_ps")
    ended = kernels["ended_ps"].to_list()[launches - 1 :: launches]
    return [kernels["began_ps"].to_list()[0], *ended[:-1]], ended
