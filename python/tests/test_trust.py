"""What results say of their nodes: what was compared, what is not modelled, which values no source gives."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import octavo
from octavo.runs import pictures
from octavo.runs.pressure import pressure
from octavo.runs.room import Room, room
from octavo.runs.unsourced_values import LEAST, decided
from octavo.scenarios.about import about, together
from octavo.scenarios.catalogue import names
from octavo_studies.grace_hopper import parts
from octavo_studies.grace_hopper.study import Study

ROOT = Path(__file__).parents[2]
GB = 10**9


def of_node(node: str, **overrides: object):
    return about(octavo.scenario(workload="vectoradd", scale=0.001, node=node, overrides=overrides).values)


def headings(page: Path) -> set[str]:
    """Anchors as the site makes them."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in found}


@pytest.mark.parametrize("node", [*names("nodes"), *map(str, (ROOT / "machines").glob("*.toml"))])
def test_every_node_says_whether_it_was_compared_and_the_page_is_there(node):
    found = of_node(node)
    assert found.name is not None
    page, _, anchor = found.see.partition("#")
    assert (ROOT / page).is_file(), found.see
    assert not anchor or anchor in headings(ROOT / page), found.see
    assert found.see in found.sentence


def test_what_is_compared_is_the_node_as_it_is():
    h100 = str(ROOT / "machines/h100.toml")
    assert of_node(h100).compared
    assert not of_node(h100).changed
    assert of_node(h100).validated
    assert "validated against an H100" in of_node(h100).sentence
    assert "dram.banks" in of_node(h100, **{"node.dram.banks": 79}).sentence
    assert not of_node(h100, **{"node.dram.banks": 79}).validated
    assert of_node(h100).memories == ("stock-driver",)
    other = of_node(h100, **{"memory.placement": "grit"})
    assert "memory" in other.sentence.partition("changed here: ")[2]
    assert not other.validated
    assert "capacity" not in of_node(h100, **{"node.capacity.bytes": "40GB"}).sentence
    assert of_node("cuda-sm90").compared is None
    assert "not validated (docs/" in of_node("cuda-sm90").sentence
    assert not of_node("grit-4gpu").validated, "published results alone"


def test_one_sentence_names_all_memory_systems_of_a_node():
    [found] = together(of_node("grit-4gpu", **{"memory.placement": name}) for name in ("on-touch", "grit", "grit"))
    assert found.memories == ("on-touch", "grit")
    assert "grit-4gpu, memory on-touch, grit: not validated" in found.brief


def below(picture) -> str:
    """What stands below a picture."""
    return " ".join(picture.figure.get_supxlabel().split())


def test_pictures_name_node_and_memory_system_and_say_whether_they_are_validated():
    of = {"workload": "vectoradd", "scale": 0.001, "node": "cuda-sm90"}
    said = "cuda-sm90, memory stock-driver: not validated (docs/nodes.md#what-has-been-measured)"
    compared = octavo.compare(**of, kinds=["explicit", "managed"])
    run = octavo.run(**of)
    jobs = octavo.run(jobs=[{"name": "a", "workload": {"name": "fir", "scale": 0.001}}], node="cuda-sm90")
    advice = octavo.advise("vectoradd", scale=0.001, node="cuda-sm90", quick=True)
    drawn = [*(compared.plot(name) for name in compared.drawings()), run.plot(), run.explain().plot(), jobs.plot()]
    assert [below(picture) for picture in (*drawn, advice.plot())] == [said] * (len(drawn) + 1)
    assert not pictures.bars(None, compared.speedups(), xlabel="", title="").figure.get_supxlabel()


def test_pictures_of_sweeps_and_studies_say_it_too(tmp_path, monkeypatch):
    said = []
    save = pictures.Picture.save
    monkeypatch.setattr(pictures.Picture, "save", lambda self, path: (said.append(below(self)), save(self, path))[1])
    scenario = {"workload": {"name": "vectoradd", "scale": 0.001}, "program": {"kind": "managed"}}
    grid = {"node.preset": ["cuda-sm80", "cuda-sm90"]}
    octavo.sweep({"scenario": scenario, "grid": grid}, output=tmp_path / "sweep")
    assert said
    assert all(f"{node}, memory stock-driver" in one for one in said for node in grid["node.preset"])
    said.clear()
    found = parts.PARTS["memory"](Study(tmp_path / "study", programs=("hotspot",), kinds=("managed",), scale=1 / 4096))
    assert said
    assert all("gh200-numa, memory grace-hopper" in one for one in said)
    assert [node["name"] for node in found.nodes] == ["gh200-numa"]


