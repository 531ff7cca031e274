"""Code of a user's that crashes, leaves or never returns takes its own run along and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import polars as pl
import pytest
from conftest import contents, refused

import octavo
from octavo.isolation.process import Process, VanishedError
from octavo.policies import Decision, PlacementPolicy

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "import ctypes, os, signal, sys, time\nfrom octavo.policies import *\n"
ON_FAULT = "class Mine(PlacementPolicy):\n    def on_fault(self, fault, page):\n        "
FIR = ("-w", "fir", "-s", "0.015625")
CRASHES = {
    "a status that means success": ("os._exit(0)", "status 0"),
    "another status": ("os._exit(7)", "status 7"),
    "a crash": ("ctypes.string_at(0)", "SIGSEGV"),
    "a panic": ("os.abort()", "SIGABRT"),
    "a signal": ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    "a process that stays behind": ("os.fork() or time.sleep(1e9)\n        os._exit(0)", "status 0"),
}


AT_WILL = "if os.path.exists('crash'): os._exit(0)\n        return Decision.MIGRATE"
LEAVES_ITS_FOLDER = "os.chdir('/'); return Decision.MIGRATE"


@pytest.fixture
def policy(tmp_path: Path):
    """Write a policy whose body is this."""

    def write(body: str, name: str = "mine.py", head: str = HEAD) -> str:
        (tmp_path / name).write_text(f"{head}{ON_FAULT}{body}\n")
        return name

    return write


def is_whole(folder: Path) -> bool:
    """Whether a run is there with all its files."""
    octavo.RunResult.load(folder).check()
    return True


@pytest.mark.parametrize("case", CRASHES)
def test_a_comparison_keeps_and_shows_what_a_crash_is_not_of(case, policy, cli, tmp_path):
    body, how = CRASHES[case]
    done = cli("compare", *FIR, "-p", f"on-touch,{policy(body)},grit", "-o", "out")
    assert done.returncode == 2, done.stderr
    assert "fir mine.py: its process" in done.stderr
    assert how in done.stderr
    assert "`mine.py:Mine`" in done.stderr
    assert "Traceback" not in done.stderr
    runs = tmp_path / "out" / "runs" / "fir"
    assert sorted(path.name for path in runs.iterdir()) == ["grit", "on-touch"]
    assert is_whole(runs / "grit")
    assert is_whole(runs / "on-touch")
    assert "grit" in done.stdout
    assert not (tmp_path / "out" / "report.json").exists()


def test_a_crash_says_which_line_it_was_in(policy, cli):
    done = cli("run", *FIR, "-p", policy("ctypes.string_at(0)"))
    assert done.returncode == 2
    assert 'mine.py", line 5 in on_fault' in done.stderr


def test_the_same_command_goes_on_when_the_policy_is_mended(policy, cli, tmp_path):
    command = ("compare", *FIR, "-p", f"on-touch,{policy(AT_WILL)}")
    (tmp_path / "crash").touch()
    assert cli(*command, "-o", "out").returncode == 2
    (tmp_path / "crash").unlink()
    done = cli(*command, "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "[2/2]" in done.stderr
    assert (tmp_path / "out" / "report.json").exists()


@pytest.mark.parametrize("command", ["run", "compare"])
@pytest.mark.parametrize(("body", "how"), [("os._exit(0)", "status 0"), ("ctypes.string_at(0)", "SIGSEGV")])
def test_loading_a_file_ends_nothing_but_its_own_process(body, how, command, policy, cli):
    done = cli(command, *FIR, "-p", policy("return Decision.MIGRATE", head=f"{HEAD}{body}\n"))
    assert done.returncode == 2, done.stderr
    assert "mine.py cannot be loaded: its process" in done.stderr
    assert how in done.stderr


def test_a_failed_point_of_a_sweep_is_a_row(policy, cli, tmp_path):
    (tmp_path / "s.toml").write_text(
        '[scenario]\nworkload = { name = "fir", scale = 0.015625 }\n[grid]\n'
        f'"memory.placement" = ["on-touch", "{policy("os._exit(0)")}", "grit"]\n'
    )
    assert cli("sweep", "s.toml", "-o", "out", "--workers", "1").returncode == 1
    points = pl.read_parquet(tmp_path / "out" / "points.parquet")
    assert points["status"].to_list() == ["ok", "failed", "ok"]
    assert "status 0" in points["error"][1]


def test_what_a_policy_does_to_its_process_reaches_no_other_point(policy, cli, tmp_path):
    """A sweep has one process for many points, but none that a policy was in."""
    (tmp_path / "s.toml").write_text(
        '[scenario]\nworkload = { name = "fir", scale = 0.015625 }\n[zip]\n'
        f'"memory.placement" = ["{policy(LEAVES_ITS_FOLDER)}", "mine.py"]\n'
        '"workload.scale" = [0.015625, 0.03125]\n'
    )
    done = cli("sweep", "s.toml", "-o", "out", "--workers", "1")
    assert done.returncode == 0, done.stderr


def test_changes_in_which_a_policy_crashes_are_told_and_the_others_shown(policy, cli, tmp_path):
    assert cli("run", *FIR, "-p", policy(AT_WILL), "-o", "out").returncode == 0
    (tmp_path / "crash").touch()
    done = cli("explain", "out", "--what-if")
    assert done.returncode == 2
    assert "status 0" in done.stderr
    assert "first-touch" in done.stdout


def test_replicates_and_trials_that_vanish_have_failed(policy, cli, tmp_path):
    assert cli("run", *FIR, "-p", policy(AT_WILL), "-o", "out").returncode == 0
    (tmp_path / "crash").touch()
    done = cli("run", *FIR, "-p", "mine.py", "-o", "out", "--replicates", "2")
    assert done.returncode == 2
    assert "status 0" in done.stderr
    assert is_whole(tmp_path / "out")
    done = cli("run", *FIR, "-p", "mine.py", "-o", "other", "--dry-run")
    assert done.returncode == 2
    assert "status 0" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_gives_the_same_bytes_as_the_built_in_strategy(policy, cli, tmp_path):
    name = policy("return Decision.MIGRATE\n    def may_prefetch(self, page):\n        return True")
    for each in ("on-touch", name):
        assert cli("run", *FIR, "-p", each, "--set", "record.events=true", "-o", f"of-{each}").returncode == 0
    built_in, own = (contents(tmp_path / f"of-{each}") for each in ("on-touch", name))
    tables = [each for each in built_in if each.endswith(".parquet")]
    assert len(tables) > 5
    assert [each for each in tables if built_in[each] != own[each]] == []


def test_what_a_policy_prints_is_seen_and_in_no_document(policy, cli):
    name = policy("print('asked', flush=False); print('told', file=sys.stderr)\n        return Decision.MIGRATE")
    done = cli("run", *FIR, "-p", name, "-o", "text", "--quiet")
    assert (set(done.stdout.split()), set(done.stderr.split())) == ({"asked"}, {"told"})
    done = cli("run", *FIR, "-p", name, "-o", "json", "--quiet", "--json")
    assert json.loads(done.stdout)["folder"] == "json"
    assert set(done.stderr.split()) == {"asked", "told"}
    assert done.stderr.count("asked") == done.stderr.count("told") > 100


def test_notes_of_a_run_are_told_as_of_any_other(policy, cli, tmp_path):
    assert cli("run", *FIR, "-p", policy("return Decision.MIGRATE"), "-o", "out").returncode == 0
    (tmp_path / "out" / "mine.txt").write_text("mine")
    done = cli("run", *FIR, "-p", "mine.py", "-o", "out", "--force", "--quiet")
    assert done.returncode == 0
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["note"]
    assert "mine.txt" in done.stderr


def test_prints_in_python_go_where_prints_go(policy, tmp_path, capsys):
    policy("print('asked')\n        return Decision.MIGRATE")
    octavo.run(workload="fir", scale=0.015625, placement=tmp_path / "mine.py")
    assert "asked" in capsys.readouterr().out


SLEEPS = "time.sleep(1e9)"
IGNORES = f"""while True:
            try: {SLEEPS}
            except BaseException: pass"""
ASKED = "print('asked', flush=True)"
DEAF = f"{ASKED}\n        {IGNORES}"
ENDLESS = {"asleep": SLEEPS, "busy": "while True: pass", "deaf": IGNORES}


def ended(process: subprocess.Popen[str]) -> str:
    """What a process says that ends soon."""
    try:
        return process.communicate(timeout=60)[1]
    finally:
        process.kill()


def started(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    """The command, after a policy said that it was asked."""
    command = [sys.executable, "-m", "octavo", *arguments]
    running = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    assert running.stdout.readline() == "asked\n"
    return running


@pytest.mark.parametrize("strikes", [1, 2])
@pytest.mark.parametrize("case", ENDLESS)
def test_ctrl_c_ends_what_never_returns(case, strikes, policy, tmp_path):
    name = policy(f"{ASKED}\n        {ENDLESS[case]}")
    running = started("compare", *FIR, "-p", f"on-touch,{name}", "-o", "out", "--workers", "2", folder=tmp_path)
    for _ in range(strikes):
        running.send_signal(signal.SIGINT)
    said = ended(running)
    assert running.returncode in (130, -signal.SIGINT), said
    assert "Traceback" not in said
    assert not (tmp_path / "out" / "runs" / "fir" / "mine.py").exists()


def test_ctrl_c_ends_a_sweep_of_a_deaf_policy(policy, tmp_path):
    (tmp_path / "s.toml").write_text(
        '[scenario]\nworkload = { name = "fir", scale = 0.015625 }\n[grid]\n'
        f'"memory.placement" = ["{policy(DEAF)}"]\n'
    )
    running = started("sweep", "s.toml", "-o", "out", folder=tmp_path)
    running.send_signal(signal.SIGINT)
    said = ended(running)
    assert running.returncode == 130, said
    assert "stopped: 0 of 1" in said


def test_ctrl_c_ends_a_file_that_never_loads(policy, tmp_path):
    policy("pass", head=f"{HEAD}print('asked', flush=True)\n{SLEEPS}\n")
    running = started("run", *FIR, "-p", "mine.py", folder=tmp_path)
    running.send_signal(signal.SIGINT)
    said = ended(running)
    assert running.returncode == 130, said
    assert "Traceback" not in said


def exists(process: int) -> bool:
    """Whether a process is there and no zombie."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)
    return done.stdout.strip()[:1] not in ("", "Z")


