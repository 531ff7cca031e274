"""Programs run and sampled: known steps of memory, children, crashes, signals, and what goes away in between.

Programs say when they have done a step and wait to be sampled: nothing depends on how fast anything is.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import SMALL, refused

import octavo
from octavo.errors import OutputError, ProfileError
from octavo.measurements.profile import family as families
from octavo.measurements.profile import nvml, proc, profile, sampler
from octavo.measurements.profile.every import nanoseconds
from octavo.measurements.profile.family import Family, adopting
from octavo.measurements.profile.memories import Memory, memories
from octavo.measurements.profile.record import Record
from octavo.measurements.profile.sampler import Sampler, Sights
from octavo.report.data import gather, legends
from octavo.report.runs import read

MIB = 1 << 20
SLACK = 2 * MIB
"""The kernel's totals run behind by some pages for each core, and the interpreter takes some of its own."""
STEPS = """
import mmap, os, subprocess, sys
SIZE = 64 << 20
def step(): print("done", flush=True); sys.stdin.readline()
def touch(memory, first, end):
    for place in range(first, end, 4096): memory[place] = 1
def mapped():
    memory = mmap.mmap(-1, SIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    return memory
"""
MEMORY = """
step()
memory = mapped(); step()
touch(memory, 0, SIZE // 2); step()
touch(memory, SIZE // 2, SIZE); step()
memory.close(); step()
"""
FORK = """
step()
child = os.fork()
if child == 0:
    memory = mapped(); touch(memory, 0, SIZE); step(); os._exit(0)
os.waitpid(child, 0); step()
"""
DAEMON = """
step()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        memory = mapped(); touch(memory, 0, SIZE); step(); os._exit(0)
    os._exit(0)
os.wait()
os._exit(0)
"""


class Stepper:
    """A program that waits after each step, and the samples that are taken of it then."""

    def __init__(self, program):
        self.record = Record()
        others = set(proc.children(os.getpid()))
        command = [sys.executable, "-c", STEPS + program]
        self.program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.family = Family(self.program.pid, others)
        sights = Sights([Memory("host", 0, 1 << 40)], None)
        self.sampler = Sampler(self.family, sights, self.record, time.monotonic_ns(), 1)

    def sample(self):
        """The resident bytes of all processes after the next step, and how many processes there are."""
        assert self.program.stdout.readline() == "done\n"
        return self.now()

    def now(self):
        alive = self.sampler.sample()
        return self.record.memory[-1][2], len(alive)

    def go_on(self):
        self.program.stdin.write("\n")
        self.program.stdin.flush()

    def after(self):
        """A sample after another step."""
        self.go_on()
        return self.sample()


@contextmanager
def stepping(program):
    found = Stepper(program)
    try:
        yield found
    finally:
        found.program.kill()
        found.program.communicate()


@pytest.fixture(autouse=True)
def _always_look(request, monkeypatch):
    if "cli" not in request.fixturenames:
        monkeypatch.setattr(sampler, "_MOST_SHARE", 1.0)


def test_memory_is_seen_in_the_steps_in_which_it_is_touched_and_freed():
    with stepping(MEMORY) as program:
        before, _ = program.sample()
        resident = [program.after()[0] - before for _ in range(4)]
    expected = [0, 32 * MIB, 64 * MIB, 0]
    assert all(abs(found - known) < SLACK for found, known in zip(resident, expected, strict=True)), resident


def test_every_page_that_is_touched_is_a_fault():
    with stepping(MEMORY) as program:
        program.sample()
        for _ in range(3):
            program.after()
    faults = [row[7] for row in program.record.processes]
    half = 32 * MIB // 4096
    assert faults[1] < 500
    assert all(half <= found < half + 500 for found in faults[2:]), faults


def test_a_mapping_is_followed_from_its_first_page_to_its_end():
    with stepping(MEMORY) as program:
        program.sample()
        for _ in range(4):
            program.after()
    mapping = next(one for one in program.record.seen if one.most["resident"] == 64 * MIB)
    assert (mapping.name, mapping.bytes, mapping.most["anonymous"]) == ("anonymous", 64 * MIB, 64 * MIB)
    assert mapping.most["huge"] == mapping.most["swap"] == 0
    changes = [row for row in program.record.mappings if row[3] == mapping.address]
    assert [size for *_, memory, size in changes if memory == "host"] == [32 * MIB, 64 * MIB, 0]
    assert mapping.began < mapping.ended < changes[-1][0]


