"""CUPTI's records, written byte by byte as its header lays them out, and the rows of `events` that they become.

Copies name the GPU alone and have 0 where the host would stand, as records of real GPUs do (`test_real_records.py`).
"""

from __future__ import annotations

import errno
import lzma
import random
import struct
from collections import Counter

import pytest
from conftest import refused

import octavo
from octavo import _core
from octavo.files.compression import read
from octavo.measurements import activity
from octavo.measurements.activity import decode, events
from octavo.measurements.activity.rows import in_order
from octavo.measurements.imports import import_cupti
from octavo.runs.events import KINDS, SIMULATED

PAGE = 4096
CPU = 0xFFFFFFFF
A = 0x7F0000000000
HTOD, DTOH, CPU_FAULT, GPU_FAULT, THRASHING, THROTTLING, REMOTE_MAP, DTOD = range(1, 9)


def record(counter, value=0, start=1000, end=1500, address=A, source=0, target=0, flags=0, *, processors=None, kind=25):
    """One record; of the third version if processors are given."""
    head = struct.pack("<IIQQQQIIIIII", kind, counter, value, start, end, address, source, target, 9, 4711, flags, 0)
    assert len(head) == 64
    return head if processors is None else head + struct.pack("<5Q", *processors)


def third(*records):
    return b"".join(one + bytes(40) for one in records)


def table(records, layout=None):
    return events(in_order(decode(records, layout).rows, Counter()), 1000)


def test_every_counter_becomes_a_row():
    found = table(
        record(HTOD, 8 * PAGE, 1000, 1500, A, 0, 1, 2)
        + record(DTOH, PAGE, 1100, 1200, A, 1, 0, 4)
        + record(CPU_FAULT, 0x401234, 1200, 7, A + 40)
        + record(GPU_FAULT, 17, 1300, 1350, A + PAGE, 0, 0, 2)
        + record(THRASHING, 2 * PAGE, 1400, 3, A, 0b101)
        + record(THROTTLING, 0, 1500, 1750, A, 2)
        + record(REMOTE_MAP, PAGE, 1600, 2, A, 1, CPU, 2)
        + record(DTOD, PAGE, 1700, 1800, A, 0, 3, 5)
    )
    columns = ("time_ps", "kind", "address", "pages", "from", "to", "duration_ps", "faults", "bytes", "cause")
    assert found.select(columns).rows() == [
        (0, "migration", A, 8, 0, 2, 500_000, None, 8 * PAGE, "coherence"),
        (100_000, "eviction", A, 1, 2, 0, 100_000, None, PAGE, "eviction"),
        (200_000, "cpu_fault", A, 1, 0, 0, None, 1, None, None),
        (300_000, "write_fault", A + PAGE, 1, 1, 0, 50_000, 17, None, None),
        (400_000, "thrashing", A, 2, 0, 0, None, None, 2 * PAGE, None),
        (500_000, "throttling", A, 1, 3, 0, 250_000, None, None, None),
        (600_000, "remote_map", A, 1, 2, 0, None, None, PAGE, "thrashing"),
        (700_000, "counter_migration", A, 1, 1, 4, 100_000, None, PAGE, "access_counters"),
    ]
    assert found["processors"].to_list() == [None, None, None, None, 0b101, None, None, None]


@pytest.mark.parametrize("layout", [None, "v2", "v3"])
def test_both_layouts_say_the_same(layout):
    records = [record(HTOD, PAGE, 1000 + n, 2000, A + n * PAGE, 0, 0, n % 6) for n in range(50)]
    both = {"v2": b"".join(records), "v3": third(*records)}
    for name, data in both.items():
        if layout in (None, name):
            assert table(data, layout).equals(table(both["v2"], "v2"))


def test_fighters_are_bits_of_either_layout():
    assert table(record(THRASHING, PAGE, source=0b110))["processors"].to_list() == [0b110]
    fighters = (1 << 40, 0, 0, 0, 0)
    assert table(record(THRASHING, PAGE, source=3, processors=fighters))["processors"].to_list() == [1 << 40]
    assert table(record(HTOD, PAGE, processors=fighters))["processors"].to_list() == [None]


