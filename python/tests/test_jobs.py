"""Jobs: programs beside one another, what they cost each other, and the option that is no longer called so."""

from __future__ import annotations

import json

import polars as pl
import pytest
from conftest import refused

import octavo
from octavo.runs import sharing

JOBS = [
    {"name": "front", "workload": "fir", "gpus": [0, 1], "repetitions": 2},
    {"name": "back", "workload": {"name": "vectoradd", "seed": 7}, "gpus": [1], "start": "2us"},
]
SCALE = 0.004
FILE = """\
memory.placement = "on-touch"
node.preset = "grit-2gpu"
workload.scale = 0.004

[[job]]
name = "front"
workload = "fir"
gpus = [0, 1]
repetitions = 2

[[job]]
name = "back"
workload = { name = "vectoradd", seed = 7 }
gpus = [1]
start = "2us"
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jobs") / "result"
    return octavo.run(jobs=JOBS, node="grit-2gpu", scale=SCALE, output=folder)


def test_a_file_and_arguments_are_the_same_scenario(tmp_path):
    path = tmp_path / "jobs.toml"
    path.write_text(FILE)
    assert octavo.scenario(path) == octavo.scenario(jobs=JOBS, node="grit-2gpu", scale=SCALE)
    with refused("conflict", octavo.ScenarioError):
        octavo.scenario(path, jobs=JOBS)


def test_each_job_has_its_times_and_counts(result):
    front, back = result.summary["jobs"]
    assert (front["name"], front["gpus"], back["gpus"], back["start_ps"]) == ("front", [0, 1], [1], 2_000_000)
    assert front["units"] == [front["units"][0], front["units"][0] // 2]
    assert front["repetitions"] == 2
    assert back["first_end_ps"] == back["start_ps"] + back["time_ps"]
    table = result.table("jobs")
    sums = table.group_by("job", maintain_order=True).agg(pl.col("faults", "migrations", "remote_lines").sum())
    assert {row["job"]: row["faults"] for row in sums.to_dicts()} == {
        job["name"]: job["faults"] for job in result.summary["jobs"]
    }
    groups = result.table("page_groups").select(pl.col("read_fault", "write_fault", "migration", "remote_lines").sum())
    reads, writes, migrations, lines = groups.row(0)
    assert [sum(sums[name]) for name in sums.columns[1:]] == [reads + writes, migrations, lines]
    assert migrations == result.summary["manager"]["migrations"]
    ended = table.filter(pl.col("complete") == 1).group_by("job").len()
    assert dict(ended.iter_rows()) == {job["name"]: job["repetitions"] for job in result.summary["jobs"]}


def test_programs_in_short_are_jobs():
    scenario = octavo.scenario(workload="fir+vectoradd", scale=SCALE)
    assert [job["name"] for job in scenario.jobs] == ["fir", "vectoradd"]
    assert (scenario.workload, scenario.label, scenario.kind) == ("fir+vectoradd", "fir+vectoradd", "launches")
    assert octavo.scenario(workload="fir+vectoradd", kind="managed").kind == "managed"


def test_a_run_shows_its_jobs(cli, tmp_path):
    (tmp_path / "jobs.toml").write_text(FILE)
    done = cli("run", "jobs.toml", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "Jobs" in done.stdout
    assert all(name in done.stdout for name in ("front", "back", "0:"))
    document = json.loads(cli("run", "jobs.toml", "-o", "out", "--json").stdout)
    assert [job["name"] for job in document["summary"]["jobs"]] == ["front", "back"]


def test_alone_says_what_jobs_cost_each_other(cli, tmp_path):
    (tmp_path / "jobs.toml").write_text(FILE)
    done = cli("compare", "jobs.toml", "-p", "on-touch,first-touch", "--alone", "-o", "out", "--workers", "2", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [(row["variant"], row["job"]) for row in document["jobs"]] == [
        (variant, job) for variant in ("on-touch", "first-touch") for job in ("front", "back")
    ]
    for row in document["jobs"]:
        own = json.loads(
            (tmp_path / "out" / "alone" / "fir+vectoradd" / row["variant"] / row["job"] / "summary.json").read_text()
        )
        (job,) = [job for job in own["jobs"] if job["name"] == row["job"]]
        assert row["alone_ps"] == job["time_ps"]
        assert row["slowdown"] == row["time_ps"] / job["time_ps"]
        assert [other["time_ps"] for other in own["jobs"] if other is not job] == [None]
    for row in document["sharing"]:
        found = [job["slowdown"] for job in document["jobs"] if job["variant"] == row["variant"]]
        assert row["weighted_speedup"] == pytest.approx(sum(1 / each for each in found))
    assert (tmp_path / "out" / "jobs.png").read_bytes()[:4] == b"\x89PNG"
    assert pl.read_parquet(tmp_path / "out" / "jobs.parquet").height == 4
    shown = cli("compare", "jobs.toml", "-p", "on-touch,first-touch", "--alone", "-o", "out")
    assert "weighted" in shown.stdout.replace("\n", "")


MINE = """\
from octavo.policies import Decision, PlacementPolicy


class Mine(PlacementPolicy):
    def on_fault(self, fault, page):
        return Decision.MAP_REMOTE