def test_children_count_and_are_waited_for_by_their_parent():
    with stepping(FORK) as program:
        before, alone = program.sample()
        with_child, both = program.after()
        after, again = program.after()
    assert (alone, both, again) == (1, 2, 1)
    assert with_child - before > 64 * MIB
    assert abs(after - before) < SLACK
    parent, child = program.record.family
    assert (child.number, child.parent, parent.parent) == (2, 1, 0)
    assert child.most >= 64 * MIB
    last = {row[3]: row[5] for row in program.record.mappings if row[1] == child.number}
    assert last
    assert set(last.values()) == {0}, "mappings of a process that was waited for have ended"


@pytest.mark.parametrize("listed", [True, False])
def test_a_daemon_stays_in_sight_when_the_program_has_ended(monkeypatch, listed):
    monkeypatch.setattr(families.kernel, "lists_children", lambda _: listed)
    with adopting(), stepping(DAEMON) as program:
        program.sample()
        resident, _ = program.after()
        program.program.wait()
        left, count = program.now()
        assert count == 1
        assert left > 64 * MIB
        assert resident >= left
        daemon = program.record.family[-1]
        program.go_on()
        while proc.stat(daemon.pid) is not None:  # No other process waits for it.
            program.now()
    assert program.record.mappings[-1][-1] == 0, "mappings of a process that has ended have ended"


def test_other_children_of_who_watches_are_none_of_the_program():
    with subprocess.Popen(["sleep", "60"]) as other:
        try:
            with stepping(MEMORY) as program:
                program.sample()
                assert {one.pid for one in program.record.family} == {program.program.pid}
        finally:
            other.kill()


def test_a_number_that_is_given_out_again_is_another_process(tmp_path):
    def is_there(started):
        folder = tmp_path / "7"
        folder.mkdir(exist_ok=True)
        (folder / "stat").write_text(f"7 (a) b (c) S 1 7 5 {' '.join(['0'] * 15)} {started} 0\n")

    (tmp_path / "self" / "task").mkdir(parents=True)
    members = Family(7, set(), tmp_path)
    is_there(100)
    first = members.members()
    assert [(one.name, one.parent, one.session, one.started) for one in first] == [("a) b (c", 1, 5, 100)]
    is_there(200)
    assert members.members() == []


def test_a_process_that_vanishes_between_two_files_is_no_error(tmp_path, monkeypatch):
    with stepping(MEMORY) as program:
        program.sample()
        with monkeypatch.context() as patched:
            patched.setattr(proc, "status", lambda _: None)
            patched.setattr(proc, "mappings", lambda _: None)
            assert program.now() == (0, 1)
    assert sum(program.record.notes.values()) == 1
    for read_it in (proc.stat, proc.status, proc.mappings, proc.pages_by_node):
        assert read_it(1, tmp_path) is None
    assert proc.children(1, tmp_path) == []


def test_nodes_are_told_apart_and_huge_pages_counted(tmp_path, monkeypatch):
    (tmp_path / "9").mkdir()
    (tmp_path / "9" / "numa_maps").write_text(
        "7f0000000000 default anon=5 dirty=5 N0=2 N1=3 kernelpagesize_kB=4\n"
        "7f0000400000 bind:1 file=/a\\040b huge anon=2 N1=2 kernelpagesize_kB=2048\n"
        "7f0000800000 default file=/lib/N2=4.so mapped=1 N0=1 kernelpagesize_kB=64\n"
        "7f0000900000 default\n"
    )
    assert proc.pages_by_node(9, tmp_path) == {
        0x7F0000000000: {0: 8192, 1: 12288},
        0x7F0000400000: {1: 4 * MIB},
        0x7F0000800000: {0: 65536},
        0x7F0000900000: {},
    }
    pages = {9: {0x1000: {0: 4096, 1: 8192}, 0x9000: {1: 4096}}}
    monkeypatch.setattr(proc, "pages_by_node", pages.get)
    monkeypatch.setattr(proc, "mappings", lambda _: [proc.Mapping("a", 0x1000, 4096), proc.Mapping("b", 0x9000, 4096)])
    stat = proc.Stat(9, "p", "S", 1, 9, 1, 0, 0)
    record = Record()
    watched = Sampler(None, Sights([Memory("host", 0, 1), Memory("gpu0", 1, 1)], None), record, 0, 1)
    assert watched._look(5, [(record.process(5, stat), stat)]) == {"host": 4096, "gpu0": 12288}
    assert [row[2:] for row in record.mappings] == [
        ("a", 0x1000, "host", 4096),
        ("a", 0x1000, "gpu0", 8192),
        ("b", 0x9000, "gpu0", 4096),
    ]


