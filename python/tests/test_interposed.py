"""Programs that are recorded, advised on, and run as advised: on a driver that stands in for CUDA's."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import missing, refused, tool

import octavo
from octavo.advice import placement_file, timeline
from octavo.errors import AdviceError, OutputError, ProfileError
from octavo.measurements.interposer import apply, library, logs, record
from octavo.report import report

CRATE = Path(__file__).parents[2] / "crates" / "octavo-interpose"
SOURCES = CRATE / "tests" / "c"
MACHINE = CRATE.parents[1] / "machines" / "h100.toml"
BUILT = [CRATE.parents[1] / "target" / folder for folder in ("debug/deps", "debug", "release")]


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory):
    """A folder with a driver, a runtime, and a program of it."""
    folder, compiler = tmp_path_factory.mktemp("stand-in"), tool("gcc")
    named = f"-Wl,--version-script={SOURCES / 'driver.map'}"
    shared = ["-shared", "-fPIC"]
    for name, source, flags in (
        ("libcuda.so.1", "driver.c", [SOURCES / "unified.c", *shared, "-Wl,-soname,libcuda.so.1", named]),
        ("libcudart.so.12", "runtime.c", [*shared, "-Wl,-soname,libcudart.so.12"]),
        ("program", "program.c", ["-l:libcudart.so.12"]),
        ("shapes", "shapes.c", ["-O1", "-l:libcudart.so.12", "-l:libcuda.so.1"]),
    ):
        command = [compiler, "-std=gnu11", "-g", "-pthread", "-o", folder / name, SOURCES / source, "-L", folder]
        subprocess.run([*command, *flags, "-ldl"], check=True)
    return folder


@pytest.fixture
def interposed(stand_in, monkeypatch):
    """The program, where the library and the driver are found."""
    found = [place / library.NAME for place in BUILT if (place / library.NAME).is_file()]
    if not found:
        missing(f"{library.NAME}, which `cargo test` builds,")
    newest = max(found, key=lambda path: path.stat().st_mtime)
    monkeypatch.setenv(library.VARIABLE, str(newest))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(stand_in))
    return str(stand_in / "program")


@pytest.fixture
def clocked(interposed, stand_in, tmp_path, monkeypatch):
    """Runs something, and gives the milliseconds of the stand-in's clock that it took."""
    monkeypatch.setenv("STAND_IN_CLOCK", str(tmp_path / "clock"))

    def clocked(run) -> float:
        (tmp_path / "clock").unlink(missing_ok=True)
        run()
        return float(json.loads((tmp_path / "clock").read_text())["ns"]) * 1e-6

    return clocked


