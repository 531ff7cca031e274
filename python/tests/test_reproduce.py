"""The reproduction: what stands beside the published numbers, and that these are never an input."""

from __future__ import annotations

import json

import polars as pl
import pytest
from conftest import SMALL, refused

import octavo
from octavo.report.publications import KERNELS, published
from octavo_studies.grit import ensemble, main, networks, sensitivity, walks
from octavo_studies.grit.remarks import HANDLING
from octavo_studies.grit.study import Study, placement
from octavo_studies.mosaic import mixes

HANDLING_TIMES = [f"{cause}_ps" for cause in HANDLING]


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path / "out", (f"workload.scale={SMALL}",), ("fir", "mm"), workers=2)


def test_the_main_study_stands_beside_what_was_published(study):
    found, comparison = main.reproduce(study)
    assert [row["over"] for row in found.gains_of_grit] == ["on-touch", "access-counter", "duplication"]
    for row in found.gains_of_grit:
        assert row["difference"] == pytest.approx(row["found"] - row["published"])
    assert {row["kernel"] for row in found.best_uniform_scheme} == {"fir", "mm"}
    for row in found.scheme_mix.to_dicts():
        assert row["on_touch"] + row["access_counter"] + row["duplication"] == pytest.approx(1.0)
    report = json.loads((found.root / "report.json").read_text())
    assert report["points"] == comparison.points.to_dicts()
    assert report["geometric_mean_speedup"]["on-touch"] == pytest.approx(1.0)
    for name in ("speedup", "faults", "breakdown", "scheme_mix"):
        assert (found.root / f"{name}.png").is_file()


def test_walks_are_shared_among_grits_schemes(study):
    found = walks.walks(study)
    for row in found.points.to_dicts():
        accesses = octavo.RunResult.load(found.root / "runs" / row["kernel"] / "grit").summary["accesses"]
        assert row["walks"] == accesses["walks"] > 0
        assert sum(row[name] for name in ("none", "on_touch", "access_counter", "duplication")) == pytest.approx(1.0)
        assert row["on_touch"] > 0.1
    assert (found.root / "walks.png").is_file()


def test_networks_are_split_over_all_gpus(tmp_path):
    study = Study(tmp_path / "out", ("workload.scale=0.0005",), ("resnet18",), workers=2)
    root, found = networks.reproduce(study)
    assert found.points["variant"].to_list() == list(main.PLACEMENTS)
    assert set(found.points["workload"]) == {"resnet18"}
    scenario = octavo.RunResult.load(root / "runs" / "resnet18" / "grit").scenario
    assert scenario.values["workload"]["stages"] == scenario.values["node"]["gpus"] == 4


def test_options_are_those_of_every_workload_that_is_compared():
    options = ("workload.stages=4", "workload.scale=0.001")
    experiment = Study(overrides=options, workloads=networks.NETWORKS).experiment([placement("grit")])
    values = {name: scenario.values["workload"] for (name, _), scenario in experiment.scenarios.items()}
    assert {name: one["stages"] for name, one in values.items()} == dict.fromkeys(networks.NETWORKS, 4)
    with refused("unknown-key", octavo.ScenarioError, key="workload.stages"):
        Study(overrides=options, workloads=("resnet18", "fir")).experiment([placement("grit")])


def test_kernels_are_labelled_as_the_publication_abbreviates_them(tmp_path):
    labels = Study(tmp_path, (), ("mm", "matrixmultiplication", "stencil2d")).kernels
    assert labels == ["mm", "mm", "st"]
    experiment = Study(tmp_path, (), ("bs", "fir")).experiment([placement("grit")])
    assert {label: scenario.workload for (label, _), scenario in experiment.scenarios.items()} == {
        "bs": "bitonicsort",
        "fir": "fir",
    }
    assert set(published().best_uniform_scheme) <= set(KERNELS)
    assert mixes.workload(("nn", "trd", "bfs2")) == "nearestneighbor+trd+bfs-rodinia"
    assert mixes.label(("nn", "trd")) == "nn+trd"
    assert [mixes.labelled(name) for name in ("nearestneighbor", "nn", "trd")] == ["nn", "nn", "trd"]


