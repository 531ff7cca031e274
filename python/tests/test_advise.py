"""Advice on programs and profiles: facts with their origin, placements, budgets, what simulating them finds."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import polars as pl
import pytest
from conftest import SMALL, contents, refused
from nsys_exports import HTOD, KIB, MIB, A, B, Export, saxpy

import octavo
from octavo.advice import activity, exhaustive, profiles, systems
from octavo.advice.facts import PLACEMENTS
from octavo.advice.proposal import plan
from octavo.advice.words import Library
from octavo.cli.advice_text import _show_actions
from octavo.cli.sink import Sink
from octavo.measurements.imports import import_nsys
from octavo.quantities import bytes_of

PAGE = 4096
VECTORS: dict = {"scale": SMALL, "placements": ["device", "managed", "pinned"]}


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """Every placement of three vectors, but for prefetches."""
    folder = tmp_path_factory.mktemp("advice") / "vectors"
    return octavo.advise("vectoradd", exhaustive=True, output=folder, **VECTORS), folder


@pytest.fixture(scope="module")
def bfs():
    return octavo.advise("bfs-shoc", scale=SMALL)


def by_name(advice):
    return {each.buffer.name: each for each in advice.plan.buffers}


def test_every_fact_and_constant_says_where_it_comes_from(vectors):
    document = vectors[0].to_dict()
    facts = [fact for buffer in document["buffers"] for fact in buffer["facts"].values()]
    assert facts
    assert all(fact["where"] and fact["low"] <= fact["value"] <= fact["high"] for fact in facts)
    assert {fact["certainty"] for fact in facts} == {"counted", "simulated", "estimated"}
    assert all(each["where"] and each["certainty"] for each in document["system"].values())


def test_facts_of_a_run_are_those_of_its_events(vectors):
    advice, folder = vectors
    run = octavo.RunResult.load(folder / "managed")
    rows = {row["allocation"]: row for row in run.table("allocations").to_dicts()}
    lines = octavo.RunResult.load(folder / "pinned").table("allocations")
    pinned = {row["allocation"]: row for row in lines.to_dicts()}
    for name, each in by_name(advice).items():
        facts, row = each.buffer.facts, rows[name]
        # The driver discards faults that it has not taken; they come again.
        assert 0 < facts["faults"].value <= row["read_fault"] + row["write_fault"]
        inside = pl.col("address").is_between(row["address"], row["address"] + row["bytes"], closed="left")
        taken = run.table("events").filter(pl.col("kind").cast(str).str.ends_with("_fault") & inside)
        assert facts["faults"].value == taken["pages"].sum()
        assert (facts["sigma"].value, facts["rho"].value) == (1, 1)
        assert facts["lines"].value == pinned[name]["remote_lines"] * 64
        assert each.buffer.size == row["bytes"]
    assert by_name(advice)["a"].buffer.first == "device"
    assert by_name(advice)["b"].buffer.first == "host"


def test_what_is_found_is_what_whole_programs_take(vectors):
    advice, _ = vectors
    kinds = {f"program.buffers.{name}.kind": kind for name, kind in advice.placements.items()}
    of = {"workload": "vectoradd", "node": "cuda-sm90", "scale": SMALL, "kind": "managed"}
    present = octavo.run(**of, overrides={"memory.preset": "stock-driver"})
    advised = octavo.run(**of, overrides={"memory.preset": "stock-driver", **kinds})
    assert advice.found.present == present.seconds
    assert advice.found.advised == advised.seconds
    assert advice.found.gain == present.seconds - advised.seconds


def test_an_exhaustive_search_runs_everything_once(vectors):
    advice, folder = vectors
    points = advice.exhausted.points
    assert sorted(points["placements"]) == sorted("".join(each) for each in product("dmp", repeat=3))
    assert points["regret"][0] == 0
    assert points["seconds"].is_sorted()
    assert points.filter("is_present")["placements"].to_list() == ["mmm"]
    best = points["seconds"].min()
    assert advice.exhausted.regret == pytest.approx(advice.found.advised / best - 1)
    before = contents(folder / "runs")
    again = octavo.advise("vectoradd", exhaustive=True, output=folder, **VECTORS)
    assert again.to_dict() == advice.to_dict()
    assert contents(folder / "runs") == before


def test_predictions_are_within_a_factor_of_what_is_found(bfs):
    """The guard's naps are most of this program; the model has them, and the advice removes them."""
    assert by_name(bfs)["flag"].ruled_out == ["managed"]
    assert bfs.placements["flag"] != "managed"
    assert bfs.found.advised < bfs.found.present
    assert 0.5 < bfs.plan.gain.value / bfs.found.gain < 2


