"""`--dry-run` says what it would take and does nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import SMALL, contents, refused

import octavo
from octavo import api
from octavo.runs import trial
from octavo.runs.execute import Point

FIR = ("-w", "fir", "-s", str(SMALL))
SWEEP = """\
[scenario]
workload = { name = "fir", scale = 0.015625 }
node.preset = "grit-2gpu"
memory.placement = "grit"

[random]
"""


@pytest.mark.parametrize(("command", "runs"), [(("run", *FIR), 1), (("compare", *FIR, "-p", "on-touch,grit"), 2)])
def test_it_writes_nothing_and_says_what_it_would_take(command, runs, cli, tmp_path):
    done = cli(*command, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["runs"], found["finished"], found["tried"], found["ended"]) == (runs, 0, runs, runs)
    assert found["seconds"] > 0
    assert found["memory_bytes"][1] >= found["memory_bytes"][0] > 1 << 20
    assert found["disk_free_bytes"] > 0
    assert not list(tmp_path.iterdir())
    assert cli(*command, "-o", "out", "-q").returncode == 0
    results = sum(
        path.stat().st_size
        for summary in (tmp_path / "out").rglob("summary.json")
        for path in summary.parent.iterdir()
        if "manifest" not in path.name
    )
    assert found["disk_bytes"] == pytest.approx(results, rel=0.2)


def test_a_policy_that_prints_does_not_get_in_the_way(cli, tmp_path):
    assert cli("new", "placement", "loud.py").returncode == 0
    policy = (tmp_path / "loud.py").read_text()
    (tmp_path / "loud.py").write_text(policy.replace("\nclass ", '\nprint("{ hello")\n\n\nclass ', 1))
    done = cli("run", *FIR, "-p", "loud.py", "--dry-run", "--json")
    assert json.loads(done.stdout)["tried"] == 1, done.stderr
    assert "{ hello" in done.stderr


def test_what_is_finished_is_not_counted(cli, tmp_path):
    assert cli("compare", *FIR, "-p", "grit", "-o", "out", "-q").returncode == 0
    before = contents(tmp_path / "out")
    found = json.loads(cli("compare", *FIR, "-p", "grit,on-touch", "-o", "out", "--dry-run", "--json").stdout)
    assert (found["runs"], found["finished"], found["tried"]) == (2, 1, 1)
    done = cli("compare", *FIR, "-p", "grit", "-o", "out", "--dry-run")
    assert "1, of which 1 are finished" in done.stdout
    assert contents(tmp_path / "out") == before


def test_a_sweep_is_tried_in_a_few_points(cli, tmp_path):
    (tmp_path / "s.toml").write_text(SWEEP + "points = 20\naxes.seed = { low = 1, high = 99 }\n")
    found = json.loads(cli("sweep", "s.toml", "--dry-run", "--json").stdout)
    assert found["runs"] == 20
    assert 1 <= found["tried"] <= 8
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]


def tried(share, disk, peak=200):
    return trial._Tried(share, 3.0, 100, peak, disk, 1000, 40)


def test_a_run_of_which_a_trial_does_nothing_is_known_by_smaller_ones(monkeypatch):
    """Scales of 1/16 and a fourth of that: the first tells nothing, either."""
    answers = {1.0: tried(0.0, None), 1 / 16: tried(0.5, None), 1 / 64: tried(1.0, 7)}
    monkeypatch.setattr(trial, "_in_a_process", lambda _, scenario, *__: answers[scenario.values["workload"]["scale"]])
    point = Point("fir", api.scenario(workload="fir", placement="grit"), Path("nowhere"))
    found = trial._tried(point, 3.0, None)
    assert found.seconds_in_all() == pytest.approx(3.0 * 64)
    assert found.disk_bytes == 7 * 64
    assert found.memory() == (200, 1100), "at most the estimate, and the process around it"
    answers[1.0] = None  # Its graph is still being built.
    found = trial._tried(point, 3.0, None)
    assert found.seconds_in_all() == pytest.approx(3.0 * 64)
    assert found.needed_bytes == 40 + 960 * 64
    answers.update({1 / 16: None, 1 / 64: None, 1 / 256: None, 1 / 4096: None, 1 / 65536: None})
    with refused("endless", octavo.SimulationError):
        trial._tried(point, 3.0, None)


def test_what_would_be_refused_is_refused(cli, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    done = cli("run", *FIR, "-o", "mine", "--dry-run")
    assert done.returncode == 2
    assert "holds no Octavo result" in done.stderr
    small = ("--set", "node.capacity.footprint_percent=1")
    done = cli("run", "-w", "matrixmultiplication", "-p", "grit", "-s", str(SMALL), *small, "--dry-run")
    assert done.returncode == 2
    assert "too small" in done.stderr


def test_more_points_than_anybody_waits_for_are_refused(cli, tmp_path):
    (tmp_path / "s.toml").write_text(SWEEP + "points = 2000000000\naxes.seed = [1, 2]\n")
    done = cli("sweep", "s.toml", "--dry-run")
    assert done.returncode == 2
    assert "expected at most 1,000,000 points, found 2,000,000,000" in " ".join(done.stderr.split())
    (tmp_path / "s.toml").write_text(SWEEP + "points = 2\naxes.seed = [1, 2]\n")
    done = cli("sweep", "s.toml", "--best", "time_ps", "--trials", "2000000000", "-o", "out")
    assert done.returncode == 2
    assert "expected at most 1,000,000 points, found 2,000,000,000" in " ".join(done.stderr.split())
