"""The MemMap study end to end, small: every placement, the tables by hand, what is left on disk."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path

import polars as pl
import pytest
from conftest import refused

from octavo import api
from octavo.advice import programs
from octavo.advice import systems as constants
from octavo.errors import ScenarioError
from octavo_studies.memmap import graphs, intervals, systems
from octavo_studies.memmap.applications import APPLICATIONS
from octavo_studies.memmap.study import Study, reproduce
from octavo_studies.memmap.tables import geometric
from octavo_studies.publications import published

CHOSEN = ("FIR", "BFS")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("memmap") / "study"


@pytest.fixture(scope="module")
def found(root):
    return reproduce(Study(root, applications=CHOSEN, scale=1 / 64, graphs=2))


def test_every_placement_of_every_input_is_there(found):
    counts = {row[:2]: row[2] for row in found.points.group_by("application", "seed").len().rows()}
    assert counts == {("FIR", 0): 16, ("BFS", 0): 64, ("BFS", 1): 64}
    for (name, seed), rows in found.points.group_by("application", "seed"):
        assert rows["placements"].n_unique() == rows.height
        assert rows["is_advice"].sum() == 1, (name, seed)
        assert rows["regret"].min() == 0
        on_device = rows.filter(pl.col("placements").str.contains("m").not_())
        assert on_device["relative"].to_list() == [pytest.approx(1)]


def test_speeds_are_geometric_means_over_the_graphs(found):
    rows = {row["application"]: row for row in found.systems.to_dicts()}
    assert list(rows) == list(CHOSEN)
    fastest = found.points.filter(pl.col("application") == "BFS").group_by("seed").agg(pl.col("relative").min())
    assert rows["BFS"]["optimum"] == pytest.approx(prod(fastest["relative"].to_list()) ** -0.5)
    for row in rows.values():
        assert row["device"] == 1
        assert row["optimum"] >= max(row[name] for name in ("device", "managed", "model")), "none is faster than it"
        assert row["model_over_optimum"] == pytest.approx(row["optimum"] / row["model"])
        assert row["spread"] >= row["optimum"]
        for part in intervals.PARTS:
            assert row[f"optimum_{part}"] >= max(row[f"model_{part}"], 1)
    assert found.means["model"] == pytest.approx((rows["FIR"]["model"] * rows["BFS"]["model"]) ** 0.5)


def test_intervals_are_the_whole_of_every_placement(found):
    points, names = found.points, intervals.NAMES
    assert points.select(pl.sum_horizontal(*names)).to_series().to_list() == pytest.approx(points["seconds"].to_list())
    assert (points.select(pl.min_horizontal(*names)).to_series() >= 0).all()
    rows = {(row["application"], row["system"]): row for row in found.intervals.to_dicts()}
    on_device = points.filter(application="FIR", placements="dddd").row(0, named=True)
    for name in names:
        assert rows["FIR", systems.DEVICE][name] == pytest.approx(on_device[name] * 1e3)
        assert rows["BFS", systems.MANAGED][name] >= 0
    assert rows["FIR", systems.MANAGED]["copies"] == 0 < on_device["copies"]
    assert all(row["whole"] == pytest.approx(sum(row[name] for name in names)) for row in rows.values())


def test_graphs_in_parts_are_touched_sparsely(found):
    rows = found.graphs.to_dicts()
    assert [row["seed"] for row in rows] == [0, 1]
    for row, graph in zip(rows, graphs.DRAWN, strict=False):
        assert (row["graph"], row["degree"]) == (graph.label, graph.degree)
        assert row["least_sigma"] < 1 or graph.parts == 1
    bfs = found.structures.filter(application="BFS", structure="neighbours").to_dicts()
    assert bfs[0]["used"] == pytest.approx(graphs.DRAWN[0].reached, abs=0.05)
    speeds = found.points.filter(application="BFS", seed=0, is_advice=True)["relative"].to_list()
    assert rows[0]["model"] == pytest.approx(1 / speeds[0])


def test_what_exceeds_memory_runs_in_strips_or_from_the_host(found):
    [row] = found.oversubscribed.to_dicts()
    assert row["application"] == "FIR", "a search has no strips"
    assert row["strips_launches"] > row["launches"] == 1
    assert row["optimum"] >= max(row[name] for name in ("managed", "model") if row[name] is not None)
    assert "m" in row["placements"], "all on the device does not fit"


def test_every_share_and_degree_is_drawn_once():
    assert len({(graph.reached, graph.degree) for graph in graphs.DRAWN}) == len(graphs.DRAWN) == 20
    assert {graph.parts == 1 for graph in graphs.DRAWN[:2]} == {True, False}


def test_a_file_is_a_graph(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("ring.txt").write_text("".join(f"{vertex} {(vertex + 1) % 50}\n" for vertex in range(50)))
    study = Study(applications=("BFS", "FIR"), files=(Path("ring.txt"),))
    scenarios = study.scenarios()
    assert list(scenarios) == [("BFS", 0), ("FIR", 0)]
    buffers = {each["name"]: each["bytes"] for each in api.inspect_workload(scenarios["BFS", 0])["buffers"]}
    assert buffers["levels"] == 50 * 4


def test_structures_have_what_is_estimated_beside_what_is_measured(found):
    fir = {row["structure"]: row for row in found.structures.filter(application="FIR").to_dicts()}
    assert set(fir) == {"history", "input", "output", "filter"}
    assert fir["input"]["sigma"] == fir["input"]["sigma_estimated"] == 1
    assert fir["output"]["model"] in systems.PLACEMENTS
    assert 0 < fir["input"]["faults_per_page"] <= 1
    assert found.structures.filter(application="BFS")["seed"].unique().to_list() == [0, 1]


def test_what_is_left_can_be_read_and_is_resumed(found, root):
    report = json.loads((root / "report.json").read_text())
    assert [row["published"] for row in report["compared"]][:2] == [1.85, 5.0]
    assert pl.read_parquet(root / "points.parquet").equals(found.points)
    for picture in ("speed.png", "sensitivity.png"):
        assert (root / picture).stat().st_size > 5000
    before = {path: path.stat().st_mtime_ns for path in root.rglob("summary.json")}
    again = reproduce(Study(root, applications=CHOSEN, scale=1 / 64, graphs=2))
    assert again.points.equals(found.points)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("summary.json")} == before


def test_kernels_never_exceed_their_ceilings(found):
    rows = found.roofline
    assert rows.group_by("placement").len().sort("placement").rows() == [("device", 12), ("host", 12)]
    assert (rows["reached"] <= rows["ceiling"]).all()
    dense = rows.filter(placement="device", sigma=1.0, alpha=0.25)
    assert (dense["reached"] > 0.5 * dense["ceiling"]).all(), "the ceiling is not far away"


def test_what_the_model_costs_is_told_by_input(found):
    assert found.costs.select("application", "seed").rows() == [("FIR", 0), ("BFS", 0), ("BFS", 1)]
    assert (found.costs["counted"] > 0).all()


def test_hints_follow_the_use_of_each_buffer():
    scenario = Study(applications=("BFS",), scale=1 / 64, graphs=1).scenarios()["BFS", 0]
    buffers = programs.buffers(scenario, constants.from_scenario(scenario).system)
    said = systems.hints(buffers, {each.name for each in buffers} - {"offsets", "neighbours"})
    assert 'program.buffers."neighbours".read_mostly=true' in said
    assert 'program.buffers."levels".preferred=gpu0' in said
    shared = next(each.name for each in buffers if each.write_shared)
    assert f'program.buffers."{shared}".accessed_by=["gpu0"]' in said


def test_the_study_is_of_one_p100_on_nvlink():
    values = Study().scenarios()["FIR", 0].values
    assert values["node"]["gpus"] == 1
    assert values["node"]["host_link"]["bandwidth"] == "33200MB/s"
    assert len(Study().scenarios()) == 10 + 4 * 20


@pytest.mark.parametrize("node", ["x86-p100-pcie3", "cuda-sm70", "dgx-v100-4"])
def test_any_node_gives_its_study_one_gpu(node):
    values = Study(node=node, applications=("FIR",)).scenarios()["FIR", 0].values["node"]
    assert (values["gpus"], values.get("links") or []) == (1, [])


def test_applications_are_the_published_ones():
    assert set(APPLICATIONS) == set(published("memmap")["placements"])


def test_a_geometric_mean():
    assert geometric([1.0, 4.0]) == 2.0


@pytest.mark.parametrize(
    ("study", "code", "key"),
    [
        ({"applications": ("XYZ",)}, "unknown-name", "application"),
        ({"graphs": 21}, "unexpected-value", "graphs"),
        ({"overrides": ("workload.graph=mine.mtx",)}, "already-set", "workload.graph"),
        ({"overrides": ("workload.scale=2",)}, "already-set", "workload.scale"),
        ({"overrides": ("program.kind=pinned",)}, "already-set", "program.kind"),
        ({"overrides": ("workload=fft",)}, "already-set", "workload"),
        ({"overrides": ("node.preset=r9nano",)}, "already-set", "node.preset"),
    ],
)
def test_what_the_study_sets_is_refused(study, code, key):
    with refused(code, ScenarioError, key=key):
        Study(**study)
