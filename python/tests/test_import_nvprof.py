"""Databases of nvprof: unified memory becomes a result, a program that copies by itself a workload."""

from __future__ import annotations

from pathlib import Path

import nsys_exports
import pytest
from conftest import noted, refused
from nvprof_files import GPU_FAULT, HTOD, KIB, MIB, PAGE, PID, A, B, Database, saxpy, solver

import octavo
from octavo.errors import ProfileError
from octavo.measurements.imports import Nvprof, import_nsys, import_nvprof, import_program

NODE = "cuda-sm90"
FILE = Path("p.nvvp")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def profile(**changes):
    """A profile of one fault and one migration, with something added."""
    FILE.unlink(missing_ok=True)
    made = Database(FILE)
    made.memory(1000, A, MIB, kind=5)
    made.counter(2000, GPU_FAULT, A, 3, 1)
    made.counter(2100, HTOD, A, 64 * KIB, 2)
    for what, rows in changes.items():
        for row in rows:
            getattr(made, what)(*row[0], **row[1])
    return import_nvprof(made.save(), "result", force=True)


def program(**changes):
    """A program of one kernel and an allocation, with something added."""
    FILE.unlink(missing_ok=True)
    made = Database(FILE)
    made.memory(1000, A, MIB)
    made.kernel(5000, 9000)
    for what, rows in changes.items():
        for row in rows:
            getattr(made, what)(*row[0], **row[1])
    (found,) = import_program(made.save(), "own.py", force=True, kind=Nvprof)
    return found


def test_unified_memory_is_as_recorded():
    result = import_nvprof(saxpy(FILE), "result")
    found = result.summary["unified_memory"]
    assert (found["gpu_faults"], found["fault_groups"], found["cpu_faults"]) == (8, 2, 1)
    assert (found["h2d_bytes"], found["d2h_bytes"]) == (64 * KIB, 64 * KIB)
    assert found["bytes_by_kind"]["thrashing"] == PAGE
    assert result.table("kernels")["kernel"].to_list() == ["saxpy"]
    (one,) = result.table("allocations").to_dicts()
    assert (one["bytes"], one["freed_ps"]) == (MIB, (9500 - 1000) * 1000)
    assert result.summary["other_memory_bytes"] == {"device": 8 * MIB}
    assert result.summary["gpus"] == [{"gpu": 0, "name": "NVIDIA Test 1"}]


def test_an_explicit_program_runs_again_with_its_memory_copies_and_kernels():
    (found,) = import_program(solver(FILE), "own.py", kind=Nvprof)
    assert [(each["bytes"], each["alive"]) for each in found["buffers"]] == [
        (32 * MIB, [[0, 10]]),
        (16 * MIB, [[0, 10]]),
    ]
    assert found["copies"] == [[0, 0, True, 0, 32 * MIB], [10, 1, False, 0, 16 * MIB]]
    assert found["kernels"] == [["saxpy", 40_000]] * 10
    assert found["gigabytes_per_second"] == 900
    kernels = octavo.run("own.py", node=NODE, kind="explicit", scale=0.25).table("kernels")
    assert len(kernels) == 10


def test_one_fact_changed_changes_the_result_or_is_noted():
    before = profile().summary
    for change in (
        {"counter": [((3000, HTOD, A + MIB // 2, PAGE), {})]},
        {"memory": [((1500, B, MIB), {"kind": 5})]},
        {"memory": [((1500, B, MIB), {})]},
        {"kernel": [((2500, 2600), {})]},
        {"counter": [((3000, 77, A, PAGE), {})]},
        {"counter": [((3000, HTOD, A, PAGE, 99), {})]},
        {"counter": [((3000, HTOD, A, PAGE), {"srcId": -1})]},
        {"insert": [(("CDP_KERNEL",), {"start": 5, "name": 1})]},
    ):
        after = profile(**change).summary
        assert {**after, "source": 0} != {**before, "source": 0}, change
    first = program()
    assert program(copy=[((2000, 1, KIB), {})])["copies"] == [[0, 0, True, 0, KIB]]
    assert len(program(kernel=[((10_000, 12_000), {})])["kernels"]) == 2
    assert program(memory=[((1500, B, MIB), {})])["buffers"] != first["buffers"]
    for said, change in {
        "cudaMemset": {"insert": [(("MEMSET",), {"value": 0, "bytes": 5, "start": 5, "end": 6, "deviceId": 0})]},
        "launched": {"insert": [(("CDP_KERNEL",), {"start": 5, "name": 1})]},
        "counters": {"counter": [((3000, HTOD, A, PAGE), {})]},
        "within": {"copy": [((2000, 8, KIB), {})]},
    }.items():
        with noted("p.nvvp", said):
            program(**change)


def test_what_cannot_be_read_is_refused_by_name():
    with refused("missing", ProfileError, key="CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER"):
        import_nvprof(solver(FILE), "result")
    with refused("ambiguous", ProfileError, key="processId", found=2):
        profile(counter=[((3000, HTOD, A, PAGE), {"processId": PID + 1})])
    with refused("missing", ProfileError, key="StringTable"):
        import_nvprof(nsys_exports.saxpy(Path("nsys.sqlite")), "result")
    with refused("missing", ProfileError, key="StringIds") as error:
        import_nsys(solver(Path("other.nvvp")), "result")
    assert "nvprof" in str(error.value.hint)
    made = Database(Path("no-memory.nvvp"))
    made.run("DROP TABLE CUPTI_ACTIVITY_KIND_MEMORY")
    made.kernel(1, 2)
    with refused("missing", ProfileError, key="CUDA_GPU_MEMORY_USAGE_EVENTS") as found:
        import_program(made.save(), "a.py", kind=Nvprof)
    assert "nvprof" in str(found.value.hint)


def test_counters_of_an_older_cuda_are_refused_with_the_column_that_is_missing():
    made = Database(FILE)
    made.run(
        "DROP TABLE CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER; CREATE TABLE CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER"
        "(counterKind INT, scope INT, deviceId INT, value INT, timestamp INT, processId INT)"
    )
    with refused("unexpected-value", ProfileError, key="start"):
        import_nvprof(made.save(), "result")


def test_the_command_line_imports_both(cli, tmp_path):
    saxpy(tmp_path / "u.nvvp")
    solver(tmp_path / "e.nvvp")
    done = cli("import", "nvprof", "u.nvvp", "-o", "result")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "result" / "summary.json").exists()
    done = cli("import", "nvprof", "e.nvvp", "--program", "e.py")
    assert done.returncode == 0, done.stderr
    assert "octavo import nvprof" in (tmp_path / "e.py").read_text()
