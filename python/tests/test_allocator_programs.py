"""Logs of allocators as programs: the same allocations and frees, an exact peak, and answers about less memory."""

from __future__ import annotations

import gzip
import pickle
import random
import sqlite3
from pathlib import Path

import pytest
from conftest import noted, refused
from test_import_allocators import BASE, GIB, HEAD, MIB, WEIGHTS, entry
from test_import_torch_database import database

import octavo
from octavo.errors import AdviceError, OutputError, ProfileError
from octavo.measurements.imports import import_log, rmm, torch
from octavo.measurements.imports.allocation_moments import held, shortened, timeline
from octavo.measurements.imports.allocations import ALWAYS, Allocation

NODE = "cuda-sm90"


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def log(rows, name="log.csv"):
    """A log of RMM: seconds, `+` or `-`, address in GiB, bytes."""
    words = {"+": "allocate", "-": "free"}
    lines = [f"1,10:00:{at:02}.000000,{words[what]},{place << 30:#x},{size},0x0" for at, what, place, size in rows]
    Path(name).write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
    return Path(name)


ROWS = [
    (0, "+", 1, 8 * GIB),
    (1, "+", 20, 4 * GIB),
    (2, "+", 40, 14 * GIB),
    (3, "-", 40, 14 * GIB),
    (4, "-", 20, 4 * GIB),
    (5, "+", 60, GIB),
    (6, "-", 1, 8 * GIB),
    (7, "-", 60, GIB),
]


def dumped(value, name="snapshot.pickle"):
    Path(name).write_bytes(pickle.dumps(value))
    return Path(name)


def program(path, reader=rmm, name="own.py", **arguments):
    (found,) = import_log(reader.read(path), name, force=True, **arguments)
    return found


def told(kind, scale=1 / 1024):
    """Allocations, frees and launches of the program, in order."""
    scenario = octavo.scenario("own.py", node=NODE, kind=kind, scale=scale)
    words = {"allocate": "+", "free": "-", "launch": ""}
    return [
        words[each["action"]] + (each["buffers"][0] if each["buffers"] else each["what"])
        for each in octavo.workload_program(scenario, kind)["actions"]
        if each["action"] in words
    ]


@pytest.mark.parametrize("kind", ["explicit", "managed", "pinned"])
def test_allocations_and_frees_are_in_order(kind):
    found = program(log(ROWS))
    assert [each["bytes"] for each in found["buffers"]] == [8 * GIB, 4 * GIB, 14 * GIB, GIB]
    assert found["peak_bytes"] == 26 * GIB
    assert [nanoseconds for _, nanoseconds in found["kernels"]] == [10**9, 10**9, 3 * 10**9, 2 * 10**9]
    first = ["+device 1", "device 1 0", "+device 2", "device 2 1", "+device 3", "device 3 2"]
    assert told(kind)[:6] == first
    assert sorted(told(kind)[6:8]) == ["-device 2", "-device 3"]
    assert told(kind)[8:] == ["+device 4", "device 4 3", "-device 1", "-device 4"]


def test_the_peak_is_exact_in_every_answer():
    dumped(WEIGHTS)
    Path("packed.gz").write_bytes(gzip.compress(Path("snapshot.pickle").read_bytes()))
    for name in ("snapshot.pickle", "packed.gz"):
        assert octavo.fit(name, memory="24GB").peak.all == 10_256 * MIB
    Path("old.pickle").write_bytes(pickle.dumps(WEIGHTS, protocol=0))
    assert octavo.fit("old.pickle", memory="24GB").peak.all == 10_256 * MIB
    assert program(Path("snapshot.pickle"), torch)["peak_bytes"] == 10_256 * MIB
    small = octavo.run("own.py", node=NODE, kind="explicit", scale=1 / 1024)
    assert small.summary["footprint_bytes"] == 10_256 * MIB // 1024
    assert octavo.fit("own.py", memory="24GB", scale=1 / 1024).peak.all == pytest.approx(10_256 * MIB, rel=1e-6)


@pytest.mark.parametrize("seed", range(40))
def test_a_shorter_program_has_the_same_peak(seed):
    chance = random.Random(seed)  # noqa: S311 - no secrets
    lives = []
    for number in range(chance.choice([1, 3, 30, 300])):
        begin = chance.choice([-ALWAYS, chance.randrange(1000)])
        end = chance.choice([ALWAYS, max(begin, 0) + chance.randrange(1, 300)])
        lives.append(
            Allocation(f"a{number}", "device", number << 20, chance.choice([1, 512, MIB, 7 * MIB]), begin, end)
        )
    times = {time for one in lives for time in (max(one.begin, 0), one.end) if time < ALWAYS}
    alive = [sum(one.bytes for one in lives if max(one.begin, 0) <= time < one.end) for time in times]
    peak = max([*alive, sum(one.bytes for one in lives if one.begin == -ALWAYS)])
    whole = timeline(lives, 0, 2000)
    assert whole.peak == peak
    assert sum(whole.nanoseconds) == 2000
    for moments, blocks in ((1000, 1000), (16, 1000), (16, 8), (1, 1), (5, 2)):
        short = shortened(whole, moments, blocks)
        assert short.peak == peak
        assert len(short.began) <= moments
        assert len(short.blocks) <= blocks
        assert min(held(short.blocks, len(short.began))) >= 0
        assert sum(short.nanoseconds) == 2000
        assert all(block.first <= short.last(block) for block in short.blocks)


