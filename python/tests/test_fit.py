"""Whether programs fit, what it costs if not, and plans of moves beside the cheapest that a search finds."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from conftest import refused
from move_search import anything, cheapest

import octavo
from octavo.advice.fit import footprint, oversubscription, paging, picture, streaming
from octavo.advice.fit import weigh as weighing
from octavo.advice.fit.costs import Costs, reserve
from octavo.advice.fit.plan import Load, plan
from octavo.advice.fit.sequence import Change, Piece, Step, Story
from octavo.advice.fit.weigh import weigh
from octavo.advice.systems import from_node
from octavo.errors import AdviceError, ScenarioError

MIB, GB = 1 << 20, 10**9
A, B, C = range(3)
COSTS = Costs(10e9, 1e9, 40e9, 40e9, 5e9, 50e9, 0.0, 20e9, 0.0, 50e9, 50e9, 0.0, 0.0)
"""Round numbers: pages come at 10 GB/s, prefetches at 50, streams at 50."""


def launch(*uses, writes=(), fills=(), **more):
    return Step("k", on_device=True, uses=frozenset(uses), writes=frozenset(writes), fills=frozenset(fills), **more)


def host(*, reads=(), writes=()):
    return Step("host", reads=frozenset(reads), replaces=frozenset(writes))


def planned(*steps, sizes=(1, 1, 1), room=2):
    loads = [Load(size, 2.0 * size, 1.0 * size) for size in sizes]
    return plan(loads, steps, [room] * len(steps))


def said(found):
    return [(move.step, move.piece, move.way) for move in found.moves]


def test_what_is_used_last_leaves_first():
    found = planned(host(writes=(A, B, C)), launch(A), launch(B), launch(C), launch(B), launch(A))
    assert said(found)[2:4] == [(3, A, "dropped"), (3, C, "to-device")]
    assert found.seconds == 8.0


def test_what_was_written_is_copied_back_only_if_somebody_needs_it():
    begin = [host(writes=(A, B, C)), launch(A, B, writes=(A, B)), launch(C)]
    assert ("to-host" in {way for _, _, way in said(planned(*begin, room=2))}) is False, "nobody reads A or B again"
    assert (2, A, "to-host") in said(planned(*begin, host(reads=(A,)), room=1 + 1))
    assert planned(*begin, launch(A, writes=(A,), fills=(A,)), room=2).seconds == 6.0, (
        "A is overwritten: it leaves free"
    )


def test_a_copy_that_is_due_anyway_costs_nothing_sooner():
    """A goes back for the host, so A leaves and not B, though B is written as well and used as late."""
    begin = [host(writes=(A, B, C)), launch(A, B, writes=(A, B)), launch(C)]
    found = planned(*begin, host(reads=(A,)), launch(A, B, writes=(A, B)), host(reads=(B,)))
    assert (2, A, "to-host") in said(found)
    assert (2, B, "to-host") not in said(found)


def test_large_and_cheap_buffers_leave_before_small_and_dear_ones():
    steps = [host(writes=(A, B, C)), launch(A, B), launch(C), launch(A), launch(B)]
    loads = [Load(4, 1.0, 1.0), Load(4, 9.0, 1.0), Load(4, 1.0, 1.0)]
    found = plan(loads, steps, [8] * len(steps))
    assert (2, A, "dropped") in said(found), "A is used before B, and still is the one to leave"


def test_plans_are_as_good_as_what_a_search_finds():
    """Never better, rarely worse; all within a quarter."""
    ratios = []
    for seed in range(300):
        loads, steps, rooms = anything(seed)
        best, found = cheapest(loads, steps, rooms), plan(loads, steps, rooms)
        assert found.seconds >= best - 1e-9, seed
        check(found, loads, steps, rooms)
        ratios.append(found.seconds / best if best else 1.0 + found.seconds)
    assert max(ratios) <= 1.25
    assert sum(ratios) / len(ratios) < 1.01
    assert sum(ratio < 1 + 1e-9 for ratio in ratios) > 0.95 * len(ratios)


def check(found, loads, steps, rooms):
    """What a launch uses is there, and there is room for all that is."""
    for step, held, room in zip(steps, found.held, rooms, strict=True):
        if step.on_device:
            assert step.uses <= set(held)
            assert sum(loads[piece].size for piece in held) <= room
    assert sum(move.seconds for move in found.moves) == pytest.approx(found.seconds)


def test_what_does_not_fit_beside_the_smallest_passes_through():
    sizes, steps = [4 * GB, 30 * GB, 1 * GB], [launch(A, B, C, writes=(B,)), launch(A)]
    found = oversubscription.served(sizes, steps, [24 * GB] * 2)
    assert [(each.step, each.pieces, each.left) for each in found.passing] == [(0, (B,), 19 * GB)]
    assert (found.steps[0].uses, found.steps[0].replaces, found.rooms) == ({A, C}, {B}, [5 * GB, 24 * GB])
    assert found.steps[1] == steps[1]


def test_paging_brings_all_of_what_comes_around_too_late():
    """Least recently used is the worst there is for what is gone through in turns."""
    steps = [host(writes=(A, B)), *[launch(A), launch(B)] * 3]
    found = paging.on_demand([10, 10], steps, [15] * len(steps))
    assert (found.came, found.went) == (10 + 10 + 4 * 10, 5 + 4 * 10)
    free = paging.on_demand([10, 10], steps, [99] * len(steps))
    assert (free.came, free.went) == (20, 0)
    alone = paging.on_demand([30], [host(writes=(0,)), launch(0), launch(0)], [20] * 3)
    assert (alone.came, alone.went) == (60, 40)


def test_the_first_touch_brings_nothing():
    found = paging.on_demand([10, 10], [launch(A), launch(B), launch(A)], [10] * 3)
    assert (found.came, found.went) == (10, 20)


def test_launches_that_touch_a_part_each_come_around():
    """A tenth of 100 bytes each, 20 times: what 50 bytes can hold is gone when it is used again."""
    steps = [host(writes=(A,)), *[launch(A, share={A: 0.1})] * 20]
    assert paging.on_demand([100], steps, [50] * len(steps)).came == pytest.approx(200)
    assert paging.on_demand([100], steps, [100] * len(steps)).came < 100


def test_streaming_in_tiles_by_hand():
    """30 GB read at 50 GB/s, but for 19 GB less a window that stay; the kernel runs meanwhile."""
    steps, passing = [launch(A, seconds=0.01)], [oversubscription.Passing(0, (A,), 19 * GB)]
    [found] = streaming.streamed([30 * GB], steps, passing, COSTS)
    assert (found.tile, found.kept) == (32 * MIB, 19 * GB - 64 * MIB)
    assert found.seconds == pytest.approx((11 * GB + 64 * MIB) / 50e9, rel=0.01)
    assert found.paging == pytest.approx(30 / 10 + (30 - 19) / 40 + 0.01)
    assert found.helps
    sparse = streaming.streamed([30 * GB], [launch(A, share={A: 0.01})], passing, COSTS)
    assert not sparse[0].helps


def test_what_the_device_wrote_before_is_there_if_it_fits():
    """Streaming brings 11 GB; where all fits nothing comes at the second launch, unless the host wrote in between."""
    passing = [oversubscription.Passing(1, (A,), 19 * GB)]
    takes = pytest.approx(11 / 50, rel=0.01)
    assert streaming.beyond([30 * GB], [launch(A, writes=(A,)), launch(A)], passing, COSTS) == takes
    late = [oversubscription.Passing(2, (A,), 19 * GB)]
    written = [launch(A), host(writes=(A,)), launch(A)]
    assert streaming.beyond([30 * GB], written, late, COSTS) == pytest.approx(11 / 50 - 30 / 10, rel=0.01)


def test_the_host_reads_before_a_buffer_is_freed():
    """What comes back for the host is no eviction, though the buffer is freed before the next launch."""
    steps = [host(writes=(A,)), launch(A, writes=(A,)), replace(host(reads=(A,)), launch=1), launch(B, launch=1)]
    told = story(*steps, sizes=(10, 10))
    told = replace(told, changes=(*told.changes, Change(A, freed=True, launch=1)))
    freed = [step.frees for step in weighing._freeing(told)]
    assert freed == [frozenset(), frozenset(), frozenset(), {A}]


def story(*steps, kinds=("managed", "managed"), sizes=(10 * GB, 10 * GB)):
    pieces = tuple(Piece(name, size, kind) for name, size, kind in zip("abc", sizes, kinds, strict=False))
    changes = tuple(Change(number, freed=False, launch=0, seconds=0.5) for number in range(len(pieces)))
    return Story("program", pieces, changes, steps, 1.0)


def test_explicit_memory_is_refused_and_managed_memory_leaves():
    told = story(kinds=("managed", "explicit", "explicit"), sizes=(30 * GB, 10 * GB, 15 * GB))
    points = footprint.over_time(told)
    assert (footprint.peak(points).all, footprint.peak(points).explicit) == (55 * GB, 25 * GB)
    found = footprint.refused(told, points, 24 * GB)
    assert (found.piece, found.total, found.most, found.seconds) == ("c", 25 * GB, 25 * GB, 0.5)
    assert footprint.refused(told, points, 25 * GB) is None


def test_explicit_memory_leaves_less_room_to_managed_memory():
    told = story(launch(A), kinds=("managed", "explicit"))
    assert footprint.rooms(told, footprint.over_time(told), 15 * GB) == [5 * GB]


def test_ways_to_run_are_weighed():
    turns = [host(writes=(A, B)), *[launch(A), launch(B)] * 4]
    told = story(*turns)
    found = weigh(told, footprint.over_time(told), 15 * GB, COSTS)
    # Paging lets go of what comes next, so that all comes each time; planned, a buffer moves whole as well, but faster.
    assert found.paging.value == pytest.approx(6 * 10 / 10 + (5 + 6 * 10) / 40)
    assert found.paging.low < found.paging.value < found.paging.high
    assert found.moves.value == pytest.approx(6 * (10 / 50 + 10 / 20))
    assert found.streaming is None
    told = story(*turns, sizes=(10 * GB, 30 * GB))
    found = weigh(told, footprint.over_time(told), 15 * GB, COSTS)
    assert [(one.piece, one.launches) for one in found.streams] == [(B, 4)]
    assert found.streaming.value < found.moves.value


def test_what_the_driver_keeps_is_little_of_little_memory():
    assert reserve(24 * GB) == 24 * GB // 64
    assert reserve(80 * GB) == 512 * MIB


def test_constants_come_from_what_was_measured():
    measured = Costs.of(from_node("machines/h100.toml"))
    assert measured.stream_in == pytest.approx(55.077e9)
    assert measured.leaf <= measured.demand <= measured.link


def test_a_program_that_fits_is_not_simulated(cli):
    done = cli("fit", "fir", "--memory", "24GB", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"], found["ways"], found["moves"]) == (0, "fits", [], [])
    assert found["usable"] == 24 * GB - 24 * GB // 64
    assert found["peak"]["managed"] == found["peak"]["all"] > 0
    assert "fits" in cli("fit", "fir", "--memory", "24GB").stdout


def test_a_program_that_slows_is_simulated_three_ways(cli, tmp_path):
    done = cli("fit", "fir", "--memory", "60%", "--scale", "1/64", "--json", "-o", "runs")
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"]) == (0, "slows"), done.stderr
    assert {way["name"]: way["how"] for way in found["ways"]}["paging"] == "simulated"
    assert all(way["seconds"] >= found["seconds"] for way in found["ways"] if way["name"] == "moves")
    assert found["best"] in {way["name"] for way in found["ways"]}
    kept = json.loads((tmp_path / "runs" / "fit.json").read_text())
    assert kept["ways"] == found["ways"]
    assert cli("fit", "fir", "--memory", "60%", "--scale", "1/64", "-o", "runs").returncode == 0


def test_a_program_that_fails_says_which_allocation(cli):
    done = cli("fit", "fir", "--memory", "60%", "--scale", "1/64", "--kind", "explicit", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"]) == (0, "fails"), done.stderr
    assert found["refused"]["total"] > found["usable"]
    assert found["refused"]["piece"] in {piece["name"] for piece in found["pieces"]}
    assert found["ways"], "managed memory would make it run"


@pytest.mark.parametrize(("workload", "streams"), [("gups", []), ("red", ["idata"])])
def test_what_a_launch_jumps_about_in_cannot_be_streamed(workload, streams):
    found = octavo.fit(workload, memory="50%", scale=1 / 16)
    assert [one["piece"] for one in found.to_dict()["streams"]] == streams
    assert ("streaming" in {way.name for way in found.ways}) == bool(streams)


def test_where_nothing_leaves_what_has_no_room_fails():
    """Cores and GPU have one memory: there is nowhere to page to."""
    found = octavo.fit("fir", node="gb10", memory="100MB")
    assert (found.verdict, found.ways) == ("fails", [])
    assert octavo.fit("fir", node="gb10").verdict == "fits"


@pytest.mark.parametrize(
    ("cached", "percent", "verdict"), [("0B", 100, "fits"), ("129.95GB", 100, "slows"), ("0B", 0, "slows")]
)
@pytest.mark.parametrize("node", ["gb10", "strix-halo"])
def test_the_page_cache_and_the_blocks_that_are_free_decide_where_cores_and_gpu_have_one_memory(
    node, cached, percent, verdict
):
    cache = {"node.host.page_cache": {"bytes": cached, "free_blocks_percent": percent}}
    found = octavo.fit("fir", node=node, overrides=cache)
    assert found.verdict == verdict
    assert found.to_dict()["room"]["verdict"] == verdict
    assert f"it {verdict}" in " ".join(found.sentences)


@pytest.mark.parametrize("memory", ["0", "0B", "lots", "-1GB", "0%", "", "6.5%"])
def test_no_amount_of_memory_is_refused(memory):
    with refused("unexpected-value", ScenarioError, key="memory"):
        octavo.fit("fir", memory=memory)


def test_memory_beyond_the_hosts_and_unknown_programs_are_refused(cli):
    with refused("unexpected-value", ScenarioError, key="memory"):
        octavo.fit("fir", node="gh200", memory="1TB")
    with refused("unexpected-value", ScenarioError, key="workload.name"):
        octavo.fit("firr", memory="24GB")
    with refused("conflict", AdviceError, key="node"):
        octavo.fit(octavo.scenario("fir"), node="cuda-sm80")
    done = cli("fit", "firr", "--memory", "24GB")
    assert (done.returncode, done.stdout) == (2, "")
    assert "fir" in done.stderr


def profile(**changes):
    """A recording: two managed buffers that four launches use in turns, and one of device memory."""

    def allocation(site, bytes_, kind="managed"):
        nothing = {"bytes": 0, "calls": 0}
        call = {"managed": "cudaMallocManaged", "device": "cudaMalloc"}[kind]
        ways = dict.fromkeys(("copied_in", "copied_out", "copied_within", "filled", "prefetched"), nothing)
        times = {"allocated_ns": 10**6, "freed_ns": None, "launches_before": 0, "launches_at_end": None}
        return {"kind": kind, "call": call, "bytes": bytes_, "address": 0, "site": site, "advised": 0, **times, **ways}

    allocations = [allocation(0, 10 * GB), allocation(1, 10 * GB), allocation(2, 2 * GB, "device")]
    touched = [{"step": "touched", "allocation": number, "share": 1.0, "written": True} for number in (0, 1)]
    runs = [
        {"step": "launch", "kernel": 0, "buffers": [number, 2], "stream": 0, "ns": 10**8, "gap_ns": 0}
        for number in (0, 1, 0, 1)
    ]
    found = {
        "octavo_profile": 2,
        "program": ["./program"],
        "process": 1,
        "forked_from": None,
        "time_ns": 10**9,
        "launches": 4,
        "lost": 0,
        "sites": [[{"module": "/bin/program", "offset": 16 * (number + 1)}] for number in range(3)],
        "allocations": allocations,
        "kernels": [{"name": "k", "blocks": 1, "threads_per_block": 1, "launches": 4, "parameters_known": True}],
        "steps": [*touched, *runs],
        "steps_lost": 0,
        "captured_launches": 0,
        "graph_launches": 0,
    }
    return {**found, **changes}


def recorded(tmp_path, memory, **changes):
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(profile(**changes)))
    return octavo.fit(path, memory=memory, node="machines/h100.toml")


def test_a_recording_is_answered_by_the_model(tmp_path):
    assert recorded(tmp_path, "24GB").verdict == "fits"
    found = recorded(tmp_path, "16GB")
    assert (found.verdict, found.seconds, found.peak.all) == ("slows", 1.0, 22 * GB)
    paged, moved = found.ways
    assert (paged.name, paged.how, moved.name) == ("paging", "modelled", "moves")
    assert paged.low < paged.seconds < paged.high
    assert moved.seconds < paged.seconds
    # Each of the buffers comes once more than where both fit, and leaves as often as it comes.
    ways = [(move["before"], move["way"]) for move in found.to_dict()["moves"]]
    assert ways.count((1, "to-host")) == 1
    assert "#" in picture.text(found, unicode=False)[0][1]


def test_a_recording_with_too_much_explicit_memory_fails(tmp_path):
    found = recorded(tmp_path, "1500MB")
    assert (found.verdict, found.refused.bytes, found.refused.seconds) == ("fails", 2 * GB, 1e-3)
    assert any("fails, before launch 0" in sentence for sentence in found.sentences)


def test_what_a_recording_does_not_say_is_refused_or_noted(tmp_path):
    old = recorded(tmp_path, "16GB", octavo_profile=1, steps=[])
    assert (old.verdict, old.ways) == ("slows", [])
    assert any("profile format 1" in note for note in old.notes)
    with refused("damaged", AdviceError, file="profile.json"):
        recorded(tmp_path, "16GB", steps=[{"step": "launch"}])
    with refused("conflict", AdviceError):
        octavo.fit(tmp_path / "profile.json", memory="16GB", scale=1 / 2)


def test_the_picture_has_a_row_for_each_buffer(tmp_path):
    found = recorded(tmp_path, "16GB")
    rows = dict(picture.text(found, unicode=True))
    assert len(rows) == 3
    assert set("".join(rows.values())) <= set("█▒· ")
    assert found.plot().save(tmp_path / "fit.svg").stat().st_size > 1000
    long = replace(found, story=replace(found.story, steps=found.story.steps * 1))
    assert all(len(row) <= picture.WIDE for row in dict(picture.text(long, unicode=True)).values())
