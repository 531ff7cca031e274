"""Recorded traces: written from frames, arrays and rows; looked at; run; refused when they are wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import noted, refused

import octavo
from octavo.files.manifest import MANIFEST_FILE
from octavo.trace.folder import check_all

ROOT = Path(__file__).parents[2]
ALLOCATIONS = [{"name": "input", "base": 4096, "bytes": 16384}, {"name": "output", "base": 1 << 21, "bytes": 4096}]
LAUNCH = {"kernel": "copy", "grid": (256, 1, 1), "group": (128, 1, 1)}


def test_lines_that_a_store_does_not_fill_are_given_found_or_guessed(tmp_path):
    """By position; from addresses; or all of them if there are too few bytes."""
    end = {"kind": "end"}
    store = {"kind": "store", "bytes": 4, "lanes": 64}
    words = [4100 + 4 * lane for lane in range(64)]

    def partial(name, row, **allocation):
        allocations = [ALLOCATIONS[0] | allocation]
        trace = octavo.trace.write(
            tmp_path / f"{name}.trace", [row, end], allocations, [LAUNCH | {"grid": (64, 1, 1), "group": (64, 1, 1)}]
        )
        assert trace.allocations["gpu"].to_list() == [allocation.get("gpu", 0)]
        return trace.head(1)[0]["partial"]

    assert partial("given", store | {"lines": [64, 65, 66, 67, 68], "partial": [0, 4]}) == [0, 4]
    assert partial("found", store | {"addresses": words}, gpu=2) == [0, 4]
    assert partial("guessed", store | {"lines": [64, 65, 66, 67, 68]}) == [0, 1, 2, 3, 4]
    with refused("bad-trace", octavo.TraceError, file="instructions.parquet", line=0):
        partial("wrong", store | {"lines": [64, 65, 66, 67, 68], "partial": [5]})


def instructions() -> pl.DataFrame:
    """Two groups of two wavefronts: load, wait, store, end."""
    rows = []
    for group in range(2):
        for wavefront in range(2):
            first = 64 + 4 * (2 * group + wavefront)
            place = {"group": group, "wavefront": wavefront}
            load = {"kind": "load", "bytes": 4, "lanes": 64, "lines": list(range(first, first + 4)), "vector_alu": 3}
            load["code_lines"] = [0, 1]
            rows += [
                place | load,
                place | {"kind": "wait", "vector_wait": 0, "lines": []},
                place | {"kind": "store", "bytes": 4, "lanes": 64, "lines": [32768 + group], "scalar_alu": 1},
                place | {"kind": "end", "lines": [], "branch": 1},
            ]
    return pl.DataFrame(rows)


@pytest.fixture
def trace(tmp_path):
    return octavo.trace.write(tmp_path / "copy.trace", instructions(), ALLOCATIONS, [LAUNCH], command="by hand")


def test_what_is_written_is_what_is_read(trace):
    total = trace.info["total"]
    assert (trace.info["rows"], total["load_lines"], total["store_lines"]) == (16, 16, 4)
    assert (total["vector_alu"], total["kinds"]["wait"]) == (12, 4)
    assert trace.launches["wavefronts_per_group"].to_list() == [2]
    frame = trace.instructions.filter(group=1, wavefront=0).collect()
    assert frame["kind"].to_list() == ["load", "wait", "store", "end"]
    assert frame["sequence"].to_list() == [0, 1, 2, 3]
    assert trace.head(1, group=1, wavefront=1)[0]["lines"] == [76, 77, 78, 79]
    assert (trace.head(1)[0]["code_lines"], total["code_lines"]) == ([0, 1], 8)
    assert octavo.trace.open(str(trace.path)).validate() == 16


def test_frames_arrays_chunks_and_rows_give_the_same_bytes(trace, tmp_path):
    frame = instructions()
    arrays = {name: frame[name].to_numpy() for name in ("group", "wavefront", "bytes", "lanes", "vector_alu")}
    arrays |= {
        name: frame[name].to_list() for name in ("kind", "lines", "code_lines", "vector_wait", "scalar_alu", "branch")
    }
    arrays["code_lines"] = [item or [] for item in arrays["code_lines"]]
    arrays["group"] = np.nan_to_num(arrays["group"])
    arrays["bytes"] = np.nan_to_num(arrays["bytes"]).astype(np.int64)
    arrays["lanes"] = np.nan_to_num(arrays["lanes"]).astype(np.int64)
    arrays["vector_alu"] = np.nan_to_num(arrays["vector_alu"]).astype(np.int64)
    sources = {
        "arrays": arrays,
        "shuffled": frame.with_columns(sequence=pl.int_range(pl.len()) % 4).sample(fraction=1, shuffle=True, seed=3),
        "chunks": (frame.slice(start, 3) for start in range(0, 16, 3)),
        "rows": (row for row in frame.to_dicts()),
        "lazy": frame.lazy(),
    }
    expected = (trace.path / "instructions.parquet").read_bytes()
    for name, source in sources.items():
        made = octavo.trace.write(tmp_path / f"{name}.trace", source, ALLOCATIONS, [LAUNCH], command="by hand")
        assert (made.path / "instructions.parquet").read_bytes() == expected, name


def test_addresses_become_lines(tmp_path):
    rows = {"kind": ["load", "end"], "bytes": [4, 0], "lanes": [3, 0], "addresses": [[4100, 4224, 4096], []]}
    launch = {"kernel": "k", "grid": [32], "group": [32]}
    trace = octavo.trace.write(tmp_path / "a.trace", rows, ALLOCATIONS, [launch], lanes=32)
    assert trace.head(1)[0]["lines"] == [64, 66]


@pytest.mark.parametrize(
    ("change", "code", "names"),
    [
        (lambda frame: frame.drop("kind"), "missing", ["kind"]),
        (lambda frame: frame.rename({"lanes": "lines_"}), "unknown-key", ["lines_"]),
        (lambda frame: frame.with_columns(kind=pl.lit("jump")), "unknown-name", ["jump"]),
        (lambda frame: frame.with_columns(bytes=pl.lit(70000)), "bad-trace", ["bytes", "70000"]),
        (lambda frame: frame.head(15), "bad-trace", ["row 14", "wavefront 1 of group 1 of launch 0"]),
        (lambda frame: frame.head(12), "bad-trace", ["row 11", "wavefront 1 of group 1 of launch 0"]),
        (
            lambda frame: frame.with_columns(lines=pl.col("lines").list.eval(pl.element() + 512)),
            "bad-trace",
            ["row 0", "line 576"],
        ),
        (
            lambda frame: frame.with_columns(sequence=pl.int_range(pl.len()) % 4 * 2),
            "bad-trace",
            ["row 1", "wavefront 0 of group 0"],
        ),
    ],
)
def test_what_breaks_a_rule_is_refused_and_leaves_nothing(change, code, names, tmp_path):
    with refused(code, octavo.TraceError, names=names):
        octavo.trace.write(tmp_path / "a.trace", change(instructions()), ALLOCATIONS, [LAUNCH])
    assert not list(tmp_path.iterdir())


def test_a_trace_is_replaced_only_when_asked_for(trace):
    with refused("exists", octavo.TraceError, file="copy.trace"):
        octavo.trace.write(trace.path, instructions(), ALLOCATIONS, [LAUNCH])
    octavo.trace.write(trace.path, instructions(), ALLOCATIONS, [LAUNCH], replace=True, command="again")
    assert octavo.trace.open(trace.path).info["command"] == "again"
    assert [path.name for path in trace.path.parent.iterdir()] == ["copy.trace"]


def rewrite(trace, change, **metadata):
    """The same file as polars writes it, changed."""
    path = trace.path / "instructions.parquet"
    known = {"version": "1", "lanes": "64", "source": "octavo.trace.write", "command": "by hand"} | metadata
    pairs = {f"octavo.trace.{key}": value for key, value in known.items() if value is not None}
    change(pl.read_parquet(path)).write_parquet(path, metadata=pairs)
    (trace.path / "octavo-manifest.json").unlink(missing_ok=True)


def test_traces_that_polars_wrote_are_read(trace):
    before = trace.head(20)
    rewrite(trace, lambda frame: frame)
    assert octavo.trace.open(trace.path).head(20) == before
    assert trace.validate() == 16
    without = pl.col("lines").list.len() == 0
    lists = pl.when(without).then(None).otherwise(pl.col("lines").list.eval(pl.element() * 64)).alias("addresses")
    one_lane = pl.when(pl.col("lanes") > 0).then(pl.col("lines").list.len()).otherwise(0).cast(pl.UInt8)
    rewrite(trace, lambda frame: frame.with_columns(lists, lanes=one_lane).drop("lines"))
    assert trace.validate() == 16
    assert octavo.run(workload=trace.path).summary["accesses"]["load_lines"] == 16


@pytest.mark.parametrize(
    ("change", "line", "names"),
    [
        (lambda frame: frame.drop("lines"), None, ["lines"]),
        (lambda frame: frame.drop("branch"), None, ["branch"]),
        (
            lambda frame: frame.with_columns(pl.col("group").cast(pl.Int64)),
            None,
            ["group", "uint32", "INT64"],
        ),
        (lambda frame: frame.with_columns(pl.col("lanes").cast(pl.UInt16)), None, ["lanes", "uint8", "uint16"]),
        (lambda frame: frame.with_columns(lines=pl.lit(1, pl.UInt64)), None, ["lines", "uint64"]),
        (lambda frame: frame.with_columns(group=pl.lit(None, pl.UInt32)), 0, ["group"]),
        (lambda frame: frame.with_columns(kind=pl.lit("jump")), 0, ["jump"]),
        (lambda frame: frame.reverse(), 0, ["wavefront 1 of group 1", "3"]),
        (lambda frame: frame.filter(sequence=1).clear(), 0, ["wavefront 0 of group 0"]),
        (lambda frame: pl.concat([frame.head(3), frame.slice(4)]), 3, ["wavefront 0 of group 0"]),
        (
            lambda frame: frame.with_columns(pl.col("lines").list.eval(pl.element() * 9)),
            0,
            ["line 576"],
        ),
        (lambda frame: frame.with_columns(launch=pl.lit(1, pl.UInt32)), 0, ["launch"]),
    ],
)
def test_each_broken_rule_is_named_with_its_row(change, line, names, trace):
    rewrite(trace, change)
    with refused("bad-trace", octavo.TraceError, file="instructions.parquet", line=line, names=names):
        trace.validate()


@pytest.mark.parametrize(
    ("metadata", "file", "name"),
    [
        ({"version": "3"}, "instructions.parquet", "`3`"),
        ({"version": "2"}, "allocations.parquet", "octavo.trace.write"),
        ({"version": None}, "instructions.parquet", "octavo.trace.version"),
        ({"lanes": "48"}, "instructions.parquet", "48"),
        ({"command": "another"}, "allocations.parquet", "by hand"),
    ],
)
def test_metadata_is_checked(metadata, file, name, trace):
    rewrite(trace, lambda frame: frame, **metadata)
    with refused("bad-trace", octavo.TraceError, file=file, names=[name]):
        octavo.trace.open(trace.path)


def test_a_trace_is_a_workload(trace):
    result = octavo.run(workload=trace.path, node="grit-2gpu")
    assert result.summary["accesses"]["load_lines"] == 16
    assert result.scenario.label == "copy"
    comparison = octavo.compare(workload=str(trace.path), placements=["on-touch", "ideal"])
    assert comparison.points["load_lines" if "load_lines" in comparison.points.columns else "lines"].min() > 0
    found = octavo.inspect_workload(octavo.scenario(workload=trace.path))
    assert (found["total"]["loads"], [buffer["name"] for buffer in found["buffers"]]) == (16, ["input", "output"])


def test_a_trace_is_found_by_the_name_of_its_folder(trace, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("mine", "fir"):
        shutil.copytree(trace.path, tmp_path / folder)
    assert cli("run", "-w", "mine", "-o", "out").returncode == 0
    assert octavo.RunResult.load(tmp_path / "out").summary["accesses"]["load_lines"] == 16
    (tmp_path / "s.toml").write_text('workload = "mine"')
    assert octavo.scenario("s.toml").values["workload"]["path"] == "mine"
    done = cli("compare", "-w", "mine,fir", "-p", "on-touch", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "taps" in octavo.scenario(workload="fir").values["workload"], "a workload comes before a folder of its name"
    (tmp_path / "empty").mkdir()
    assert "unknown workload `empty`" in cli("run", "-w", "empty").stderr


def test_results_are_not_those_of_another_trace(trace, cli, tmp_path):
    command = ("run", "-w", "copy.trace", "-o", "out")
    assert cli(*command).returncode == 0
    assert cli(*command).returncode == 0
    resolved = (tmp_path / "out" / "scenario.toml").read_text()
    assert 'path = "copy.trace"' in resolved
    assert "digest = " in resolved
    octavo.trace.write(trace.path, instructions(), ALLOCATIONS, [LAUNCH], replace=True, command="another")
    done = cli(*command)
    assert done.returncode == 2
    assert "another scenario" in done.stderr
    done = cli("run", "out/scenario.toml", "-o", "again")
    assert "is another trace than the scenario is about" in done.stderr
    shutil.rmtree(trace.path)
    assert octavo.RunResult.load(tmp_path / "out").scenario.label == "copy"


def test_a_trace_cannot_be_scaled_and_must_be_there(trace, cli, tmp_path):
    (tmp_path / "sweep.toml").write_text(f'scenario.workload.name = "{trace.path}"\ngrid.workload.scale = [1, 0.5]\n')
    jobs = [f'[[job]]\nname = "{name}"\nworkload.name = "{trace.path}"\nworkload.scale = {name}\n' for name in (1, 0.5)]
    (tmp_path / "jobs.toml").write_text(f'node.preset = "grit-4gpu"\n{"".join(jobs)}')
    for command in (
        ("run", "-w", str(trace.path), "--scale", "0.5", "-o", "r"),
        ("compare", str(trace.path), "--placement", "on-touch,grit", "--scale", "0.5", "-o", "r"),
        ("sweep", "sweep.toml", "-o", "r"),
        ("run", "jobs.toml", "-o", "r"),
    ):
        done = cli(*command)
        assert (done.returncode, "workload.scale`: expected 1," in done.stderr.replace("\n", " ")) == (2, True), command
        assert not (tmp_path / "r").exists(), "nothing ran"
    for command in (("run", "-w", "no.trace"), ("trace", "info", "no.trace"), ("workload", "inspect", "no.trace")):
        done = cli(*command)
        assert (done.returncode, "no.trace: does not exist" in done.stderr.replace("\n", " ")) == (2, True), command


def test_damage_found_while_running_is_an_error_of_the_run(trace, cli):
    rewrite(trace, lambda frame: frame.with_columns(pl.col("lines").list.eval(pl.element() * 9)))
    done = cli("run", "-w", str(trace.path))
    assert done.returncode == 2
    assert "instructions.parquet, row 0: line 576 (address 36864) is in no allocation" in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr
    assert cli("trace", "validate", str(trace.path)).returncode == 2


def test_commands_say_the_same_to_programs(trace, cli):
    assert json.loads(cli("trace", "info", "copy.trace", "--json").stdout) == trace.info
    rows = json.loads(cli("trace", "head", "copy.trace", "--group", "1", "-c", "3", "--json").stdout)
    assert rows == trace.head(3, group=1)
    assert "load 64 × 4 B" in cli("trace", "head", "copy.trace").stdout
    assert json.loads(cli("trace", "validate", "copy.trace", "--json").stdout) == {"rows": 16, "valid": True}


def test_a_mix_of_traces_is_called_by_all_of_them(trace):
    program = {"name": "trace", "path": str(trace.path)}
    mix = octavo.scenario(workload="fir", overrides={"workload": {"name": "mix", "applications": ["fir", program]}})
    assert mix.workload == f"fir+{trace.path}"
    assert mix.label == "fir+copy"


MEMORIES = [ALLOCATIONS[0] | {"kind": "managed"}, ALLOCATIONS[1] | {"kind": "device", "gpu": 1}]
ACTIONS = [
    {"kind": "allocate", "address": "input"},
    {"kind": "allocate", "address": "output"},
    {"kind": "allocate", "address": "result"},
    {"kind": "advise", "address": "input", "read_mostly": True, "accessed_by": [1]},
    {"kind": "host", "name": "fill", "threads": 2, "sweeps": [{"address": "input", "writes": True}]},
    {"kind": "prefetch", "address": 4096, "bytes": 4096, "processor": 1},
    {"kind": "launch"},
    {"kind": "copy", "source": "output", "address": "result"},
    {"kind": "host", "name": "look", "sweeps": [{"address": "result", "bytes": 128, "width": 4, "stride": 64}]},
    {"kind": "free", "address": "input"},
    {"kind": "free", "address": "output", "after": [7]},
    {"kind": "free", "address": "result", "after": [8]},
]


def whole(path, actions=ACTIONS):
    """A program that fills its input, which the kernel reads in place, and copies its output to the host."""
    allocations = [*MEMORIES, {"name": "result", "base": 1 << 22, "bytes": 4096, "kind": "system"}]
    return octavo.trace.write(path, instructions(), allocations, [LAUNCH], actions=actions)


def test_a_whole_program_is_written_and_runs_as_it_is(tmp_path, cli):
    trace = whole(tmp_path / "whole.trace")
    assert trace.info["version"] == "2"
    assert trace.info["program"]["bytes"] == {"device": 4096, "managed": 16384, "system": 4096}
    assert trace.validate() == 16
    table = trace.actions
    assert table["kind"].to_list() == [action["kind"] for action in ACTIONS]
    assert table["after"].to_list()[:3] == [[], [0], [1]]
    assert table["after"].to_list()[-2:] == [[7], [8]]
    assert table["sweeps"][8].to_list() == [
        {"address": 1 << 22, "bytes": 128, "writes": 0, "width": 4, "stride": 64, "thread": 0}
    ]
    again = octavo.trace.write(
        tmp_path / "again.trace", trace.instructions, trace.allocations, trace.launches, actions=table
    )
    assert again.actions.equals(table)
    run = octavo.run(workload=trace.path, output=tmp_path / "run")
    assert run.scenario.kind == "recorded"
    assert {"allocation", "host-initialisation", "kernel", "copy-out", "host-results", "deallocation"} <= set(
        run.table("phases")["phase"]
    )
    assert octavo.run(workload=trace.path, kind="launches", output=tmp_path / "launches").scenario.kind == "launches"
    shown = cli("trace", "info", "whole.trace").stdout
    assert "prefetch" in shown
    assert "launches alone" not in shown
    listed = json.loads(cli("workload", "program", str(trace.path), "--kind", "recorded", "--json").stdout)
    assert [action["action"] for action in listed["actions"]] == [action["kind"] for action in ACTIONS]


@pytest.mark.parametrize(
    ("change", "code", "names"),
    [
        ({0: {"address": "inptu"}}, "unknown-name", ["row 0", "inptu", "input"]),
        ({3: {"red_mostly": True}}, "unknown-key", ["row 3", "red_mostly"]),
        ({4: {"kind": "hots"}}, "bad-trace", ["hots"]),
        ({4: {"sweeps": [{"address": "output"}]}}, "bad-trace", ["actions.parquet, row 4", "output"]),
        ({6: {"allocations": ["input"]}}, "bad-trace", ["instructions.parquet"]),
        ({6: {"launch": 1}}, "bad-trace", ["row 6", "launch 1"]),
        ({9: {"after": [2]}}, "bad-trace", ["action 9"]),
    ],
)
def test_actions_that_cannot_be_are_refused(change, code, names, tmp_path):
    actions = [action | change.get(number, {}) for number, action in enumerate(ACTIONS)]
    with refused(code, octavo.TraceError, names=names):
        whole(tmp_path / "whole.trace", actions)
    assert not list(tmp_path.iterdir())


def test_a_kernel_is_recorded_and_runs_like_itself(tmp_path, cli):
    path = tmp_path / "fir.trace"
    done = cli("trace", "record", "fir", str(path), "--kind", "explicit", "--scale", "0.002", "--json")
    assert json.loads(done.stdout)["rows"] == octavo.trace.open(path).validate()
    model = octavo.run(workload="fir", kind="explicit", scale=0.002, output=tmp_path / "model")
    replay = octavo.run(workload=path, output=tmp_path / "replay")
    assert replay.scenario.kind == "recorded"
    assert replay.table("phases").equals(model.table("phases"))
    assert replay.summary["time_ps"] == model.summary["time_ps"]


def test_traces_of_the_repository_have_manifests(recwarn):
    found = sorted((ROOT / "traces").glob("*.trace"))
    assert len(found) > 20
    check_all(found)
    assert not recwarn.list


def test_a_trace_of_another_program_is_sealed_once_it_is_checked(cli, tmp_path):
    path = shutil.copytree(ROOT / "traces" / "fir-length-16384.trace", tmp_path / "fir.trace")
    (path / MANIFEST_FILE).unlink()
    (path / "notes.txt").write_text("mine")
    with noted("octavo trace seal"):
        rows = octavo.trace.open(path).validate()
    assert cli("trace", "seal", "fir.trace", "--json").stdout == f'{{\n  "fir.trace": {rows}\n}}\n'
    original = ROOT / "traces" / "fir-length-16384.trace" / MANIFEST_FILE
    assert (path / MANIFEST_FILE).read_bytes() == original.read_bytes(), "files of others are none of it"
    broken = bytearray((path / "launches.parquet").read_bytes())
    broken[100] ^= 1
    (path / "launches.parquet").write_bytes(broken)
    with refused("damaged", octavo.TraceError, file="launches.parquet"):
        octavo.trace.seal(path)


def test_what_is_no_valid_trace_is_not_sealed(tmp_path):
    path = shutil.copytree(ROOT / "traces" / "fir-length-16384.trace", tmp_path / "fir.trace")
    (path / MANIFEST_FILE).unlink()
    (path / "launches.parquet").write_bytes(b"PAR1")
    with pytest.warns(octavo.OctavoNote), pytest.raises(octavo.TraceError):
        octavo.trace.seal(path)
    assert not (path / MANIFEST_FILE).exists()
