"""Exports of Nsight Systems, made by hand with known answers: what is read, what is refused, what is left behind."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys

import polars as pl
import pytest
from conftest import SMALL, contents, refused
from nsys_exports import DTOD, DTOH, GLOBAL_PID, HTOD, KIB, MIB, PAGE, PID, A, B, Export, saxpy

import octavo
from octavo.errors import OctavoError
from octavo.measurements.imports import import_nsys
from octavo.report import report
from octavo.report.data import gather
from octavo.report.history import Footprint, coarsened, history
from octavo.report.runs import read
from octavo.runs.events import KINDS

VARIANTS = [
    {"copy_count": False, "source_file": False},
    {"copy_count": True, "source_file": True, "schema": "3.24.14"},
    {"schema": "1.0.0"},
]


@pytest.fixture
def export(tmp_path):
    return Export(tmp_path / "profile.sqlite")


def imported(export, tmp_path, **options):
    return import_nsys(export.save(), tmp_path / "result", **options)


def rows(result, *columns):
    return result.table("events").select(columns).rows()


def by_name(result):
    return {row["allocation"]: row for row in result.table("allocations").to_dicts()}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_event_becomes_a_row(tmp_path, variant):
    result = import_nsys(saxpy(tmp_path / "saxpy.sqlite", **variant), tmp_path / "result")
    assert rows(result, "time_ps", "kind", "address", "pages", "from", "to", "allocation") == [
        (1_000_000, "read_fault", A, 1, 1, 0, "managed 1"),
        (1_010_000, "write_fault", A + PAGE, 1, 1, 0, "managed 1"),
        (1_100_000, "migration", A, 16, 0, 1, "managed 1"),
        (1_300_000, "prefetch", A + 64 * KIB, 16, 0, 1, "managed 1"),
        (2_000_000, "cpu_fault", A, 1, 0, 0, "managed 1"),
        (2_100_000, "migration", A, 16, 1, 0, "managed 1"),
        (3_000_000, "migration", A, 16, 0, 1, "managed 1"),
        (3_200_000, "user_migration", B, 16, 0, 1, "x"),
        (6_000_000, "atomic_fault", A + PAGE, 1, 1, 0, "managed 2"),
        (6_100_000, "migration", A + PAGE, 1, 0, 1, "managed 2"),
    ]
    assert rows(result, "duration_ps", "faults", "bytes", "cause")[:3] == [
        (50_000, 3, None, None),
        (50_000, 5, None, None),
        (100_000, None, 64 * KIB, "coherence"),
    ]


def test_a_reused_address_goes_to_the_allocation_that_was_there(tmp_path):
    result = import_nsys(saxpy(tmp_path / "saxpy.sqlite"), tmp_path / "result")
    found = by_name(result)
    first, variable, second = (found[name] for name in ("managed 1", "x", "managed 2"))
    names = ("address", "bytes", "memory", "allocated_ps", "freed_ps")
    assert [first[name] for name in names] == [A, MIB, "managed", 0, 4_000_000]
    assert [variable[name] for name in names] == [B, 64 * KIB, "managed static", 100_000, None]
    assert [second[name] for name in names] == [A, 2 * PAGE, "managed", 5_000_000, None]
    counts = ("gpu_faults", "fault_groups", "cpu_faults", "h2d_bytes", "d2h_bytes", "d2d_bytes", "gpus")
    assert [first[name] for name in counts] == [8, 2, 1, 192 * KIB, 64 * KIB, 0, 1]
    assert [second[name] for name in counts] == [1, 1, 0, PAGE, 0, 0, 1]
    # 16 pages came twice and 16 once: 48 pages for 32; 32 of 256 pages were brought or faulted.
    assert [first["rho"], first["sigma"], second["rho"], second["sigma"]] == [1.5, 0.125, 1.0, 0.5]
    assert [first["migration"], first["prefetch"], variable["user_migration"]] == [48, 16, 16]


def test_page_groups_are_those_in_which_anything_happened(tmp_path):
    result = import_nsys(saxpy(tmp_path / "saxpy.sqlite"), tmp_path / "result")
    found = result.table("page_groups").select("allocation", "address", "migration", "prefetch", "read_fault").rows()
    assert found == [
        ("managed 1", A, 48, 0, 1),
        ("managed 1", A + 64 * KIB, 0, 16, 0),
        ("x", B, 0, 0, 0),
        ("managed 2", A, 1, 0, 0),
    ]


def test_the_summary_says_what_it_was_made_from(tmp_path):
    path = saxpy(tmp_path / "saxpy.sqlite")
    summary = import_nsys(path, tmp_path / "result").summary
    assert summary["source"] == {
        "tool": "nsys",
        "file": "saxpy.sqlite",
        "bytes": path.stat().st_size,
        "version": "2024.6.2.225",
        "schema": "3.16.1",
        "process": PID,
        "program": "/opt/bin/program",
    }
    assert summary["time_ps"] == 8_000_000
    assert summary["origin_ns"] == 1000
    assert summary["gpus"] == [{"gpu": 0, "name": "NVIDIA Test 1"}]
    assert summary["footprint_bytes"] == MIB + 64 * KIB
    found = summary["unified_memory"]
    assert [found[name] for name in ("gpu_faults", "fault_groups", "cpu_faults")] == [9, 3, 1]
    assert [found[name] for name in ("h2d_bytes", "d2h_bytes")] == [260 * KIB, 64 * KIB]
    assert summary["attribution"]["rows_outside"] == 0
    assert summary["other_memory_bytes"] == {"device": 8 * MIB}
    assert summary["notes"] == {}
    kernels = octavo.RunResult.load(tmp_path / "result").table("kernels")
    assert kernels.rows() == [("saxpy", 900_000, 8_000_000, 0)]


def test_enumerations_of_the_file_win(tmp_path, export):
    export.enum("ENUM_CUDA_MEMCPY_OPER", [(11, "CUDA_MEMCPY_KIND_DTOH"), (21, "CUDA_MEMCPY_KIND_UVM_HTOD")])
    export.enum("ENUM_CUDA_UNIF_MEM_MIGRATION", [(2, "CUDA_UNIFIED_MEMORY_MIGRATION_CAUSE_EVICTION")])
    export.enum("ENUM_CUDA_UNIF_MEM_ACCESS_TYPE", [(1, "CUDA_UNIFIED_MEMORY_ACCESS_TYPE_WRITE"), (9, "OTHER")])
    export.copy(10, 21, A, PAGE)
    export.copy(20, 11, A, PAGE)
    export.gpu_fault(30, A)
    export.gpu_fault(40, A, access=9)
    result = imported(export, tmp_path)
    assert rows(result, "kind", "to") == [("eviction", 1), ("write_fault", 0), ("unknown_fault", 0)]
    assert result.summary["notes"] == {"unknown kind of access 9": 1}


def test_every_cause_and_access_has_its_kind(tmp_path, export):
    for cause in (*range(7), None):
        export.copy(100 + (cause or 0), HTOD, A, PAGE, cause)
    for access in range(6):
        export.gpu_fault(200 + access, A, access=access)
    result = imported(export, tmp_path)
    moves = ["migration", "migration", "user_migration", "migration", "prefetch", "eviction", "counter_migration"]
    faults = ["unknown_fault", "read_fault", "write_fault", "atomic_fault", "prefetch_fault", "unknown_fault"]
    assert result.table("events")["kind"].to_list() == [*moves, "migration", *faults]
    causes = [None, None, "user", "coherence", "prefetch", "eviction", "access_counters", None]
    assert result.table("events")["cause"].to_list()[:8] == causes
    notes = {"unknown cause of a migration 6": 1, "unknown kind of access 5": 1}
    assert result.summary["notes"] == notes


def test_copies_between_gpus_name_both(tmp_path, export):
    export.copy(10, DTOD, A, PAGE, deviceId=1, srcDeviceId=1, dstDeviceId=2)
    export.copy(20, DTOH, A, PAGE, deviceId=2)
    assert rows(imported(export, tmp_path), "from", "to") == [(2, 3), (3, 0)]


def test_without_allocations_ranges_stand_in_for_them(tmp_path, export):
    export.copy(10, HTOD, A, 2 * MIB)
    export.copy(20, HTOD, A + 4 * MIB - PAGE, PAGE)
    export.copy(30, HTOD, A + 6 * MIB, PAGE)
    result = imported(export, tmp_path)
    found = result.table("allocations").select("allocation", "address", "bytes", "memory", "rho", "sigma").rows()
    assert found == [
        ("range 1", A, 4 * MIB, "unknown", 1.0, None),
        ("range 2", A + 6 * MIB, PAGE, "unknown", 1.0, None),
    ]
    summary = result.summary
    assert summary["attribution"]["rows_outside"] == 3
    assert any("--cuda-memory-usage=true" in text for text in summary["missing"])
    assert any("--cuda-um-gpu-page-faults=true" in text for text in summary["missing"])
    assert any("--cuda-um-cpu-page-faults=true" in text for text in summary["missing"])


def test_what_lies_in_no_allocation_is_counted(tmp_path, export):
    export.memory(5, A, MIB)
    export.memory(50, A, MIB, allocates=False)
    export.gpu_fault(10, A)
    export.gpu_fault(60, A, 7)  # after it was freed
    export.gpu_fault(70, A + MIB)  # just behind it
    summary = imported(export, tmp_path).summary
    outside = summary["attribution"]["outside"]
    assert (summary["attribution"]["rows_outside"], outside["gpu_faults"], outside["fault_groups"]) == (2, 8, 2)


def test_a_migration_over_two_allocations_counts_in_both(tmp_path, export):
    export.memory(1, A, 3 * PAGE)
    export.memory(2, A + 3 * PAGE, 5 * PAGE)
    export.copy(10, HTOD, A + PAGE, 4 * PAGE)
    found = by_name(imported(export, tmp_path))
    assert [(row["migration"], row["h2d_bytes"]) for row in found.values()] == [(2, 2 * PAGE), (2, 2 * PAGE)]


def test_small_allocations_share_the_fault_on_their_page(tmp_path, export):
    export.memory(1, A, 512)
    export.memory(2, A + 512, 512)
    export.gpu_fault(10, A)
    found = by_name(imported(export, tmp_path))
    assert [(row["read_fault"], row["pages"], row["sigma"]) for row in found.values()] == [(1, 1, 1.0), (1, 1, 1.0)]


def test_lifetimes_are_mended_where_half_of_them_is_missing(tmp_path, export):
    export.memory(50, B, MIB, allocates=False)  # was there before the recording
    export.memory(60, A, MIB)
    export.memory(70, A + 64 * KIB, MIB)  # the one before must have been freed
    export.memory(80, 0x5000, 0, allocates=False)
    export.gpu_fault(40, B)
    export.gpu_fault(65, A)
    export.gpu_fault(75, A)
    result = imported(export, tmp_path)
    assert [(row["allocated_ps"], row["freed_ps"]) for row in result.table("allocations").to_dicts()][:3] == [
        (None, 10_000),
        (20_000, 30_000),
        (30_000, None),
    ]
    assert rows(result, "allocation") == [("managed 1",), ("managed 2",), ("range 1",)]
    assert sum(result.summary["notes"].values()) == 3


def test_rows_that_cannot_be_are_left_out_and_counted(tmp_path, export):
    export.copy(10, HTOD, A, PAGE)
    export.copy(20, HTOD, None, PAGE)
    export.copy(30, HTOD, 0, PAGE)
    export.copy(40, HTOD, A, 1 << 40)
    export.copy(50, HTOD, A, -5)
    export.copy(60, HTOD, 1 << 60, PAGE)
    export.copy(1 << 62, HTOD, A, PAGE)
    export.gpu_fault(70, A, deviceId=-3)
    export.gpu_fault(80, -PAGE)
    result = imported(export, tmp_path)
    assert rows(result, "time_ps", "kind") == [(0, "migration")]
    assert result.summary["notes"] == {
        "records with impossible times, sizes or processors, left out": 6,
        "records without an address, left out": 2,
    }


def test_one_process_is_imported(tmp_path, export):
    other = (12 << 24) | 5
    export.copy(10, HTOD, A, PAGE)
    export.copy(20, HTOD, A, 2 * PAGE, globalPid=other)
    export.copy(30, HTOD, A, 3 * PAGE, globalPid=other)
    export.memory(1, A, MIB, globalPid=other)
    path = export.save()
    with refused("ambiguous", octavo.ProfileError, file="profile.sqlite", key="process", found=2) as found:
        import_nsys(path, tmp_path / "result")
    assert found.value.hint == f"choose one with --process: 12 (2 rows), {PID} (1 rows)"
    assert by_name(import_nsys(path, tmp_path / "a", process=PID)).keys() == {"range 1"}
    assert by_name(import_nsys(path, tmp_path / "b", process=12)).keys() == {"managed 1"}
    with refused("missing", octavo.ProfileError, file="profile.sqlite", key="process", found=13):
        import_nsys(path, tmp_path / "c", process=13)


def test_exports_without_unified_memory_say_how_to_record_it(tmp_path, export, cli):
    export.copy(10, 1, None, PAGE, None)
    export.kernel(10, 20)
    export.save()
    done = cli("import", "nsys", "profile.sqlite", "-o", "result")
    assert done.returncode == 2
    assert "profile.sqlite tells of no unified-memory activity" in done.stderr
    assert "--cuda-um-gpu-page-faults=true" in done.stderr
    assert not (tmp_path / "result").exists()


def test_old_exports_are_read(tmp_path):
    export = Export(tmp_path / "profile.sqlite", copy_count=False, source_file=False)
    export.copy(10, HTOD, A, PAGE)
    export.age()
    result = imported(export, tmp_path)
    assert rows(result, "kind", "bytes") == [("migration", PAGE)]
    assert [result.summary["source"][name] for name in ("version", "schema")] == ["2024.6.2.225", "2.9.1"]


def test_a_missing_column_is_named_with_the_schema(tmp_path):
    export = Export(tmp_path / "profile.sqlite", schema="9.9.9")
    export.table("CUDA_UM_GPU_PAGE_FAULT_EVENTS", "start INTEGER, end INTEGER, pc INTEGER")
    with pytest.raises(octavo.ProfileError) as found:
        import_nsys(export.save(), tmp_path / "result")
    message = found.value.message
    for part in ("CUDA_UM_GPU_PAGE_FAULT_EVENTS", "`deviceId`", "start, end, pc", "9.9.9", "3.16.1"):
        assert part in message


def test_a_view_without_end_is_not_read(tmp_path):
    path = saxpy(tmp_path / "saxpy.sqlite")
    with sqlite3.connect(path) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(CUDA_UM_CPU_PAGE_FAULT_EVENTS)")]
        connection.execute("DROP TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS")
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT "
        endless += ", ".join(f"i AS {name}" for name in columns) + " FROM n"
        connection.execute(f"CREATE VIEW CUDA_UM_CPU_PAGE_FAULT_EVENTS AS {endless}")
    with refused("unexpected-value", file="saxpy.sqlite", key="CUDA_UM_CPU_PAGE_FAULT_EVENTS"):
        import_nsys(path, tmp_path / "r")


def test_what_is_no_export_is_refused(tmp_path, cli):
    whole = saxpy(tmp_path / "saxpy.sqlite").read_bytes()
    (tmp_path / "cut.sqlite").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.sqlite").write_text("hello")
    (tmp_path / "empty.sqlite").write_bytes(b"")
    (tmp_path / "report.nsys-rep").write_bytes(b"NSYS")
    for name, words in {
        "cut.sqlite": "cut.sqlite is cut off: expected",
        "text.sqlite": "text.sqlite is not an SQLite file",
        "empty.sqlite": "empty.sqlite is not an SQLite file",
        "report.nsys-rep": "nsys export --type sqlite report.nsys-rep",
        "nothing.sqlite": "cannot read nothing.sqlite: No such file or directory",
        ".": "cannot read .: Is a directory",
    }.items():
        done = cli("import", "nsys", name, "-o", "result")
        assert (done.returncode, done.stdout) == (2, ""), name
        assert words in done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "result").exists()


def test_results_are_never_lost(tmp_path, cli):
    saxpy(tmp_path / "saxpy.sqlite")
    command = ("import", "nsys", "saxpy.sqlite", "-o", "result")
    assert cli(*command).returncode == 0
    before = contents(tmp_path / "result")
    done = cli(*command)
    assert (done.returncode, "--force" in done.stderr) == (2, True)
    assert cli(*command, "--force").returncode == 0
    assert contents(tmp_path / "result") == before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    done = cli("import", "nsys", "saxpy.sqlite", "-o", "mine", "--force")
    assert (done.returncode, "holds no Octavo result" in done.stderr) == (2, True)
    assert cli("import", "nsys", "saxpy.sqlite", "-o", "saxpy.sqlite").returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "result", "saxpy.sqlite"]


def test_people_and_programs_are_told(tmp_path, cli):
    saxpy(tmp_path / "saxpy.sqlite")
    done = cli("import", "nsys", "saxpy.sqlite")
    assert done.returncode == 0, done.stderr
    for words in ("9 in 3 groups", "managed 1", "1.50", "0.125", "runs/saxpy"):
        assert words in done.stdout
    found = json.loads(cli("import", "nsys", "saxpy.sqlite", "-o", "b", "--json").stdout)
    assert found["summary"]["unified_memory"]["gpu_faults"] == 9
    assert [row["allocation"] for row in found["allocations"]] == ["managed 1", "x", "managed 2"]
    done = cli("import", "nsys", "saxpy.sqlite", "-o", "c", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_import_can_be_stopped(tmp_path):
    export = Export(tmp_path / "profile.sqlite")
    export.copy(10, HTOD, A, PAGE)
    export.run(
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT c.* FROM CUPTI_ACTIVITY_KIND_MEMCPY c, "
        "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT i FROM n)"
    )
    export.save()
    script = (
        "import signal, sys\n"
        "from octavo.cli import import_\n"
        "from octavo.measurements.imports import nsys_export\n"
        "progress = nsys_export.Export._progress\n"
        "def stop(self, table, rows):\n"
        "    progress(self, table, rows)\n"
        "    signal.raise_signal(signal.SIGINT)\n"
        "nsys_export.Export._progress = stop\n"
        "from octavo.cli.app import main\n"
        "sys.argv = ['octavo', 'import', 'nsys', 'profile.sqlite', '-o', 'result']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 128 + signal.SIGINT, done.stderr
    assert "stopped: nothing is written" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["profile.sqlite"]


def test_reading_in_pieces_changes_nothing(tmp_path, monkeypatch):
    path = saxpy(tmp_path / "saxpy.sqlite")
    whole = contents(import_nsys(path, tmp_path / "whole").folder)
    monkeypatch.setattr("octavo.measurements.imports.nsys_export._ROWS_AT_A_TIME", 2)
    shares = []
    pieces = import_nsys(path, tmp_path / "pieces", watch=lambda share, table: shares.append((share, table)))
    assert contents(pieces.folder) == whole
    assert [share for share, _ in shares] == sorted(share for share, _ in shares)
    assert shares[-1][0] == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(60))
def test_damage_is_said_and_never_a_traceback(tmp_path, seed):
    chance = random.Random(seed)  # noqa: S311 - the same damage every time
    data = bytearray(saxpy(tmp_path / "saxpy.sqlite").read_bytes())
    for _ in range(chance.randint(1, 40)):
        data[chance.randrange(100, len(data))] = chance.randrange(256)
    if chance.random() < 0.2:
        del data[chance.randrange(len(data)) :]
    (tmp_path / "damaged.sqlite").write_bytes(data)
    try:
        result = import_nsys(tmp_path / "damaged.sqlite", tmp_path / "result")
    except OctavoError as error:
        assert "damaged.sqlite" in error.message  # noqa: PT017 - some damage does no harm
        assert not (tmp_path / "result").exists()
    else:
        assert result.table("events").height > 0


@pytest.mark.parametrize("seed", range(40))
def test_values_of_any_kind_are_survived(tmp_path, export, seed):
    chance = random.Random(seed)  # noqa: S311
    values = [None, -1, 0, 1, 2, 1 << 31, (1 << 63) - 1, -(1 << 63), A, PAGE, MIB, "x", 1.5, 1e300, b"\x00\xff"]
    columns = {
        "CUPTI_ACTIVITY_KIND_MEMCPY": "start,end,deviceId,bytes,copyKind,migrationCause,virtualAddress,globalPid",
        "CUDA_UM_GPU_PAGE_FAULT_EVENTS": "start,end,deviceId,address,numberOfPageFaults,faultAccessType,globalPid",
        "CUDA_UM_CPU_PAGE_FAULT_EVENTS": "start,address,globalPid",
        "CUDA_GPU_MEMORY_USAGE_EVENTS": "start,address,bytes,memKind,memoryOperationType,globalPid,name",
        "CUPTI_ACTIVITY_KIND_KERNEL": "start,end,deviceId,shortName,globalPid",
    }
    usual = {"copyKind": HTOD, "globalPid": GLOBAL_PID, "start": 100, "end": 200, "deviceId": 0, "bytes": PAGE}
    usual |= {"virtualAddress": A, "address": A, "memKind": 4, "memoryOperationType": 0, "shortName": 1}
    harsh = chance.random() < 0.25
    for table, names in columns.items():
        export.table(table, names)
        for _ in range(30):
            row = {name: usual.get(name, 1) for name in names.split(",")}
            for name in row:
                if chance.random() < 0.1:
                    row[name] = chance.choice(values if harsh else values[:11])
            export.insert(table, **row)
    try:
        result = imported(export, tmp_path, process=PID)
    except OctavoError as error:
        assert error.message  # noqa: PT017 - some values do no harm
    else:
        assert result.table("events").height + sum(result.summary["notes"].values()) > 0
        assert isinstance(result.table("allocations"), pl.DataFrame)


def test_a_report_shows_profiles_beside_runs(tmp_path):
    import_nsys(saxpy(tmp_path / "saxpy.sqlite"), tmp_path / "profile")
    octavo.run(workload="stencil2d", placement="on-touch", scale=SMALL, output=tmp_path / "stencil2d")
    runs = read([tmp_path])
    assert [(run.label, run.simulated, run.gpus) for run in runs] == [
        ("saxpy.sqlite · profile", False, 1),
        ("stencil2d · on-touch", True, 4),
    ]
    found = gather(runs, "on-touch")
    profile = found["runs"][0]
    totals = {"faults": 4, "migrations": 65, "prefetched": 16, "remote_maps": 0}
    assert {name: profile[name] for name in totals} == totals
    assert [profile[name] for name in ("lines", "duplications", "collapses")] == [None, None, None]
    assert {row["run"] for row in found["causes"]} == {row["run"] for row in found["translation"]} == {1}
    assert report([tmp_path / "profile"], tmp_path / "profile.html").is_file()
    assert report([tmp_path], tmp_path / "both.html").is_file()


def test_the_page_map_follows_pages_of_a_profile(tmp_path):
    result = import_nsys(saxpy(tmp_path / "saxpy.sqlite"), tmp_path / "result")
    footprint = Footprint.of(result, "4096B")
    assert [(one["name"], one["pages"]) for one in footprint.allocations] == [
        ("managed 1", 256),
        ("managed 2", 0),
        ("x", 16),
    ]
    past = history(result.table("events"), footprint, result.summary["time_ps"], processors=2)
    own = slice(int(past.starts[1]), int(past.ends[1]))  # the second page of the first allocation
    assert [KINDS[kind] for kind in past.events["kind"][own]] == [
        "write_fault",
        *["migration"] * 3,
        "atomic_fault",
        "migration",
    ]
    assert past.events["holder"][own].to_list() == [0, 1, 0, 1, 1, 1]
    assert past.events["access"][own].to_list() == [2] * 6


def test_pages_of_a_map_grow_with_the_profile(tmp_path, export, monkeypatch):
    export.memory(1, A, 64 * MIB)
    export.copy(10, HTOD, A + 60 * KIB, 8 * KIB)
    result = imported(export, tmp_path)
    monkeypatch.setattr("octavo.report.history._MOST_PAGES", 1024)
    footprint, events = coarsened(result, Footprint.of(result, "4096B"), result.table("events"))
    assert (footprint.page_bytes, footprint.pages) == (64 * KIB, 1024)
    assert events.select("address", "pages").rows() == [(A, 2)]


def test_a_profile_with_too_many_events_has_no_map(tmp_path, export, monkeypatch):
    for start in (10, 20, 30):
        export.copy(start, HTOD, A, 64 * KIB)
    result = imported(export, tmp_path)
    footprint, events = Footprint.of(result, "4096B"), result.table("events")
    monkeypatch.setattr("octavo.report.history._MOST_EVENTS", 3)
    assert coarsened(result, footprint, events)[0].page_bytes == 64 * KIB
    monkeypatch.setattr("octavo.report.history._MOST_EVENTS", 2)
    with refused("too-large", octavo.OutputError):
        coarsened(result, footprint, events)