def driver_log(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_a_program_is_recorded_advised_on_and_run_as_advised(interposed, cli, tmp_path, monkeypatch):
    done = cli("record", "--", interposed)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "3 allocations (4.0 KiB device, 4.0 KiB managed, 100 B pinned), 1 launches" in done.stderr
    # Without device memory to spare, what lies there goes to managed memory.
    advised = ("advise", "profile.json", "--node", "cuda-sm80", "--placement-file", "placement.json")
    done = cli(*advised, "--budget", "0B")
    assert done.returncode == 0, done.stderr
    written = json.loads((tmp_path / "placement.json").read_text())
    assert [(each["call"], each["placement"]) for each in written["buffers"]] == [
        ("cudaMalloc", "managed"),
        ("cudaMallocManaged", "managed"),
    ]
    monkeypatch.setenv("STAND_IN_LOG", str(tmp_path / "driver.log"))
    done = cli("apply", "placement.json", "--json", "--", interposed)
    assert done.returncode == 0, done.stderr
    log = json.loads(done.stdout)["log"]
    assert [
        (each["name"].split(":")[0], each["matched"], each["redirected"], each["as_it_is"]) for each in log["buffers"]
    ] == [
        ("program.c", 1, 1, 0),
        ("program.c", 1, 0, 1),
    ]
    assert driver_log(tmp_path / "driver.log")[:2] == ["made 4096 managed", "made 4096 managed"]
    assert cli("advise", "profile.json", "--placement-file", "placement.json").returncode == 2
    assert cli(*advised, "--force").returncode == 0


def test_a_folder_of_samples_has_the_recording_and_is_advised_on(interposed, cli, tmp_path):
    done = cli("profile", "--buffers", "-o", "sampled", "--", interposed)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "octavo advise sampled" in done.stderr
    octavo.RunResult.load(tmp_path / "sampled").check()
    advice = octavo.advise(tmp_path / "sampled", node="cuda-sm80")
    assert [each.buffer.present for each in advice.plan.buffers] == ["device", "managed"]
    done = cli("advise", "sampled", "--node", "cuda-sm80", "--placement-file", "placement.json")
    assert done.returncode == 0, done.stderr
    assert cli("apply", "placement.json", "--", interposed).returncode == 0
    done = cli("profile", "--buffers", "-q", "-o", "both", "--", "sh", "-c", f"{interposed}; {interposed}")
    assert done.returncode == 0, done.stderr
    with refused("unexpected-value", AdviceError, found=2) as raised:
        octavo.advise(tmp_path / "both", node="cuda-sm80")
    one = Path(str(raised.value.hint).rpartition(" ")[2])
    assert octavo.advise(one, node="cuda-sm80").placements == advice.placements
    done = cli("profile", "--buffers", "-o", "none", "--", "true")
    assert "The profile has no buffers" in done.stderr


@pytest.mark.parametrize("shape", ["atax", "needle", "hotspot", "sparse", "rounds", "shared", "flag", "copied"])
def test_what_is_predicted_is_gained_and_is_nearly_what_an_expert_gains(shape, clocked, stand_in, tmp_path):
    """Of a program as it is, with prefetches by hand, and unchanged under the advice on its recording."""
    program, profile, advised = [str(stand_in / "shapes"), shape], tmp_path / "profile.json", tmp_path / "advice"
    plain = clocked(lambda: subprocess.run(program, check=True))
    by_hand = clocked(lambda: subprocess.run([*program, "hand"], check=True))
    recorded = clocked(lambda: record(program, profile))
    advice = octavo.advise(profile, node=MACHINE, output=advised)
    applied = clocked(lambda: apply(advised, program))
    predicted, gained, attainable = advice.plan.gain.value * 1e3, plain - applied, plain - by_hand
    assert recorded <= 1.03 * plain
    assert applied <= 1.02 * plain
    if attainable > 0.02 * plain:
        assert predicted == pytest.approx(gained, rel=0.3)
        assert gained >= 0.8 * attainable
    else:
        assert advice.placements == advice.plan.present
    # Only the author can delete large copies; where they are called is said.
    deleted = [note.partition("delete its copy (")[2] for note in advice.notes if "by hand" in note]
    assert {place.partition(":")[0] for place in deleted} == ({"shapes.c"} if shape == "copied" else set())
    buffers = placement_file.document(advice)["buffers"]
    # Of the memory that is copied, the host has the flag.
    assert [buffer["bytes"] for buffer in buffers if "copied_by_host" in buffer] == ([4] if shape == "flag" else [])
    # Of all buffers, the device has one for itself.
    hints = [buffer["hints"] for buffer in buffers]
    assert hints.count(["prefer-device"]) == (shape == "hotspot")
    assert hints.count(["read-mostly"]) == (shape == "shared")


def test_what_happened_is_a_picture_with_what_is_advised(clocked, stand_in, tmp_path):
    """Marks by buffer, in order: the host's touches and copies, launches, and moves that happened and that should."""

    def marks(shape: str) -> tuple[dict[str, list[str]], dict]:
        profile = tmp_path / f"{shape}.json"
        clocked(lambda: record([str(stand_in / "shapes"), shape], profile))
        octavo.advise(profile, node=MACHINE, output=tmp_path / shape)
        found = json.loads((tmp_path / shape / timeline.FILE).read_text())
        times = [(mark["label"], mark["from"]) for mark in found["marks"]]
        assert all(one[0] != other[0] or one[1] <= other[1] for one, other in pairwise(times))
        rows: dict[str, list[str]] = {}
        for mark in found["marks"]:
            rows.setdefault(mark["label"].partition("(")[2], []).append(mark["what"])
        return rows, found

    rows, found = marks("rounds")
    assert (found["launches"], found["of"]) == (8, 8)
    [both] = rows.values()  # Two buffers of one size.
    counts = Counter(both)
    assert (counts[timeline.LAUNCH], counts[timeline.WROTE], counts[timeline.BRING]) == (16, 16, 16)
    assert (counts[timeline.FAULTS], counts[timeline.BRING_BACK]) == (15, 15)
    rows, found = marks("flag")
    assert (found["launches"], len(rows)) == (101, 3)
    flag = Counter(rows["4 B)"])
    assert flag == {timeline.LAUNCH: 101, timeline.TO_DEVICE: 101, timeline.TO_HOST: 101, timeline.STORE: 202}
    table = Counter(rows["256.0 KiB)"])
    assert table == {timeline.LAUNCH: 101, timeline.TO_DEVICE: 1, timeline.TO_HOST: 1}
    # What both sides read goes once.
    rows, _ = marks("shared")
    assert Counter(rows["4.0 MiB)"])[timeline.BRING] == 1
    text = Path(report(tmp_path / "flag", tmp_path / "flag.html")).read_text()
    assert timeline.STORE in text


def test_memory_of_unknown_use_stays_where_it_is(clocked, stand_in, tmp_path):
    profile = tmp_path / "profile.json"
    clocked(lambda: record([str(stand_in / "shapes"), "flag"], profile))
    found = json.loads(profile.read_text())

    def advised(**changes: object) -> set[str]:
        profile.write_text(json.dumps({**found, **changes}))
        return set(octavo.advise(profile, node=MACHINE).placements.values())

    assert advised() == {"device", "pinned"}
    nobody_waits = [{**step, "waited": False} if step["step"] == "copied" else step for step in found["steps"]]
    assert advised(steps=nobody_waits) == {"device"}
    assert advised(kernels=[{**each, "parameters_known": False} for each in found["kernels"]]) == {"device"}
    assert advised(graph_launches=1) == advised(steps_lost=1) == {"device"}


def test_three_commands_from_a_program_to_its_gain(clocked, stand_in, cli, tmp_path):
    """As a newcomer types them, with what each says."""
    program = (str(stand_in / "shapes"), "rounds")
    plain = clocked(lambda: subprocess.run(program, check=True))
    done = cli("record", "--", *program)
    assert done.returncode == 0, done.stderr
    assert "octavo advise profile.json" in done.stderr
    done = cli("advise", "profile.json", "--node", str(MACHINE), "-o", "advice")
    assert done.returncode == 0, done.stderr
    assert "octavo apply advice" in done.stdout

    def run() -> None:
        done = cli("apply", "advice", "--", *program)
        assert done.returncode == 0, done.stderr
        assert "Gained: " in done.stderr

    assert clocked(run) < 0.6 * plain


def test_a_program_that_does_not_fit_moves_as_planned(clocked, stand_in, cli, tmp_path, monkeypatch):
    """Three tables in turns, and room for two: the driver evicts the one that comes next."""
    monkeypatch.setenv("STAND_IN_MEMORY", str(9 << 20))
    program = (str(stand_in / "shapes"), "turns")
    plain = clocked(lambda: subprocess.run(program, check=True))
    assert cli("record", "--", *program).returncode == 0
    done = cli("fit", "profile.json", "--node", str(MACHINE), "--memory", "9MiB", "-o", "answer")
    assert done.returncode == 0, done.stderr
    assert "profile.json slows" in done.stdout
    found = json.loads((tmp_path / "answer" / "fit.json").read_text())
    ways = {way["name"]: way["seconds"] for way in found["ways"]}
    planned = json.loads((tmp_path / "answer" / "placement.json").read_text())["buffers"]
    assert sorted(len(buffer["moves"]["to_host_before"]) for buffer in planned) == [2, 3, 3]
    applied = clocked(lambda: apply(tmp_path / "answer", program))
    assert applied < 0.8 * plain
    assert ways["paging"] - ways["moves"] == pytest.approx((plain - applied) * 1e-3, rel=0.3)


def test_what_a_recording_could_not_see_is_said(clocked, stand_in, cli, monkeypatch):
    monkeypatch.setenv("STAND_IN_OLD", "1")
    done = cli("record", "--", str(stand_in / "shapes"), "atax")
    assert "2 launches have unknown parameters" in done.stderr
    assert "2 launches have unknown parameters" in cli("advise", "profile.json", "--node", str(MACHINE)).stdout


def test_a_move_that_does_not_help_is_made_once(clocked, stand_in, tmp_path):
    """Against the advice, a table is brought of which each launch needs a little; the host touches it in between."""
    program, profile = [str(stand_in / "shapes"), "sparse", "touched"], tmp_path / "profile.json"
    record(program, profile)
    document = placement_file.document(octavo.advise(profile, node=MACHINE))
    found = json.loads(profile.read_text())
    assert all("moves" not in buffer for buffer in document["buffers"])
    document["buffers"][0]["moves"] = {"to_device": True}
    steps = [step for step in found["steps"] if step["step"] == "launch"]
    kernels = [{key: each[key] for key in ("name", "blocks", "threads_per_block")} for each in found["kernels"]]
    document["recorded"] = {"kernels": kernels, "launches": [[each["kernel"], each["ns"], None] for each in steps]}
    (tmp_path / "placement.json").write_text(json.dumps(document))
    log = apply(tmp_path / "placement.json", program).log
    assert log is not None
    [launches] = log["launches"]
    assert (launches["withdrawn"], log["buffers"][0]["to_device"]) == (True, 1)
    assert log["gained_ns"] < 0


def test_callers_are_told_apart_as_the_library_does(interposed, tmp_path):
    """Files by their names, and code without a file not at all: or else a buffer of the file would mean another's."""
    profile, placement = tmp_path / "profile.json", tmp_path / "placement.json"
    record([interposed], profile)
    found = json.loads(profile.read_text())
    first = found["allocations"][0]
    assert first["copied_in"]["bytes"]
    [*frames] = found["sites"][first["site"]]
    for place, offset in (("/elsewhere", 1), ("/bin", 2)):
        moved = [{**frame, "module": f"{place}/{Path(frame['module']).name}"} for frame in frames]
        nowhere = {"module": "", "offset": offset, "symbol": None}
        found["sites"].append([*moved, nowhere])
    last = len(found["sites"]) - 1
    copied = {**first, "site": last - 1}
    not_copied = {**first, "site": last, "copied_in": {"calls": 0, "bytes": 0}}
    found["allocations"] = [first, copied, not_copied, copied]
    profile.write_text(json.dumps(found))
    advice = octavo.advise(profile, node="cuda-sm80")
    placement_file.write(advice, placement)
    buffers = json.loads(placement.read_text())["buffers"]
    assert [(each["order"], each["frames"][0]["module"]) for each in buffers] == [
        (None, frames[0]["module"]),
        ([0, 2], f"/elsewhere/{Path(frames[0]['module']).name}"),
        ([1], f"/bin/{Path(frames[0]['module']).name}"),
    ]
    log = apply(placement, [interposed]).log
    assert log is not None
    assert (log["refused"], [each["matched"] for each in log["buffers"]]) == (None, [1, 0, 0])


def test_what_is_managed_stays_where_the_host_reaches_it(interposed, tmp_path):
    """Advice for device memory becomes a preference: the recording does not say whether the host uses the address."""
    record([interposed], tmp_path / "profile.json")
    advice = octavo.advise(tmp_path / "profile.json", node="cuda-sm80", placements=["device"])
    first, second = placement_file.document(advice)["buffers"]
    assert (first["placement"], first["hints"]) == ("device", [])
    assert (second["placement"], second["hints"]) == ("managed", ["prefer-device", "prefetch"])
    octavo.advise(tmp_path / "profile.json", output=tmp_path / "advice")
    found = apply(tmp_path / "advice" / "placement.json", [interposed], log=tmp_path / "log.json")
    assert found.status == 0
    assert found.log is not None
    assert [each["matched"] for each in found.log["buffers"]] == [1, 1]


def test_a_file_that_the_library_refuses_is_named_and_the_program_runs(interposed, cli, tmp_path):
    (tmp_path / "placement.json").write_text('{"octavo_placement": 2, "buffers": [], "colour": 1}')
    done = cli("apply", "placement.json", "--", interposed)
    assert done.returncode == 0, done.stderr
    assert "the program ran unchanged: " in done.stderr
    assert "unknown field `colour`, expected one of" in done.stderr


def test_what_its_children_did_is_shown_together(interposed, cli, tmp_path):
    record([interposed], tmp_path / "profile.json")
    octavo.advise(tmp_path / "profile.json", node="cuda-sm80", budget=0, output=tmp_path / "advice")
    command = ("sh", "-c", f"{interposed}; {interposed}")
    done = cli("apply", "advice/placement.json", "--log", "applied", "--", *command)
    assert done.returncode == 0, done.stderr
    assert "What became of the buffers, in 2 processes" in done.stderr
    assert "Nothing was applied" not in done.stderr
    # Names without an ending are numbered, too.
    assert done.stderr.count("Log of a process that it started: applied.") == 2


def test_logs_are_added_up():
    """By hand: calls and bytes in all, the first error, a refusal only where no process did anything."""
    kinds = {"name": "a", "call": "cudaMalloc", "bytes": 8, "placement": "managed"}
    buffer = {**kinds, "matched": 2, "status": None, "returns": None}
    times = {"rounds": 2, "ns": 3, "recorded_ns": 5, "withdrawn": False}
    launches = [{"kernel": "k", "blocks": 1, "threads_per_block": 2, **times}]
    moved = {"moves_refused": 0, "gained_ns": 2, "launches": launches, "copies": None}
    one = {"refused": None, "buffers": [buffer], "passed_on": {}, "unnamed": {"calls": 1, "bytes": 4}, **moved}
    passed = {"passed_on": {"cudaMallocAsync": {"calls": 3, "bytes": 9}}}
    other = {**one, **passed, "copies": times, "buffers": [{**buffer, "matched": 5, "status": 2, "returns": times}]}
    refused = {"refused": "why", "buffers": [], "passed_on": {}, "unnamed": {"calls": 0, "bytes": 0}, "launches": []}
    refused |= {"copies": None, "moves_refused": 0, "gained_ns": 0}
    assert logs.summed([one, refused, other]) == {
        "refused": None,
        "buffers": [{**buffer, "matched": 7, "status": 2, "returns": times}],
        **passed,
        "unnamed": {"calls": 2, "bytes": 8},
        "moves_refused": 0,
        "gained_ns": 4,
        "launches": [{**launches[0], "rounds": 4, "ns": 6, "recorded_ns": 10}],
        "copies": times,
    }
    assert logs.summed([refused, refused])["refused"] == "why"


def test_statuses_and_children_are_the_programs(interposed, cli, tmp_path):
    done = cli("record", "-o", "a.json", "--", "sh", "-c", f"{interposed}; {interposed}; exit 7")
    assert done.returncode == 7, done.stderr
    assert (done.stderr.count("a process that it started"), len(list(tmp_path.glob("a.*.json")))) == (2, 2)
    done = cli("record", "--", "true")
    assert done.returncode == 2
    assert "nothing was recorded" in done.stderr
    done = cli("record", "--", "sh", "-c", "kill -SEGV $$")
    assert done.returncode == 139


def test_a_program_that_is_not_behind_dashes_is_refused(cli):
    done = cli("apply", "placement.json", "./program", "-q")
    assert done.returncode == 2
    assert "expected the program after --, found `./program`" in " ".join(done.stderr.replace("│", " ").split())
    done = cli("apply", "placement.json", "./program", "-q", "--", "x")
    assert "expected the program after --" in " ".join(done.stderr.replace("│", " ").split())
    assert (
        "cannot read placement.json: No such file or directory"
        in cli("apply", "placement.json", "-q", "--", "true").stderr
    )


@pytest.fixture
def present(tmp_path, monkeypatch):
    """A file in the library's place: good enough for what is refused before a program runs."""
    path = tmp_path / "lib.so"
    path.touch()
    monkeypatch.setenv(library.VARIABLE, str(path))
    return path


@pytest.mark.parametrize(("name", "status"), [("./typo", 127), ("typo-of-a-program", 127), ("./lib.so", 126)])
def test_what_is_there_stays_where_the_program_cannot_start(present, name, status, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    old = tmp_path / "profile.json"
    old.write_text('{"octavo_profile": 2}')
    with pytest.raises(ProfileError) as caught:
        record([name], old, force=True)
    assert (caught.value.exit_code, present.exists()) == (status, True)
    monkeypatch.delenv(library.VARIABLE)
    monkeypatch.setattr(library, "_places", list)
    with refused("missing", ProfileError, expected="liboctavo_interpose.so"):
        record(["true"], old, force=True)
    assert old.read_text() == '{"octavo_profile": 2}'


def test_nothing_but_our_own_files_is_replaced(present, tmp_path):
    ours, key = tmp_path / "profile[1].json", '{"octavo_profile": 2}'
    others = {"profile1.12.json": key, "profile[1].2025.json": "[2025]", "profile[1].x.json": key}
    for name, text in others.items():
        (tmp_path / name).write_text(text)
    for path in (ours, tmp_path / "profile[1].34.json"):
        path.write_text(key)
    assert record(["true"], ours, force=True).others == ()
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([*others, present.name])
    ours.write_text("mine")
    with refused("unexpected-value", OutputError, file=ours, key="octavo_profile"):
        record(["true"], ours, force=True)
    placement = tmp_path / "placement.json"
    placement.write_text('{"octavo_placement": 2}')
    with refused("unexpected-value", OutputError, file="placement.json", key="octavo_applied"):
        apply(placement, ["true"], log=placement, force=True)
    assert placement.read_text() == '{"octavo_placement": 2}'


def test_a_library_that_cannot_be_named_is_refused(tmp_path, monkeypatch):
    folder = tmp_path / "with a space"
    folder.mkdir()
    (folder / "lib.so").touch()
    link = tmp_path / "lib.so"
    link.symlink_to(folder / "lib.so")
    monkeypatch.setenv(library.VARIABLE, str(folder / "lib.so"))
    with refused("unexpected-value", ProfileError, file="lib.so"):
        library.find()
    monkeypatch.setenv(library.VARIABLE, str(link))
    assert library.find() == link


def test_what_is_missing_is_said_before_the_program_runs(monkeypatch, tmp_path):
    ran = tmp_path / "ran"
    command = ["touch", str(ran)]
    monkeypatch.setenv(library.VARIABLE, "/nowhere/lib.so")
    with refused("missing", ProfileError, key=library.VARIABLE, file="lib.so"):
        record(command, tmp_path / "profile.json")
    monkeypatch.delenv(library.VARIABLE)
    monkeypatch.setattr(library, "_places", lambda: [tmp_path])
    with refused("missing", ProfileError, expected="liboctavo_interpose.so") as caught:
        record(command, tmp_path / "profile.json")
    assert "make runtime" in str(caught.value.hint)
    placement = tmp_path / "placement.json"
    for text, code in (("{", "syntax"), ("{}", "missing"), ('{"octavo_placement": 9}', "other-format")):
        placement.write_text(text)
        with refused(code, AdviceError, file="placement.json"):
            apply(placement, command)
    (tmp_path / "there.json").write_text("mine")
    with refused("exists", OutputError, file="there.json"):
        record(command, tmp_path / "there.json")
    with refused("unexpected-value", OutputError, file="profile", found="profile"):
        record(command, tmp_path / "profile")
    assert not ran.exists()
    assert (tmp_path / "there.json").read_text() == "mine"
    with refused("unexpected-value", AdviceError):
        placement_file.document(octavo.advise("vectoradd", scale=1 / 256, quick=True))
    assert os.environ.get("LD_PRELOAD") is None