"""


def test_a_job_has_strategies_of_its_own(cli, tmp_path):
    (tmp_path / "jobs.toml").write_text(FILE)
    (tmp_path / "mine.py").write_text(MINE)
    plain = json.loads(cli("run", "jobs.toml", "-o", "plain", "--json").stdout)["summary"]
    assert "placements" not in plain["manager"]
    own = ["--set", "job.front.memory.placement=mine.py", "--set", "job.front.memory.prefetch=tree"]
    done = cli("run", "jobs.toml", *own, "-o", "mine", "--json")
    assert done.returncode == 0, done.stderr
    front, back = json.loads(done.stdout)["summary"]["jobs"]
    assert (front["migrations"], plain["jobs"][0]["migrations"] > 0) == (0, True), "it maps all its pages remotely"
    assert back["migrations"] >= plain["jobs"][1]["migrations"] > 0, "the other's move, as often as it runs beside it"
    assert octavo.RunResult.load(tmp_path / "mine").scenario.own_strategies == {"front": "mine.py:Mine, tree"}
    assert "front  mine.py:Mine, tree" in cli("run", "jobs.toml", *own, "-o", "mine").stdout
    grit = ["--set", "job.back.memory.placement=grit"]
    counted = json.loads(cli("run", "jobs.toml", *grit, "-o", "grit", "--json").stdout)["summary"]["manager"]
    pages = counted["placements"]["job.back"]["pages_by_scheme"]
    assert (sum(pages.values()) > 0, counted["pages_by_scheme"]["on_touch"]) == (True, 0)
    shown = cli("compare", "jobs.toml", *grit, "-p", "on-touch,first-touch", "--alone", "-o", "out")
    assert "back  grit" in shown.stdout
    refused = cli("run", "jobs.toml", "--set", "job.back.memory.eviction=lru-block")
    assert refused.returncode == 2
    assert 'expected memory.sharing = "quota" beside it, found `free-for-all`' in refused.stderr.replace("\n", " ")


def test_memory_that_changes_is_in_a_table_and_in_the_picture(cli, tmp_path):
    changes = '[{at = "20us", gpus = [1], footprint_percent = 40}]'
    (tmp_path / "jobs.toml").write_text(FILE)
    limits = ("--set", "node.capacity.footprint_percent=80", "--set", f"node.capacity.change={changes}")
    done = cli("run", "jobs.toml", *limits, "-o", "out", "--chart", "jobs.png")
    assert done.returncode == 0, done.stderr
    table = octavo.RunResult.load(tmp_path / "out").table("capacity")
    assert table.select("time_ps", "gpu").rows() == [(0, 0), (0, 1), (20_000_000, 1)]
    before, _, after = table["bytes"]
    assert after < before
    assert (tmp_path / "jobs.png").read_bytes()[:4] == b"\x89PNG"
    refused = cli("run", "jobs.toml", "--set", f"node.capacity.change={changes.replace('[1]', '[2]')}")
    assert refused.returncode == 2
    assert "`node.capacity.change[0].gpus`: expected 0 to 1" in refused.stderr.replace("\n", " ")


@pytest.mark.parametrize("other", ["--lines", "--perfetto"])
def test_a_chart_has_a_file_of_its_own(cli, tmp_path, other):
    (tmp_path / "jobs.toml").write_text(
        'node.preset = "cuda-sm90"\nworkload.scale = 0.001\n'
        + "".join(f'[[job]]\nname = "{name}"\nworkload = "fir"\n' for name in "ab")
    )
    done = cli("run", "jobs.toml", "-o", "out", "--chart", "a.png", other, "./a.png")
    assert done.returncode == 2
    assert "a.png" in done.stderr
    assert not (tmp_path / "out").exists()
    assert cli("run", "jobs.toml", "-o", "out", "--chart", "a.png", other, "b.png", "--quiet").returncode == 0


def test_a_chart_needs_jobs(cli):
    done = cli("run", "-w", "fir", "--chart", "jobs.png")
    assert done.returncode == 2
    assert "--chart draws jobs" in done.stderr


def test_alone_needs_jobs(cli):
    done = cli("compare", "-w", "fir", "--alone")
    assert done.returncode == 2
    assert "the scenario has no jobs" in done.stderr


def test_fairness_and_throughput_by_hand():
    found = [2.0, 4.0]
    assert sharing.fairness(found) == 0.5
    assert sharing.weighted_speedup(found) == 0.75
    assert sharing.jain(found) == pytest.approx(0.75**2 / (2 * (0.25 + 0.0625)))
    assert (sharing.fairness([3.0]), sharing.jain([3.0])) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ([{"name": "a", "workload": "fir", "until": "a"}], "`jobs[0].until`: it would wait for itself"),
        ([{"name": "a", "workload": "fir", "gpus": [9]}], "`jobs[0].gpus`: expected 0 to 3, the 4 GPUs of the node"),
        ([{"name": "a", "workload": "fri"}], "`jobs[0].workload.name`: unknown workload `fri`"),
        ([{"name": "a", "workload": "fir"}] * 2, "`jobs[1].name`: expected a name of its own"),
        ([{"name": "a", "workload": "fir", "gpu": [0]}], "`jobs[0].gpu`: unknown key"),
        ([], "`jobs`: expected 1 to 64 jobs, found 0"),
    ],
)
def test_bad_jobs_are_refused_by_their_key(jobs, message):
    with pytest.raises(octavo.ScenarioError) as caught:
        octavo.scenario(jobs=jobs)
    assert message in str(caught.value)
