"""PyTorch's snapshots as SQLite databases of memsnapdump, and pickles whose events have no times."""

from __future__ import annotations

import pickle
import sqlite3
from pathlib import Path

import pytest
from conftest import refused
from nsys_exports import saxpy

from octavo.errors import ProfileError
from octavo.measurements.imports import import_torch

BLOCK = "id INTEGER PRIMARY KEY, address INTEGER, size INTEGER, requestedSize INTEGER, state INTEGER, "
BLOCK += "allocEventId INTEGER, freeEventId INTEGER"
EVENT = "id INTEGER PRIMARY KEY, action INTEGER, address INTEGER, size INTEGER, stream INTEGER, callstack TEXT"
STACK = "/a/train.py:9 main\n/a/model.py:7 forward"
ROWS = [
    (-1, 1 << 20, 1024, 1000, 1, -1, -1),
    (1, 2 << 20, 512, 500, 1, 1, 3),
    (2, 3 << 20, 512, 300, 1, 2, -1),
]
"""Of 1000 bytes from before the recording and 800 of two events, 1300 are never freed."""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def database(rows=ROWS, columns=BLOCK, gpu=0, stack=STACK, path="s.db"):
    Path(path).unlink(missing_ok=True)
    made = sqlite3.connect(path)
    made.execute("PRAGMA page_size = 512")
    made.execute(f"CREATE TABLE block_{gpu} ({columns})")
    made.execute(f"CREATE TABLE trace_entry_{gpu} ({EVENT})")
    made.execute(f"INSERT INTO trace_entry_{gpu} VALUES (1, 4, {2 << 20}, 500, 0, ?)", (stack,))  # noqa: S608
    for row in rows:
        made.execute(f"INSERT INTO block_{gpu} VALUES ({', '.join('?' * len(row))})", row)  # noqa: S608
    made.commit()
    made.close()
    return Path(path)


def imported(*arguments, **named):
    return import_torch(database(*arguments, **named), "result", force=True)


def test_a_database_becomes_memory_over_time_by_the_order_of_events():
    result = imported()
    assert result.table("memory_intervals").select("time_ps", "bytes").rows() == [
        (0, 1000),
        (1_000_000, 1500),
        (2_000_000, 1800),
        (3_000_000, 1300),
    ]
    assert sorted(result.table("lifetimes")["allocation"]) == ["before the recording", "device 1", "model.py:7 forward"]
    summary = result.summary
    assert (summary["footprint_bytes"], summary["never_freed_bytes"]) == (1800, 1300)
    assert len(summary["notes"]) == 2


def test_one_fact_changed_changes_the_result_or_is_noted():
    def facts(*arguments, **named):
        result = imported(*arguments, **named)
        return result.table("lifetimes").rows(), result.summary["notes"]

    before = facts()
    for column, value in ((1, 5 << 20), (3, 501), (5, 0), (6, 4), (6, -1), (6, 1), (1, -5)):
        changed = [list(row) for row in ROWS]
        changed[1][column] = value
        assert facts(changed) != before, (column, value)
    assert facts(gpu=1) != before
    assert facts(stack="/a/model.py:8 forward") != before


def test_other_databases_are_refused_by_name():
    with refused("missing", ProfileError, key="block_0", file="n.sqlite"):
        import_torch(saxpy(Path("n.sqlite")), "result")
    with refused("unexpected-value", ProfileError, key="freeEventId"):
        imported([], BLOCK.replace("freeEventId", "freed"))
    with refused("unexpected-value", ProfileError, key="block_0"):
        imported([(1, "a", 1, 1, 1, 1, 1)])
    with refused("missing", ProfileError):
        imported([])


def test_events_without_times_keep_their_order_and_a_note_says_so():
    def event(address, **more):
        return {"action": "alloc", "addr": address, "size": 512, "stream": 0, "frames": []} | more

    def dumped(trace):
        Path("s.pickle").write_bytes(pickle.dumps({"segments": [], "device_traces": [trace]}))
        return import_torch("s.pickle", "result", force=True)

    result = dumped([event(1 << 16), event(2 << 16)])
    assert result.table("memory_intervals").select("time_ps", "bytes").rows() == [(0, 512), (1_000_000, 1024)]
    assert any("times" in said for said in result.summary["notes"])
    with refused("unexpected-value", ProfileError, key="time_us"):
        dumped([event(1 << 16, time_us=5), event(2 << 16)])
