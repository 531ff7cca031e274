"""Tables of comparisons."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import polars as pl
import pytest
from conftest import SMALL, refused

import octavo
from octavo.runs import colours, measures
from octavo.runs.bounds import bounds
from octavo.runs.slugs import slug, slugs


@pytest.fixture(scope="module")
def comparison():
    return octavo.compare(workloads=["fir", "stencil2d"], placements=["on-touch", "duplication", "ideal"], scale=SMALL)


def test_speedups_are_relative_to_the_baseline(comparison):
    times = {(row["workload"], row["variant"]): row["time_ps"] for row in comparison.points.to_dicts()}
    for row in comparison.points.to_dicts():
        expected = times[row["workload"], "on-touch"] / times[row["workload"], row["variant"]]
        assert row["speedup"] == pytest.approx(expected)


def test_the_last_row_holds_geometric_means(comparison):
    table = comparison.speedups()
    assert table["workload"].to_list() == ["fir", "stencil2d", "geomean"]
    fir, st, mean = table["ideal"].to_list()
    assert mean == pytest.approx(math.sqrt(fir * st))
    assert comparison.geometric_means()["on-touch"] == pytest.approx(1.0)


def test_shares_add_up(comparison):
    for row in comparison.points.to_dicts():
        assert sum(measures.shares(row).values()) == pytest.approx(1.0)


def test_another_baseline_can_be_chosen():
    chosen = octavo.compare(workload="fir", placements=["on-touch", "ideal"], baseline="ideal", scale=SMALL)
    assert chosen.points.filter(pl.col("variant") == "ideal")["speedup"].to_list() == [1.0]
    with refused("unknown-variant", octavo.ScenarioError, key="baseline", found="gritt"):
        octavo.compare(workload="fir", baseline="gritt", scale=SMALL)


def test_labels_become_file_names():
    assert slug("70 % in all: grit") == "70-in-all-grit"
    assert slug("duplication 1.25us 64") == "duplication-1.25us-64"


def test_file_names_are_their_own_and_not_hidden():
    """`compare` lost a result to another of the same file name, and hid that of `./a.trace`."""
    assert slug("./a.trace") == slug("../a.trace") == "a.trace"
    labels = ["x/y", "x-y", "fir", ".", "..", "./a", "a"]
    found = slugs(labels)
    assert found["fir"] == "fir"
    assert found["x/y"].startswith("x-y-")
    assert len(set(found.values())) == len(labels)
    assert not any(name.startswith((".", "-")) or not name for name in found.values())


def test_runs_of_an_experiment_have_folders_of_their_own(tmp_path):
    trace = Path(__file__).parents[2] / "traces" / "fir-length-16384.trace"
    places = [tmp_path / "x" / "y.trace", tmp_path / "x-y.trace"]
    for place in places:
        shutil.copytree(trace, place)
    octavo.compare(workloads=[str(place) for place in places], placements=["on-touch"], output=tmp_path / "out")
    assert len(list((tmp_path / "out" / "runs").glob("[!.]*/on-touch/summary.json"))) == 2


def test_a_single_name_stands_for_a_list_of_one():
    comparison = octavo.compare(workloads="fir", placements="grit", scale=SMALL)
    assert list(comparison.results) == [("fir", "grit")]


def test_a_bound_is_marked_and_never_the_best():
    found = octavo.compare(workloads="fir", placements=["on-touch", "ideal"], scale=SMALL)
    speedups = found.speedups().to_dicts()[0]
    assert speedups["ideal"] > speedups["on-touch"]
    assert found.best("fir") == ["on-touch"]
    assert found.bounds == {"ideal"}
    assert found.to_dict()["bounds"] == ["ideal"]
    assert "ideal (bound)" in found._repr_html_()
    assert found.marked(found.speedups()).columns == ["workload", "on-touch", "ideal (bound)"]
    assert colours.of(["on-touch", "ideal (bound)"]) == colours.of(["on-touch", "ideal"])


def test_memory_without_limit_is_a_bound_beside_memory_with_one():
    class Result:
        def __init__(self, capacity, placement="grit"):
            self.summary = {"capacity_bytes": capacity}
            self.scenario = type("Scenario", (), {"placement": placement})

    limited, free, ideal = Result(1 << 20), Result(None), Result(1 << 20, "ideal")
    assert bounds({("fir", "a"): limited, ("fir", "b"): free, ("fir", "c"): ideal}) == {"b", "c"}
    assert bounds({("fir", "a"): free, ("fir", "b"): free, ("spmv", "a"): limited}) == set()
