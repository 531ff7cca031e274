"""The harvesting study end to end, on graphs of three thousandths of their size and less."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest
from conftest import refused

from octavo import api
from octavo.errors import ScenarioError
from octavo_studies.harvest import sensitivity, systems
from octavo_studies.harvest.cases import CASES, INTER_JOB, INTRA_JOB, TODAY, Job
from octavo_studies.harvest.command import shown
from octavo_studies.harvest.study import EXPLAINED, Study, _footprint
from octavo_studies.publications import published


def _shorter(case):
    """The case with components of a smaller graph: the same, in less time."""
    wcc, network = case.yielding
    return replace(case, yielding=(replace(wcc, beside=0.15), network))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    from octavo_studies.harvest.study import reproduce  # noqa: PLC0415 - runs below

    root = tmp_path_factory.mktemp("harvest") / "study"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(CASES, "1", _shorter(CASES["1"]))
        return reproduce(Study(root, ("workload.scale=0.003",), ("1",), need=1.2, rounds=3))


def test_techniques_are_added_one_by_one_and_change_where_pages_go(study):
    pages = {row["system"]: row for row in study.pages.to_dicts()}
    assert next(iter(pages)) == systems.STOCK
    assert pages[systems.STOCK]["to_host"] > 0
    for label, row in pages.items():
        harvests = label.startswith("H")
        assert (row["to_neighbours"] > 0) == harvests, label
        assert row["from_neighbours"] <= row["to_neighbours"] + row["staged"], label
        assert (row["staged"] > 0) <= ("PLF" in label), label
        assert (row["plans_ahead"] > 0) == label.endswith(("LPF", "MPF", "prefetched")), label
    assert pages["H+PE+LP+PLF"]["staged"] > 0
    went = [
        (row["to_neighbours"], row["from_neighbours"], row["staged"]) for label, row in pages.items() if "H+PE" in label
    ]
    assert len(set(went)) == len(went), "each technique changes where pages go"


@pytest.mark.parametrize("change", ["memory.demotion.name=host", "memory.placement=grit", "memory.preset=uvmsmart"])
def test_what_the_systems_choose_is_refused(change):
    with refused("already-set", ScenarioError, key=change.partition("=")[0]):
        Study(overrides=(change,))


def test_other_changes_of_memory_hold_for_every_system():
    changes = ("workload.scale=0.002", "memory.guard=none", "memory.prefetch_plan=own")
    scenarios = Study(overrides=changes, cases=("1",)).scenarios()
    assert all("guard" not in scenario.values["memory"] for scenario in scenarios.values())
    assert {scenario.values["memory"]["prefetch_plan"] for scenario in scenarios.values()} == {"own"}


def test_links_are_the_boards_or_between_all_pairs():
    def links(name):
        scenarios = Study(overrides=("workload.scale=0.002",), cases=("1",), links=name).scenarios()
        return scenarios["1", "H"].values["node"]

    board, published = links("board"), links("all-pairs")
    assert {link["count"] for link in board["links"]} == {1, 2}
    assert {link["count"] for link in published["links"]} == {1}
    assert len(published["links"]) == 6
    assert published["gpu_link"]["bandwidth"] != board["gpu_link"]["bandwidth"]
    with refused("unexpected-value", ScenarioError, key="node"):
        Study(cases=("1",), node="hgx-h100-8", links="all-pairs")


def test_a_job_that_yields_fits_its_gpu():
    scenarios = Study(overrides=("workload.scale=0.004",), cases=("1",)).scenarios()
    values = scenarios["1", systems.STOCK].values
    memory = int(values["node"]["capacity"]["bytes"].removesuffix("MiB")) << 20
    scales = {job["name"]: job["workload"]["scale"] for job in values["job"]}
    for job in CASES["1"].yielding:
        needs = _footprint(job, (f"workload.scale={scales[job.name]}",)) / len(job.gpus)
        assert needs == pytest.approx(0.6 * memory, rel=0.1), job.name


def test_large_host_pages_are_in_the_systems_that_say_so():
    scenarios = Study(overrides=("workload.scale=0.002",), cases=("1",)).scenarios()
    frames = {label: scenario.values["memory"]["host_frames"] for (_, label), scenario in scenarios.items()}
    assert {label for label, kind in frames.items() if kind == "large"} == {label for label in frames if "LP" in label}


def test_each_job_is_compared_with_itself_under_the_stock_driver(study):
    jobs = study.jobs
    assert jobs.filter(system=systems.STOCK)["speedup"].to_list() == [1.0, 1.0, 1.0]
    assert dict(jobs.select("job", "role").unique().rows()) == {
        "pagerank": "harvests",
        "wcc": "yields",
        "vgg16": "yields",
    }
    stock = jobs.filter(system=systems.STOCK, job="pagerank")["time_ps"].item()
    found = jobs.filter(system="H", job="pagerank")
    assert found["speedup"].item() == pytest.approx(stock / found["time_ps"].item())


def test_what_is_left_can_be_read_and_shows_what_is_published(study):
    report = json.loads((study.root / "report.json").read_text())
    assert report["compared"][0]["published"] == published("harvest")["largest_speedup"]
    assert pl.read_parquet(study.root / "points.parquet").equals(study.jobs)
    for picture in ("case-1.png", "case-1-memory-H.png", "case-1-memory-stock-driver.png", "case-1-lent.png"):
        assert (study.root / picture).stat().st_size > 5000


def test_who_lends_to_whom_is_told_of_the_run_with_all_techniques(study):
    pages = study.pages.filter(system=systems.WHOLE)
    came = study.sources["neighbour"].sum() + study.sources["staged"].sum()
    assert 0.8 < came / pages["from_neighbours"].item() < 1.5, "some pages go from one owner to another"
    assert study.sources["host"].sum() > 0
    assert (study.lenders["keeper"] != study.lenders["owner"]).all()
    assert study.lenders["owner"].min() >= 0
    assert study.lenders["sent"].sum() > 0.9 * pages["to_neighbours"].item() * 4096
    assert study.served.is_empty()


def test_all_that_was_found_is_shown(study):
    told = list(shown(("1",), study))
    tables = {one.title: one.rows for one in told if not isinstance(one, str)}
    texts = [one for one in told if isinstance(one, str)]
    for system in EXPLAINED:
        assert any(system in text and "faults wait" in text for text in texts), "what bounds it"
    assert any("fewer than" in text for text in texts), "small GPUs are noted"
    pages = study.sources.filter(gpu=0, why="fault")["host"].item()
    assert any(f"{pages:,}" in row for row in tables[f"Case 1, {systems.WHOLE}: where pages came from"])
    assert len(tables["Case 1: pages"]) == study.pages.height
    assert len(tables[f"Case 1, {systems.WHOLE}: who lends to whom"]) == study.lenders.height
    assert len(tables["Beside the publication"]) == 2
    assert len(tables["GPUs of the harvesting jobs"]) == 1


def test_replicas_sum_their_gradients_in_memory_of_the_device():
    def jobs(case):
        scales = {job.name: 0.01 for job in (*CASES[case].harvesting, *CASES[case].yielding)}
        return CASES[case].jobs(scales, shared=False)

    tables = {table["name"]: table for table in jobs("1")}
    assert tables["vgg16"]["workload"]["all_reduce"]
    assert tables["vgg16"]["program"]["buffers"] == {f"received-{gpu}": {"kind": "device"} for gpu in (0, 1)}
    (alone,) = (table for table in jobs("4") if table["name"] == "resnet101")
    assert "all_reduce" not in alone["workload"], "one replica has nobody to share with"
    assert "buffers" not in alone["program"]


def test_memory_is_scaled_with_the_graph_and_too_small_for_it():
    for need in (1.5, 3.0):
        scenarios = Study(overrides=("workload.scale=0.004",), cases=("1",), need=need).scenarios()
        capacity = scenarios["1", systems.STOCK].values["node"]["capacity"]["bytes"]
        assert capacity == {1.5: "6MiB", 3.0: "4MiB"}[need], "whole chunks, at least two"


def test_the_job_that_yields_in_case_3_has_its_published_share_of_bytes():
    scenarios = Study(overrides=("workload.scale=0.004",), cases=("3",)).scenarios()
    jobs = {job["name"]: job for job in scenarios["3", systems.STOCK].values["job"]}
    scale = jobs["pagerank-2"]["workload"]["scale"]
    assert jobs["pagerank-2"]["workload"]["tolerance"] == 0.01
    (yields,), harvests = CASES["3"].yielding, CASES["3"].harvesting
    needs = max(_footprint(job, ("workload.scale=0.004",)) for job in harvests)
    found = _footprint(replace(yields, gpus=(2,)), (f"workload.scale={scale}",))
    assert found / needs == pytest.approx(446.8 / 2 / 530.1, rel=0.05)


@pytest.mark.parametrize(("case", "expected"), [("resnet50", [0]), ("gnmt16", [3])])
def test_one_gpu_of_a_split_network_lacks_memory(case, expected):
    """In the publication, one harvests from three, too, at least in GNMT16."""
    scenario = Study(overrides=("workload.scale=0.01",), cases=(case,)).scenarios()[case, systems.STOCK]
    memory = int(scenario.values["node"]["capacity"]["bytes"].removesuffix("MiB")) << 20
    job = CASES[case].harvesting[0].workload
    options = [f"workload.{key}={value}" for key, value in job.items() if key != "name"]
    program = api.workload_program(api.scenario(workload=case, overrides=[*options, "workload.scale=0.01"]), "managed")
    needs = [0] * 4
    for buffer in program["buffers"]:
        needs[int(buffer["name"][-1])] += buffer["bytes"]
    assert [gpu for gpu, need in enumerate(needs) if need > memory] == expected, (needs, memory)


def test_a_node_with_too_few_gpus_is_named():
    with refused("unexpected-value", ScenarioError, key="node", found=2, expected=4):
        Study(cases=("1",), node="grit-2gpu")


def test_cases_are_of_jobs_that_can_run_together():
    for case in CASES.values():
        gpus = [gpu for job in (*case.harvesting, *case.yielding) for gpu in job.gpus]
        assert len(gpus) == len(set(gpus))


def test_one_thing_is_varied_at_a_time():
    study = Study(overrides=("workload.scale=0.002",))
    ahead = sensitivity.SWEEPS["prefetch"].scenarios(study)
    assert list(ahead) == [(value, systems.WHOLE) for value in (0, 2, 4, 8, 16, 32)]
    blocks = [ahead[value, systems.WHOLE].values["memory"]["prefetch"].get("blocks") for value in (0, 2, 32)]
    assert blocks == [None, 1, 16]
    spare = sensitivity.SWEEPS["spare"].scenarios(study)
    scales = {value: spare[value, "H"].values["job"][1]["workload"]["scale"] for value in (5, 50, 60)}
    assert scales[5] / scales[50] == pytest.approx(0.95 / 0.5, rel=1e-4)
    assert scales[60] / scales[50] == pytest.approx(0.4 / 0.5, rel=1e-4)


def test_a_case_beside_what_is_varied_is_refused(cli):
    told = cli("reproduce", "harvest", "--sensitivity", "spare", "--case", "2")
    assert told.returncode == 2
    assert "--sensitivity varies the harvester of case 1" in told.stderr


@pytest.mark.parametrize("case", [*INTRA_JOB, *TODAY])
def test_further_cases_lack_memory_where_they_harvest(case):
    scenarios = Study(overrides=("workload.scale=0.002",), cases=(case,)).scenarios()
    values = scenarios[case, systems.STOCK].values
    memory = int(values["node"]["capacity"]["bytes"].removesuffix("MiB")) << 20
    needs = [_footprint(job, ("workload.scale=0.002",)) / len(job.gpus) for job in CASES[case].harvesting]
    assert (max(needs) > memory) == (case in TODAY), "the GPUs of one job have enough together"


@pytest.mark.parametrize("case", INTER_JOB)
def test_every_harvesting_job_lacks_memory_on_gpus_of_so_many_chunks(case):
    study = Study(cases=(case,), chunks=8, few=True)
    scenarios = study.scenarios()
    assert [label for _, label in scenarios] == list(systems.JUDGED if case == "2" else systems.FEWEST)
    values = scenarios[case, systems.STOCK].values
    assert values["node"]["capacity"]["bytes"] == "16MiB"
    jobs = {job["name"]: job for job in values["job"]}
    for name, (_, role) in CASES[case].roles(shared=False).items():
        job = jobs[name]["workload"]
        alone = Job(name, {"name": job["name"]} | ({"graph": job["graph"]} if "graph" in job else {}), (0,))
        if role == "harvests":
            needs = _footprint(alone, (f"workload.scale={job['scale']}",)) / (16 << 20)
            assert 1.2 < needs < 1.8, "Louvain needs more or less by its levels"


def test_a_graph_on_several_gpus_is_a_process_on_each_or_one_with_shared_arrays():
    def jobs(**changes):
        scenarios = Study(overrides=("workload.scale=0.002",), cases=("2",), **changes).scenarios()
        return {job["name"]: job for job in scenarios["2", "H"].values["job"]}

    apart, together = jobs(), jobs(shared=True)
    assert [apart[name]["gpus"] for name in ("bfs-0", "bfs-1")] == [[0], [1]]
    assert together["bfs"]["gpus"] == [0, 1]
    assert together["bfs"]["workload"]["scale"] == pytest.approx(2 * apart["bfs-0"]["workload"]["scale"])
    assert CASES["2"].roles(shared=False)["bfs-1"] == ("bfs", "harvests")


def test_chunks_beside_a_scale_are_refused(cli):
    told = cli("reproduce", "harvest", "--chunks", "64", "--scale", "0.01")
    assert told.returncode == 2
    assert "--chunks" in told.stderr


def test_bad_options_are_named(cli):
    done = cli("reproduce", "harvest", "--case", "7")
    assert done.returncode == 2
    assert "7" in done.stderr
    done = cli("reproduce", "harvest", "--case", "1", "--need", "0.5")
    assert done.returncode == 2
    assert "--need" in done.stderr
