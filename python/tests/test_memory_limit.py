"""What runs may take of memory: what is said is near what they take, and more than is allowed is refused before."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from conftest import AROUND, SMALL, refused

import octavo
import octavo._core as _core
from octavo.advice import exhaustive
from octavo.runs import execute, memory, single
from octavo.sweeps import cluster
from octavo.sweeps.crew import Job

MIB = 1 << 20
HERE = _core.memory_around()
"""Bytes that this process counts with."""
PEAK = """\
import sys
import octavo._core as core
from octavo.runs import memory
toml = sys.stdin.read()
base = memory.peak()
core.run(toml)
print(memory.peak() - base)
"""


@pytest.mark.parametrize(
    ("text", "found"), [("8GiB", 8 << 30), ("500MB", 500_000_000), ("1.5 KiB", 1536), ("0B", 0), ("2TB", 2 * 10**12)]
)
def test_amounts_of_memory_are_read(text, found):
    assert memory.amount(text) == found


@pytest.mark.parametrize("text", ["", "8", "GiB", "8giB", "-1GiB", "8GiBs", "1e3MB"])
def test_other_words_are_no_amount(text):
    with pytest.raises(ValueError, match="expected an amount of memory such as 8GiB"):
        memory.amount(text)


@pytest.mark.parametrize("text", ["9" * 400 + "B", "9" * 5000 + "TiB", "99999999TiB", "16777216TiB"])
def test_more_than_any_machine_has_is_refused(text, cli):
    with pytest.raises(ValueError, match="expected an amount of memory"):
        memory.amount(text)
    with refused("unexpected-value", octavo.ScenarioError, key="limit"):
        octavo.limit_memory(text)
    assert memory.amount("16777215TiB") < 1 << 64


def test_python_is_told_of_its_own_names(monkeypatch):
    """What the message names is there, and helps."""
    monkeypatch.setattr(memory, "_limit", None)
    octavo.limit_memory("1MB")
    with refused("memory-limit", octavo.SimulationError) as caught:
        octavo.run(workload="fir", scale=SMALL)
    said = str(caught.value)
    assert "octavo.limit_memory says otherwise; fewer workers leave more" in said
    assert "--" not in said
    octavo.limit_memory(4 << 30)
    assert octavo.run(workload="fir", scale=SMALL).seconds > 0


@pytest.fixture
def plenty(monkeypatch):
    """8 GiB count as free, for any load of this machine."""
    monkeypatch.setattr(memory, "_limit", None)
    monkeypatch.setattr(memory, "free", lambda: 8 << 30)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


def test_processes_share_what_is_free_among_those_that_run(plenty, monkeypatch, tmp_path):
    """A sweep, and a search elsewhere: one run of two is left, and eight could go side by side."""
    given = []
    run = single.carry_out_in

    def carry_out_in(process, order, *others):
        given.append(order.limits.memory)
        run(process, order, *others)

    monkeypatch.setattr(single, "carry_out_in", carry_out_in)
    for scales in ([SMALL], [SMALL, SMALL / 2]):
        sweep = {"scenario": {"workload": {"name": "fir"}}, "grid": {"workload.scale": scales}}
        octavo.sweep(sweep, workers=8, output=tmp_path / str(len(scales)))
    assert given == [8 << 30, 4 << 30, 4 << 30]
    given.clear()
    points = [
        execute.Point(str(seed), octavo.scenario(workload="fir", scale=SMALL, seed=seed), tmp_path / str(seed))
        for seed in (3, 4)
    ]
    for number in (1, 2):
        exhaustive.elsewhere(points[:number], "local", workers=8)
    assert given == [8 << 30, 8 << 30]


@pytest.mark.parametrize(
    ("address", "limit", "slots", "found"),
    [
        (None, None, 4, 4 << 30),
        (None, None, 1, 8 << 30),
        (None, 6 << 30, 4, "half of what is left here"),
        ("ray://there", None, 4, None),
        ("ray://there", 6 << 30, 4, 3 << 30),
        ("ray://there", 6 << 30, None, 3 << 30),
    ],
)
def test_the_limit_goes_to_a_cluster_with_each_task(address, limit, slots, found, plenty, monkeypatch, tmp_path):
    """Of two jobs, on a cluster of 64 cores."""
    sent = []
    monkeypatch.setattr(cluster.RayCluster, "_begin", lambda crew, _, slots: setattr(crew, "_slots", slots or 64))
    monkeypatch.setattr(cluster.RayCluster, "_send", lambda _, order: sent.append(order["memory_limit"]))
    monkeypatch.setattr(memory, "_limit", limit)
    crew = cluster.RayCluster(address, slots)
    crew.expect(2)
    point = SimpleNamespace(scenario=SimpleNamespace(toml=""), label="a")
    crew.start(Job(point, tmp_path))
    assert sent == [(6 << 30) - HERE >> 1 if isinstance(found, str) else found]


def test_what_is_free_is_shared_by_those_side_by_side(monkeypatch):
    """What the process has besides is part of each share, and of what a user allows."""
    monkeypatch.setattr(_core, "memory_resident", lambda: HERE)
    monkeypatch.setattr(memory, "free", lambda: 12 * MIB)
    shares = [memory.share(workers) for workers in (1, 2, 0)]
    assert shares == [HERE + 12 * MIB, HERE + 6 * MIB, HERE + 12 * MIB]
    monkeypatch.setattr(memory, "_limit", HERE + 3 * MIB)
    assert memory.share(3) == HERE + MIB
    assert memory.whole() == 3 * MIB
    monkeypatch.setattr(memory, "_limit", 3 * MIB)
    assert memory.share(3) == 3 * MIB
    assert memory.whole() == 0
    monkeypatch.setattr(memory, "free", lambda: None)
    monkeypatch.setattr(memory, "_limit", None)
    assert memory.share(3) is None


def test_the_system_says_what_is_free():
    free = memory.free()
    assert free is not None
    assert MIB < free < 1 << 50


CASES = {
    "large caches": {"node": "hgx-h100-8", "overrides": {"node.l2.size": "1GiB", "node.l2.ways": 16}},
    "many pages": {"scale": 4, "overrides": {"record.events": False}},
    "many events": {"scale": 1},
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_said_is_near_what_a_run_takes(case):
    """Within a factor of four either way; processes that take less than 32 MiB more are not told apart from noise."""
    toml = octavo.scenario(**{"workload": "relu", "scale": SMALL, "executor": "simulated"} | CASES[case]).toml
    said = sum(_core.memory_needed(toml))
    done = subprocess.run([sys.executable, "-c", PEAK], input=toml, capture_output=True, text=True, check=True)
    took = int(done.stdout)
    assert max(took, 32 * MIB) / 4 < said < max(took, 32 * MIB) * 4, (said // MIB, took // MIB)


UNITS = {"B": 1, "KiB": 1 << 10, "MiB": MIB, "GiB": 1 << 30}
AMOUNT = rf"([\d.]+) ({'|'.join(UNITS)})\b"
"""An amount of memory in a message: the run's, its five parts, what it may take."""