def test_what_is_freed_at_the_first_time_makes_room_for_what_comes_then():
    lives = [Allocation("old", "device", 0, 5, -ALWAYS, 100), Allocation("new", "device", 9, 7, 100, ALWAYS)]
    assert timeline(lives, 100, 200).peak == 7


def test_one_fact_changed_changes_the_program_or_is_noted_or_refused():
    before = program(log(ROWS))
    for number, (at, what, place, size) in enumerate(ROWS):
        for other in ((at, what, place, size // 2), (at + 10, what, place, size), (at, what, place + 200, size)):
            found = program(log([*ROWS[:number], other, *ROWS[number + 1 :]]))
            same = {**found, "source": 0} == {**before, "source": 0}
            assert not same, other
    with noted("log.csv", "beginning was not recorded"):
        program(log([*ROWS, (8, "-", 90, GIB)]))


def test_use_between_the_ends_is_asked_for_by_name():
    program(log(ROWS))
    accesses = {}
    for use in ("ends", "throughout"):
        given = {"overrides": {"workload.use": use}}
        found = octavo.inspect_workload(octavo.scenario("own.py", node=NODE, scale=1 / 4096, **given))
        accesses[use] = {each["name"]: each["accesses"] for each in found["buffers"]}
    assert accesses["ends"]["device 1"] * 2 == accesses["throughout"]["device 1"], "four launches in place of two"
    assert accesses["ends"]["device 3"] == accesses["throughout"]["device 3"], "one launch is its first and its last"
    with refused("unexpected-value"):
        octavo.scenario("own.py", node=NODE, overrides={"workload.use": "never"})


def test_what_does_not_fit_gets_times_between_two_assumptions():
    found = octavo.fit(str(log(ROWS)), memory="24GB")
    assert (found.verdict, found.peak.all, found.seconds) == ("fails", 26 * GIB, 7.0)
    assert (found.refused.bytes, found.refused.seconds) == (14 * GIB, 2.0)
    paging = next(way for way in found.ways if way.name == "paging")
    assert found.seconds < paging.low < paging.seconds < paging.high
    assert octavo.fit("log.csv", memory="80GB").verdict == "fits"
    assert octavo.fit("log.csv", memory="27GiB").verdict == "fits"
    linked = octavo.fit("log.csv", memory="24GB", node="gh200")
    assert linked.to_dict()["costs"]["link"] > 2 * found.to_dict()["costs"]["link"]
    assert next(way for way in linked.ways if way.name == "moves").seconds < paging.seconds
    with refused("conflict", AdviceError):
        octavo.fit("log.csv", memory="24GB", kind="managed")


def test_memory_that_is_freed_need_not_leave():
    rows = [row for at in range(0, 40, 2) for row in ((at, "+", at, GIB), (at + 1, "-", at, GIB))]
    found = octavo.fit(str(log([(0, "+", 100, 2 * GIB), *rows])), memory="2600MB")
    paging = next(way for way in found.ways if way.name == "paging")
    # What is written last comes back once; of the others nothing moves, as none is read after it was freed.
    assert paging.seconds - found.seconds < 1


def test_times_that_are_not_known_are_of_moving_alone(cli):
    database()
    done = cli("fit", "s.db", "--memory", "1KB")
    assert done.returncode == 0, done.stderr
    assert "no times" in done.stdout
    assert octavo.fit("s.db", memory="1KB").seconds is None
    assert octavo.fit("s.db", memory="1MB").peak.all == 1800


def test_an_allocator_that_finds_no_place_fails():
    """Two holes of 10 MiB are no place for 16 MiB."""
    events = [entry("alloc", BASE + at * 64 * MIB, 30 * MIB, at) for at in range(4)]
    events += [entry("free_completed", BASE + at * 64 * MIB, 30 * MIB, 10 + at) for at in (0, 2)]
    events += [entry("alloc", BASE + GIB, 20 * MIB, 20), entry("alloc", BASE + GIB + 64 * MIB, 20 * MIB, 21)]
    events += [entry("alloc", BASE + 2 * GIB, 16 * MIB, 30)]
    snapshot = {"segments": [], "device_traces": [events]}
    found = octavo.fit(str(dumped(snapshot)), memory=125 * MIB * 64 // 63)
    assert (found.peak.all, found.refused, found.holds.bytes) == (120 * MIB, None, 136 * MIB)
    assert (found.verdict, found.holds.fails[1]) == ("fails", 16 * MIB)
    grown = octavo.fit(
        str(dumped({**snapshot, "allocator_settings": {"expandable_segments": True}})), memory=125 * MIB * 64 // 63
    )
    assert (grown.verdict, grown.holds) == ("fits", None)


def test_several_gpus_have_a_program_each(cli):
    log(ROWS, "a.dev0.csv")
    log([(at, what, place, size // 2) for at, what, place, size in ROWS], "a.dev1.csv")
    done = cli("import", "rmm", "a.dev0.csv", "a.dev1.csv", "--program", "both.py")
    assert done.returncode == 0, done.stderr
    peaks = [octavo.fit(f"both.py:BothGpu{gpu}", memory="80GB", scale=1 / 1024).peak.all / GIB for gpu in (0, 1)]
    assert peaks == [pytest.approx(26, rel=1e-6), pytest.approx(13, rel=1e-6)]
    events = [[entry("alloc", BASE + gpu * GIB, (2 + gpu) * MIB, 5)] for gpu in (0, 1)]
    found = octavo.fit(str(dumped({"segments": [], "device_traces": events})), memory="1GB")
    assert found.peak.all == 3 * MIB
    assert any("gpu0" in note for note in found.notes)


def tables(path):
    """The snapshot as a database with the names of the pickle."""
    names = {"device_traces": "device, action, addr, size, time_us", "segments": "id, device, address"}
    made = sqlite3.connect(path)
    made.execute("PRAGMA page_size = 512")
    for table, columns in {**names, "blocks": "segment_id, addr, size, state"}.items():
        made.execute(f"CREATE TABLE {table} ({columns})")
    for row in WEIGHTS["device_traces"][0]:
        values = (0, *(row[key] for key in ("action", "addr", "size", "time_us")))
        made.execute("INSERT INTO device_traces VALUES (?, ?, ?, ?, ?)", values)
    for number, each in enumerate(WEIGHTS["segments"]):
        made.execute("INSERT INTO segments VALUES (?, 0, ?)", (number, each["address"]))
        for block in each["blocks"]:
            values = (number, *(block[key] for key in ("address", "size", "state")))
            made.execute("INSERT INTO blocks VALUES (?, ?, ?, ?)", values)
    made.commit()
    return made


def test_a_database_with_the_names_of_the_pickle_is_the_same():
    made = tables("snapshot.db")
    assert octavo.fit("snapshot.db", memory="24GB").peak.all == 10_256 * MIB
    made.execute("UPDATE blocks SET state = 'inactive' WHERE size > 1000000000")
    made.commit()
    assert octavo.fit("snapshot.db", memory="24GB").peak.all == 16 * MIB
    made.execute("ALTER TABLE device_traces DROP COLUMN size")
    made.commit()
    with refused("unexpected-value", ProfileError, key="size"):
        octavo.fit("snapshot.db", memory="24GB")


def test_files_that_are_no_log_are_refused_by_what_they_are(cli):
    other = sqlite3.connect("other.db")
    other.execute("CREATE TABLE StringIds (id, value)")
    other.commit()
    with refused("unexpected-value", AdviceError, file="other.db"):
        octavo.fit("other.db", memory="24GB")
    Path("torn.pickle").write_bytes(pickle.dumps(WEIGHTS)[:-20])
    with refused("syntax", ProfileError, file="torn.pickle"):
        octavo.fit("torn.pickle", memory="24GB")
    Path("torn.gz").write_bytes(gzip.compress(b"snapshot" * 100)[:10] + b"\xff" * 40)
    with refused("unexpected-value", AdviceError, file="torn.gz"):
        octavo.fit("torn.gz", memory="24GB")
    Path("other.txt").write_bytes(b"PK\x03\x04")
    with refused("unexpected-value", AdviceError, file="other.txt"):
        octavo.fit("other.txt", memory="24GB")
    Path("other.txt").write_text("Thread,Time,Action,Address,Bytes\n")
    with refused("unexpected-value", ProfileError, file="other.txt"):
        octavo.fit("other.txt", memory="24GB")
    log([])
    with refused("missing", ProfileError):
        octavo.fit("log.csv", memory="24GB")
    with refused("unexpected-value", ProfileError, key="program"):
        program(log(ROWS), name="own.txt")
    program(log(ROWS))
    with refused("exists", OutputError):
        import_log(rmm.read("log.csv"), "own.py")
    assert cli("import", "rmm", "log.csv", "--program", "a.py", "-o", "b").returncode == 2
