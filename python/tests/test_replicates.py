"""Replicates: medians with intervals, and ties that are shown as ties."""

from __future__ import annotations

import io
import itertools
import json
import random
from pathlib import Path

import polars as pl
import pytest
from conftest import SMALL, refused

import octavo
from octavo.cli.run import _further
from octavo.cli.sink import Sink
from octavo.cli.sweep_text import _listed, _points, _show
from octavo.cli.terminal import Terminal
from octavo.errors import ScenarioError
from octavo.runs import measures
from octavo.runs.replicates import Interval, interval, names, outside, replicate, tied
from octavo.runs.result import RunResult
from octavo.sweeps import spec
from octavo.sweeps.medians import best, level, once
from octavo.sweeps.run import Sweep
from octavo.sweeps.search import Goal

SYSTEM = {"workload": "stencil2d", "scale": SMALL}


@pytest.mark.parametrize(("count", "left_out"), [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (12, 2), (20, 5)])
def test_intervals_leave_out_what_tables_of_order_statistics_do(count, left_out):
    # The sign test's table: of 9 values the second and eighth, of 12 the third and tenth, of 20 the sixth and 15th.
    assert outside(count) == left_out
    found = interval(range(count))
    assert (found.low, found.high, found.count) == (left_out, count - 1 - left_out, count)


def test_intervals_hold_the_median_as_often_as_they_say():
    source = random.Random(1)  # noqa: S311 - nothing secret
    held = [interval(source.expovariate(1) for _ in range(9)) for _ in range(2000)]
    assert sum(one.low <= 0.6931 <= one.high for one in held) / 2000 == pytest.approx(0.961, abs=0.02)


def test_what_overlaps_is_a_tie():
    found = {"a": Interval(10, 9, 12, 5), "b": Interval(9.5, 9.2, 9.8, 5), "c": Interval(13, 12.5, 14, 5)}
    assert tied(found) == ["b", "a"]
    assert tied(found, highest=True) == ["c"]
    assert names(["b", "a"]) == "b, level with a (intervals overlap)"
    assert names(["c"]) == "c"


def test_the_first_replicate_is_the_run_itself_and_each_other_one_its_own():
    scenario = octavo.scenario(**SYSTEM)
    assert replicate(scenario, 0) is scenario
    times = [octavo.run(replicate(scenario, number)).summary["time_ps"] for number in (0, 1, 1, 2)]
    assert times[0] == octavo.run(**SYSTEM).summary["time_ps"]
    assert times[1] == times[2]
    assert len(set(times)) == 3
    counts = [octavo.run(replicate(scenario, number)).summary["accesses"]["load_lines"] for number in (0, 1)]
    assert counts[0] == counts[1]


def test_comparisons_have_medians_and_say_who_is_level(tmp_path, cli):
    root = tmp_path / "compared"
    asked = (
        "--workload",
        "stencil2d",
        "--scale",
        str(SMALL),
        "-p",
        "on-touch,grit",
        "--replicates",
        "3",
        "-o",
        str(root),
    )
    told = cli("compare", *asked)
    assert told.returncode == 0, told.stderr
    assert "Medians of 3 replicates" in told.stdout
    assert "stencil2d: fastest is grit." in told.stdout
    found = json.loads(cli("compare", *asked, "--json").stdout)
    assert found["best"] == {"stencil2d": ["grit"]}
    for point in found["points"]:
        folders = [root / "runs", *(root / "replicates" / str(number) for number in (1, 2))]
        times = [RunResult.load(one / "stencil2d" / point["variant"]).summary["time_ps"] for one in folders]
        assert (point["time_ps_low"], point["time_ps"], point["time_ps_high"]) == tuple(sorted(times))
        assert point["speedup_low"] <= point["speedup"] <= point["speedup_high"]
    assert (root / "speedup.png").is_file()


def test_comparisons_of_the_same_are_ties():
    same = octavo.compare(**SYSTEM, placements=["on-touch", "grit"], replicates=2, baseline="grit")
    assert same.best("stencil2d") == ["grit"]
    points = same.points.with_columns(time_ps_high=pl.lit(10**12))
    assert type(same)(same.baseline, points, same.results, None, same.replicates).best("stencil2d") == [
        "grit",
        "on-touch",
    ]


def test_sweeps_have_a_row_for_each_point_and_searches_go_by_medians(tmp_path, cli):
    scenario = {"workload": {"name": "stencil2d", "scale": SMALL}}
    asked = {"scenario": scenario, "grid": {"memory.placement": ["on-touch", "grit"]}}
    table = octavo.sweep(asked, replicates=3, output=tmp_path / "swept")
    assert table["replicates"].to_list() == [3, 3]
    assert table["point"].to_list() == [0, 1]
    assert (table["time_ps_low"] <= table["time_ps"]).all()
    assert (table["time_ps"] <= table["time_ps_high"]).all()
    every = pl.read_parquet(tmp_path / "swept" / "points.parquet")
    assert every["executor.replicate"].to_list() == [0, 1, 2] * 2
    assert table["time_ps"][0] == every["time_ps"][:3].median()
    once = octavo.sweep(asked)
    assert once["time_ps"][1] == every["time_ps"][3]
    assert "replicates" not in once.columns
    best = octavo.sweep(asked, replicates=3, best="time_ps", trials=3, output=tmp_path / "searched")
    assert set(best["time_ps"]) <= set(table["time_ps"])