def test_a_budget_is_kept_and_what_it_leaves_out_is_said():
    of = {"scale": SMALL, "quick": True, "kind": "explicit", "placements": ["device", "managed"]}
    free = octavo.advise("fir", **of)
    sizes = {name: each.buffer.size for name, each in by_name(free).items()}
    for budget in (64, 200_000, sizes["input"], 2 * sizes["input"]):
        advice = octavo.advise("fir", budget=budget, **of)
        assert sum(sizes[name] for name, kind in advice.placements.items() if kind == "device") <= budget
        assert advice.plan.exact
    assert "larger than the device memory" in by_name(octavo.advise("fir", budget="64B", **of))["input"].why


def test_a_budget_is_of_the_program_at_scale_1_or_a_share_of_it():
    def budget(scale, budget):
        found = octavo.advise("fir", budget=budget, scale=scale, quick=True, node="cuda-sm90")
        return found.plan.budget / sum(each.buffer.size for each in found.plan.buffers)

    assert budget(1 / 64, "80MB") == pytest.approx(budget(1 / 16, "80MB"), rel=0.01)
    assert budget(1 / 64, "80MB") == pytest.approx(80e6 / 162e6, rel=0.01)
    assert budget(1 / 64, "60%") == pytest.approx(0.6, rel=0.01)


def test_the_present_placement_is_that_of_the_scenario(tmp_path):
    path = tmp_path / "mixed.toml"
    path.write_text(
        'node.preset = "cuda-sm90"\nmemory.preset = "stock-driver"\n'
        '[workload]\nname = "vectoradd"\nscale = 0.015625\n'
        '[program]\nkind = "explicit"\n[program.buffers.b]\nkind = "pinned"\n'
    )
    advice = octavo.advise(path, quick=True)
    assert advice.plan.present == {"a": "device", "b": "pinned", "c": "device"}
    assert all(each.gain.value >= 0 for each in advice.plan.buffers)


def test_a_managed_run_is_not_run_again(tmp_path):
    of = {"node": "cuda-sm90", "scale": SMALL, "overrides": {"memory.preset": "stock-driver"}}
    octavo.run(workload="vectoradd", kind="managed", output=tmp_path / "run", **of)
    advice = octavo.advise(tmp_path / "run", output=tmp_path / "advice")
    assert not (tmp_path / "advice" / "managed").exists()
    assert advice.placements == octavo.advise("vectoradd", scale=SMALL).placements
    with refused("conflict", octavo.AdviceError, key="node"):
        octavo.advise(tmp_path / "run", node="cuda-sm80")


def test_a_run_of_another_scenario_tells_nothing(tmp_path):
    of = {"node": "cuda-sm90", "overrides": {"memory.preset": "stock-driver"}}
    octavo.run(workload="vectoradd", kind="managed", scale=SMALL, output=tmp_path / "run", **of)
    larger = octavo.advise(tmp_path / "run", scale=2 * SMALL, output=tmp_path / "advice")
    assert (tmp_path / "advice" / "managed").is_dir()
    expected = octavo.advise("vectoradd", scale=2 * SMALL)
    assert larger.to_dict()["buffers"] == expected.to_dict()["buffers"]


