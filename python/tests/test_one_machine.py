"""One machine, one answer: every way to ask about a program gives the same time, on the memory system of the node."""

from __future__ import annotations

from pathlib import Path

import pytest

import octavo
from octavo.scenarios.catalogue import names
from octavo_studies.grace_hopper.programs import PROGRAMS
from octavo_studies.grace_hopper.study import Study
from octavo_studies.memmap import study as placements

MACHINES = Path(__file__).parents[2] / "machines"
STOCK_DRIVER = (
    *("cuda-sm60", "cuda-sm70", "cuda-sm80", "cuda-sm90", "dgx-v100-4", "hgx-h100-8", "b200-8", "power8-p100"),
    *("x86-p100-pcie3", "x86-h100-hmm", "h200-nvl", str(MACHINES / "h100.toml"), str(MACHINES / "h200.toml")),
)
"""Nodes that have the memory system of NVIDIA's driver."""
OTHERS = {
    **dict.fromkeys(("gh200", "gh200-numa", "gh200-cdmm", "gb200", "gb200-nvl72", "gb300"), "grace-hopper"),
    **dict.fromkeys(("mi300a", "mi300a-4", "gb10", "strix-halo"), "one-memory"),
}
"""Nodes with another one."""
OF_PUBLICATIONS = ("grit-", "r9nano", "mosaic-", "gtx1080ti-uvmsmart")
KINDS = ("explicit", "managed", "pinned")
WORKLOAD, SCALE = "vectoradd", 1 / 1024


def memory(node: str, **overrides: str) -> dict[str, object]:
    """The memory system of a scenario on a node."""
    return octavo.scenario(workload=WORKLOAD, node=node, overrides=overrides).values["memory"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("node", [*STOCK_DRIVER, *OTHERS])
def test_all_ways_to_ask_give_one_answer(node, kind):
    of = {"workload": WORKLOAD, "scale": SCALE, "node": node, "kind": kind}
    run = octavo.run(**of)
    seconds = run.seconds
    assert run.explain().facts.time_ps == round(seconds * 1e12)
    compared = octavo.compare(workload=WORKLOAD, scale=SCALE, node=node, kinds=[kind]).points["time_ps"]
    scenario = {"workload": {"name": WORKLOAD, "scale": SCALE}, "node": {"preset": node}, "program": {"kind": kind}}
    swept = octavo.sweep({"scenario": scenario, "grid": {"record.events": [True, False]}})["time_ps"]
    job = {"name": "alone", "workload": scenario["workload"], "program": scenario["program"]}
    assert [*compared, *swept] == [round(seconds * 1e12)] * 3
    assert octavo.run(jobs=[job], node=node).seconds == seconds
    found = octavo.advise(WORKLOAD, scale=SCALE, node=node, kind=kind, runs=2).found
    assert found is not None
    assert found.present == seconds


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("node", [*STOCK_DRIVER, *OTHERS])
def test_a_study_runs_a_node_as_other_commands_do(node, kind, tmp_path):
    """But for what the GPU alone uses."""
    only_gpu = PROGRAMS["hotspot"].only_gpu_overrides() if kind != "explicit" else ()
    study = Study(tmp_path, node=node, scale=SCALE)
    [of_study] = study.run("kinds", {("hotspot", kind): ()}).results.values()
    own = octavo.run("hs", scale=SCALE, node=node, kind=kind, overrides=["workload.input=grace-hopper", *only_gpu])
    assert of_study.seconds == own.seconds
    assert of_study.scenario.values["memory"] == own.scenario.values["memory"]


@pytest.mark.parametrize("node", [*STOCK_DRIVER, *OTHERS])
def test_a_study_of_placements_has_the_machine_as_it_is(node, tmp_path):
    study = placements.Study(tmp_path, applications=("FIR",), node=node)
    [of_study] = study.scenarios().values()
    own = octavo.scenario(workload="fir", node=node).values
    assert of_study.values["memory"] == own["memory"]
    assert of_study.values["node"]["driver"] == own["node"]["driver"]


def test_nodes_have_the_memory_system_of_their_machine():
    known = {name for name in names("nodes") if not name.startswith(OF_PUBLICATIONS)}
    assert {*STOCK_DRIVER, *OTHERS} - {str(file) for file in MACHINES.glob("*.toml")} == known
    for node, preset in {**dict.fromkeys(STOCK_DRIVER, "stock-driver"), **OTHERS}.items():
        assert memory(node) == memory(node, **{"memory.preset": preset}), node
    assert memory("cuda-sm90")["guard"]["name"] == "stock-driver"
    assert "guard" not in memory("grit-4gpu")


def test_pages_have_the_size_of_the_kernel_of_the_host():
    assert memory("power8-p100")["page_size"] == "64KiB"
    assert memory("power8-p100", **{"memory.page_size": "4KiB"})["page_size"] == "4KiB"
    assert memory("cuda-sm90")["page_size"] == "4KiB"


def test_managed_memory_beats_explicit_copies_where_it_does_on_the_driver():
    """Plain on-touch said that managed memory is 4.5 times as slow."""
    compared = octavo.compare(workload="fir", scale=1 / 16, node="cuda-sm90", kinds=["explicit", "managed"])
    assert compared.points["speedup"].to_list()[1] > 1.1
