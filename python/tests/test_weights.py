"""Weights that a graph's file gives: shortest paths use them, and other workloads say that they do not."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from conftest import noted, refused

import octavo

MATRIX = "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 {}\n2 3 2\n1 3 9\n"
FILES = {
    "g.txt": "# directed\n0 1 {}\n1 2 2\n0 2 9\n",
    "g.csv": "0,1,{}\n1,2,2\n0,2,9\n",
    "g.gr": "p sp 3 3\na 1 2 {}\na 2 3 2\na 1 3 9\n",
    "g.mtx": MATRIX,
    "h.mtx": MATRIX.replace("general", "symmetric").replace("1 2 {}\n2 3 2\n1 3 9", "2 1 {}\n3 2 2\n3 1 9"),
    "g.graph": "3 3 1\n2 {0} 3 9\n1 {0} 3 2\n1 9 2 2\n",
}


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def written(name, weight):
    Path(name).write_text(FILES[name].format(weight))
    return f"./{name}"


def distances(graph, **options):
    chosen = {"workload.graph": graph, "workload.source": 0}
    chosen |= {f"workload.{name}": value for name, value in options.items()}
    return octavo.workload_result(octavo.scenario(workload="sssp", overrides=chosen))["distances"]


@pytest.mark.filterwarnings("ignore::octavo.OctavoNote")
@pytest.mark.parametrize("name", FILES)
def test_shortest_paths_follow_the_weights_of_a_file(name):
    assert list(distances(written(name, 3))) == [0, 3, 5]
    assert list(distances(written(name, 8))) == [0, 8, 9]
    assert list(distances(written(name, 8), draw_weights=True)) == list(distances(written(name, 1), draw_weights=True))


@pytest.mark.filterwarnings("ignore::octavo.OctavoNote")
def test_weights_that_are_not_whole_count_and_those_below_zero_are_refused():
    assert list(distances(written("g.mtx", 0.25))) == [0, 0.25, 2.25]
    for wrong in ("-1", "inf", "1e300"):
        with refused("bad-scenario", octavo.ScenarioError):
            distances(written("g.mtx", wrong))


@pytest.mark.filterwarnings("ignore::octavo.OctavoNote")
def test_the_rounds_of_a_run_follow_the_weights():
    def launches(weight):
        chosen = {"workload.graph": written("g.gr", weight), "workload.source": 0}
        return octavo.inspect_workload(octavo.scenario(workload="sssp", overrides=chosen))["launches"]

    # By way of the second vertex in two rounds, or straight in one; each has two launches.
    assert launches(3) == launches(9) + 2


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("workload", ["bfs-balanced", "mst"])
def test_other_workloads_say_that_weights_are_not_used(name, workload):
    with noted("not used"):
        octavo.workload_result(octavo.scenario(workload=workload, overrides={"workload.graph": written(name, 3)}))


def test_the_two_lines_of_an_edge_in_metis_agree():
    Path("g.graph").write_text(FILES["g.graph"].format(3).replace("1 3 3 2", "1 4 3 2"))
    with refused("bad-scenario", octavo.ScenarioError, names=["g.graph"]):
        distances("./g.graph")


def test_capacities_are_no_weights():
    Path("f.max").write_text("p max 3 3\na 1 2 5\na 2 3 2\na 1 3 9\n")
    with noted("not used"):
        first = distances("./f.max")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert list(first) == list(distances("./f.max", draw_weights=True))
