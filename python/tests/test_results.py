"""What a run leaves behind, and that it never depends on when, where or how many at a time it ran."""

from __future__ import annotations

import json

import polars as pl
import pytest
from conftest import SMALL, contents, refused

import octavo

ARGUMENTS = {"workloads": ["fir", "matrixmultiplication"], "placements": ["on-touch", "grit"], "scale": SMALL}


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compared") / "result"
    return octavo.compare(**ARGUMENTS, output=folder, workers=1), folder


def test_two_workers_give_the_same_bytes_as_one(compared, tmp_path):
    octavo.compare(**ARGUMENTS, output=tmp_path / "two", workers=2)
    assert contents(tmp_path / "two") == contents(compared[1])


def test_a_run_leaves_its_scenario_a_summary_and_tables(compared):
    folder = compared[1] / "runs" / "fir" / "grit"
    names = {path.name for path in folder.iterdir()}
    assert {"scenario.toml", "summary.json", "allocations.parquet", "links.parquet", "events.parquet"} <= names
    assert json.loads((folder / "summary.json").read_text())["time_ps"] > 0
    result = octavo.RunResult.load(folder)
    assert result.table("allocations").height >= 2
    assert octavo.run(folder / "scenario.toml", output=folder).summary == result.summary


def test_tables_of_a_run_are_frames(compared):
    result = compared[0].results["fir", "grit"]
    events = result.table("events")
    assert events.height > 0
    assert isinstance(events, pl.DataFrame)
    with refused("unknown-name", octavo.OutputError, found="event"):
        result.table("event")


def test_a_result_is_found_by_the_name_of_its_folder(compared):
    result = compared[0].results["fir", "grit"]
    assert octavo.RunResult(str(result.folder)).table("kernels").equals(result.table("kernels"))


def test_finished_points_are_not_computed_again(compared):
    before = {path: path.stat().st_mtime_ns for path in (compared[1] / "runs").rglob("*.parquet")}
    said = []
    octavo.compare(**ARGUMENTS, output=compared[1], watch=lambda progress: said.append(progress.kept))
    assert before == {path: path.stat().st_mtime_ns for path in (compared[1] / "runs").rglob("*.parquet")}
    assert not said


def test_results_of_something_else_are_never_replaced_unless_forced(tmp_path):
    first = octavo.run(workload="fir", scale=SMALL, output=tmp_path / "r")
    kept = contents(first.folder)
    with refused("other-result", octavo.OutputError, file="r"):
        octavo.run(workload="fir", scale=2 * SMALL, output=tmp_path / "r")
    assert contents(first.folder) == kept
    octavo.run(workload="fir", scale=2 * SMALL, output=tmp_path / "r", force=True)
    assert contents(first.folder) != kept
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_a_folder_with_other_files_is_never_touched(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with refused("not-ours", octavo.OutputError):
        octavo.run(workload="fir", scale=SMALL, output=tmp_path, force=True)
    assert contents(tmp_path) == {"notes.txt": b"mine"}


def test_another_experiment_in_the_same_folder_is_refused(compared):
    with refused("other-result", octavo.OutputError):
        octavo.compare(**{**ARGUMENTS, "placements": ["ideal"]}, output=compared[1])


def test_without_an_output_folder_results_live_as_long_as_their_object():
    result = octavo.run(workload="fir", scale=SMALL)
    folder = result.folder
    assert folder.is_dir()
    del result
    assert not folder.exists()


def test_an_error_in_one_point_keeps_the_others(tmp_path):
    arguments = {"scale": SMALL, "overrides": {"node.capacity.footprint_percent": 1}}
    with refused("unexpected-value", octavo.SimulationError, key="node.capacity"):
        octavo.compare(
            workloads=["fir", "matrixmultiplication"], placements=["grit"], output=tmp_path, workers=1, **arguments
        )
    assert octavo.RunResult.load(tmp_path / "runs" / "fir" / "grit").seconds > 0