@pytest.mark.parametrize(
    ("counter", "flags", "kinds"),
    [
        (HTOD, range(6), ["migration", "user_migration", "migration", "prefetch", "eviction", "counter_migration"]),
        (GPU_FAULT, range(5), ["unknown_fault", "read_fault", "write_fault", "atomic_fault", "prefetch_fault"]),
        (REMOTE_MAP, range(6), ["remote_map"] * 6),
    ],
)
def test_flags_are_causes_or_kinds_of_access(counter, flags, kinds):
    found = table(b"".join(record(counter, PAGE, source=1, target=1, flags=flag) for flag in flags))
    assert found["kind"].to_list() == kinds


def test_remote_maps_have_causes():
    found = table(b"".join(record(REMOTE_MAP, PAGE, flags=flag) for flag in range(6)))
    causes = [None, "coherence", "thrashing", "policy", "out_of_memory", "eviction"]
    assert found["cause"].to_list() == causes


def test_what_is_not_understood_is_counted():
    found = decode(
        record(HTOD, PAGE, flags=2)
        + record(99)
        + record(GPU_FAULT, 1, flags=77)
        + record(REMOTE_MAP, PAGE, flags=6)
        + record(HTOD, PAGE, target=4000)
        + record(DTOH, PAGE, source=CPU)
        + record(HTOD, PAGE, address=1 << 60)
        + record(HTOD, 1 << 50)
        + record(HTOD, PAGE, start=1 << 63)
        + record(DTOD, PAGE)[:40],
        dropped=3,
    )
    assert dict(found.notes) == {
        "records that CUPTI dropped": 3,
        "last record that is cut off": 1,
        "records of unknown counter kind 99, left out": 1,
        "unknown flag 77 of gpu fault records": 1,
        "unknown flag 6 of remote map records": 1,
        "records with impossible times, sizes or processors, left out": 5,
    }
    assert events(found.rows, 1000)["kind"].to_list() == ["migration", "unknown_fault", "remote_map"]


def test_rows_come_in_order_of_time():
    found = table(record(HTOD, PAGE, 3000, 3001) + record(HTOD, PAGE, 2000, 1999) + record(HTOD, PAGE, 2500, 2600))
    assert found["time_ps"].to_list() == [1_000_000, 1_500_000, 2_000_000]
    assert found["duration_ps"].to_list() == [None, 100_000, 1000]


def test_clocks_that_were_not_read_are_told_from_the_others():
    now = 1_700_000_000_000_000_000
    found = decode(record(HTOD, PAGE, 0, 0) + b"".join(record(HTOD, PAGE, now + n, now + n) for n in (2, 0, 1)))
    assert activity.table(found)["time_ps"].to_list() == [0, 1000, 2000]
    assert dict(found.notes) == {"records with impossible times, sizes or processors, left out": 1}


def test_ends_that_cannot_be_are_no_durations():
    found = decode(record(HTOD, PAGE, 10, (1 << 63) - 1) + record(HTOD, PAGE, 20, 25))
    assert activity.table(found)["duration_ps"].to_list() == [None, 5000]


def test_no_records_are_no_rows():
    found = decode(b"")
    assert len(found.rows) == 0
    assert events(found.rows, 0).schema == table(record(HTOD, PAGE)).schema
    assert not found.notes


def test_other_records_are_refused():
    good = record(HTOD, PAGE)
    with refused("unexpected-value", octavo.ProfileError, line=1, key="v2", found=10, expected=25):
        decode(good + record(HTOD, PAGE, kind=10) + good, "v2")
    with refused("other-format", octavo.ProfileError, line=1, key="v2", found=0, expected="v3"):
        decode(third(good, good), "v2")
    with refused("other-format", octavo.ProfileError, line=1, key="v3", found=0, expected="v2"):
        decode(good * 4, "v3")
    with refused("other-format", octavo.ProfileError, found="v1"):
        decode(good, "v1")
    with refused("unexpected-value", octavo.ProfileError, line=0, key="v3", found=117901063, expected=25):
        decode(b"\x07" * 208)