@pytest.mark.parametrize("case", ["asleep", "deaf"])
def test_a_policy_does_not_outlive_a_killed_command(case, policy, tmp_path):
    number = "with open('pid', 'w') as file: print(os.getpid(), file=file)"
    name = policy(f"{ASKED}\n        {number}\n        {ENDLESS[case]}")
    running = started("run", *FIR, "-p", name, folder=tmp_path)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().endswith("\n"):
        pass
    running.kill()
    running.wait()
    number = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 60
    while exists(number) and time.monotonic() < until:
        time.sleep(0.05)
    assert not exists(number)


SCRIPT = """\
import time, octavo
from octavo.policies import PlacementPolicy

class Mine(PlacementPolicy):
    def on_fault(self, fault, page):
        print("asked", flush=True)
        time.sleep(1e9)

try:
    octavo.run(workload="fir", scale=0.015625, placement=Mine)
except octavo.InterruptedRun:
    print("goes on")
"""


def test_a_second_ctrl_c_leaves_a_sleeping_object_to_itself(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "script.py"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "asked\n"
        running.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(3)
        running.send_signal(signal.SIGINT)
        out, said = running.communicate(timeout=60)
    assert (out, running.returncode) == ("goes on\n", 0), said


def test_an_object_stays_in_this_process(tmp_path):
    seen = []

    class Mine(PlacementPolicy):
        def on_fault(self, fault, page):
            seen.append(os.getpid())
            return Decision.MIGRATE

    octavo.run(workload="fir", scale=0.015625, placement=Mine)
    assert set(seen) == {os.getpid()}


def test_an_error_of_a_class_of_its_own_keeps_its_words(policy, tmp_path):
    policy("raise Own('not', 'here')", head=f"{HEAD}class Own(Exception): pass\n")
    with refused("bad-policy", octavo.PolicyError, names=["Own"]) as caught:
        octavo.run(workload="fir", scale=0.015625, placement=tmp_path / "mine.py")
    assert caught.value.__cause__ is None
    assert "in on_fault" in caught.value.details


HUGE = "'x' * 50_000_000"


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("", f"raise ValueError({HUGE})"),
        ("", f"return {HUGE}"),
        (f"raise ValueError({HUGE})\n", "pass"),
    ],
)
def test_what_is_too_long_to_read_is_cut_where_it_arises(head, body, policy, tmp_path):
    policy(body, head=HEAD + head)
    with pytest.raises(octavo.OctavoError) as caught:
        octavo.run(workload="fir", scale=0.015625, placement=tmp_path / "mine.py")
    assert "…" in caught.value.message
    assert len(caught.value.message) < 5_000
    assert len(caught.value.details) < 50_000


def test_objects_are_cut_too():
    class Mine(PlacementPolicy):
        def on_fault(self, fault, page):
            raise ValueError("x" * 50_000_000)

    with refused("bad-policy", octavo.PolicyError) as caught:
        octavo.run(workload="fir", scale=0.015625, placement=Mine)
    assert len(caught.value.message) < 5_000
    assert len(caught.value.details) < 50_000


def test_a_process_that_cannot_answer_has_vanished():
    with Process("octavo.runs.worker") as process:
        process.kill()
        with pytest.raises(VanishedError) as ended:
            process.ask({})
    assert "SIGKILL" in ended.value.args[0]
    assert not process.alive