def test_another_budget_needs_another_folder_or_force(tmp_path):
    of = {"scale": SMALL, "placements": ["device", "managed"], "output": tmp_path / "advice"}
    octavo.advise("vectoradd", exhaustive=True, **of)
    for changed in ({"budget": 0}, {"placements": ["managed"]}, {"readings": "published"}, {"quick": True}):
        with refused("other-result", octavo.OutputError, file="advice"):
            octavo.advise("vectoradd", **{**of, **changed})
    forced = octavo.advise("vectoradd", budget=0, force=True, **of)
    assert set(forced.placements.values()) == {"managed"}
    assert not (tmp_path / "advice" / "points.parquet").exists()


@pytest.mark.parametrize("asked", [{"runs": 2}, {"exhaustive": True}])
def test_force_replaces_runs_of_another_scenario(tmp_path, asked):
    of = {"placements": ["device", "managed"], "output": tmp_path / "advice", "quick": True, **asked}
    octavo.advise("vectoradd", scale=SMALL, **of)
    larger = octavo.advise("vectoradd", scale=2 * SMALL, force=True, **of)
    assert larger.found == octavo.advise("vectoradd", scale=2 * SMALL, **{**of, "output": None}).found


def test_points_of_an_earlier_search_do_not_stay(tmp_path):
    of = {"scale": SMALL, "placements": ["device", "managed"], "output": tmp_path / "advice", "quick": True}
    octavo.advise("vectoradd", exhaustive=True, **of)
    octavo.advise("vectoradd", **of)
    assert not (tmp_path / "advice" / "points.parquet").exists()
    assert (tmp_path / "advice" / "runs" / "ddd").is_dir()


def test_what_may_lie_nowhere_else_comes_first(bfs):
    """`flag` thrashes, so that without pinned memory it has to be on the device."""
    buffers = [each.buffer for each in bfs.plan.buffers]
    flag, edges = by_name(bfs)["flag"].buffer, by_name(bfs)["edges"].buffer
    both: list = ["device", "managed"]
    for budget in (flag.size, edges.size):
        found = plan(buffers, bfs.constants, budget=budget, placements=both)
        assert found.placements["flag"] == "device"
        assert sum(each.buffer.size for each in found.buffers if each.placement == "device") <= budget
    with refused("unexpected-value", octavo.AdviceError, found=4, expected=3):
        plan(buffers, bfs.constants, budget=flag.size - 1, placements=both)


def test_pinned_memory_alone_is_refused_where_nothing_is_known_of_it(bfs):
    unknown = [replace(each.buffer, can_pin=False) for each in bfs.plan.buffers]
    with refused("no-advice", octavo.AdviceError, key="levels"):
        plan(unknown, bfs.constants, placements=["pinned"])


def test_programs_larger_than_the_device_lie_on_the_host(bfs):
    buffers = [each.buffer for each in bfs.plan.buffers]
    tiny = replace(bfs.constants, system=replace(bfs.constants.system, capacity=2))
    assert "device" not in plan(buffers, tiny).placements.values()
    with refused("unexpected-value", octavo.AdviceError, found=524288, expected=2) as caught:
        plan(buffers, tiny, placements=["device"])
    assert caught.value.hint == "allow other --placements"


def test_a_budget_below_every_buffer_is_one_without_device_memory():
    advice = octavo.advise("fir", scale=SMALL, quick=True, budget=1)
    assert "device" not in advice.placements.values()
    with refused("unexpected-value", octavo.ScenarioError, key="budget", found="-1"):
        octavo.advise("fir", scale=SMALL, quick=True, budget=-1)


