"""The Mosaic study: mixes, weighted speed-ups, and that published numbers are never an input."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest
from conftest import SMALL, refused

import octavo
from octavo.errors import ScenarioError
from octavo.scenarios.scenario import Recipe
from octavo_studies.mosaic import (
    at_launch,
    bloat,
    distribution,
    entries,
    fragmentation,
    machine,
    mixes,
    pages,
    paging,
    remarks,
    sharing,
    systems,
)
from octavo_studies.mosaic.study import Study, coalesced
from octavo_studies.publications import published


@pytest.fixture
def small(tmp_path):
    return Study(
        tmp_path / "out", (f"workload.scale={SMALL}",), ("trd", "gups"), copies=(1, 2), mixed=(2,), draws=1, workers=2
    )


class Fake:
    """A result with a time, and times of the programs of a mix."""

    def __init__(self, time: int, finished: list[int] | None = None) -> None:
        self.summary = self.totals = {"time_ps": time, "jobs": [{"first_end_ps": end} for end in finished or []]}


def test_weighted_speedup_is_the_sum_of_speeds_relative_to_alone():
    mix = ("hs", "gups", "hs")
    references = {key: Fake(time) for (key, _), time in zip(Study().alone(mix), (100, 300), strict=True)}
    assert list(references) == [(("hs",), "alone on 10"), (("gups",), "alone on 10")]
    shared = Fake(400, [200, 400, 100])
    assert Study().weighted_speedup(mix, shared, references) == pytest.approx(100 / 200 + 300 / 400 + 100 / 100)


def test_alone_is_gpu_mmu_on_the_same_share_of_the_units():
    ((_, variant),) = Study().alone(("hs",) * 4)
    node = Recipe.from_names("trd", node=systems.NODE).with_overrides(variant.overrides).resolve().values
    assert node["node"]["compute"]["units"] == 7
    ((_, variant),) = Study(overrides=("node.compute.units=10",)).alone(("hs",) * 4)
    assert variant.label == "alone on 2", "a share of what the shared runs have"
    assert node["memory"]["sizing"]["name"] == "base"


def test_draws_are_distinct_repeatable_and_made_of_different_applications():
    drawn = mixes.draws(mixes.APPLICATIONS, 3, 25)
    assert drawn == mixes.draws(mixes.APPLICATIONS, 3, 25)
    assert len(set(drawn)) == 25
    assert all(len(set(mix)) == 3 for mix in drawn)
    assert mixes.draws(("a", "b"), 2, 25) == [("a", "b")], "no more than there are"


def test_every_application_is_a_workload():
    known = {entry["name"] for entry in octavo.listing()["workloads"]}
    assert {mixes.workload((label,)) for label in mixes.APPLICATIONS} <= known
    assert len(mixes.APPLICATIONS) >= 20


@pytest.mark.parametrize("name", ["hs+gups", "mix", "runs/fir.trace", "nosuch"])
def test_what_is_no_single_application_is_refused(name):
    with refused("unknown-name", ScenarioError, key="application", found=name):
        Study(applications=("trd", name))


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--workload", "trd"], "mixes of 2, 3, 4, 5"), (["--workload", "trd,gups", "--mixed", "2,3"], "--mixed")],
)
def test_mixes_that_cannot_be_drawn_are_refused_before_anything_runs(cli, tmp_path, options, message):
    done = cli("reproduce", "mosaic", *options, "--output", "out")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_page_sizes_stand_beside_what_was_published(small):
    found = pages.without_paging(small)
    assert found.points["application"].to_list() == ["trd", "gups"]
    for row in found.points.to_dicts():
        assert 0 < row["4 KiB pages"] <= 1.0
        assert 0 < row["2 MiB pages"] <= 1.0
    assert [row["published"] for row in found.compared] == [0.481, 0.02]
    assert (found.root / "speed.png").is_file()


@pytest.mark.parametrize("in_time_order", [True, False])
def test_registers_in_time_order_make_misses_cost_time(tmp_path, in_time_order):
    """In the order of requests, `fft` is faster with misses than without them where registers are few."""
    order = f"node.registers_in_time_order={str(in_time_order).lower()}"
    study = Study(tmp_path / "out", ("workload.scale=0.0625", "node.l2.miss_registers=32", order), ("fft",), workers=2)
    study = replace(study, node=systems.STATED)
    speed = pages.without_paging(study).points["4 KiB pages"].item()
    assert speed < 0.97 if in_time_order else speed > 1


def test_paging_costs_time_at_either_size(small):
    means = pages.with_paging(small).means.row(0, named=True)
    assert 0 < means["2 MiB pages"] < 1.0
    assert 0 < means["4 KiB pages"] < 1.0


def test_sharing_is_counted_by_mix_and_averaged_by_number(small):
    found = sharing.homogeneous(small)
    assert found.points["mix"].to_list() == ["trd", "gups", "trd+trd", "gups+gups"]
    assert found.means["applications"].to_list() == ["1", "2", "all"]
    one = found.points.row(0, named=True)
    assert one["GPU-MMU"] == pytest.approx(1.0), "alone on all units is what it is compared with"
    overall = found.means.row(-1, named=True)
    assert overall["gain"] == pytest.approx(overall["Mosaic"] / overall["GPU-MMU"] - 1)
    assert [row["published"] for row in found.compared] == [0.555, 0.068]
    report = json.loads((found.root / "report.json").read_text())
    assert report["means"][-1]["gain"] == pytest.approx(overall["gain"])
    rates = sharing.tlb_hits(small)
    assert set(rates.means["system"]) == {"GPU-MMU", "Mosaic"}
    assert all(0.0 <= value <= 1.0 for value in rates.means["l1"])
    base = rates.points.filter(pl.col("system") == "GPU-MMU")
    assert base["l1_large"].to_list() == [0.0] * base.height
    assert sharing.heterogeneous(small).points["mix"].to_list() == ["gups+trd"]


def test_pages_can_be_there_from_the_start(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    warm = sharing.homogeneous(replace(small, output=None, data="allocation", copies=(1,)))
    cold = sharing.homogeneous(replace(small, output=None, copies=(1,)))
    assert warm.root != cold.root
    (key, variant), *_ = small.alone(("trd",))
    program = replace(small, data="allocation").recipe(key, variant).resolve().values["program"]
    assert (program["frames"], program["data"], program["alignment"]) == ("allocation", "allocation", "256B")
    assert warm.points["Mosaic"].to_list() != cold.points["Mosaic"].to_list()


def test_parts_about_paging_cannot_be_without(cli):
    done = cli("reproduce", "mosaic", "--data", "allocation", "--part", "paging")
    assert done.returncode != 0
    assert "--data allocation does not apply to paging" in done.stderr


def test_data_arrive_by_faults_at_launch_or_with_the_memory_whatever_the_number_of_copies(tmp_path):
    """Half of the study's footprint: `trd` has whole blocks there."""
    study = Study(tmp_path / "out", ("workload.scale=0.125",), ("trd",), copies=(1, 2), workers=2)
    found = sharing.arrival(study)
    assert found.means["data"].unique(maintain_order=True).to_list() == list(systems.DATA)
    assert found.points.filter(applications=1)["GPU-MMU"].to_list() == pytest.approx([1.0] * 3)
    gap = {row["data"]: row for row in found.means.filter(applications="all").to_dicts()}
    there = gap["allocation"]
    assert 0 <= there["gap to ideal"] < 0.01 < there["gain"]
    assert 0 < gap["launch"]["gain"] < there["gain"], "the bus takes its time from both"
    assert gap["fault"]["gap to ideal"] > there["gap to ideal"]
    runs = [study.recipe((("trd",) * 2, ""), of) for of in map(systems.at_launch, systems.SHARED)]
    faults = {octavo.run(run.resolve()).summary["accesses"]["faults"] for run in runs}
    assert faults == {0}


