"""Runs without time: the executor `instant` in Python and on the command line."""

from __future__ import annotations

import json

import pytest
from conftest import SMALL, refused

import octavo
from octavo.errors import OutputError, ScenarioError
from octavo.report import report

SCENARIO = {
    "node": {"preset": "grit-2gpu"},
    "memory": {"placement": "on-touch"},
    "workload": {"name": "stencil2d", "scale": SMALL},
}


@pytest.fixture(scope="module")
def result():
    return octavo.run(workload="stencil2d", placement="grit", executor="instant", scale=SMALL)


def test_tables_and_summary_agree_and_claim_no_time(result):
    summary = result.summary
    assert (summary["executor"], result.has_time) == ("instant", False)
    assert "_ps" not in json.dumps(summary)
    assert result.tables == ["accesses", "allocations", "kernels", "page_groups", "placement"]
    assert not [name for table in result.tables for name in result.table(table).columns if name.endswith("_ps")]
    accesses = summary["accesses"]
    lines = accesses["load_lines"] + accesses["store_lines"]
    assert lines == accesses["local_lines"] + accesses["remote_gpu_lines"] + accesses["remote_host_lines"]
    assert lines == result.table("kernels")["lines"].sum()
    assert lines == result.table("accesses").select("load_lines", "store_lines").sum_horizontal().sum()
    pages = result.table("placement").group_by("allocation", "memory", maintain_order=True).agg("pages")
    assert sum(placed["pages"] for placed in summary["placement"]) == pages["pages"].explode().sum()
    groups = result.table("page_groups")
    faults = groups["read_fault"].sum() + groups["write_fault"].sum()
    assert faults == summary["manager"]["far_faults"] + summary["manager"]["protection_faults"] > 0


def test_the_same_accesses_are_made_as_in_simulated_time(result):
    timed = octavo.run(workload="stencil2d", placement="grit", scale=SMALL).summary["accesses"]
    assert [result.summary["accesses"][name] for name in ("load_lines", "store_lines", "scalar_loads")] == [
        timed[name] for name in ("load_lines", "store_lines", "scalar_loads")
    ]


@pytest.mark.parametrize("kind", ["explicit", "managed", "pinned", "system"])
def test_whole_programs_run_without_time(kind):
    summary = octavo.run(workload="fir", kind=kind, executor="instant", scale=SMALL).summary
    assert (summary["moved"]["copies_bytes"] > 0) == (kind == "explicit")
    assert summary["host"]["store_lines"] > 0
    assert summary["placement"], "where pages were before they were freed"


def test_times_that_are_not_there_are_asked_for_in_vain(result, tmp_path):
    with refused("no-time", OutputError):
        _ = result.seconds
    with refused("no-time", OutputError):
        report([result.folder], tmp_path / "report.html")
    with refused("no-time", ScenarioError, found="instant", expected="simulated"):
        octavo.run(workload="stencil2d", executor="instant", perfetto=tmp_path / "st.pftrace", scale=SMALL)
    with refused("no-time", ScenarioError, key="baseline"):
        octavo.compare(
            workloads=["stencil2d"], placements=["on-touch"], baseline="on-touch", executor="instant", scale=SMALL
        )
    with refused("unexpected-value", ScenarioError, key="record.interval"):
        octavo.scenario(workload="stencil2d", executor="instant", overrides={"record.interval": "1us"})


def test_comparisons_show_counts(cli, tmp_path):
    words = ["compare", "-w", "stencil2d", "-p", "on-touch,duplication", "--executor", "instant", "--scale", str(SMALL)]
    done = cli(*words, "-o", "out")
    assert "without time" in done.stdout
    assert "duplicated" in done.stdout
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert "geometric_mean_speedup" not in report
    assert [point["time_ps"] for point in report["points"]] == [None, None]
    assert not list((tmp_path / "out").glob("*.png"))