def test_groups_of_faults_by_hand():
    system = replace(systems.from_node("machines/h100.toml").system, fault_wait=0.0, fault=1e-6)
    times, one = [0.0, 1e-6, 2e-6, 3e-6, 1.0], [0] * 5
    # The first is served alone; the next three have come when it is done; the last comes a second later.
    assert activity._groups(times, one, system) == [0, 1, 1, 1, 2]
    done = system.fault_group + system.fault_block + system.fault
    late = [0.0, done + 1e-9, done + 2e-9]
    assert activity._groups(late, one, system) == [0, 1, 2]
    # An idle driver waits a moment before it takes a group; two blocks in a group take it longer.
    waiting = replace(system, fault_wait=2.5e-6)
    assert activity._groups(times, one, waiting) == [0, 0, 0, 1, 2]
    after = [0.0, 2e-6, 2.5e-6 + done + system.fault + 1e-9]
    assert activity._groups([*after, 1.0], [0, 0, 0, 0], waiting) == [0, 0, 1, 2]
    assert activity._groups([*after, after[-1] + 1e-9, 1.0], [0, 1, 2, 0, 0], waiting) == [0, 0, 1, 1, 2]


def test_pages_of_runs_that_overlap_are_counted_each_time_and_once():
    # 0-3, 2-5 and again 2, each of which pages of the buffer (1 to 4) count; what lies beside it does not.
    rows = pl.DataFrame({"address": [2 * 4096, 0, 2 * 4096, 9 * 4096], "pages": [4, 4, 1, 2]})
    assert activity._pages(rows, activity.Place(4096, 4 * 4096), 4096) == (7, 4)
    assert activity._pages(rows.clear(), activity.Place(4096, 4 * 4096), 4096) == (0, 0)


def test_a_profile_is_advised_on(tmp_path, cli):
    import_nsys(saxpy(tmp_path / "saxpy.sqlite"), tmp_path / "saxpy")
    done = cli("advise", "saxpy", "--node", "cuda-sm80", "--json", "-o", "advice")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    found = {buffer["name"]: buffer for buffer in document["buffers"]}
    assert [found[name]["size"] for name in ("managed 1", "x")] == [MIB, 64 * KIB]
    assert found["managed 1"]["facts"]["rho"] == {
        "value": 1.5,
        "low": 1.5,
        "high": 1.5,
        "certainty": "recorded",
        "where": "events of the profile",
    }
    assert all(buffer["advised"] != "pinned" for buffer in found.values())
    assert (tmp_path / "advice" / "roofline.png").stat().st_size > 1000


def test_an_address_that_is_used_again_is_another_buffer(tmp_path):
    result = import_nsys(saxpy(tmp_path / "saxpy.sqlite"), tmp_path / "saxpy")
    advice = octavo.advise(result.folder)
    faults = {name: each.buffer.facts["faults"].value for name, each in by_name(advice).items()}
    assert (faults["managed 1"], faults["managed 2"]) == (2, 1)


def test_profiles_that_tell_too_little_are_refused(tmp_path):
    export = Export(tmp_path / "bare.sqlite")
    export.copy(10, HTOD, A, 64 * KIB)
    result = import_nsys(export.save(), tmp_path / "bare")
    with refused("unexpected-value", octavo.AdviceError, file="bare", found=1):
        octavo.advise(result.folder)
    known = import_nsys(saxpy(tmp_path / "saxpy.sqlite"), tmp_path / "saxpy")
    with refused("missing", octavo.AdviceError):
        octavo.advise(known.folder, exhaustive=True)
    assert any("no run has checked it" in note for note in octavo.advise(known.folder).notes)


@pytest.mark.parametrize(
    ("changed", "option"),
    [
        (["--kind", "explicit"], "--kind"),
        (["--scale", "1/2"], "--scale"),
        (["--seed", "0"], "--seed"),
        (["--set", "memory.page=4KiB"], "--set"),
    ],
)
def test_a_profile_cannot_be_changed(tmp_path, cli, changed, option):
    import_nsys(saxpy(tmp_path / "saxpy.sqlite"), tmp_path / "saxpy")
    done = cli("advise", "saxpy", *changed)
    assert done.returncode == 2
    assert "a profile has no scenario to change" in " ".join(done.stderr.split())
    assert f"leave out {option}" in " ".join(done.stderr.split())


def test_what_is_sampled_of_a_process_has_no_buffers(tmp_path, cli):
    assert cli("profile", "--quiet", "-o", "sampled", "--", "true").returncode == 0
    done = cli("advise", "sampled")
    assert done.returncode == 2
    assert "sampled: expected buffers, found what octavo profile sampled" in " ".join(done.stderr.split())
    assert "octavo profile --buffers -o FOLDER" in " ".join(done.stderr.split())


