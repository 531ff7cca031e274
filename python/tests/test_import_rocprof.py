"""Databases of rocprofv3: memory over time and kernels, or whole programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import noted, refused
from rocpd_files import CPU, GPU, KIB, MIB, OTHER_GPU, A, B, Database, Document, filled, solver

import octavo
from octavo.errors import ProfileError
from octavo.measurements.imports import Rocpd, import_nsys, import_program, import_rocprof


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def program(path):
    (found,) = import_program(path, "own.py", kind=Rocpd, force=True)
    return found


def imported(path):
    return import_rocprof(path, "out", force=True)


@pytest.mark.parametrize("timed", [False, True])
def test_memory_copies_and_kernels_are_as_recorded(timed):
    path = solver(Path("s.db"), timed=timed)
    found = program(path)
    assert [(each["bytes"], each["alive"]) for each in found["buffers"]] == [(2 * MIB, [[0, 10]]), (MIB, [[0, 10]])]
    assert found["copies"] == [[0, 0, True, 0, 2 * MIB], [10, 1, False, 0, MIB]]
    assert found["kernels"] == [["step(double*)", 900]] * 10
    assert found["source"]["program"] == "./solver"
    result = imported(path)
    memory = result.table("memory_intervals").select("time_ps", "processor", "bytes").rows()
    assert memory == [(0, "gpu0", 2 * MIB), (10**5, "gpu0", 3 * MIB), (12 * 10**6, "gpu0", MIB)]
    assert result.table("kernels")["began_ps"].to_list() == [10**6 * (1 + number) for number in range(10)]
    assert result.summary["gpus"] == [{"gpu": 0, "name": "A GPU"}]
    assert (result.summary["launches"], result.summary["footprint_bytes"]) == (10, 3 * MIB)


def test_it_runs_under_any_kind_of_memory(cli):
    solver(Path("s.db"))
    assert cli("import", "rocprof", "s.db", "--program", "own.py").returncode == 0
    found = octavo.run("own.py", node="cuda-sm90", kind="managed")
    assert found.summary["launches"] == 10
    told = cli("import", "rocprof", "s.db", "-o", "out")
    assert told.returncode == 0, told.stderr
    assert "kernel launches" in told.stdout
    assert cli("report", "out", "-o", "r.html").returncode == 0


@pytest.mark.parametrize("timed", [False, True])
def test_one_fact_changed_changes_the_result_or_is_noted_or_refused(timed):
    def made(**more):
        return solver(Path("s.db"), timed=timed, **more)

    before, whole = program(made()), imported(made()).summary
    for change in (
        {"memory": [((1200, B + 2 * MIB, KIB), {})]},
        {"kernel": [((20_000, 20_500), {})]},
        {"copy": [((1600, MIB), {})]},
        {"memory": [((5_500, B, 0), {"kind": "FREE", "agent": None})]},
    ):
        assert {**program(made(**change)), "source": 0} != {**before, "source": 0}
    assert imported(made(memory=[((1200, A, MIB), {"agent": OTHER_GPU})])).summary["gpus"] != whole["gpus"]
    with noted("s.db", "within"):
        program(made(copy=[((1600, MIB, GPU, GPU), {})]))
    with noted("s.db", "within"):
        program(made(copy=[((1600, MIB, CPU, CPU), {})]))
    with noted("s.db", "allocated no memory"):
        program(made(kernel=[((20_000, 20_500), {"agent": OTHER_GPU})]))
    both = {
        "kernel": [((20_000, 20_500), {"agent": OTHER_GPU})],
        "memory": [((1200, B + 8 * MIB, KIB), {"agent": OTHER_GPU})],
    }
    with noted("s.db", "another GPU"):
        found = import_program(made(**both, copy=[((1600, KIB, GPU, OTHER_GPU), {})]), "own.py", kind=Rocpd, force=True)
    assert [(each["gpu"], len(each["kernels"])) for each in found] == [(0, 10), (1, 1)]
    assert imported(made(memory=[((1200, -5, MIB), {})])).summary["notes"] != whole["notes"]


def test_what_is_no_such_database_is_refused():
    with refused("missing", ProfileError, key="CUPTI_ACTIVITY_KIND_KERNEL"):
        _without("kernel_dispatch")
    with refused("missing", ProfileError):
        imported(Database(Path("empty.db")).save())
    made = Database(Path("two.db"))
    made.run('CREATE TABLE "rocpd_info_agent_ff" (id INT, type TEXT)')
    with refused("ambiguous", ProfileError, file="two.db"):
        imported(made.save())
    made = Database(Path("times.db"))
    made.run('ALTER TABLE "rocpd_kernel_dispatch_00a1b2c3" RENAME COLUMN "start" TO "began"')
    with refused("unexpected-value", ProfileError, file="times.db"):
        imported(made.save())
    with refused("missing", ProfileError, key="rocpd_info_agent"):
        from nsys_exports import saxpy  # noqa: PLC0415 - one test

        imported(saxpy(Path("x.sqlite")))
    Path("trace.csv").write_text('"Kind","Agent_Id"\n')
    with refused("unexpected-value", ProfileError, names=["CSV"], file="trace.csv"):
        imported(Path("trace.csv"))
    with pytest.raises(ProfileError):
        import_nsys(solver(Path("s.db")), "out2")


def _without(table):
    made = Database(Path("part.db"))
    made.memory(1000, A, MIB)
    made.run(f'DROP TABLE "rocpd_{table}_00a1b2c3"')
    return program(made.save())


def document(change=lambda content: None, **more):
    """The same recording as JSON, with something changed."""
    made = Document(Path("s.json"))
    filled(made, **more)
    change(made.content)
    return made.save()


def copies(content):
    return content["buffer_records"]["memory_copy"]


def test_json_is_the_same_as_a_database():
    of_database, of_json = program(solver(Path("s.db"))), program(document())
    assert {**of_database, "source": 0} == {**of_json, "source": 0}
    assert of_json["source"]["program"] == "./solver"
    whole, other = imported(solver(Path("s.db"))).summary, imported(document()).summary
    for key in ("launches", "footprint_bytes", "never_freed_bytes", "gpus", "notes", "time_ps"):
        assert whole[key] == other[key]
    both = {
        "kernel": [((20_000, 20_500), {"agent": OTHER_GPU})],
        "memory": [((1200, A + 8 * MIB, KIB), {"agent": OTHER_GPU})],
    }
    found = import_program(document(**both), "own.py", kind=Rocpd, force=True)
    assert [each["gpu"] for each in found] == [0, 1]


def test_one_fact_of_json_changed_changes_the_result_or_is_refused():
    before = program(document())
    changed = {
        "name": lambda content: content["kernel_symbols"][0].update(formatted_kernel_name="leap"),
        "bytes": lambda content: content["buffer_records"]["memory_copy"][0].update(bytes=MIB),
        "size": lambda content: content["buffer_records"]["memory_allocation"][1].update(allocation_size=4 * MIB),
        "address": lambda content: content["buffer_records"]["memory_allocation"][1].update(address=hex(A + 8 * MIB)),
        "operation": lambda content: content["buffer_records"]["memory_allocation"][1].update(operation=2),
        "direction": lambda content: content["buffer_records"]["memory_copy"][0].update(
            src_agent_id=content["agents"][1]["id"], dst_agent_id=content["agents"][0]["id"]
        ),
        "time": lambda content: content["buffer_records"]["kernel_dispatch"][0].update(end_timestamp=2950),
    }
    for what, change in changed.items():
        assert {**program(document(change)), "source": 0} != {**before, "source": 0}, what
    names = lambda content: content["strings"]["buffer_records"][0]["operations"].insert(0, "OTHER")  # noqa: E731
    with refused("missing", ProfileError, file="s.json"):
        program(document(names))
    without = lambda content: content["strings"].clear()  # noqa: E731 - short
    assert {**program(document(without)), "source": 0} == {**before, "source": 0}, "numbers have their usual meaning"
    for key, code in (("metadata", "missing"), ("agents", "missing"), ("buffer_records", "missing")):
        with refused(code, ProfileError, key=key, file="s.json"):
            program(document(lambda content, key=key: content.pop(key)))
    for value in ("all", -1, None, 1.5, [1]):
        with refused("unexpected-value", ProfileError, file="s.json"):
            program(document(lambda content, value=value: copies(content)[0].update(bytes=value)))
    path = document()
    path.write_text(path.read_text().replace('"rocprofiler-sdk-tool": [', '"rocprofiler-sdk-tool": [{}, '))
    with refused("ambiguous", ProfileError, file="s.json"):
        program(path)
    path.write_text("[1]")
    with refused("missing", ProfileError, file="s.json"):
        program(path)
