"""Sweeps: every point once, for any runner and any interruption."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from conftest import SMALL, contents, refused

import octavo
from octavo import extras
from octavo.files import folder_locks
from octavo.runs import measures, single
from octavo.runs.pictures.requests import USUAL, Asked
from octavo.sweeps import picture, places, plan, spec
from octavo.sweeps.crew import Job, Place
from octavo.sweeps.processes import Processes
from octavo.sweeps.run import Sweep

SCENARIO: dict[str, Any] = {
    "workload": {"name": "fir", "scale": SMALL},
    "node": {"preset": "grit-2gpu"},
    "memory": {"placement": "grit"},
}
GRID = {"scenario": SCENARIO, "grid": {"memory.placement": ["on-touch", "grit"], "memory.page_size": ["4KiB", "64KiB"]}}
RANGES = {
    "scenario": SCENARIO,
    "grid": {"memory.placement": ["on-touch", "duplication"]},
    "random": {"axes": {"node": {"remote": {"lines_in_flight": {"low": 1, "high": 256, "log": True}}}}},
}
FILE = """\
[scenario]
workload = { name = "fir", scale = 0.015625 }
node.preset = "grit-2gpu"
memory.placement = "on-touch"

"""


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep") / "grid"
    return octavo.sweep(GRID, output=folder, workers=1), folder


SWEEPS = sorted((Path(__file__).parents[2] / "examples" / "sweeps").glob("*.toml"))


@pytest.mark.parametrize("file", SWEEPS, ids=lambda file: file.stem)
def test_every_point_of_an_example_can_run(file):
    read = spec.read(file)
    assert [point.number for point in plan.points(read)] == list(
        range(math.prod(len(axis.steps) for axis in read.axes))
    )


def test_the_table_has_a_row_a_point_in_order(grid):
    table, folder = grid
    assert table["point"].to_list() == [0, 1, 2, 3]
    assert table["memory.placement"].to_list() == ["on-touch"] * 2 + ["grit"] * 2
    assert table["memory.page_size"].to_list() == ["4KiB", "64KiB"] * 2
    assert table["status"].unique().to_list() == ["ok"]
    assert table.equals(pl.read_parquet(folder / "points.parquet"))
    for row in table.to_dicts():
        result = octavo.RunResult.load(folder / row["run"])
        assert result.scenario.placement == row["memory.placement"]
        assert {**measures.row("", "", result), **row} == {**row, "workload": "", "variant": ""}


def test_every_point_is_a_row_group_in_the_table_and_a_file_of_its_own(grid):
    _, folder = grid
    metadata = pq.ParquetFile(folder / "points.parquet").metadata
    assert [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)] == [1] * 4
    parts = sorted((folder / "points").iterdir())
    assert pl.concat(map(pl.read_parquet, parts)).equals(pl.read_parquet(folder / "points.parquet"))


def test_a_sweep_of_two_axes_draws_a_picture(grid):
    assert (grid[1] / "sweep.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("runner", [{"workers": 2}, {"on": "ray", "workers": 2}], ids=["two processes", "ray"])
def test_who_runs_it_makes_no_difference(runner, grid, tmp_path):
    octavo.sweep(GRID, output=tmp_path / "other", **runner)
    found = contents(tmp_path / "other")
    told = {name for name in found if name.startswith("points/") and name.endswith(".json")}
    assert len(told) == (4 if "on" in runner else 0)  # They alone say who ran a point.
    assert {name: data for name, data in found.items() if name not in told} == contents(grid[1])


def test_what_says_where_a_point_ran_goes_with_its_result(grid, tmp_path):
    root = tmp_path / "s"
    shutil.copytree(grid[1], root)
    files = [root / "points" / f"{number:05d}.json" for number in range(4)]
    for number, file in enumerate(files):
        file.write_bytes(places.sealed(number, Place("a host", "0" * 32)))
    shutil.rmtree(next((root / "runs").glob("00001-*")))
    octavo.sweep(GRID, output=root, workers=1)
    assert [file.exists() for file in files] == [True, False, True, True]
    table = octavo.load_sweep(root, machines=True)
    assert table["machine"].to_list() == ["a host", None, "a host", "a host"]
    files[2].write_text(files[2].read_text().replace("a host", "b host"))
    with refused("damaged", octavo.DamagedError, file="00002.json"):
        octavo.load_sweep(root, machines=True)
    fewer = {**GRID, "grid": {"memory.placement": ["grit"]}}
    with refused("not-ours", file="s", names=["00002.json"]):  # Perhaps it is somebody else's.
        octavo.sweep(fewer, output=root, workers=1, force=True)
    files[2].unlink()
    octavo.sweep(fewer, output=root, workers=1, force=True)
    assert not any(file.exists() for file in files)


def test_finished_points_are_not_run_again_and_damaged_tables_come_back(grid, tmp_path):
    table, folder = octavo.sweep(GRID, output=tmp_path / "r", workers=2), tmp_path / "r"
    kept = contents(folder)
    before = {path: path.stat().st_mtime_ns for path in (folder / "runs").rglob("*")}
    (folder / "points.parquet").write_bytes(b"PAR1 and no more")
    (folder / "points" / "00002.parquet").unlink()
    finished = next((folder / "runs").glob("00001-*"))
    (folder / "runs" / f".{finished.name}.octavo-new").mkdir()
    (folder / "points" / ".00001.parquet.1-0.octavo-new").write_bytes(b"half")
    progress = []
    assert octavo.sweep(GRID, output=folder, watch=lambda state: progress.append(state.kept)).equals(table)
    assert progress == [4]
    assert contents(folder) == kept
    assert before == {path: path.stat().st_mtime_ns for path in (folder / "runs").rglob("*")}


def test_a_killed_sweep_goes_on_where_it_was(tmp_path):
    command = [sys.executable, "-m", "octavo", "sweep", "s.toml", "--workers", "1", "-o", "out"]
    # The first points take well under a second, the last one many.
    (tmp_path / "s.toml").write_text(
        FILE + '[zip]\nworkload.scale = [0.01, 0.02, 2]\nworkload.name = ["fir", "fir", "stencil2d"]'
    )
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert "[1/3] 0: " in running.stderr.readline()
    assert "[2/3] 1: " in running.stderr.readline()
    time.sleep(0.3)
    running.send_signal(signal.SIGKILL)
    running.communicate(timeout=30)
    landed = finished(tmp_path / "out")
    assert {"points/00000.parquet", "points/00001.parquet"} <= landed.keys()
    again = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not has_children(again.pid):  # The worker for the last point.
        assert again.poll() is None
        time.sleep(0.05)
    again.send_signal(signal.SIGINT)
    _, errors = again.communicate(timeout=30)
    assert again.returncode == 130
    assert "stopped: 2 of 3 points are finished and kept" in errors
    assert "Traceback" not in errors
    assert pl.read_parquet(tmp_path / "out" / "points.parquet")["point"].to_list() == [0, 1]
    changed = {name: (tmp_path / "out" / name).read_bytes() for name in ("points.parquet", "octavo-manifest.json")}
    assert finished(tmp_path / "out") == landed | changed


def has_children(pid):
    return any(children.read_text() for children in Path(f"/proc/{pid}/task").glob("*/children"))


def finished(folder):
    """What is there apart from what was being written."""
    return {name: data for name, data in contents(folder).items() if not Path(name).parts[-1].startswith(".")}


def test_failed_points_are_told_and_stop_nothing(cli, tmp_path):
    axis = "[grid]\nnode.capacity.footprint_percent = [1, 0, 80]\n"
    (tmp_path / "s.toml").write_text(FILE + 'memory.page_size = "64KiB"\nnode.capacity.scope = "total"\n' + axis)
    for _ in range(2):  # The same command tries the failed point again.
        done = cli("sweep", "s.toml", "-o", "out")
        assert done.returncode == 1
        assert "1 of 3 points failed" in done.stderr
        assert "point 0: `node.capacity`: memory is too small" in " ".join(done.stderr.split())
    table = pl.read_parquet(tmp_path / "out" / "points.parquet")
    assert table["status"].to_list() == ["failed", "ok", "ok"]
    assert "too small" in table["error"][0]
    assert table["time_ps"].null_count() == 1
    assert table["node.capacity.footprint_percent"].to_list() == [1, 0, 80]


def test_a_process_that_dies_takes_its_own_point_alone(tmp_path, monkeypatch):
    # The first point takes many seconds, so that there is time to kill it.
    axes = {"workload.name": ["stencil2d", "fir"], "workload.scale": [2.0, SMALL]}
    first, second = plan.points(spec.read({"scenario": SCENARIO, "zip": axes}))
    hired, hire = [], single.worker
    monkeypatch.setattr(single, "worker", lambda: hired.append(hire()) or hired[-1])
    crew = Processes(1)
    try:
        crew.start(Job(first, tmp_path / "first"))
        while not crew.shares()[first.label]:
            time.sleep(0.05)
        for worker in hired:
            worker.kill()
        (lost,) = crew.poll(30)
        assert "SIGKILL" in lost.error
        crew.start(Job(second, tmp_path / "second"))
        (done,) = crew.poll(60)
        assert done.error is None
        assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == ["second"]
    finally:
        crew.close()


def test_random_points_depend_on_the_seed_alone():
    first, second, other = (
        plan.points(spec.read(RANGES | {"random": RANGES["random"] | {"points": 3, "seed": seed}}))
        for seed in (7, 7, 8)
    )
    assert [point.values for point in first] == [point.values for point in second]
    assert [point.values for point in first] != [point.values for point in other]
    assert len(first) == 6
    assert all(1 <= point.values["node.remote.lines_in_flight"] <= 256 for point in first)


def test_drawn_quantities_keep_their_unit():
    axes = {"node.gpu_link.bandwidth": {"low": "150GB/s", "high": "900GB/s"}, "memory.page_size": ["4KiB", "64KiB"]}
    points = plan.points(spec.read({"scenario": SCENARIO, "random": {"points": 8, "axes": axes}}))
    for point in points:
        assert point.scenario.values["node"]["gpu_link"]["bandwidth"].endswith("B/s")
        assert point.values["memory.page_size"] in ("4KiB", "64KiB")
    assert len({point.values["node.gpu_link.bandwidth"] for point in points}) == 8
    assert Sweep.of(spec.read({"scenario": SCENARIO, "random": {"points": 8, "axes": axes}})).total == 8


def test_keys_that_step_together_are_one_axis_of_a_picture():
    steps = {"node.gpus": [2, 2, 4], "memory.page_size": ["4KiB", "64KiB", "64KiB"]}
    points = pl.DataFrame({"seed": [1] * 3, **steps})
    shown, axes = picture._named_axes(spec.read({"scenario": SCENARIO, "grid": {"seed": [1, 2]}, "zip": steps}), points)
    assert axes == ["seed", "gpus, page_size"]
    assert shown[axes[1]].to_list() == ["2, 4KiB", "2, 64KiB", "4, 64KiB"]
    once = {"node.gpus": [2, 3, 4], "memory.page_size": steps["memory.page_size"]}
    read = spec.read({"scenario": SCENARIO, "zip": once})
    assert picture._named_axes(read, pl.DataFrame(once))[1] == ["node.gpus"]


def test_a_note_says_why_there_is_no_picture_that_was_asked_for(tmp_path, recwarn):
    many = spec.read({"scenario": SCENARIO, "grid": {"seed": list(range(41)), "node.gpus": [2, 3]}})
    rows = [{"seed": seed, "node.gpus": gpus, "status": "ok", "time_ps": 9} for seed in range(41) for gpus in (2, 3)]
    table, asked = pl.DataFrame(rows), Asked(("svg",), said=True)
    with folder_locks.opened(tmp_path / "s", folder_locks.Shared("sweep", "x", ()), force=False):
        for found, wanted in ((table, USUAL), (table, asked), (table.with_columns(status=pl.lit("failed")), asked)):
            picture.draw(tmp_path / "s", many, found, None, wanted)
    assert not list((tmp_path / "s").glob("sweep.*"))
    assert [str(each.message) for each in recwarn if each.category is octavo.OctavoNote] == [
        "sweep: no picture is drawn, as an axis has more than 40 values",
        "sweep: no picture is drawn, as no point has a result",
    ]


@pytest.mark.parametrize("wish", [{"pictures": "png"}, {"picture_width": 3.5}])
def test_wishes_about_pictures_need_what_draws_them(monkeypatch, tmp_path, wish):
    monkeypatch.setattr(extras, "has", lambda _: False)
    with refused("not-installed", key="Matplotlib"):
        octavo.sweep(GRID, output=tmp_path / "s", **wish)
    assert not (tmp_path / "s").exists()


def test_zipped_axes_step_together_inside_the_grid():
    asked = {**GRID, "zip": [{"node.gpus": [2, 4], "workload.scale": [0.01, 0.02]}]}
    values = [tuple(point.values.values()) for point in plan.points(spec.read(asked))]
    assert len(values) == 8
    assert values[:3] == [("on-touch", "4KiB", 2, 0.01), ("on-touch", "4KiB", 4, 0.02), ("on-touch", "64KiB", 2, 0.01)]


def test_a_search_depends_on_the_seed_alone_and_goes_on_where_it_was(tmp_path):
    asked = {"best": "time_ps", "seed": 3}
    table = octavo.sweep(RANGES, **asked, trials=9, output=tmp_path / "a", workers=2)
    octavo.sweep(RANGES, **asked, trials=4, output=tmp_path / "b", workers=1)
    kept = []
    longer = octavo.sweep(
        RANGES, **asked, trials=9, output=tmp_path / "b", workers=1, watch=lambda p: kept.append(p.kept)
    )
    assert longer.equals(table)
    assert kept[-1] >= 4
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert table.height == 9
    other = octavo.sweep(RANGES, best="time_ps", seed=4, trials=3)
    assert other["node.remote.lines_in_flight"].to_list() != table["node.remote.lines_in_flight"].to_list()[:3]


@pytest.mark.parametrize(("direction", "name"), [("minimize", "ideal"), ("maximize", "on-touch")])
def test_a_search_finds_what_the_grid_has(direction, name, cli, tmp_path):
    (tmp_path / "s.toml").write_text(FILE + '[grid]\nmemory.placement = ["on-touch", "ideal"]\n')
    done = cli("sweep", "s.toml", "--best", "faults", "--trials", "6", "--direction", direction)
    assert done.returncode == 0, done.stderr
    assert f"placement={name}" in done.stdout.split("Best faults")[1]


def test_json_is_the_only_output_when_asked_for(cli, tmp_path):
    (tmp_path / "s.toml").write_text(FILE + "[grid]\nseed = [1, 2]\n")
    document = json.loads(cli("sweep", "s.toml", "--json").stdout)
    assert [(point["seed"], point["status"]) for point in document["points"]] == [(1, "ok"), (2, "ok")]
    assert (tmp_path / document["folder"] / "points.parquet").is_file()


def test_a_terminal_shows_bars(tmp_path):
    pty = pytest.importorskip("pty")
    (tmp_path / "s.toml").write_text(FILE + "[grid]\nseed = [1, 2]\n")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "octavo", "sweep", "s.toml", "-o", "out"]
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # The other end is closed.
        while piece := os.read(ours, 1 << 16):
            shown += piece
    os.close(ours)
    assert running.wait(timeout=60) == 0, shown
    assert b"all runs" in shown
    assert b"/2" in shown


def test_measures_have_the_names_that_rows_have(grid):
    result = octavo.RunResult.load(grid[1] / grid[0]["run"][0])
    assert tuple(measures.row("", "", result))[2:] == measures.NAMES


def test_a_new_sweep_runs_as_it_is(cli, tmp_path):
    assert cli("new", "sweep", "s.toml").returncode == 0
    done = cli("sweep", "s.toml", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "[6/6]" in done.stderr
    again = cli("new", "sweep", "s.toml")
    assert again.returncode == 2
    assert "exists already" in again.stderr