def test_points_of_a_sweep_that_cannot_be_told_apart_are_ties(tmp_path, cli):
    (tmp_path / "sweep.toml").write_text(
        f'[scenario]\nworkload = {{ name = "stencil2d", scale = {SMALL} }}\n'
        '[grid]\n"node.driver.service.servers" = [1, 2]\n"node.gpu_link.bandwidth" = ["300GB/s", "301GB/s"]\n'
    )
    asked = ("sweep", "sweep.toml", "--replicates", "3", "-o", "swept")
    told = cli(*asked, "--pictures", "svg")
    assert told.returncode == 0, told.stderr
    assert "with points.parquet, medians.parquet and sweep.svg" in " ".join(told.stdout.split())
    rows = [line.split() for line in told.stdout.splitlines() if line.lstrip()[:1].isdigit()]
    assert [row[8] for row in rows] == ["1", "0", "3", "2"], told.stdout
    assert json.loads(cli(*asked, "--json").stdout)["level_with"] == {"0": [1], "1": [0], "2": [3], "3": [2]}
    assert (tmp_path / "swept" / "sweep.svg").read_text().count("±") == 4
    listed = json.loads((tmp_path / "swept" / "octavo-manifest.json").read_text())["files"]
    assert {"sweep.svg", "sweep.png"} <= listed.keys()


def test_points_that_were_drawn_again_are_level_with_the_same_points(tmp_path, cli):
    (tmp_path / "sweep.toml").write_text(
        f'[scenario]\nworkload = {{ name = "stencil2d", scale = {SMALL} }}\n'
        '[random]\npoints = 4\naxes = { "memory.placement" = ["on-touch", "grit"] }\n'
    )
    asked = ("sweep", "sweep.toml", "--replicates", "2", "-o", "swept")
    told = cli(*asked)
    assert told.returncode == 0, told.stderr
    found = json.loads(cli(*asked, "--json").stdout)
    placed = {point["point"]: point["memory.placement"] for point in found["points"]}
    assert len(set(placed.values())) == 2
    for one, other in itertools.product(placed, placed):
        same = found["level_with"][str(one)] == found["level_with"][str(other)]
        assert same == (placed[one] == placed[other]) or not any(found["level_with"].values())
    rows = [line.split() for line in told.stdout.splitlines() if line.lstrip()[:1].isdigit()]
    assert [row[0] for row in rows] == ["0", "1", "2", "3"], told.stdout


def test_searches_are_level_by_what_they_search_for(tmp_path, cli):
    (tmp_path / "sweep.toml").write_text(
        f'[scenario]\nworkload = {{ name = "stencil2d", scale = {SMALL} }}\n'
        '[grid]\n"node.gpu_link.bandwidth" = ["30GB/s", "300GB/s"]\n'
    )
    asked = ("--best", "lines", "--trials", "4", "--replicates", "2", "-o", "found", "--json")
    found = json.loads(cli("sweep", "sweep.toml", *asked).stdout)
    assert len({point["time_ps"] for point in found["points"]}) == 2, "bandwidths differ in time"
    assert len({point["lines"] for point in found["points"]}) == 1, "and have the same number of lines"
    assert all(len(others) == 1 for others in found["level_with"].values())


def test_points_without_time_or_measure_are_shown_with_dashes():
    planned = Sweep.of(spec.read({"scenario": {"workload": "fir"}, "grid": {"seed": [1, 2]}}), replicates=2)
    known = {"seed": 1, "time_ps": 5, "time_ps_low": 4, "time_ps_high": 6, "faults": 3, "migrations": 2}
    rows = [known, dict.fromkeys(known) | {"seed": 2}]
    table = pl.DataFrame([{"point": at, "run": str(at), "status": "ok", **row} for at, row in enumerate(rows)])
    into = io.StringIO()
    _show(Sink(as_json=False, terminal=Terminal(stream=into, width=200)), planned, table)
    shown = [line.split() for line in into.getvalue().splitlines() if line.lstrip()[:1].isdigit()]
    assert [row[3:] for row in shown] == [["0.000", "ms", "−20.0%", "+20.0%", "none", "3", "2"], ["–"] * 5]


def slow_level(table, metric):
    """What `level` is to find, by a look at every pair."""
    rows = {row["point"]: measures.times(row, metric) for row in table.to_dicts()}
    return {
        point: [other for other, beside in rows.items() if other != point and beside.overlaps(own)]
        for point, own in rows.items()
    }


def test_levels_of_many_points_are_those_of_every_pair():
    source = random.Random(3)  # noqa: S311 - nothing secret
    middles = [source.randrange(1000) for _ in range(300)]
    table = pl.DataFrame(
        {
            "point": range(300),
            "run": [str(number) for number in range(300)],
            "faults": middles,
            "faults_low": [middle - source.randrange(1, 20) for middle in middles],
            "faults_high": [middle + source.choice((1, 5, 400)) for middle in middles],
        }
    )
    expected = slow_level(table, "faults")
    assert level(table, "faults") == expected
    assert level(table, "faults", 7) == {point: expected[point] for point in range(7)}