def test_numbers_of_entries_are_relative_to_gpu_mmu_with_the_published_ones(small, monkeypatch):
    monkeypatch.setattr(entries, "AXES", (entries.Axis("L1 base entries", "node.l1_tlb", (16, 128), 128),))
    found = entries.tlb_entries(small)
    published_one = found.means.filter((pl.col("entries") == 128) & (pl.col("system") == "GPU-MMU"))
    assert published_one["relative"].to_list() == pytest.approx([1.0])


@pytest.mark.parametrize(
    ("index", "occupancy", "percent"), [(0, 50, 100), (100, 50, 200), (100, 75, 400), (50, 50, 134), (100, 1, 102)]
)
def test_foreign_data_leave_just_what_applications_take(index, occupancy, percent):
    variant = fragmentation.fragmented(systems.MOSAIC, index, occupancy, "CAC")
    assert f"node.capacity.footprint_percent={percent}" in variant.overrides
    Recipe.from_names("trd+trd", node=systems.NODE).with_overrides(variant.overrides).resolve()


def test_large_frames_run_out_and_are_freed_by_compaction(tmp_path, monkeypatch):
    """Two copies of `trd` at an eighth take six large frames each: half of 24, and all of those half full."""
    monkeypatch.setattr(fragmentation, "INDICES", (0, 100))
    monkeypatch.setattr(fragmentation, "OCCUPANCIES", (50,))
    study = Study(tmp_path / "out", ("workload.scale=0.125",), ("trd",), workers=2)
    found = {(row["index"], row["compaction"]): row for row in fragmentation.fragmentation(study).means.to_dicts()}
    assert len(found) == 2 * len(fragmentation.COMPACTIONS)
    for compaction in ("CAC", "CAC-BC", "ideal CAC"):
        row = found[100, compaction]
        assert (row["compactions"], row["pages moved"], row["lacking"]) == (12, 12 * 256, 0), compaction
        assert row["large pages"] > 0 == row[sharing.BROKEN]
    never = found[100, "no CAC"]
    assert (never["compactions"], never["large pages"]) == (0, 0)
    assert never["lacking"] >= 12, "for each run of a copy"
    assert never[sharing.BROKEN] > 0
    whole = found[0, "CAC"]
    assert (whole["compactions"], whole["lacking"]) == (0, 0), "memory has just the large frames that it takes"


