"""Scenarios from Python: files, names and changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import SMALL, refused

import octavo
from octavo import _core
from octavo.scenarios import memory_system

ROOT = Path(__file__).parents[2]


def test_names_and_files_give_the_same_scenario(tmp_path):
    named = octavo.scenario(workload="fir", placement="grit", scale=0.5, seed=3)
    path = tmp_path / "s.toml"
    path.write_text(
        'seed = 3\nworkload = {name = "fir", scale = 0.5}\nmemory.placement = "grit"\nnode.preset = "grit-4gpu"\n'
    )
    assert octavo.scenario(path) == named
    assert octavo.scenario(named) == named
    path.write_text(named.toml)
    assert octavo.scenario(path) == named


def test_arguments_win_over_the_file(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text('workload = "fir"\nmemory.placement = "grit"\nnode = {preset = "grit-4gpu", l1 = {ways = 8}}\n')
    changed = octavo.scenario(
        path,
        workload="matrixmultiplication",
        node="grit-2gpu",
        overrides={"record.events": False, "node.clock": "2GHz"},
    ).values
    assert changed["workload"]["name"] == "matrixmultiplication"
    assert (changed["node"]["gpus"], changed["node"]["l1"]["ways"]) == (2, 8)
    assert changed["node"]["clock"] == "2GHz"
    assert changed["record"]["events"] is False


def test_overrides_may_be_tables():
    table = {"name": "grit", "fault_threshold": 2}
    placement = octavo.scenario(workload="fir", overrides={"memory.placement": table}).values["memory"]["placement"]
    assert placement["fault_threshold"] == 2


def test_errors_carry_a_hint():
    with pytest.raises(octavo.ScenarioError) as caught:
        octavo.scenario(workload="fir", placement="on-tuch")
    assert caught.value.hint == "did you mean `on-touch`?"
    assert caught.value.exit_code == 2


def test_every_registered_name_makes_a_scenario():
    listing = octavo.listing()
    needing_more = {"trace", "step"}
    kernels = [workload["name"] for workload in listing["workloads"] if workload["name"] not in needing_more]
    assert len(kernels) + len(needing_more) == len(listing["workloads"])
    for kernel in kernels:
        octavo.scenario(workload=kernel)
    for kind, key in (
        ("placements", "placement"),
        ("prefetchers", "prefetch"),
        ("evictions", "eviction"),
        ("demotions", "demotion"),
        ("sharings", "sharing"),
        ("guards", "guard"),
        ("allocators", "allocator"),
        ("sizings", "sizing"),
    ):
        for entry in listing[kind]:
            octavo.scenario(workload="fir", overrides={f"memory.{key}": entry["name"]})
            assert entry["summary"]
            assert entry["source"]
            assert all(option["description"] for option in entry["options"]), entry["name"]
    for memory in listing["memories"]:
        octavo.scenario(workload="fir", overrides={"memory.preset": memory["name"]})
    for node in listing["nodes"]:
        assert octavo.scenario(workload="fir", node=node["name"]).values["node"]["gpus"] in (1, 2, 4, 8, 16, 72)


def test_a_workload_is_a_program_of_a_kind():
    chosen = octavo.scenario(workload="bfs-shoc", scale=1 / 64)
    pinned = octavo.workload_program(chosen, "pinned", threads=4)
    assert {buffer["kind"] for buffer in pinned["buffers"]} == {"pinned"}
    assert [action["after"] for action in pinned["actions"][:3]] == [[], [0], [1]]
    for arguments in ({"kind": "remote"}, {"spread": "striped"}, {"threads": 0}):
        with refused("unexpected-value", octavo.ScenarioError, key=next(iter(arguments))):
            octavo.workload_program(chosen, **arguments)


def test_a_workload_is_inspected_under_the_scenario():
    found = octavo.inspect_workload(octavo.scenario(workload="fir", scale=1 / 64, node="grit-2gpu"))
    assert found["setting"]["gpus"] == 2
    assert found["footprint_bytes"] > 0
    assert len(found["total"]["by_gpus"]) == 2


def test_a_placement_that_is_named_holds_whatever_preset_the_overrides_name():
    scenario = octavo.scenario(
        workload="fir",
        placement="grit",
        overrides={"memory.preset": "stock-driver", "memory.placement.fault_threshold": 9},
    )
    placement = scenario.values["memory"]["placement"]
    assert (placement["name"], placement["fault_threshold"]) == ("grit", 9)


def test_options_of_a_named_placement_hold_beside_another_node():
    overrides = {"memory.placement.fault_threshold": 9, "node.preset": "grit-2gpu"}
    scenario = octavo.scenario(workload="fir", placement="grit", overrides=overrides)
    assert scenario.values["memory"]["placement"]["fault_threshold"] == 9


def test_a_run_resolves_its_scenario_once(monkeypatch, tmp_path):
    resolved = []

    class Counting:
        def __getattr__(self, name):
            if name.startswith("resolve"):
                resolved.append(name)
            return getattr(_core, name)

    monkeypatch.setattr("octavo.scenarios.scenario._core", Counting())
    octavo.compare(
        workload="fir", placements=["on-touch", "grit", "ideal"], scale=SMALL, output=tmp_path / "out", seed=987
    )
    assert resolved == ["resolve"] * 3


@pytest.mark.parametrize(
    ("node", "overrides", "system"),
    [
        ("cuda-sm90", {}, "stock-driver"),
        ("cuda-sm90", {"memory.placement": "grit"}, "stock-driver with grit"),
        ("cuda-sm90", {"memory.prefetch": "none"}, "stock-driver with prefetch none"),
        ("cuda-sm90", {"memory.prefetch.threshold": 1}, "stock-driver with other tree"),
        ("cuda-sm90", {"memory.preset": "plain"}, "on-touch"),
        ("grit-4gpu", {"memory.placement": "grit"}, "grit"),
        ("grit-4gpu", {"program.kind": "managed"}, "managed on-touch"),
        *((preset["name"], {}, None) for preset in octavo.listing()["nodes"]),
    ],
)
def test_a_memory_system_is_called_after_its_preset(node, overrides, system):
    scenario = octavo.scenario(workload="fir", node=node, overrides=overrides)
    if system is None:
        presets = {preset["name"] for preset in octavo.listing()["memories"]} - {"plain"}
        assert scenario.system in {*presets, scenario.placement}
    else:
        assert scenario.system == system


def test_what_is_usual_is_what_a_scenario_has_that_says_nothing():
    memory = octavo.scenario(workload="fir", node="grit-4gpu").values["memory"]
    assert memory_system._changes(memory, memory_system._presets()["plain"]) == []