def test_points_are_level_with_all_whose_intervals_overlap_theirs():
    rows = {"point": [0, 1, 2, 3], "run": ["a", "b", "c", None], "time_ps": [10, 12, 14, None]}
    table = pl.DataFrame({**rows, "time_ps_low": [9, 11, 13, None], "time_ps_high": [11, 13, 15, None]})
    assert level(table) == {0: [1], 1: [0, 2], 2: [1]}
    again = table.with_columns(run=pl.Series(["a", "b", "c", "d"]))
    again = pl.concat([again, again.with_columns(point=pl.col("point") + 4)])
    assert level(again) == {0: [1], 1: [0, 2], 2: [1], 4: [1], 5: [0, 2], 6: [1]}, "the same runs, once more"
    assert _points(None) == "–"
    assert _points([]) == "none"
    assert _points([1, 2]) == "1, 2"
    assert _points(range(6)) == "0, 1, 2, 3 and 2 more"


def test_runs_say_their_median(tmp_path, cli):
    told = cli(
        "run", "--workload", "stencil2d", "--scale", str(SMALL), "--replicates", "3", "-o", str(tmp_path / "run")
    )
    assert "median of 3 replicates" in told.stdout
    assert sorted(path.name for path in (tmp_path / "run-replicates").iterdir() if path.is_dir()) == ["1", "2"]


def test_sweeps_name_every_file_they_wrote():
    assert _listed(["points.parquet"]) == "points.parquet"
    assert _listed(["points.parquet", "medians.parquet", "a.png"]) == "points.parquet, medians.parquet and a.png"


@pytest.mark.parametrize("folder", [".", ".."])
def test_replicates_of_a_run_here_lie_beside_this_folder(tmp_path, folder, monkeypatch):
    scenario = octavo.scenario(**SYSTEM)
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "outer" / "inner")
    (point,) = _further(scenario, Path(folder), 2)
    meant = tmp_path / "outer" / "inner" if folder == "." else tmp_path / "outer"
    assert point.folder == meant.with_name(f"{meant.name}-replicates") / "1"


def test_a_replicate_has_no_replicates(cli, tmp_path):
    fixed = {"workload": {"name": "stencil2d", "scale": SMALL}, "executor": {"kind": "simulated", "replicate": 2}}
    with refused("unexpected-value", ScenarioError, key="executor.replicate", found=2):
        octavo.sweep({"scenario": fixed, "grid": {"seed": [1]}}, replicates=2)
    along = {"scenario": {"workload": fixed["workload"]}, "grid": {"executor.kind": ["simulated"]}}
    along["grid"]["executor.replicate"] = [0, 1]
    with refused("conflict", ScenarioError, key="executor.replicate"):
        octavo.sweep(along, replicates=2)
    assert octavo.sweep(along)["status"].to_list() == ["ok", "ok"]
    changes = ("--set", "executor.kind=simulated", "--set", "executor.replicate=1")
    for command in (("run",), ("compare", "-p", "grit")):
        told = cli(*command, "--workload", "fir", "--scale", str(SMALL), *changes, "--replicates", "2")
        assert told.returncode == 2
        assert "no replicates of a replicate" in told.stderr


def test_a_search_leaves_out_points_without_the_measure(tmp_path, cli):
    (tmp_path / "sweep.toml").write_text(
        f'[scenario]\nworkload = {{ name = "fir", scale = {SMALL} }}\n'
        '[grid]\n"executor.kind" = ["simulated", "instant"]\n'
    )
    told = cli("sweep", "sweep.toml", "--best", "time_ps", "--trials", "6", "--json", "-o", "found")
    assert told.returncode == 0, told.stderr
    found = json.loads(told.stdout)
    assert {point["executor.kind"] for point in found["points"]} == {"simulated", "instant"}
    assert found["best"]["executor.kind"] == "simulated"


def test_what_has_no_time_has_no_replicates(cli):
    with refused("no-time", ScenarioError, expected="simulated"):
        octavo.compare(**SYSTEM, executor="instant", replicates=2)
    with refused("unexpected-value", ScenarioError, key="replicates", found="0"):
        octavo.compare(**SYSTEM, replicates=0)
    instant = {"scenario": {"workload": {"name": "fir"}, "executor": {"kind": "instant"}}, "grid": {"seed": [1]}}
    with refused("no-time", ScenarioError, expected="simulated"):
        octavo.sweep(instant, replicates=2)


def test_a_point_that_a_search_asked_for_again_is_told_once():
    rows = {"point": [0, 1, 2, 3], "run": ["a", "b", "a", None], "status": ["ok"] * 3 + ["failed"]}
    table = pl.DataFrame({**rows, "faults": [5, 7, 5, None]})
    assert once(table)["point"].to_list() == [0, 1, 3]
    assert [row["point"] for row in best(table, Goal("faults", 4))] == [0]
