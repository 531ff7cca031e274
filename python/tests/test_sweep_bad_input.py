"""Sweeps that cannot be meant end in a message that names file and key; what is there already stays."""

from __future__ import annotations

import os
import re
import shutil
import socket
from typing import Any

import pytest
from conftest import contents, refused

import octavo
from octavo.files import folder_locks, locks
from octavo.plain import meant
from octavo.sweeps import plan, spec

BASE = """\
[scenario]
workload = { name = "fir", scale = 0.015625 }
node.preset = "grit-2gpu"
memory.placement = "on-touch"

"""
GRID = BASE + "[grid]\nnode.gpus = [2, 3]\n"

BAD = {
    "an axis that names nothing": (
        '[grid]\nnode.gpu_lnik.bandwidth = ["1GB/s"]',
        ["s.toml: axis `node.gpu_lnik.bandwidth`", "unknown key", "did you mean `gpu_link`?"],
    ),
    "an option that the placement has not": (
        "[grid]\nmemory.placement.fault_threshold = [2]",
        ["s.toml: axis `memory.placement.fault_threshold`", "option"],
    ),
    "a value of the wrong kind": ("[grid]\nnode.gpus = [2, 'two']", ["axis `node.gpus`", "whole number"]),
    "zipped lists of different length": (
        "[zip]\nnode.gpus = [2, 4]\nseed = [1, 2, 3]",
        ["`zip`: expected lists of the same length", "`node.gpus` has 2, `seed` has 3"],
    ),
    "an empty axis": ("[grid]\nseed = []", ["`grid.seed`", "at least one value", "empty list"]),
    "a value without a list": ("[grid]\nseed = 3", ["`grid.seed`: expected a list of values, found 3"]),
    "a value listed twice": ("[grid]\nseed = [1, 2, 1]", ["`grid.seed`: 1 is listed twice"]),
    "a date": ("[grid]\nseed = [2026-01-01]", ["`grid.seed`", "expected text, numbers"]),
    "a key on two axes": ("[grid]\nseed = [1]\n[zip]\nseed = [1]", ["`seed`: is on two axes"]),
    "no axis": ("", ["no axis", "[grid]"]),
    "a misspelt table": ("[gird]\nseed = [1]", ["s.toml:6: `gird`: unknown key", "did you mean `grid`?"]),
    "a misspelt table of another kind": ("[colour]\nseed = [1]", ["`colour`: unknown key", "there are scenario, grid"]),
    "a wrong key of the scenario": (
        "[grid]\nseed = [1]\n[scenario.record]\nevnts = true",
        ["s.toml:9: `record.evnts`: unknown key"],
    ),
    "bounds of two units": (
        '[random]\npoints = 1\naxes.node.gpu_link.bandwidth = { low = "1GB/s", high = "2MB/s" }',
        ["two quantities of the same unit"],
    ),
    "bounds the wrong way round": (
        "[random]\npoints = 1\naxes.seed = { low = 9, high = 3 }",
        ["`random.axes.seed`", "`low` below `high`"],
    ),
    "logarithm of nothing": (
        "[random]\npoints = 1\naxes.seed = { low = 0, high = 3, log = true }",
        ["above 0"],
    ),
    "one bound": ("[random]\npoints = 1\naxes.seed = { low = 0 }", ["expected both `low` and `high`"]),
    "draws without a count": ("[random]\naxes.seed = [1, 2]", ["`random.points`: missing"]),
    "a negative count": ("[random]\npoints = -1\naxes.seed = [1, 2]", ["`random.points`", "at least 1"]),
    "text that is no TOML": ("[grid", ["s.toml: not valid TOML"]),
}


@pytest.mark.parametrize("case", BAD)
def test_sweeps_are_refused_before_anything_runs(case, tmp_path):
    axes, expected = BAD[case]
    file = tmp_path / "s.toml"
    file.write_text(BASE + axes)
    with pytest.raises(octavo.ScenarioError) as refused:
        octavo.sweep(file, output=tmp_path / "out")
    said = f"{refused.value.message} {refused.value.hint}"
    assert all(text in said for text in expected), said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nothing.toml"], "cannot read sweep nothing.toml"),
        (["s.toml", "--best", "time_sp"], "unknown measure `time_sp`"),
        (["s.toml", "--best", "time_ps", "--direction", "down"], "unknown direction `down`"),
        (["s.toml", "--trials", "3"], "no search"),
        (["s.toml", "--seed", "3"], "nothing is drawn at random"),
        (["s.toml", "--on", "clouds"], "cannot run on `clouds`"),
        (["s.toml", "--set", "node.gpus=4"], "`node.gpus` is an axis"),
        (["s.toml", "--set", "node={gpus=4}"], "`node.gpus` is an axis"),
    ],
)
def test_arguments_are_refused(arguments, expected, cli, tmp_path):
    (tmp_path / "s.toml").write_text(GRID)
    done = cli("sweep", *arguments)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2, said
    assert expected in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("axes", "change"),
    [
        ('[grid]\nworkload = ["fir", "gemm"]', "workload.scale=0.002"),
        ('[grid]\nnode = [{ l2 = { size = "2MiB" } }, { l2 = { size = "4MiB" } }]', "node.fidelity=page"),
        ('[grid]\n"memory.placement" = ["on-touch", "grit"]', "memory.page_size=64KiB"),
    ],
)
def test_changes_beside_a_broad_axis_are_kept(axes, change, tmp_path):
    (tmp_path / "s.toml").write_text(BASE + axes)
    changed = spec.with_changes(spec.read(tmp_path / "s.toml"), [change])
    key, _, value = change.partition("=")
    for point in plan.points(changed):
        found: Any = point.scenario.values
        for part in key.split("."):
            found = found[part]
        assert str(found) == value


