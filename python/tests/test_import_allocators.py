"""Logs of allocators: RMM's, and snapshots of PyTorch, which are read without executing anything."""

from __future__ import annotations

import gzip
import os
import pickle
from pathlib import Path

import pytest
from conftest import refused

from octavo.errors import ProfileError
from octavo.measurements.imports import import_rmm, import_torch

HEAD = "Thread,Time,Action,Pointer,Size,Stream"
LOG = [
    "1,23:59:59.900000,allocate,0x1000,256,0x0",
    "1,23:59:59.900010,allocate,0x2000,512,0x0",
    "1,00:00:00.000000,free,0x1000,256,0x0",
    "1,00:00:00.000005,allocate failure,0x0,99999999,0x0",
    "1,00:00:00.100000,allocate,0x1000,128,0x0",
]


def memory(result):
    return result.table("memory_intervals").select("time_ps", "bytes").rows()


def test_a_log_of_rmm_becomes_memory_over_time(tmp_path, cli):
    (tmp_path / "log.csv").write_text("\n".join([HEAD, *LOG]) + "\n", encoding="utf-8")
    result = import_rmm(tmp_path / "log.csv", tmp_path / "run")
    # Midnight lies between the second and the third row: 100 ms after the first.
    assert memory(result) == [(0, 256), (10**7, 768), (10**11, 512), (2 * 10**11, 640)]
    lives = result.table("lifetimes").select("address", "bytes", "began_ps", "ended_ps").rows()
    assert lives == [(0x1000, 256, 0, 10**11), (0x2000, 512, 10**7, None), (0x1000, 128, 2 * 10**11, None)]
    summary = result.summary
    assert (summary["footprint_bytes"], summary["never_freed_bytes"], summary["allocations"]) == (768, 640, 3)
    assert summary["notes"] == {"`allocate failure`, left out": 1}
    assert result.plot()._repr_png_()
    told = cli("import", "rmm", "log.csv", "-o", "again")
    assert told.returncode == 0, told.stderr
    assert "never freed" in told.stdout
    assert cli("import", "rmm", "log.csv", "-o", "again").returncode != 0


def test_rows_around_midnight_may_be_out_of_order(tmp_path):
    rows = [
        "1,23:59:59.900000,allocate,0x1000,256,0x0",
        "2,00:00:00.000010,allocate,0x2000,512,0x0",
        "1,23:59:59.999990,free,0x1000,256,0x0",
        "2,00:00:00.100000,free,0x2000,512,0x0",
    ]
    (tmp_path / "log.csv").write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    result = import_rmm(tmp_path / "log.csv", tmp_path / "run")
    assert memory(result) == [(0, 256), (99_990 * 10**6, 0), (100_010 * 10**6, 512), (2 * 10**11, 0)]


def test_logs_of_several_gpus_are_read_together(tmp_path, cli):
    for name, rows in {"log.dev3.csv": LOG[:1], "log.dev1.csv": [LOG[2].replace("free", "allocate")]}.items():
        (tmp_path / name).write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    found = import_rmm([tmp_path / "log.dev3.csv", tmp_path / "log.dev1.csv"], tmp_path / "run")
    # The second begins after midnight: 100 ms later.
    assert found.table("memory_intervals").rows() == [(0, "gpu3", 256), (10**11, "gpu1", 256)]
    assert found.summary["source"]["file"] == "log.dev3.csv, log.dev1.csv"
    assert cli("import", "rmm", "log.dev3.csv", "log.dev1.csv", "-o", "again").returncode == 0
    with refused("ambiguous", ProfileError, file="log.dev1.csv", found=1):
        import_rmm([tmp_path / "log.dev1.csv"] * 2, tmp_path / "other")


