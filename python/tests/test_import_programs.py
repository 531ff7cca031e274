"""Profiles of programs that copy by themselves become workloads with the same memory, copies and kernels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import noted, refused
from nsys_exports import GLOBAL_PID, KIB, MIB, A, Export, saxpy, solver

import octavo
from octavo.errors import OutputError, ProfileError, WorkloadError
from octavo.measurements.imports import import_program

NODE = "cuda-sm90"


def durations(result):
    """Picoseconds of each kernel."""
    kernels = result.table("kernels")
    return kernels["ended_ps"] - kernels["began_ps"]


VARIANTS = [{}, {"copy_count": False, "schema": "1.0.0"}, {"schema": "3.24.14"}, {"age": True, "copy_count": False}]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def program(export, **arguments):
    (found,) = import_program(export, "own.py", **arguments)
    return found


def small(**changes):
    """A program of one kernel and an allocation, with something changed."""
    Path("small.sqlite").unlink(missing_ok=True)
    export = Export(Path("small.sqlite"))
    export.memory(1000, A, MIB, kind=2)
    export.kernel(5000, 9000)
    for what, rows in changes.items():
        for row in rows:
            getattr(export, what)(*row[0], **row[1])
    return export.save()


@pytest.mark.parametrize("variant", VARIANTS)
def test_memory_copies_and_kernels_are_as_recorded(variant):
    found = program(solver(Path("solver.sqlite"), **variant))
    assert [(each["name"], each["bytes"], each["alive"]) for each in found["buffers"]] == [
        ("device 1", 32 * MIB, [[0, 30]]),
        ("device 2", 16 * MIB, [[0, 30]]),
        ("device 3", 48 * MIB, [[0, 30]]),
        ("device 4", 8 * MIB, [[0, 10], [10, 30]]),
    ]
    # Before which launch, range, whether into it, first byte, bytes. 4 KiB fit nowhere exactly: the smallest has them.
    assert found["copies"] == [
        [0, 0, True, 0, 32 * MIB],
        [0, 1, True, 0, 16 * MIB],
        [10, 3, False, 0, 4 * KIB],
        [30, 2, False, 0, 48 * MIB],
    ]
    assert found["kernels"] == [["saxpy", 40_000]] * 30
    assert len(found["assumed"]) == 5


def test_kernels_take_their_measured_time_where_memory_is_fast():
    program(solver(Path("solver.sqlite")))
    times = durations(octavo.run("own.py", node=NODE, kind="explicit", scale=0.5))
    assert len(times) == 30
    # 20 us at this scale, and what a launch of this node takes.
    assert times.median() / 1e6 == pytest.approx(20 + 2.855, rel=0.1)


def test_kernels_on_managed_memory_wait_for_pages_and_longer_where_they_do_not_fit():
    program(solver(Path("solver.sqlite")))
    compared = octavo.compare("own.py", kinds=["explicit", "managed"], node=NODE, scale=0.25)
    explicit, managed = (durations(result).sum() for result in compared.results.values())
    assert managed > 2 * explicit
    tight = octavo.run("own.py", node=NODE, kind="managed", scale=0.25, memory="60MB")
    assert durations(tight).sum() > managed


def test_advice_takes_the_program():
    program(solver(Path("solver.sqlite")))
    found = octavo.advise("own.py", node=NODE, scale=0.05, quick=True)
    assert set(found.placements) == {f"device {number}" for number in (1, 2, 3, 4)}


def test_a_class_may_know_what_kernels_touch():
    program(solver(Path("solver.sqlite")))
    text = Path("own.py").read_text() + "\n    def touched(self, kernel):\n        return [1]\n"
    Path("known.py").write_text(text)
    found = octavo.inspect_workload(octavo.scenario("known.py", node=NODE, scale=0.1))
    assert [each["accesses"] > 0 for each in found["buffers"]] == [False, True, False, False]


def test_one_fact_changed_changes_the_program_or_is_noted_or_refused():
    before = program(small())
    kernel = ((10_000, 12_000), {})
    assert len(program(small(kernel=[kernel]), force=True)["kernels"]) == 2
    assert program(small(memory=[((1100, A + MIB, KIB), {"kind": 2})]), force=True)["buffers"] != before["buffers"]
    assert program(small(copy=[((2000, 1, None, KIB, None), {})]), force=True)["copies"] == [[0, 0, True, 0, KIB]]
    for said, change in {
        "larger": {"copy": [((2000, 1, None, 2 * MIB, None), {})]},
        "within": {"copy": [((2000, 8, None, KIB, None), {})]},
        "frees": {"memory": [((2000, A + MIB, KIB), {"kind": 2, "allocates": False})]},
        "had ended": {"kernel": [((6000, 7000), {})]},
        "impossible": {"memory": [((-5, A + MIB, KIB), {"kind": 2})]},
        "kernels of gpu1": {"kernel": [((6000, 7000), {"deviceId": 1})]},
        "ran no kernels": {"memory": [((2000, A + MIB, KIB), {"kind": 2, "deviceId": 1})]},
    }.items():
        with noted("small.sqlite", said):
            program(small(**change), force=True)


def two_gpus(name="two.sqlite"):
    """Each of two GPUs has memory, a copy and kernels of its own, and one copies to the other."""
    export = Export(Path(name))
    for gpu, size in enumerate((MIB, 2 * MIB)):
        on = {"deviceId": gpu}
        export.memory(1000, A + gpu * 16 * MIB, size, kind=2, **on)
        export.copy(2000, 1, None, size, None, **on)
        for launch in range(gpu + 1):
            export.kernel(5000 + 2000 * launch, 6000 + 2000 * launch, **on)
    export.copy(3000, 10, None, KIB, None, srcDeviceId=0, dstDeviceId=1)
    return export


def test_a_program_on_several_gpus_becomes_one_for_each(cli):
    with noted("two.sqlite", "another GPU"):
        found = import_program(two_gpus().save(), "own.py")
    told = [(each["gpu"], [one["bytes"] for one in each["buffers"]], len(each["kernels"])) for each in found]
    assert told == [(0, [MIB], 1), (1, [2 * MIB], 2)]
    assert [[row[4] for row in each["copies"]] for each in found] == [[MIB], [2 * MIB]]
    Path("jobs.toml").write_text(
        f'node.preset = "{NODE}"\nnode.gpus = 2\nprogram.kind = "explicit"\n'
        + "".join(f'[[job]]\nname = "g{gpu}"\nworkload = "own.py:OwnGpu{gpu}"\ngpus = [{gpu}]\n' for gpu in (0, 1))
    )
    assert [job["name"] for job in octavo.run("jobs.toml").summary["jobs"]] == ["g0", "g1"]
    done = cli("import", "nsys", "two.sqlite", "--program", "again.py")
    assert done.returncode == 0, done.stderr
    assert "again.py:AgainGpu1" in done.stdout
    with refused("unexpected-value", key="workload.name"):
        octavo.run("own.py", node=NODE)


def test_an_allocation_that_names_no_gpu_is_refused_where_there_are_several():
    export = two_gpus("unnamed.sqlite")
    export.run("ALTER TABLE CUDA_GPU_MEMORY_USAGE_EVENTS DROP COLUMN deviceId")
    with refused("unexpected-value", ProfileError, key="deviceId"):
        import_program(export.save(), "own.py")


def test_what_tells_no_program_is_refused():
    export = Export(Path("no-memory.sqlite"))
    export.kernel(5000, 9000)
    with refused("missing", ProfileError, key="CUDA_GPU_MEMORY_USAGE_EVENTS", file="no-memory.sqlite"):
        program(export.save())
    export = Export(Path("no-kernels.sqlite"))
    export.memory(1000, A, MIB, kind=2)
    with refused("missing", ProfileError, key="CUPTI_ACTIVITY_KIND_KERNEL"):
        program(export.save())
    other = {"globalPid": GLOBAL_PID + (1 << 24)}
    with refused("ambiguous", ProfileError, key="process"):
        program(small(kernel=[((6000, 7000), other)]))
    with refused("missing", ProfileError, key="process"):
        program(small(), process=1)
    with refused("unexpected-value", ProfileError, key="program"):
        import_program(small(), "own.txt")


def test_files_that_are_there_stay_and_another_program_is_refused():
    program(small())
    with refused("exists", OutputError):
        program(small())
    data = json.loads(Path("own.program.json").read_text())
    data["kernels"].append(["other", 5])
    Path("own.program.json").write_text(json.dumps(data))
    with refused("damaged", WorkloadError, file="own.program.json"):
        octavo.run("own.py", node=NODE)
    Path("own.program.json").unlink()
    with refused("unreadable", WorkloadError):
        octavo.run("own.py", node=NODE, seed=2)


def test_names_of_a_profile_are_text_and_no_code():
    export = Export(Path("evil.sqlite"))
    export.run('UPDATE StringIds SET value = \'a"""\nraise SystemExit(3)\n"""\\\' WHERE id = 1')
    export.run('UPDATE PROCESSES SET name = \'x"""\nraise SystemExit(3)\'')
    export.memory(1000, A, MIB, kind=2)
    export.kernel(5000, 9000)
    program(export.save())
    assert octavo.inspect_workload(octavo.scenario("own.py", node=NODE))["launches"] == 1


def test_the_command_line_writes_it_and_says_what_is_assumed(cli, tmp_path):
    solver(tmp_path / "solver.sqlite")
    done = cli("import", "nsys", "solver.sqlite", "--program", "solver.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Assumed:") == 5
    assert cli("run", "solver.py", "--scale", "0.1", "--node", NODE, "--kind", "explicit", "--quiet").returncode == 0
    saxpy(tmp_path / "saxpy.sqlite")
    assert cli("import", "nsys", "saxpy.sqlite", "--program", "a.py", "-o", "b").returncode == 2
    explicit = cli("import", "nsys", "solver.sqlite")
    assert explicit.returncode == 2
    assert "--program" in explicit.stderr
