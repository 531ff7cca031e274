"""Fidelity `page` in Python and on the command line."""

from __future__ import annotations

import json

import pytest
from conftest import SMALL, refused

import octavo
from octavo.errors import ScenarioError


def test_a_run_says_its_fidelity_and_does_the_same_accesses():
    line, page = (
        octavo.run(workload="stencil2d", placement="grit", fidelity=each, scale=SMALL) for each in ("line", "page")
    )
    assert (line.summary.get("fidelity"), page.summary["fidelity"]) == (None, "page")
    assert (line.scenario.system, page.scenario.system) == ("grit", "page grit")
    for name in ("load_lines", "store_lines", "compute_instructions"):
        assert line.summary["accesses"][name] == page.summary["accesses"][name]
    assert page.summary["time_ps"] != line.summary["time_ps"]


def test_the_command_line_says_it_too(cli, tmp_path):
    done = cli("run", "-w", "fir", "-p", "on-touch", "--fidelity", "page", "--scale", str(SMALL))
    assert "fidelity" in done.stdout
    assert [folder.name.split("-")[1] for folder in (tmp_path / "runs").iterdir()] == ["page"]
    cli("compare", "-w", "fir", "-p", "on-touch,grit", "--fidelity", "page", "--scale", str(SMALL), "-o", "out")
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert len(report["points"]) == 2


def test_sweeps_have_it_as_an_axis(tmp_path):
    memory, workload = {"placement": "on-touch"}, {"name": "fir", "scale": SMALL}
    scenario = {"node": {"preset": "grit-2gpu"}, "memory": memory, "workload": workload}
    table = octavo.sweep({"scenario": scenario, "grid": {"node.fidelity": ["line", "page"]}}, output=tmp_path / "out")
    assert table["status"].to_list() == ["ok", "ok"]
    assert table["lines"].n_unique() == 1


@pytest.mark.parametrize(
    ("overrides", "key"),
    [
        ({"executor.kind": "instant"}, "node.fidelity"),
        ({"node.preset": "r9nano"}, "node.fidelity"),
        ({"node.preset": "gh200"}, "node.fidelity"),
        ({"node.settled.l1_hits_percent": 101}, "node.settled.l1_hits_percent"),
        ({"node.settled.ahead": "3us"}, "node.settled.ahead"),
    ],
)
def test_what_does_not_go_together_is_refused(overrides, key):
    with refused("unexpected-value", ScenarioError, key=key):
        octavo.scenario(workload="fir", fidelity="page", overrides=overrides)


def test_shares_of_hits_are_refused_where_lines_have_tags():
    with refused("unexpected-value", ScenarioError, key="node.settled.l2_hits_percent"):
        octavo.scenario(workload="fir", overrides={"node.settled.l2_hits_percent": 90})


def test_a_wrong_name_is_answered_with_those_there_are():
    with refused("unexpected-value", ScenarioError, key="node.fidelity", found='"pages"', expected="one of line, page"):
        octavo.scenario(workload="fir", fidelity="pages")