@pytest.mark.parametrize("change", ["memory.placement.name=duplication", "memory.placement.fault_threshold=9"])
def test_changes_that_every_point_would_lose_are_refused(change, tmp_path):
    (tmp_path / "s.toml").write_text(BASE + '[grid]\n"memory.placement" = ["first-touch", "ideal"]')
    with refused("conflict", octavo.ScenarioError, key="memory.placement"):
        spec.with_changes(spec.read(tmp_path / "s.toml"), [change])


def test_a_scenario_in_the_sweep_is_named_with_the_line_of_the_sweep(tmp_path):
    (tmp_path / "s.toml").write_text(GRID.replace("on-touch", "on-tuch"))
    with refused("unexpected-value", octavo.ScenarioError, file="s.toml", line=4, key="memory.placement.name"):
        octavo.sweep(tmp_path / "s.toml")
    scenario = {"workload": "fir", "memory.placement": "on-tuch"}
    with refused("unexpected-value", octavo.ScenarioError, file="sweep", key="memory.placement.name"):
        octavo.sweep({"scenario": scenario, "grid": {"seed": [1]}})


def test_of_many_names_a_hint_gives_the_nearest():
    many = [f"name-{number}" for number in range(20)]
    assert meant("nme-3", many) == "did you mean `name-3`?"
    assert meant("colour", many[:2]) == "there are name-0, name-1"
    assert re.fullmatch(r"there are 20, such as name-\d+, name-\d+, name-\d+", meant("colour", many))


def test_another_sweep_is_never_replaced_unless_forced(cli, tmp_path):
    (tmp_path / "s.toml").write_text(GRID)
    assert cli("sweep", "s.toml", "-o", "out", "-q").returncode == 0
    kept = contents(tmp_path / "out")
    (tmp_path / "s.toml").write_text(GRID.replace("3]", "4]"))
    done = cli("sweep", "s.toml", "-o", "out")
    assert done.returncode == 2
    assert "already holds another sweep" in done.stderr
    assert contents(tmp_path / "out") == kept
    assert cli("sweep", "s.toml", "-o", "out", "--force").returncode == 0
    assert sorted(path.name for path in (tmp_path / "out" / "runs").iterdir()) == ["00000-gpus-2", "00001-gpus-4"]


def test_a_damaged_run_is_named_and_costs_no_other(cli, tmp_path):
    (tmp_path / "s.toml").write_text(GRID)
    assert cli("sweep", "s.toml", "-o", "out", "-q").returncode == 0
    kept = contents(tmp_path / "out")
    damaged = tmp_path / "out" / "runs" / "00001-gpus-3"
    (damaged / "summary.json").write_text('{"octavo"')
    done = cli("sweep", "s.toml", "-o", "out")
    said = " ".join(done.stderr.split())
    assert done.returncode == 2, said
    assert "runs/00001-gpus-3/summary.json is damaged" in said
    assert "remove out/runs/00001-gpus-3" in said
    assert (tmp_path / "out" / "points.parquet").read_bytes() == kept["points.parquet"]
    shutil.rmtree(damaged)
    assert cli("sweep", "s.toml", "-o", "out", "-q").returncode == 0
    assert contents(tmp_path / "out") == kept


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("notes.txt", "mine", "holds no sweep"),
        ("sweep.json", '{"octavo": "0.0.1", "sweep": "x"}', "another version"),
        ("sweep.json", '{"octavo"', "cannot read"),
    ],
)
def test_folders_of_something_else_are_left_alone(name, content, expected, cli, tmp_path):
    (tmp_path / "s.toml").write_text(GRID)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text(content)
    done = cli("sweep", "s.toml", "-o", "out")
    assert done.returncode == 2
    assert expected in " ".join(done.stderr.split())
    assert contents(tmp_path / "out") == {name: content.encode()}


def test_two_processes_never_write_into_the_same_folder(cli, tmp_path):
    (tmp_path / "s.toml").write_text(GRID)
    (tmp_path / "out").mkdir()
    with locks.held(tmp_path / "out" / folder_locks.LOCK_FILE, tmp_path / "out"):
        done = cli("sweep", "s.toml", "-o", "out")
    said = " ".join(done.stderr.split())
    assert done.returncode == 2, said
    assert f"process {os.getpid()} on {socket.gethostname()} has been writing there since 20" in said


def test_a_search_needs_optuna_and_a_cluster_needs_ray(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    (tmp_path / "s.toml").write_text(GRID)
    with refused("not-installed", key="Optuna"):
        octavo.sweep(tmp_path / "s.toml", best="time_ps")
    with refused("not-installed", key="Ray"):
        octavo.sweep(tmp_path / "s.toml", on="ray")


def test_a_cluster_that_is_not_there_is_named(monkeypatch, tmp_path):
    module = tmp_path / "modules" / "ray"
    module.mkdir(parents=True)
    (module / "__init__.py").write_text("def init(**_):\n    raise ConnectionError('ray client connection timeout')\n")
    monkeypatch.setenv("PYTHONPATH", str(module.parent), prepend=os.pathsep)
    (tmp_path / "s.toml").write_text(GRID)
    with refused("no-cluster", names=["ray://head:10001", "ray client connection timeout"]):
        octavo.sweep(tmp_path / "s.toml", on="ray://head:10001")
