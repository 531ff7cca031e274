"""Whole programs by the kind of their memory."""

from __future__ import annotations

import json

import polars as pl
import pytest
from conftest import SMALL, refused

import octavo
from octavo.comparisons import plan_comparison
from octavo.runs import measures

KINDS = ["explicit", "managed", "pinned", "system"]


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds") / "out"
    return octavo.compare(workload="fir", kinds=KINDS, scale=SMALL, output=folder), folder


def test_every_kind_is_a_variant_with_phases_that_add_up(comparison):
    points = comparison[0].points
    assert points["variant"].to_list() == KINDS
    for point in points.to_dicts():
        phases = measures.phases(point)
        assert sum(phases.values()) == point["time_ps"]
        needed = ("allocation", "host_initialisation", "kernels", "host_results", "deallocation")
        assert all(phases[phase] > 0 for phase in needed), point["variant"]
        assert (phases["copies"] > 0) == (point["variant"] == "explicit")


def test_a_program_copies_what_its_actions_say_and_the_driver_moves_only_what_moves(comparison):
    listing = octavo.workload_program(octavo.scenario(workload="fir", scale=SMALL), "explicit")
    copied = sum(action["bytes"] for action in listing["actions"] if action["action"] == "copy")
    points = {point["variant"]: point for point in comparison[0].points.to_dicts()}
    assert points["explicit"]["copied_bytes"] == copied > 0
    assert [points[kind]["copied_bytes"] for kind in KINDS[1:]] == [0, 0, 0]
    assert [kind for kind in KINDS if points[kind]["migrated_bytes"]] == ["managed", "system"]
    results = {kind: result.summary for (_, kind), result in comparison[0].results.items()}
    on_gpus = {kind: points[kind]["faults"] - results[kind]["host"]["faults"] for kind in KINDS}
    assert [kind for kind in KINDS if on_gpus[kind]] == ["managed", "system"]
    assert points["pinned"]["faults"] == 0
    assert points["explicit"]["faults"] > 0, "the host touches its own memory for the first time"


def test_the_table_of_phases_is_what_the_summary_sums_up(comparison):
    for (_, kind), result in comparison[0].results.items():
        table = result.table("phases")
        assert table["ended_ps"].max() == result.summary["time_ps"], kind
        kernels = table.filter(phase="kernel").select(pl.col("ended_ps") - pl.col("began_ps")).sum().item()
        assert kernels == result.summary["phases"]["kernels_ps"]


def test_the_folder_has_a_picture(comparison):
    assert (comparison[1] / "phases.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((comparison[1] / "report.json").read_text())["points"][0]["copies_ps"] > 0


def test_the_command_prints_a_row_a_kind(cli):
    done = cli("compare", "-w", "fir", "-k", "explicit,launches", "--scale", "0.015625", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "Whole programs, speed-up over explicit" in done.stdout
    again = cli("compare", "-w", "fir", "-k", "explicit,launches", "--scale", "0.015625", "-o", "out", "--json")
    explicit, launches = json.loads(again.stdout)["points"]
    assert explicit["host_initialisation_ps"] > 0
    assert launches["host_initialisation_ps"] is None


def test_placements_go_with_the_kinds_that_ask_one():
    planned = plan_comparison(workload="fir", kinds=KINDS, placements=["on-touch", "grit"], scale=SMALL)
    found = {variant: scenario.system for (_, variant), scenario in planned.experiment.scenarios.items()}
    assert list(found) == ["explicit", "managed on-touch", "managed grit", "pinned", "system"]
    assert found["managed grit"] == "managed grit"
    plain = plan_comparison(workload="fir", kinds=["managed"], placements=None, scale=SMALL)
    assert [variant for _, variant in plain.experiment.scenarios] == ["managed"]
    with refused("unknown-variant", octavo.ScenarioError, key="baseline", found="grit"):
        plan_comparison(workload="fir", kinds=["explicit", "managed"], baseline="grit", scale=SMALL)


def test_a_scenario_of_launches_says_nothing_of_a_program():
    plain = octavo.scenario(workload="fir", scale=SMALL)
    assert "program" not in plain.values
    assert (plain.kind, plain.system) == ("launches", "on-touch")
    assert octavo.scenario(plain, kind="launches") == plain
    assert octavo.scenario(plain, kind="pinned").values["program"]["kind"] == "pinned"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"program.kind": "manged"}, "did you mean `managed`"),
        ({"program.kind": "managed", "program.buffers.inputs.kind": "device"}, "unknown buffer of `fir`"),
        ({"program.buffers.input.kind": "device"}, "needs a whole program"),
        ({"program.kind": "pinned", "program.buffers.input.read_mostly": True}, "advice is about managed memory"),
    ],
)
def test_what_cannot_be_is_refused(overrides, message):
    with pytest.raises(octavo.ScenarioError) as caught:
        octavo.scenario(workload="fir", scale=SMALL, overrides=overrides)
    assert message in f"{caught.value.message} {caught.value.hint}"


def test_device_memory_that_does_not_fit_is_refused_before_the_run():
    small = {"node.capacity.footprint_percent": 20}
    with refused("no-room", octavo.SimulationError, key="program.kind"):
        octavo.run(workload="fir", scale=SMALL, kind="explicit", overrides=small)


def test_the_kind_is_an_axis_of_sweeps(tmp_path):
    scenario = {
        "workload": {"name": "fir", "scale": SMALL},
        "node": {"preset": "grit-2gpu"},
        "memory": {"placement": "on-touch"},
    }
    sweep = {"scenario": scenario, "grid": {"program.kind": ["launches", "managed"]}}
    table = octavo.sweep(sweep, output=tmp_path / "sweep", workers=1)
    assert table["status"].to_list() == ["ok", "ok"]
    launches, managed = table["time_ps"].to_list()
    assert launches < managed