def test_a_run_that_would_take_more_is_refused_with_what_it_would_take(cli, tmp_path):
    arguments = ("run", "-w", "fir", "-s", str(SMALL), "-o", "r")
    done = cli(*arguments, "--memory-limit", "1MB")
    said = " ".join(done.stderr.split())
    assert done.returncode != 0
    assert "the run would take about" in said
    whole, *parts, limit = [float(found) * UNITS[unit] for found, unit in re.findall(AMOUNT, said)][:7]
    assert abs(whole - sum(parts)) < 0.5 * MIB, said
    assert 0.9 * MIB <= limit <= 10**6, said
    assert "--memory-limit says otherwise" in said
    assert not (tmp_path / "r").exists()
    assert cli(*arguments, "--memory-limit", "4GiB").returncode == 0


def test_its_siblings_run_all_the_same(cli, tmp_path):
    """The one whose node has caches that would not fit."""
    (tmp_path / "s.toml").write_text(
        'scenario = { workload = { name = "fir", scale = 0.015625 }, node = { preset = "grit-2gpu" } }\n'
        '[grid]\nnode.l2.size = ["2MiB", "1GiB"]\n'
    )
    done = cli("sweep", "s.toml", "-o", "out", "--workers", "1", "--memory-limit", "384MiB", "--json")
    rows = json.loads(done.stdout)["points"] if done.stdout else []
    assert [row["status"] for row in rows] == ["ok", "failed"], done.stderr
    assert "would take about" in rows[1]["error"]


def test_graphs_count_and_those_that_need_less_go_on(cli, tmp_path):
    graph = octavo.scenario(workload="bfs-shoc", scale=0.25, executor="instant")
    assert _core.memory_needed(graph.toml)[3] >= 0.25 * 32e6
    arguments = ("compare", "-w", "bfs-shoc,fir", "-s", "0.5", "--executor", "instant", "--set", "record.events=false")
    done = cli(*arguments, "-p", "on-touch", "--workers", "1", "--memory-limit", f"{AROUND + 24 * MIB}B", "-o", "out")
    said = " ".join(done.stderr.split())
    assert done.returncode != 0
    assert "bfs-shoc on-touch: the run would take about" in said
    assert "fir on-touch: the run" not in said
    assert len(list(tmp_path.glob("out/runs/**/summary.json"))) == 1


def test_a_dry_run_shows_the_estimate_and_refuses_as_the_run_would(cli, tmp_path):
    arguments = ("run", "-w", "fir", "-s", str(SMALL), "-o", "r", "--dry-run")
    found = json.loads(cli(*arguments, "--json").stdout)
    toml = octavo.scenario(workload="fir", scale=SMALL).toml
    assert found["needed_bytes"] == sum(_core.memory_needed(toml)) + AROUND
    refused = cli(*arguments, "--memory-limit", "1MB")
    assert refused.returncode != 0
    assert "would take about" in " ".join(refused.stderr.split())
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize("limit", ["lots", "8", "-1GiB"])
def test_a_limit_that_is_none_is_refused(limit, cli):
    done = cli("run", "-w", "fir", "--memory-limit", limit)
    assert done.returncode == 2
    assert "expected an amount of memory" in " ".join(done.stderr.split())