@pytest.mark.parametrize("seed", range(60))
def test_damage_is_said_or_counted(seed):
    chance = random.Random(seed)  # noqa: S311 - the same damage every time
    data = bytearray(third(*(record(chance.randint(1, 8), PAGE, source=chance.randint(0, 3)) for _ in range(20))))
    for _ in range(chance.randint(1, 30)):
        at = chance.randrange(len(data))
        if at % 104 >= 4 or chance.random() < 0.2:
            data[at] = chance.randrange(256)
    del data[chance.randrange(1, len(data)) :]
    try:
        found = decode(bytes(data), chance.choice([None, "v3"]))
    except octavo.OctavoError as error:
        assert "expected activity kind 25" in error.message  # noqa: PT017 - some damage does no harm
        return
    height = activity.table(found).height
    assert height + sum(found.notes.values()) >= len(data) // 104


def test_kinds_of_the_engine_come_first_and_are_its_own(tmp_path):
    run = octavo.run(workload="stencil2d", placement="grit", scale=1 / 64, output=tmp_path / "run")
    assert set(run.table("events")["kind"]) <= set(SIMULATED)
    assert tuple(_core.event_kinds()) == SIMULATED == KINDS[: len(SIMULATED)]
    assert len(set(KINDS)) == len(KINDS)
    assert activity.PAGE_BYTES == PAGE


def test_a_file_of_records_is_imported(tmp_path, cli):
    now = 10**18
    records = third(
        record(GPU_FAULT, 5, now, now + 100, A, 0, 0, 2),
        record(HTOD, 16 * PAGE, now + 200, now + 300, A, 0, 0, 2),
        record(THRASHING, PAGE, now + 400, 0, A, 0b11),
        record(HTOD, 16 * PAGE, 0, 0, A, 0, 0, 2),
    )
    (tmp_path / "managed.activity.bin").write_bytes(records)
    done = cli("import", "cupti", "managed.activity.bin", "-o", "result", "--json")
    assert done.returncode == 0, done.stderr
    result = octavo.RunResult.load(tmp_path / "result")
    assert result.table("events").select("time_ps", "kind", "allocation").rows() == [
        (0, "write_fault", "range 1"),
        (200_000, "migration", "range 1"),
        (400_000, "thrashing", "range 1"),
    ]
    assert result.summary["source"] == {"tool": "cupti", "file": "managed.activity.bin", "bytes": 4 * 104}
    assert result.summary["notes"] == {"records with impossible times, sizes or processors, left out": 1}
    for data, words in {
        b"": "holds no unified-memory record",
        b"x" * 640: "managed.activity.bin: CUPTI records of layout v3: expected activity kind 25",
    }.items():
        (tmp_path / "managed.activity.bin").write_bytes(data)
        done = cli("import", "cupti", "managed.activity.bin", "-o", "other")
        assert (done.returncode, "Traceback" in done.stderr) == (2, False)
        assert words in done.stderr
    assert cli("import", "cupti", "nothing.bin", "-o", "other").returncode == 2
    assert not (tmp_path / "other").exists()


def test_packed_records_are_imported(tmp_path):
    now = 10**18
    records = third(*(record(GPU_FAULT, 5, now, now + 100, A + number * PAGE, 0, 0, 2) for number in range(9)))
    (tmp_path / "plain.bin").write_bytes(records)
    whole = lzma.compress(records)
    (tmp_path / "packed.bin.xz").write_bytes(whole)
    plain, packed = (import_cupti(tmp_path / name, tmp_path / name[:4]) for name in ("plain.bin", "packed.bin.xz"))
    assert packed.table("events").equals(plain.table("events"))
    assert packed.summary["source"] == {"tool": "cupti", "file": "packed.bin.xz", "bytes": len(records)}
    bomb = lzma.compress(bytes(3 << 20))
    for content, code in {
        whole[:-20]: errno.EINVAL,
        whole + whole: errno.EINVAL,
        whole[:20] + b"x" * 40: errno.EINVAL,
        bomb: errno.EFBIG,
    }.items():
        (tmp_path / "wrong.xz").write_bytes(content)
        with pytest.raises(OSError) as raised:  # noqa: PT011 - its number is asserted
            read(tmp_path / "wrong.xz", "records", 1 << 20)
        assert (raised.value.errno, raised.value.filename) == (code, str(tmp_path / "wrong.xz"))
