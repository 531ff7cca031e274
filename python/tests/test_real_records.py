"""Records as CUPTI 13.0 wrote them on an H100 (driver 580.159.04), byte for byte, and what they become.

Rows 24, 25, 26, 98, 642, 708, 771 and 5960 of `machines/h100.samples/managed.activity.bin.xz`, unpacked, and rows 1321
and 1345 of `bfs-shoc-1-managed-1.activity.bin` in `validation/gpu/measured/h100-records.tar.xz`. Each has 104 bytes, of
which the last are 0.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl
import pytest

from octavo.files import compression
from octavo.measurements.activity import decode, table
from octavo.measurements.imports import import_cupti

RECORDS = {
    "the host faults": "19000000030000006441caee2c560000ce1ee6f89175eb180000000000000000"
    "000000c2cc7f0000000000000000000000000000710a000001",
    "to the GPU, after a fault": "1900000001000000004000000000000092d6cef89175eb1832e1cef89175eb18"
    "000000c2cc7f0000000000000000000000000000710a000002",
    "to the GPU, guessed": "190000000100000000c000000000000032e1cef89175eb1833eecef89175eb18"
    "004000c2cc7f0000000000000000000000000000710a000003",
    "to the host, guessed": "190000000200000000f00000000000006bc2e6f89175eb18ebcbe6f89175eb18"
    "001000c2cc7f0000000000000000000000000000710a000003",
    "to the GPU, requested": "190000000100000000002000000000000bd480f99175eb182cc581f99175eb18"
    "000000c2cc7f0000000000000000000000000000710a000001",
    "the GPU faults": "19000000040000000100000000000000abbebdf99175eb184d5dc0f99175eb18"
    "000006c2cc7f0000000000000000000000000000710a000002",
    "fought over": "190000000500000000100000000000005585def99175eb180000000000000000"
    "000008c2cc7f0000010000000000000000000000710a0000010000000000000001",
    "mapped from afar": "190000000700000000d00000000000004f906a029275eb180000000000000000"
    "000000c2cc7f000000000000ffffffff00000000710a000003",
    "the GPU waits": "19000000060000000000000000000000587237206e75eb180e7a3d206e75eb18"
    "0000a0f3977f0000000000000000000000000000470500000000000000000000",
    "the host waits": "190000000600000000000000000000008a6245206e75eb18c9f150206e75eb18"
    "0000a0f3977f0000ffffffff000000000000000047050000010000000000000000",
}
ROOT = Path(__file__).parents[2]
BYTES = b"".join(bytes.fromhex(record).ljust(104, b"\0") for record in RECORDS.values())


def test_real_records_say_who_and_what() -> None:
    found = decode(BYTES)
    assert not found.notes
    rows = zip(RECORDS, *(found.rows[name].tolist() for name in ("source", "target", "value", "flag")), strict=True)
    assert {what: tuple(numbers) for what, *numbers in rows} == {
        "the host faults": (0, 0, 1, 0),
        "to the GPU, after a fault": (0, 1, 16 << 10, 2),
        "to the GPU, guessed": (0, 1, 48 << 10, 3),
        "to the host, guessed": (1, 0, 60 << 10, 3),
        "to the GPU, requested": (0, 1, 2 << 20, 1),
        "the GPU faults": (1, 0, 1, 2),
        "fought over": (0, 0, 4096, 0),
        "mapped from afar": (1, 0, 52 << 10, 3),
        "the GPU waits": (1, 0, 0, 0),
        "the host waits": (0, 0, 0, 0),
    }


def test_real_records_are_events() -> None:
    events = table(decode(BYTES)).sort("time_ps").filter(pl.col("address") < 0x7FCCC2000000 + (8 << 20))
    assert events.filter(pl.col("kind") == "remote_map")["cause"].to_list() == ["policy"]
    assert events.filter(pl.col("kind") == "thrashing")["processors"].to_list() == [1]
    waited = events.filter(pl.col("kind") == "throttling").select("from", "duration_ps").rows()
    assert waited == [(1, 395_190_000), (0, 757_567_000)]
    moved = events.filter(pl.col("kind").is_in(["migration", "prefetch", "user_migration"]))
    assert set(moved.select("from", "to").iter_rows()) == {(0, 1), (1, 0)}
    assert moved["duration_ps"].min() == 2_432_000


def test_a_profile_of_real_records_adds_up(tmp_path) -> None:
    (tmp_path / "some.activity.bin").write_bytes(BYTES)
    found = import_cupti(tmp_path / "some.activity.bin", tmp_path / "result").summary["unified_memory"]
    assert (found["h2d_bytes"], found["d2h_bytes"], found["d2d_bytes"]) == ((64 << 10) + (2 << 20), 60 << 10, 0)


@pytest.mark.parametrize(
    ("machine", "digest"),
    [
        ("h200", "735b40cedd8825755382690a4191d43d3bb9d29891a4cef9863cc5e54ae11852"),
        ("h100", "85480d7de0324ca7e6dfca8a5ddfb7fde52788d03e3ef07fd817bc2f76bb4270"),
    ],
)
def test_events_of_measured_machines_are_of_one_gpu_and_the_host(machine, digest) -> None:
    samples = ROOT / "machines" / f"{machine}.samples"
    events = table(decode(compression.read(samples / "managed.activity.bin.xz", "records", 1 << 21)))
    assert hashlib.sha256(events.write_csv().encode()).hexdigest() == digest, "they are read in another way"
    moved = events.filter(pl.col("kind").is_in(["migration", "prefetch", "user_migration"]))
    assert set(moved.select("from", "to").iter_rows()) == {(0, 1), (1, 0)}