def test_what_an_import_took_for_granted_is_said_with_the_advice(tmp_path):
    """An allocation whose bytes come again while it is alive: its end was not recorded, or the two alias."""
    export = Export(tmp_path / "alias.sqlite")
    export.memory(1000, A, MIB)
    export.memory(1100, A + PAGE, MIB)
    export.gpu_fault(2000, A, 3)
    export.copy(2100, HTOD, A, 64 * KIB)
    result = import_nsys(export.save(), tmp_path / "alias")
    told = "import: allocations whose end was not recorded; they end where their address is used again (1)"
    assert told in octavo.advise(result.folder).notes


def test_buffers_that_alias_are_refused():
    def row(name, address, begin, end):
        return {"allocation": name, "address": address, "bytes": MIB, "allocated_ps": begin, "freed_ps": end}

    with refused("conflict", octavo.AdviceError, key="b", found="a"):
        profiles._refuse_aliases([row("a", A, 0, None), row("b", A + PAGE, 5, 9)])
    profiles._refuse_aliases([row("a", A, 0, 5), row("b", A, 5, None), row("c", B, 0, None)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fir", "--budget", "1B", "--placements", "device"], "expected at most 1 B, all of the budget, found"),
        (["fir", "--budget", "_B"], "--budget: expected a size such as 40GB or 512MiB, found _B"),
        (["fir", "--budget", "9" * 400 + "B"], "--budget: expected a size such as 40GB or 512MiB, found 999"),
        (["bfs-shoc", "--placements", "managed"], "`flag`: none is left of --placements managed: host and device"),
        (["fir", "--budget", "40"], "--budget: expected a size such as 40GB or 512MiB, found 40"),
        (["fir", "--placements", "gpu"], "expected some of device, managed, prefetched, pinned, found gpu"),
        (["fir", "--node", "grit-4gpu", "--placements", "prefetched"], "expected others beside prefetched on 4 GPUs"),
        (["fir", "--node", "old.toml"], "expected a machine file of format 1, found 3"),
        (["fri"], "unknown workload `fri`, expected one of"),
        (["empty"], "empty"),
    ],
)
def test_bad_input_is_told(tmp_path, cli, arguments, message):
    (tmp_path / "old.toml").write_text('format = 3\n[machine]\ngpu = "x"\n')
    done = cli("advise", *arguments, "--scale", "1/64", "--quick")
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_too_many_placements_are_refused(vectors, monkeypatch):
    monkeypatch.setattr(exhaustive, "MOST_RUNS", 26)
    with refused("unexpected-value", octavo.AdviceError, key="exhaustive", expected=26):
        exhaustive.choices(vectors[0].plan, PLACEMENTS)


def test_people_are_told(tmp_path, cli):
    done = cli("advise", "gups", "--scale", "1/64", "--facts", "-o", "advice")
    assert done.returncode == 0, done.stderr
    for words in ("Predicted gain", "Found", "starts, 2097152", "What is known"):
        assert words in done.stdout
    table = pl.read_parquet(tmp_path / "advice" / "buffers.parquet")
    assert table["buffer"].to_list() == ["table", "starts"]


def test_people_are_told_that_all_is_well(vectors, capsys):
    plan = vectors[0].plan
    as_it_is = [replace(each, placement=each.buffer.present) for each in plan.buffers]
    _show_actions(Sink(as_json=False), replace(vectors[0], plan=replace(plan, buffers=as_it_is)), Library.cuda)
    assert capsys.readouterr().out == "Nothing needs to change.\n"


def test_sizes_as_people_write_them():
    assert [bytes_of(each) for each in ("64B", "1.5KiB", "2KB", "40 GB", "1TiB", "1_000KB")] == [
        64,
        1536,
        2000,
        40 * 10**9,
        1 << 40,
        10**6,
    ]