def held(base: int, over: float = 0.0, large: int = 0) -> Fake:
    """A result with so many base frames in use, and this bloat."""
    result = Fake(1)
    result.summary = {"memory_use": [{"base_frames": base, "bloat": over, "coalesced_frames": large}]}
    return result


def test_bloat_is_what_large_frames_have_beyond_the_pages_that_are_allocated(monkeypatch):
    """Of 600 pages that an application allocates it touches 400; they take two large frames, or three."""
    monkeypatch.setattr(bloat, "OCCUPANCIES", (75,))
    study = Study(applications=("trd",))
    known = {"GPU-MMU": held(400), "2 MiB pages": held(3), "Mosaic": held(600, 2 * 512 / 600 - 1)}
    results = {
        key: next(result for name, result in known.items() if variant.label.startswith(name))
        for key, variant in bloat._wanted(study).items()
    }
    rows = [row for row in bloat._rows(study, results) if row["buffers apart"] == "256B"]
    assert [(row["system"], row["occupancy"]) for row in rows] == [("2 MiB pages", 0), ("Mosaic", 0), ("Mosaic", 75)]
    expected = [3 * 512 / 600 - 1, 2 * 512 / 600 - 1, 2 * 512 / 600 - 1]
    assert [row["bloat"] for row in rows] == pytest.approx(expected)
    assert rows[0]["over touched"] == pytest.approx(3 * 512 / 400 - 1)


def test_large_pages_alone_bloat_buffers_that_share_none(tmp_path):
    study = Study(tmp_path / "out", ("workload.scale=0.25",), ("spmv",), ends=True, workers=2)
    found = bloat.bloat(study)
    by = {(row["buffers apart"], row["system"]): row["bloat"] for row in found.means.filter(occupancy=0).to_dicts()}
    assert by["256B", "2 MiB pages"] == pytest.approx(by["256B", "Mosaic"]), "one region, one end"
    assert by["2MiB", "2 MiB pages"] > 1 > by["2MiB", "Mosaic"] > 0
    assert (found.points["bloat"] >= 0).all()


def test_gains_are_those_of_the_same_runs_by_application(small):
    found = distribution.distribution(small)
    shared = sharing.homogeneous(small).points
    gains = (shared["Mosaic"] / shared["GPU-MMU"] - 1).to_list()
    assert found.points["gain"].to_list() == pytest.approx(gains)
    assert found.means["gain"].is_sorted(descending=True)
    row = found.means.filter(application="trd").row(0, named=True)
    own = [gain for mix, gain in zip(shared["mix"], gains, strict=True) if mix.startswith("trd")]
    assert [row["least"], row["most"]] == pytest.approx([min(own), max(own)])
    assert row["gaining"] == sum(gain > 0 for gain in own) / len(own)
    assert all(0 <= share <= 1 for share in found.points["coalesced"])