def test_a_run_says_what_it_did(cli, tmp_path):
    done = cli("run", "-w", "stencil2d", "-p", "duplication", "--executor", "instant", "--scale", str(SMALL))
    assert "simulated time" not in done.stdout
    assert "duplications" in done.stdout
    assert [folder.name.split("-")[1] for folder in (tmp_path / "runs").iterdir()] == ["instant"]


def test_sweeps_have_the_executor_as_an_axis(tmp_path):
    plan = {"scenario": SCENARIO, "grid": {"executor.kind": ["simulated", "instant"]}}
    table = octavo.sweep(plan, output=tmp_path / "out", workers=1)
    assert table["status"].to_list() == ["ok", "ok"]
    assert [time is None for time in table["time_ps"]] == [False, True]
    assert table["lines"].n_unique() == 1
    assert (tmp_path / "out" / "sweep.png").is_file()


def test_nobody_searches_for_a_time_where_there_is_none():
    plan = {"scenario": {**SCENARIO, "executor": {"kind": "instant"}}, "grid": {"seed": [1, 2]}}
    with refused("no-time", ScenarioError, found="instant", expected="simulated"):
        octavo.sweep(plan, best="time_ps", trials=2)


JOBS = [
    {"name": "train", "workload": "fir", "repetitions": 2},
    {"name": "graph", "workload": "spmv", "gpus": [1], "share": 0.25, "until": "train"},
]


@pytest.fixture(scope="module")
def jobs():
    return octavo.run(jobs=JOBS, node="grit-2gpu", executor="instant", scale=SMALL)


def test_jobs_run_without_time(jobs):
    assert "_ps" not in json.dumps(jobs.summary)
    train, graph = jobs.summary["jobs"]
    assert (train["repetitions"], graph["gpus"], graph["units"]) == (2, [1], [16])
    accesses = jobs.summary["accesses"]
    lines = accesses["local_lines"] + accesses["remote_gpu_lines"] + accesses["remote_host_lines"]
    assert train["lines"] + graph["lines"] == lines
    assert train["faults"] + graph["faults"] == jobs.summary["accesses"]["faults"]
    table = jobs.table("jobs")
    assert table.filter(job="train")["complete"].to_list() == [1, 1]
    assert table["ended_lines"].max() == train["lines"] + graph["lines"]


def test_jobs_on_gpus_of_their_own_have_the_places_of_simulated_time():
    apart = [{"name": "a", "workload": "fir", "gpus": [0]}, {"name": "b", "workload": "stencil2d", "gpus": [1]}]
    apart = [{**job, "repetitions": 1} for job in apart]
    both = {
        executor: octavo.run(jobs=apart, node="grit-2gpu", placement="first-touch", executor=executor, scale=SMALL)
        for executor in ("simulated", "instant")
    }
    counts = {
        executor: [(job["name"], job["migrations"], job["evictions"]) for job in result.summary["jobs"]]
        for executor, result in both.items()
    }
    assert counts["simulated"] == counts["instant"]
    homes = {(placed["allocation"][0], placed["memory"]) for placed in both["instant"].summary["placement"]}
    assert {home for home in homes if home[1] != "host"} == {("a", "gpu0"), ("b", "gpu1")}


def test_what_jobs_need_time_for_is_refused(tmp_path):
    late = [JOBS[0], {**JOBS[1], "start": "1us"}]
    with refused("unexpected-value", ScenarioError, key="job[1].start"):
        octavo.run(jobs=late, node="grit-2gpu", executor="instant", scale=SMALL)
    with refused("no-time", ScenarioError):
        octavo.compare(jobs=JOBS, node="grit-2gpu", executor="instant", scale=SMALL, alone=True, output=tmp_path / "c")


def test_the_command_line_lists_jobs_without_time(cli):
    words = ["-w", "fir+spmv", "--executor", "instant", "--scale", str(SMALL)]
    done = cli("run", *words)
    assert "line accesses" in done.stdout
    assert "first end" not in done.stdout
    assert "has none" in cli("run", *words, "--chart", "c.png").stderr
    compared = cli("compare", *words, "-p", "on-touch,first-touch", "-o", "out")
    assert "without time" in compared.stdout