def test_a_placement_file_that_cannot_be_written_is_refused_before_anything_runs(cli, tmp_path):
    done = cli("advise", "vectoradd", "-s", "1/256", "--placement-file", "p.json", "-o", "out")
    assert done.returncode == 2
    assert "vectoradd: expected advice on a recording, whose call sites" in done.stderr
    (tmp_path / "profile.json").write_text("{}")
    (tmp_path / "p.json").write_text("mine")
    done = cli("advise", "profile.json", "--placement-file", "p.json", "-o", "out")
    assert "p.json exists already" in done.stderr
    done = cli("advise", "profile.json", "--placement-file", ".", "--force", "-o", "out")
    assert "cannot write .: it is a folder" in done.stderr
    assert not (tmp_path / "out").exists()


def test_pages_that_go_to_and_fro_are_held_up_whoever_writes_them():
    """The host writes the clusters of k-means before each of ten launches; kernels read them alone."""
    found = octavo.advise("kmeans", scale=1 / 16, placements=["device", "managed"], quick=True)
    clusters = {each.buffer.name: each for each in found.plan.buffers}["clusters"]
    assert (clusters.placement, clusters.buffer.write_shared) == ("device", False)
    # Ten stores of the host between launches, three of which the guard lets pass; 500 us each.
    assert clusters.penalties["managed"].thrashing == pytest.approx(7 * 500e-6)


def test_a_program_that_prefetches_already_is_compared_with_itself(tmp_path):
    """What it says of managed memory is kept where the buffer stays managed, and goes where it does not."""
    path = tmp_path / "prefetching.toml"
    path.write_text(
        'node.preset = "cuda-sm90"\nmemory.preset = "stock-driver"\n'
        '[workload]\nname = "vectoradd"\nscale = 0.015625\n[program]\nkind = "managed"\n'
        '[program.buffers.b]\nprefetch = "gpu0"\nread_mostly = true\n'
    )
    advice = octavo.advise(path, exhaustive=True)
    assert advice.plan.present == {"a": "managed", "b": "prefetched", "c": "managed"}
    assert advice.found.present == octavo.run(path).seconds
    assert advice.found.advised < advice.found.present
    found = {row["placements"]: row["seconds"] for row in advice.exhausted.points.to_dicts()}
    plain = octavo.run(workload="vectoradd", node="cuda-sm90", scale=SMALL, kind="explicit")
    assert found["ddd"] == plain.seconds


def test_a_proposal_can_be_left_unchecked(cli):
    done = cli("advise", "vectoradd", "--scale", "1/256", "--runs", "0", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["found"] is None
    done = cli("advise", "vectoradd", "--scale", "1/256", "--runs", "2", "--json")
    candidates = json.loads(done.stdout)["found"]["candidates"]
    assert len(candidates) <= 2
    assert all({"placements", "predicted", "seconds"} == each.keys() for each in candidates)


def test_no_gain_exceeds_the_time_of_a_recording(tmp_path):
    allocation = {"kind": "managed", "call": "cudaMallocManaged", "bytes": 64 * MIB, "site": 0}
    names = ("copied_in", "copied_out", "copied_within", "filled", "prefetched")
    ways = {name: {"calls": 0, "bytes": 0} for name in names}
    told = {"octavo_profile": 1, "sites": [[]], "allocations": [{**allocation, **ways}], "time_ns": 2_000_000}
    (tmp_path / "profile.json").write_text(json.dumps(told))
    advice = octavo.advise(tmp_path / "profile.json", node="machines/h100.toml")
    assert advice.found is None
    assert 0 < advice.plan.gain.value <= advice.plan.gain.high <= 2e-3
    del told["time_ns"]
    (tmp_path / "profile.json").write_text(json.dumps(told))
    longer = octavo.advise(tmp_path / "profile.json", node="machines/h100.toml")
    # Measured on this machine: 64 MiB that the host wrote take 8.3 ms at faults, and 1.65 ms prefetched.
    assert 2e-3 < longer.plan.gain.value < 10e-3