def test_coalesced_pages_are_a_share_of_those_in_memory():
    assert coalesced(held(600, large=512)) == pytest.approx(512 / 600)
    assert coalesced(Fake(1)) == 0


def test_mixes_lack_reach_if_few_lookups_hit_the_second_level_under_gpu_mmu():
    rates = {"mix": ["a", "a", "b", "b"], "system": ["GPU-MMU", "Mosaic"] * 2, "l2": [0.97, 0.99, 0.98, 0.5]}
    assert sharing.limited(pl.DataFrame(rates))["mix"].to_list() == ["a", "a"]


def test_named_mixes_are_run_beside_those_that_are_drawn():
    study = Study(applications=("trd", "gups"), mixed=(2,), draws=1, named=mixes.NAMED)
    assert study.heterogeneous == [("gups", "trd"), *mixes.NAMED]
    assert replace(study, applications=("trd", "gups", "hs"), mixed=(3,)).heterogeneous == [("gups", "hs", "trd")]


def test_the_guarantee_holds_in_ordinary_mixes_alone():
    def judge(homogeneous: int, stressed: int) -> str:
        ordinary = pl.DataFrame({"applications": ["1", "all"], sharing.BROKEN: [0, homogeneous]})
        mixed = pl.DataFrame({sharing.BROKEN: [0]})
        row = {"index": [0, 100], "occupancy": [50, 50], "compaction": ["CAC", "CAC"], sharing.BROKEN: [9, stressed]}
        return remarks._guarantee(ordinary, mixed, pl.DataFrame(row)).verdict

    assert [judge(0, 5), judge(1, 5), judge(0, 0)] == ["holds", "in part", "in part"]


def test_far_faults_are_judged_by_number_length_and_locality():
    def judge(slow: float, longer: float) -> str:
        rows = {"4 KiB pages": [1.0, 1.0], "2 MiB pages": [1.0, 1 / slow]}
        faults = {"times fewer faults": [10.0, 500.0], "times longer": [longer, longer]}
        return remarks._far_faults(pl.DataFrame({**rows, **faults})).verdict

    assert [judge(2, 6), judge(0.5, 6), judge(0.5, 0.5)] == ["holds", "in part", "in part"]


@pytest.mark.parametrize("axis", entries.AXES, ids=lambda axis: axis.name)
def test_every_setting_resolves(axis):
    for count in axis.values:
        overrides = entries._at(entries.MOSAIC, axis, count).overrides
        Recipe.from_names("trd", node=systems.NODE).with_overrides(overrides).resolve()


def test_machines_differ_in_what_a_miss_costs(small):
    found = machine.machines(replace(small, applications=("gups",), ends=True))
    losses = dict(zip(found.means["setting"], found.means["4 KiB pages"], strict=True))
    assert list(losses) == [one.name for one in machine.MACHINES if one.always]
    assert 0 < losses["stated"] < losses["stated, hits under one miss"] < losses["stated, blocking"] < 1
    assert {row["published"] for row in found.compared} == {0.481, 0.02}
    assert (found.root / "losses.png").is_file()


def test_machines_are_the_same_whatever_the_study_runs_on(small):
    for one in machine.MACHINES:
        known = [
            Recipe.from_names("trd", node=node).with_overrides(one.changes(node)).resolve().values["node"]
            for node in (systems.STATED, systems.NODE)
        ]
        assert known[0] == known[1], one.name


def test_the_machine_of_the_simulator_blocks_at_a_miss():
    stated, simulator = (
        Recipe.from_names("trd", node=node).resolve().values["node"] for node in (systems.STATED, systems.NODE)
    )
    assert stated["l1_tlb"].get("on_miss", "non-blocking") == "non-blocking"
    assert simulator["l1_tlb"]["on_miss"] == "blocking"
    assert {key for key in stated if stated[key] != simulator[key]} == {"about", "dram", "l1", "l1_tlb"}


def test_every_shipped_input_resolves():
    for name, overrides in machine.SHIPPED.items():
        shipped = Recipe.from_names(mixes.workload((name,)), node=systems.NODE).with_overrides(overrides)
        assert shipped.resolve().values["workload"]


