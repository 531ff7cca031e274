"""Tables of comparisons."""

from __future__ import annotations

import math

import polars as pl
import pytest
from conftest import SMALL

import octavo
from octavo.runs import measures
from octavo.runs.experiment import slug


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
    with pytest.raises(octavo.ScenarioError, match="baseline"):
        octavo.compare(workload="fir", baseline="gritt", scale=SMALL)


def test_labels_become_file_names():
    assert slug("70 % in all: grit") == "70-in-all-grit"
    assert slug("duplication 1.25us 64") == "duplication-1.25us-64"


def test_a_single_name_stands_for_a_list_of_one():
    comparison = octavo.compare(workloads="fir", placements="grit", scale=SMALL)
    assert list(comparison.results) == [("fir", "grit")]