@pytest.mark.parametrize(
    ("rows", "code", "facts"),
    [
        (["Thread,Time"], "unexpected-value", {"file": "log.csv"}),
        ([HEAD, "1,12:00,allocate,0x1,1,0x0"], "unexpected-value", {"key": "Time", "names": ["log.csv:2"]}),
        ([HEAD, "1,12:00:00.0,allocate,here,1,0x0"], "unexpected-value", {"key": "Pointer", "names": ["log.csv:2"]}),
        ([HEAD, "1,12:00:00.0,allocate,0x1,many,0x0"], "unexpected-value", {"key": "Size", "names": ["log.csv:2"]}),
        ([HEAD, "1,12:00:00.0,allocate"], "unexpected-value", {"expected": 6, "found": 3, "names": ["log.csv:2"]}),
        ([HEAD], "missing", {"file": "log.csv"}),
        ([HEAD, "1,12:00:00.0,allocate,0x1,-5,0x0"], "missing", {"file": "log.csv"}),
    ],
)
def test_logs_that_are_none_are_refused_by_line(tmp_path, rows, code, facts):
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    with refused(code, ProfileError, **facts):
        import_rmm(tmp_path / "log.csv", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def entry(action, address, size, time, **more):
    return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": time, **more}


def dumped(tmp_path, value, protocol=4):
    (tmp_path / "snapshot.pickle").write_bytes(pickle.dumps(value, protocol=protocol))
    return tmp_path / "snapshot.pickle"


FRAMES = [{"filename": "??", "line": 0, "name": "c10"}, {"filename": "/a/model.py", "line": 7, "name": "forward"}]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_snapshot_becomes_memory_over_time(tmp_path, protocol):
    traces = [
        [],
        [
            entry("segment_alloc", 0x10000, 1 << 21, 5),
            entry("alloc", 0x10000, 512, 5, frames=FRAMES),
            entry("free_requested", 0x10000, 512, 8),
            entry("free_completed", 0x10000, 512, 9),
            entry("alloc", 0x10200, 1024, 7),
        ],
    ]
    path = dumped(tmp_path, {"segments": [], "device_traces": traces}, protocol)
    result = import_torch(path, tmp_path / "run")
    assert memory(result) == [(0, 512), (2 * 10**6, 1536), (4 * 10**6, 1024)]
    lives = result.table("lifetimes")
    assert lives["processor"].to_list() == ["gpu1", "gpu1"]
    assert lives["allocation"][0] == "model.py:7 forward"
    assert lives["ended_ps"].to_list() == [4 * 10**6, None]


GIB, MIB, BASE = 1 << 30, 1 << 20, 0x7F0000000000


def segment(address, blocks, gpu=0, **more):
    """Blocks: size and state, one after another."""
    found, at = [], address
    for size, state in blocks:
        found.append({"address": at, "size": size, "requested_size": size, "state": state, "frames": []})
        at += size
    return {"device": gpu, "address": address, "total_size": at - address, "blocks": found, **more}


def peaks(path, folder):
    result = import_torch(path, folder)
    lives = result.table("lifetimes")
    return {
        "most": result.summary["footprint_bytes"],
        "never freed": result.summary["never_freed_bytes"],
        "gpus": sorted(set(lives["processor"])),
        "notes": sum(result.summary["notes"].values()),
    }


WEIGHTS = {
    "segments": [
        segment(BASE + 10 * GIB, [(10 * GIB, "active_allocated")]),
        segment(BASE, [(4 * MIB, "active_allocated"), (16 * MIB, "inactive")]),
    ],
    "device_traces": [
        [
            entry("alloc", BASE, 16 * MIB, 100),
            entry("free_requested", BASE, 16 * MIB, 200),
            entry("free_completed", BASE, 16 * MIB, 201),
            entry("alloc", BASE, 4 * MIB, 300),
        ]
    ],
}


def test_what_was_allocated_before_the_recording_counts(tmp_path):
    found = peaks(dumped(tmp_path, WEIGHTS), tmp_path / "run")
    assert found == {"most": 10_256 * MIB, "never freed": 10 * GIB + 4 * MIB, "gpus": ["gpu0"], "notes": 1}


def test_each_fact_of_a_snapshot_counts(tmp_path):
    """Another state, size, GPU or event changes what is told."""

    def changed(name, change):
        snapshot = pickle.loads(pickle.dumps(WEIGHTS))  # noqa: S301 - our own
        change(snapshot)
        (tmp_path / name).mkdir()
        return peaks(dumped(tmp_path / name, snapshot), tmp_path / name / "run")

    def of_weights(key, value):
        return lambda snapshot: snapshot["segments"][0]["blocks"][0].update({key: value})

    assert changed("free", of_weights("state", "inactive"))["most"] == 16 * MIB
    assert changed("waits", of_weights("state", "active_pending_free"))["most"] == 10_256 * MIB
    assert changed("small", of_weights("requested_size", GIB))["most"] == GIB + 16 * MIB
    other = changed("gpu", lambda snapshot: snapshot["segments"][0].update(device=1))
    assert (other["most"], other["gpus"]) == (10_256 * MIB, ["gpu0", "gpu1"])
    last = changed("event", lambda snapshot: snapshot["device_traces"][0].pop())
    assert (last["never freed"], last["notes"]) == (10 * GIB + 4 * MIB, 2), "a block after all"
    gone = changed("gone", lambda snapshot: snapshot["segments"][1]["blocks"].clear())
    assert gone["notes"] == 2, "an allocation that the segments do not have"
    old = changed("old", lambda snapshot: [block.pop("address") for block in snapshot["segments"][0]["blocks"]])
    assert old["most"] == 10_256 * MIB


def test_what_the_first_row_frees_was_there_before(tmp_path):
    freed = [entry("free_completed", BASE, 8 * MIB, 11), entry("alloc", BASE, 4 * MIB, 12)]
    path = dumped(tmp_path, {"segments": [], "device_traces": [freed]})
    assert peaks(path, tmp_path / "run")["most"] == 8 * MIB


def test_a_packed_snapshot_is_the_same(tmp_path):
    path = dumped(tmp_path, WEIGHTS)
    (tmp_path / "packed.pickle.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert peaks(tmp_path / "packed.pickle.gz", tmp_path / "packed") == peaks(path, tmp_path / "run")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(path.read_bytes())[:-20])
    with pytest.raises(ProfileError) as error:
        import_torch(tmp_path / "cut.gz", tmp_path / "cut")
    assert "cut.gz" in str(error.value)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"device_traces": [[]]}, "history"),
        ({"segments": {}}, "`segments`"),
        ({"segments": [1]}, "segments[0]"),
        ({"segments": [segment(0, [], gpu=-1)]}, "segments[0]: `device`"),
        ({"segments": [{"device": 0, "address": 0, "blocks": [{}]}]}, "blocks[0]: `size`"),
    ],
)
def test_snapshots_without_what_is_needed_are_refused(tmp_path, change, place):
    with pytest.raises(ProfileError) as error:
        import_torch(dumped(tmp_path, WEIGHTS | change), tmp_path / "run")
    assert place in str(error.value)