def test_memories_have_the_names_of_simulated_runs(tmp_path):
    def node(number, kibibytes, cores):
        folder = tmp_path / f"node{number}"
        folder.mkdir()
        (folder / "meminfo").write_text(f"Node {number} MemTotal:  {kibibytes} kB\nNode {number} MemFree: 1 kB\n")
        (folder / "cpulist").write_text(cores + "\n")

    node(0, 0, "0-3")
    node(1, 64, "")
    node(2, 32, "4-7")
    node(10, 16, "")
    node(4, 8, "")
    found = memories({4: 0, 10: 1}, tmp_path)
    assert {one.name: (one.node, one.capacity) for one in found} == {
        "host": (2, 32 << 10),
        "host1": (1, 64 << 10),
        "gpu0": (4, 8 << 10),
        "gpu1": (10, 16 << 10),
    }
    assert [one.name for one in memories({}, tmp_path / "nothing")] == ["host"]


def test_a_single_node_has_all_memory_of_a_machine_that_has_grown(tmp_path):
    folder = tmp_path / "node0"
    folder.mkdir()
    (folder / "meminfo").write_text("Node 0 MemTotal:  64 kB\n")
    (folder / "cpulist").write_text("0-3\n")
    total = re.search(r"^MemTotal:\s*(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    assert total is not None
    assert memories({}, tmp_path) == [Memory("host", 0, int(total[1]) << 10)]


class FakeNvml:
    """NVML of one GPU, on which processes hold memory."""

    def __init__(self, held, used):
        self.held, self.used = held, used
        self.nvmlDeviceGetHandleByIndex_v2 = lambda _number, _handle: 0
        self.nvmlDeviceGetName = self.name
        self.nvmlDeviceGetMemoryInfo = self.memory
        self.nvmlDeviceGetComputeRunningProcesses_v3 = self.processes
        self.nvmlDeviceGetNumaNodeId = self.node

    def name(self, _handle, name, _length):
        name.value = b"Test GPU"
        return 0

    def memory(self, _handle, memory):
        memory._obj.total, memory._obj.used = 100, self.used
        return 0

    def processes(self, _handle, count, rows):
        enough = rows is not None and count._obj.value >= len(self.held)
        count._obj.value = len(self.held)
        for place, (pid, used) in enumerate(self.held.items() if enough else []):
            rows[place].pid, rows[place].used = pid, used
        return 0 if enough else 7

    def node(self, _handle, node):
        node._obj.value = 4
        return 0


def test_gpu_memory_is_that_of_the_programs_processes():
    library = FakeNvml({1: 20, 2: 30, 3: 5}, 55)
    gpus = nvml.Gpus(library, 1)
    assert gpus.about == [nvml.Gpu(0, "Test GPU", 100, 4)]
    assert gpus.used([1, 3, 9]) == [25]
    assert gpus.guesses == 0
    library.held, library.used = {2: 30}, 95
    assert gpus.used([1]) == [40], "what came since the start, where the driver names no process of ours"
    library.held = {1: (1 << 64) - 1}
    assert gpus.used([1]) == [40]
    assert gpus.guesses == 2


def test_a_machine_without_nvml_says_so():
    assert "no NVML (libnvidia-of-nobody.so.1)" in nvml.opened("libnvidia-of-nobody.so.1")
    assert ctypes.sizeof(nvml._Process) == 24


@pytest.mark.parametrize(
    ("text", "expected"),
    [("100ms", 10**8), ("0.5 s", 5 * 10**8), ("1ms", 10**6), ("2000us", 2 * 10**6), ("3600s", 36 * 10**11)],
)
def test_times_between_samples(text, expected):
    assert nanoseconds(text) == expected


@pytest.mark.parametrize("text", ["", "100", "ms", "0ms", "999us", "3601s", "-1s", "1h", "nan s", "1e3ms"])
def test_other_times_are_refused(text):
    with refused("unexpected-value", ProfileError, key="every"):
        nanoseconds(text)


def test_a_profile_is_a_result_that_stands_beside_a_simulated_run(tmp_path):
    result = profile([sys.executable, "-c", "raise SystemExit(3)"], tmp_path / "profile", every="1ms", name="mine")
    result.check()
    assert result.summary["exit"] == {"status": 3, "signal": None, "signals_meanwhile": []}
    assert result.summary["footprint_bytes"] == result.table("memory_intervals")["bytes"].max() > MIB
    assert result.summary["used"]["minor_faults"] > 0
    assert result.plot()._repr_png_().startswith(b"\x89PNG")
    octavo.run(workload="fir", scale=SMALL, overrides={"record.interval": "20us"}, output=tmp_path / "run")
    runs = read([tmp_path / "run", tmp_path / "profile"])
    assert [run.label for run in runs] == ["fir · on-touch", "mine · profile"]
    data = gather(runs, "on-touch")
    processors = {run: {row["processor"] for row in data["memory"] if row["run"] == run} for run in (0, 1)}
    assert processors[0] == {"host", "gpu0", "gpu1", "gpu2", "gpu3"}
    assert "host" in processors[1]
    assert {row["run"] for row in data["host_faults"]} == {row["run"] for row in data["mappings"]} == {1}
    assert next(iter(legends(runs)["memories"])) == "host"
    with refused("exists", OutputError, file="profile"):
        profile(["true"], tmp_path / "profile")
    assert profile(["true"], tmp_path / "profile", force=True).summary["source"]["file"] == "true"


def test_the_status_of_the_program_is_passed_on(cli):
    assert cli("profile", "-o", "a", "--", "sh", "-c", "exit 7").returncode == 7
    crashed = cli("profile", "-o", "b", "--json", "--", "sh", "-c", "echo said; kill -SEGV $$")
    assert crashed.returncode == 128 + signal.SIGSEGV
    assert json.loads(crashed.stdout)["summary"]["exit"]["signal"] == "SIGSEGV"
    assert crashed.stderr == "said\n"


def test_a_status_above_128_is_no_signal(tmp_path):
    result = profile(["sh", "-c", "exit 137"], tmp_path / "profile")
    assert result.summary["exit"] == {"status": 137, "signal": None, "signals_meanwhile": []}
    killed = profile(["sh", "-c", "kill -KILL $$"], tmp_path / "killed")
    assert killed.summary["exit"] == {"status": 137, "signal": "SIGKILL", "signals_meanwhile": []}


def test_no_name_in_reports_leads_out_of_the_folder_of_results(cli, tmp_path):
    assert cli("profile", "-q", "--name", "../outside/x", "--", "/bin/true").returncode == 0
    assert octavo.RunResult.load(tmp_path / "runs" / "true").summary["source"]["file"] == "../outside/x"
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_options_behind_the_program_are_its_own(cli, tmp_path):
    done = cli("profile", "-o", "mine", "sh", "-c", "echo $0 $1", "-o", "--json")
    assert (done.returncode, done.stdout) == (0, "-o --json\n")
    assert "exit status" in done.stderr
    assert octavo.RunResult.load(tmp_path / "mine").summary["source"]["command"][-1] == "--json"


def test_what_cannot_be_run_leaves_nothing(cli, tmp_path):
    missing = cli("profile", "-o", "a", "--", "no-such-program")
    assert (missing.returncode, missing.stderr.splitlines()[0]) == (
        127,
        "error: cannot run `no-such-program`: there is no such program",
    )
    refused = cli("profile", "-o", "a", "--", str(tmp_path))
    assert refused.returncode == 126
    assert not (tmp_path / "a").exists()
    assert cli("profile").returncode == 2
    assert cli("profile", "--every", "0s", "--", "true").returncode == 2


def test_nothing_is_run_when_there_is_no_place_for_the_result(cli, tmp_path):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine")
    done = cli("profile", "-o", "taken", "--", "touch", str(tmp_path / "ran"))
    assert done.returncode == 2
    assert "is not empty" in done.stderr
    assert not (tmp_path / "ran").exists()


@contextmanager
def watching_of(script, folder):
    """`octavo profile` of a shell script into `kept`, with no terminal and no signal ignored."""
    heed = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    heed += "signal.signal(signal.SIGQUIT, signal.SIG_DFL); from octavo.cli import main; "
    command = [sys.executable, "-c", heed + "main()", "profile", "-o", "kept", "--", "sh", "-c", script]
    with subprocess.Popen(command, cwd=folder, start_new_session=True, stderr=subprocess.PIPE, text=True) as watching:
        yield watching


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGTERM])
def test_a_signal_ends_the_program_and_the_profile_stays(tmp_path, number):
    ready = tmp_path / "ready"
    with watching_of(f"touch {ready}; exec sleep 60", tmp_path) as watching:
        while not ready.exists():
            assert watching.poll() is None
            time.sleep(0.01)
        watching.send_signal(number)
        watching.wait()
    assert watching.returncode == 128 + number
    result = octavo.RunResult.load(tmp_path / "kept")
    assert result.summary["exit"] == {"status": 128 + number, "signal": number.name, "signals_meanwhile": [number.name]}


def test_what_is_left_behind_is_followed_until_somebody_asks_for_an_end(tmp_path):
    with watching_of("setsid sleep 60 & exit 5", tmp_path) as watching:
        said = watching.stderr.readline()
        watching.send_signal(signal.SIGINT)
        watching.wait()  # What is left behind has the pipe, too.
    assert said.startswith("note: the program has ended with status 5; following 1 process that it left behind")
    assert watching.returncode == 5
    result = octavo.RunResult.load(tmp_path / "kept")
    assert result.summary["exit"] == {"status": 5, "signal": None, "signals_meanwhile": ["SIGINT"]}
    left = result.table("processes").to_dicts()[-1]
    os.kill(left["pid"], signal.SIGKILL)  # It lives.