@pytest.mark.parametrize("node", ["mi300a", "mi300a-4"])
def test_nodes_of_mi300a_say_that_allocators_and_atomics_are_not_modelled(node):
    said = " ".join(of_node(node).not_modelled)
    assert "allocator" in said
    assert "atomics" in said


@pytest.fixture
def slow_launches(tmp_path):
    """Two nodes whose launches take nearly all of the time: by a value with a source, and by one without."""
    for name, comment in (("measured", "# measured"), ("guessed", "# [chosen] by us")):
        text = f'[node]\nextends = "cuda-sm90"\ncompute.kernel_overhead = "1000000cycles"  {comment}\n'
        (tmp_path / f"{name}.toml").write_text(text)
    return tmp_path


def test_a_result_names_the_chosen_values_that_decide_it_and_no_others(slow_launches):
    def of(name, **more):
        node = str(slow_launches / f"{name}.toml")
        return decided(octavo.run("fir", scale=0.001, node=node, **more))

    guessed = of("guessed")
    assert guessed[0].key == "compute.kernel_overhead"
    assert guessed[0].share > 0.5
    assert all(one.share >= LEAST for one in guessed)
    assert "compute.kernel_overhead" not in [one.key for one in of("measured")]
    said = of("guessed", overrides={"node.compute.kernel_overhead": "999999cycles"})
    assert "compute.kernel_overhead" not in [one.key for one in said], "the scenario gives it"
    none = of("guessed", overrides={"node.compute.kernel_overhead": "0cycles"})
    assert "compute.kernel_overhead" not in [one.key for one in none]


@pytest.mark.parametrize(
    ("needed", "cached", "percent", "verdict"),
    [
        (32, 10, 50, "fits"),
        (32, 90, 50, "slows"),
        (32, 90, 100, "fits"),
        (90, 90, 100, "slows"),
        (131, 0, 100, "fails"),
    ],
)
def test_whether_a_program_fits_beside_the_page_cache(needed, cached, percent, verdict):
    free = (130 - cached) * percent // 100
    found = Room(needed * GB, 130 * GB, cached * GB, free * GB)
    assert found.verdict == verdict
    assert verdict in found.sentence
    assert found.to_dict()["verdict"] == verdict


def test_the_page_cache_counts_for_the_program_at_scale_1_and_small_pages_need_no_blocks():
    cache = {"node.host.page_cache": {"bytes": "129GB", "free_blocks_percent": 0}}
    of = {"workload": "vectoradd", "scale": 0.001, "node": "gb10"}
    managed, system, without = (
        octavo.run(**of, kind=kind, overrides=changes)
        for kind, changes in (("managed", cache), ("system", cache), ("managed", {}))
    )
    verdicts = [room(one, pressure(one)) for one in (managed, system, without)]
    assert [one and one.verdict for one in verdicts] == ["slows", "fits", None]
    assert managed.seconds == without.seconds
    assert headings(ROOT / "docs/fits.md") >= {"beside-the-page-cache"}


def test_commands_say_it(cli, tmp_path, slow_launches):
    node = str(slow_launches / "guessed.toml")
    run = ["--scale", "0.001", "--node", node, "--kind", "managed"]
    commands = (
        ["run", "fir", *run, "-o", "run"],
        ["compare", "fir", *run, "-o", "compare"],
        ["explain", "run"],
        ["advise", "fir", "--scale", "0.001", "--node", node],
    )
    for command in commands:
        [said] = json.loads(cli(*command, "--json").stdout)["nodes"]
        assert (said["compared"], said["see"].startswith("docs/")) == (None, True), command
        assert "compute.kernel_overhead" in [one["key"] for one in said["decided"]], command
        told = cli(*command).stdout
        assert "node.compute.kernel_overhead" in told, command
        assert said["see"] in told, command
    assert "node.compute.kernel_overhead" in cli("fit", "fir", "--memory", "100MB", "--node", node).stdout
    assert cli("report", "run", "-o", "page.html").returncode == 0
    assert "node.compute.kernel_overhead" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_sweep_over_nodes_keeps_what_the_scenario_says_of_them(tmp_path):
    scenario = {"workload": {"name": "vectoradd", "scale": 0.001}, "program": {"kind": "managed"}}
    node = {"gpus": 2, "host": {"costs": {"context": "3ms"}}}
    grid = {"node.preset": ["cuda-sm80", "hgx-h100-8", "gh200"]}
    table = octavo.sweep({"scenario": {**scenario, "node": node}, "grid": grid}, output=tmp_path / "sweep")
    assert set(table["status"]) == {"ok"}
    for run in table["run"]:
        values = octavo.RunResult.load(tmp_path / "sweep" / run).scenario.values["node"]
        assert (values["gpus"], values["host"]["costs"]["context"]) == (2, "3ms")