class Executed:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_nothing_in_a_snapshot_is_executed(tmp_path, protocol):
    path = dumped(tmp_path, {"device_traces": [[Executed(tmp_path / "executed")]]}, protocol)
    with refused("unexpected-value", ProfileError, file="snapshot.pickle"):
        import_torch(path, tmp_path / "run")
    assert not (tmp_path / "executed").exists()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a pickle",
        b"\x80\x04",
        b"\x80\x04\x82\x01.",
        b"\x80\x02P1\n.",
        b"\x80\x04\x8e" + b"\xff" * 8 + b".",
        b"\x80\x04h\x65.",
    ],
)
def test_what_is_no_pickle_ends_in_a_message(tmp_path, content):
    (tmp_path / "snapshot.pickle").write_bytes(content)
    with pytest.raises(ProfileError) as raised:
        import_torch(tmp_path / "snapshot.pickle", tmp_path / "run")
    assert raised.value.code in ("syntax", "unexpected-value")
    assert raised.value.file == str(tmp_path / "snapshot.pickle")


def test_a_size_that_is_only_claimed_reserves_nothing(tmp_path):
    claimed = b"\x80\x05\x96" + (1 << 40).to_bytes(8, "little") + b"."
    (tmp_path / "snapshot.pickle").write_bytes(claimed)
    with refused("unexpected-value", ProfileError, file="snapshot.pickle"):
        import_torch(tmp_path / "snapshot.pickle", tmp_path / "run")


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        ({"filename": "a.py", "line": [], "name": "f"}, "device 1"),
        ({"filename": ["a.py"], "line": 1, "name": "f"}, "device 1"),
        ({"filename": "a.py", "line": 10**5000, "name": "f"}, "device 1"),
        ({"filename": "a.py", "line": 1, "name": "\ud800f"}, "a.py:1 ?f"),
    ],
)
def test_frames_are_named_if_they_are_frames(tmp_path, frame, name):
    traces = [[entry("alloc", 0x10000, 512, 5, frames=[frame])]]
    result = import_torch(dumped(tmp_path, {"device_traces": traces}), tmp_path / "run")
    assert result.table("lifetimes")["allocation"].to_list() == [name]


@pytest.mark.parametrize(
    ("value", "code", "facts"),
    [
        ([], "unexpected-value", {"names": ["device_traces"]}),
        ({"device_traces": 3}, "unexpected-value", {"names": ["device_traces"]}),
        ({"device_traces": [[3]]}, "unexpected-value", {"names": ["device_traces[0][0]"]}),
        ({"device_traces": [[{"action": "alloc", "addr": 1, "size": 2}]]}, "unexpected-value", {"key": "time_us"}),
        ({"device_traces": [[entry("alloc", "here", 2, 3)]]}, "unexpected-value", {"key": "addr"}),
        ({"device_traces": [[entry("alloc", [10**5000], 2, 3)]]}, "unexpected-value", {"key": "addr"}),
        ({"device_traces": [[entry("alloc", 1 << 60, 2, 3)]]}, "missing", {}),
        ({"device_traces": []}, "missing", {}),
    ],
)
def test_snapshots_without_history_are_refused(tmp_path, value, code, facts):
    with refused(code, ProfileError, **facts):
        import_torch(dumped(tmp_path, value), tmp_path / "run")


def test_a_file_that_is_not_there_is_named(tmp_path):
    for read in (import_rmm, import_torch):
        with refused("unreadable", ProfileError, file="none"):
            read(tmp_path / "none", Path(tmp_path / "run"))