def test_faults_cost_more_one_at_a_time_and_less_on_a_wider_bus(small):
    found = paging.faults(replace(small, applications=("streamcluster",)))
    speed = {row["setting"]: row for row in found.means.to_dicts()}
    assert list(speed) == [name for name, *_ in paging.FAULTS]
    base = {name: row["4 KiB pages"] for name, row in speed.items()}
    assert base["one fault at a time"] < base["16 faults at a time"] < base["as published"] < 1
    assert base["as published"] < base["bus without limit"]
    assert speed["faults share no bus"]["2 MiB pages"] < speed["bus without limit"]["2 MiB pages"]


def test_paging_matters_less_to_longer_programs(small):
    found = paging.lengths(replace(small, applications=("trd", "blk"), ends=True))
    assert found.points["application"].to_list() == ["blk", "blk"], "trd repeats nothing"
    short, long = found.points["4 KiB pages"]
    assert short < long < 1
    with refused("unexpected-value", ScenarioError, key="lengths"):
        paging.lengths(replace(small, applications=("trd",)))


def test_pages_that_come_at_launch_matter_less_the_more_often_programs_run(small):
    found = at_launch.at_launch(replace(small, applications=("gups", "blk")))
    assert found.means["runs"].to_list() == list(at_launch.RUNS)
    gups = found.points.filter(application="gups")
    assert gups["ideal TLB"].is_sorted()
    assert gups["ideal TLB"][0] > 0.1
    assert (gups["Mosaic"] <= gups["ideal TLB"] + 0.01).all()
    sizes = pages.without_paging(replace(small, applications=("gups",))).points["4 KiB pages"].item()
    assert gups["ideal TLB"][-1] < 1 / sizes - 1 < gups["ideal TLB"][-1] * 1.1, "without a bus at all"


def test_inputs_are_those_of_the_study_and_the_shipped_ones(small):
    found = machine.inputs(small)
    assert found.points["application"].to_list() == ["gups", "gups"], "trd ships with the study's own"
    assert found.means["setting"].to_list() == ["the study's", "shipped"]
    with refused("unexpected-value", ScenarioError, key="inputs"):
        machine.inputs(replace(small, applications=("trd",)))


def test_published_numbers_have_a_source():
    assert "MICRO 2017" in published("mosaic")["source"]
    assert published("mosaic")["homogeneous_gain"] == 0.555


@pytest.mark.parametrize(
    ("workload", "key"),
    [
        ("trd+gupz", "job[1].workload.name"),
        ("mix+trd", "job[0].workload.name"),
        ("mix", "workload.applications"),
    ],
)
def test_bad_mixes_are_refused_by_their_key(workload, key):
    with refused("unexpected-value", octavo.ScenarioError, key=key):
        Recipe.from_names(workload, node=systems.NODE).resolve()


def test_large_pages_under_grit_on_four_gpus_are_a_scenario(tmp_path):
    overrides = {
        "node.gpus": 4,
        "memory.sizing": "mosaic",
        "memory.allocator": "cocoa",
        "record.events": False,
    }
    result = octavo.run(
        workload="stencil2d",
        placement="grit",
        node=systems.NODE,
        scale=0.25,
        overrides=overrides,
        output=tmp_path / "out",
    )
    assert result.summary["manager"]["coalesced"] > 0
    assert result.summary["accesses"]["l1_tlb_large_hits"] > 0


def test_the_reduced_set_is_one_command(cli):
    arguments = ("reproduce", "mosaic", "--reduced", "--scale", str(SMALL), "--workload", "trd,nn", "--json")
    done = cli(*arguments, "--part", "page-sizes", "--part", "hit-rates", "-o", "out")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert set(document) == {"folder", "remarks", "page-sizes", "hit-rates"}
    assert document["page-sizes"]["compared"][0]["published"] == 0.481
    again = cli(*arguments, "--part", "page-sizes", "-o", "out")
    assert json.loads(again.stdout)["page-sizes"] == document["page-sizes"], "what is finished is kept"


@pytest.mark.parametrize("value", ["two", "0", "1,31"])
def test_numbers_of_applications_are_checked(cli, value):
    done = cli("reproduce", "mosaic", "--copies", value)
    assert done.returncode != 0
    assert "--copies" in done.stderr
