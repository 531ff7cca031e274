"""What users of a served model wait: from the kernels of a run and the tokens of its schedule."""

from __future__ import annotations

import json

import polars as pl
import pytest
from conftest import refused

import octavo
from octavo.errors import OutputError
from octavo.explain import serving
from octavo.scenarios.scenario import Recipe

OVERRIDES = ["workload.steps=24", "workload.load=64", "workload.after=200", "record.events=false"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serving") / "run"
    return octavo.run(
        workload="llm-decode",
        node="hgx-h100-8",
        scale=0.001,
        placement="first-touch",
        overrides=OVERRIDES,
        output=folder,
    )


def test_each_token_waits_from_the_end_of_the_step_before_it(run):
    made = octavo.workload_result(run.scenario)
    launches = int(made["launches"][0])
    assert launches == 2 * 32 + 1
    kernels = run.table("kernels").sort("began_ps")
    ends = kernels["ended_ps"].to_list()[launches - 1 :: launches]
    assert len(ends) == 24
    rows = serving.tokens(run).to_dicts()
    assert len(rows) == len(made["made"]) > 24
    for row, step, before, arrived in zip(rows, made["made"], made["before"], made["arrived"], strict=True):
        assert row["made_ps"] == ends[int(step)]
        assert row["next_ps"] == (None if before is None else ends[int(step)] - ends[int(before)])
        began = None if arrived is None else (ends[int(arrived) - 1] if arrived else kernels["began_ps"][0])
        assert row["first_ps"] == (None if began is None else ends[int(step)] - began)
    assert any(row["first_ps"] is not None for row in rows), "requests arrive"


def test_latencies_are_quantiles_of_the_waits(run, cli):
    found = serving.latencies(run)
    rows = serving.tokens(run)
    waits = sorted(wait / 1e9 for wait in rows["next_ps"].drop_nulls())
    assert found["next"]["count"] == len(waits)
    assert sum(wait <= found["next"]["p50_ms"] for wait in waits) * 2 >= len(waits)
    assert any(found["next"]["p99_ms"] == pytest.approx(wait, rel=1e-12) for wait in waits)
    assert found["tokens"] == rows.height
    done = cli("workload", "served", str(run.folder), "--json")
    printed = json.loads(done.stdout)
    assert printed["first"] == found["first"]
    assert printed["next"] == found["next"]
    assert "time to first token" in cli("workload", "served", str(run.folder)).stdout


def test_a_job_that_serves_is_found_beside_others(tmp_path, cli):
    jobs = [
        {"name": "llm", "workload": {"name": "llm-decode", "scale": 0.001, "steps": 2, "load": 4}, "gpus": [0]},
        {"name": "other", "workload": {"name": "relu", "scale": 0.002}, "gpus": [1]},
    ]
    scenario = Recipe.from_jobs(jobs, node="hgx-h100-8").with_overrides(["record.events=false"]).resolve()
    found = serving.tokens(octavo.run(scenario, output=tmp_path / "jobs"))
    kernels = octavo.RunResult.load(tmp_path / "jobs").table("kernels").filter(pl.col("kernel").str.starts_with("llm/"))
    assert found["made_ps"].max() == kernels["ended_ps"].max()
    assert "of a shrunk model" in cli("workload", "served", str(tmp_path / "jobs")).stdout, "no scale is common"


def test_a_job_that_repeats_is_measured_the_first_time(tmp_path):
    job = {"name": "llm", "workload": {"name": "llm-decode", "scale": 0.001, "steps": 2, "load": 4}, "gpus": [0]}

    def served(repetitions):
        jobs = [{**job, "repetitions": repetitions}, {"name": "other", "workload": {"name": "relu", "scale": 0.002}}]
        jobs[1] |= {"gpus": [1], "start": "10ms"}
        scenario = Recipe.from_jobs(jobs, node="hgx-h100-8").with_overrides(["record.events=false"]).resolve()
        return serving.latencies(octavo.run(scenario, output=tmp_path / str(repetitions)))

    once, twice = served(1), served(2)
    assert twice["tokens_per_s"] == once["tokens_per_s"]
    assert twice == once


def test_a_run_that_serves_nobody_is_refused(tmp_path):
    other = octavo.run(workload="relu", scale=0.002, output=tmp_path / "relu")
    assert not serving.serves(other)
    with refused("unexpected-value", OutputError, file="relu", found=0):
        serving.latencies(other)


def test_experts_that_nobody_chose_are_not_touched(tmp_path):
    few = ["workload.steps=2", "workload.load=0.5", "record.events=false", "memory.prefetch=none"]
    one = octavo.run(workload="moe-decode", node="hgx-h100-8", scale=0.001, overrides=few, output=tmp_path / "moe")
    weights = one.table("allocations").filter(allocation="weights")
    came = (weights["migration"] + weights["prefetch"]).item() * 4096
    assert 0 < came < weights["bytes"].item() * 0.7