def test_the_ensemble_covers_its_grid_with_as_few_runs_as_tell_it(study, monkeypatch):
    kept = [axis for axis in ensemble.AXES if axis.name in ("lines in flight", "replicas of host pages")]
    monkeypatch.setattr(ensemble, "AXES", tuple(kept))
    found = ensemble.ensemble(study, ends=True)
    assert found.points.height == 4
    runs = {path.name.split("-")[0] for path in (found.root / "runs" / "fir").iterdir()}
    assert runs == {"on", "access", "duplication", "grit", "ideal"}
    assert len(list((found.root / "runs" / "fir").iterdir())) == 1 + 2 + 2 + 4 + 1, "what does not concern it is shared"
    for row in found.bands.to_dicts():
        values = found.points[row["average"]]
        assert row["lowest"] == values.min() <= row["25%"] <= row["75%"] <= values.max() == row["highest"]
    assert {row["average"]: row["published"] for row in found.bands.to_dicts()}["grit over duplication"] == 1.29
    assert found.remarks == [], "remarks are about all eight kernels"
    assert (found.root / "ensemble.png").is_file()


def test_a_reduced_study_has_every_part_below_one_folder(cli, tmp_path):
    done = cli("reproduce", "grit", "--reduced", "-w", "fir", "--scale", str(SMALL), "-o", "out", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert "remarks" not in document, "they are about all eight kernels"
    assert set(document) - {"folder"} == {path.name for path in (tmp_path / "out").iterdir()}
    assert {row["dispatch"] for row in document["partition"]["points"]} == {"even-split"}


def test_a_point_of_the_ensemble_is_judged_by_remarks(tmp_path):
    rows = [
        {"workload": kernel, "variant": name, "speedup": speed, "faults": 1, **dict.fromkeys(HANDLING_TIMES, 1)}
        for kernel in KERNELS
        for name, speed in {
            "on-touch": 1.0,
            "access-counter": 1.1,
            "duplication": 1.2,
            "grit": 1.3,
            "ideal": 2.0,
        }.items()
    ]
    held = {row["id"]: row for row in ensemble._held([pl.DataFrame(rows)])}
    assert held["G2"]["holds"] == 1.0
    assert held["G1"]["no"] == 1.0, "one scheme is best everywhere"
    assert all(row["holds"] + row["in part"] + row["no"] == pytest.approx(1.0) for row in held.values())


def test_every_point_of_the_ensemble_resolves():
    variants = {label: one for point in ensemble._grid(ends=True) for label, one in ensemble._variants(point).items()}
    study = Study(workloads=("fir",))
    scenarios = study.experiment(list(variants.values())).scenarios
    assert len({scenario.digest for scenario in scenarios.values()}) == len(variants)


@pytest.mark.parametrize(("kernel", "pinned"), [("st", 3), ("c2d", 2)])
def test_inputs_are_pinned_where_remarks_on_sharing_pin_them(kernel, pinned):
    def iterations(*overrides):
        scenarios = Study(overrides=overrides, workloads=(kernel,)).experiment([placement("grit")]).scenarios
        return scenarios[kernel, "grit"].values["workload"]["iterations"]

    assert iterations() == pinned
    assert iterations("workload.iterations=5") == 5


def test_uniform_schemes_have_the_options_of_grits_own():
    variants = [placement(name) for name in main.PLACEMENTS]
    scenarios = Study(workloads=("fir",)).experiment(variants).scenarios
    uniform, own = (scenarios["fir", name].values["memory"]["placement"] for name in ("access-counter", "grit"))
    assert uniform["host_pages"] == own["host_pages"]
    assert uniform["threshold"] == own["counter_threshold"]


@pytest.mark.parametrize("name", ["threshold", "components", "gpus", "capacity", "driver", "trans-fw"])
def test_a_sweep_is_one_call(name, tmp_path):
    study = Study(tmp_path / "out", (f"workload.scale={SMALL}",), ("mm",), workers=2)
    found = sensitivity.sensitivity(name, study)
    sweep = sensitivity.SWEEPS[name]
    assert found.geometric_mean_speedup["setting"].to_list() == [setting.label for setting in sweep.settings]
    assert found.geometric_mean_speedup["on-touch"].to_list() == pytest.approx([1.0] * len(sweep.settings))
    assert found.geometric_mean_speedup["on-touch over first"][0] == pytest.approx(1.0)
    assert (found.root / "speedup.png").is_file()


@pytest.mark.parametrize("name", sensitivity.SWEEPS)
def test_every_sweep_resolves(name):
    sweep = sensitivity.SWEEPS[name]
    variants = [
        sensitivity._variant(setting, placement) for setting in sweep.settings for placement in sweep.placements
    ]
    Study(workloads=("fir",)).experiment(variants)


def test_published_numbers_have_a_source():
    assert "HPCA 2024" in published().source
    assert published().gain_of_grit_over == {"on-touch": 0.6, "access-counter": 0.49, "duplication": 0.29}
