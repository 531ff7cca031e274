"""Memory while runs go on: a limit holds for the process, and what the system refuses ends in one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
import pytest
from conftest import AROUND, SMALL, refused

import octavo
from octavo import addresses
from octavo.runs import execute, folder

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20
MARGIN = 16 * MIB
"""What a process may have beyond its limit, as docs/results.md says."""
BOUNCING = (
    *("-w", "gups", "-s", str(1 / 128), "-n", "grit-4gpu", "--executor", "instant"),
    *("--set", 'node.capacity={bytes="0B",footprint_percent=5}'),
)
"""A run whose pages come and go: it records some hundred times as much as was estimated."""
EVENTS = ("--set", "record.events=true")
EVENT_BYTES = 41 * 7 // 4
"""Of an event while it is written: five numbers and a kind, most of them twice."""


@dataclass(frozen=True)
class Ended:
    """A command that is over."""

    status: int
    said: str
    peak: int
    """Most bytes that it had."""


MEASURED = """
import os, resource, subprocess, sys
most, errors, *arguments = sys.argv[1:]
def limited():
    if int(most):
        resource.setrlimit(resource.RLIMIT_AS, (int(most), int(most)))
with open(errors, "w") as said:
    started = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=said, preexec_fn=limited)
_, status, used = os.wait4(started.pid, 0)
print(os.waitstatus_to_exitcode(status), used.ru_maxrss << 10)
"""
"""Runs a command and prints its status and most bytes. To the system they include those of the process that began it,
so a small one has to."""


def command(where: Path, *arguments: str, addresses_at_most: int = 0) -> Ended:
    """Run the command in a process of its own, which may have so many bytes of addresses; 0 is any."""
    errors = where / "errors"
    measured = [sys.executable, "-S", "-c", MEASURED, str(addresses_at_most), str(errors)]
    octavo_of = [sys.executable, "-m", "octavo", *arguments]
    done = subprocess.run([*measured, *octavo_of], capture_output=True, text=True, cwd=where, check=True)
    status, peak = map(int, done.stdout.split())
    return Ended(status, " ".join(errors.read_text().split()), peak)


def events(where: Path) -> int:
    """Rows of a run's recorded events."""
    return pl.scan_parquet(where / "events.parquet").select(pl.len()).collect().item()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> int:
    """Events of the run whose pages come and go."""
    where = tmp_path_factory.mktemp("whole")
    assert command(where, "run", *BOUNCING, *EVENTS, "-o", "r", "-q").status == 0
    return events(where / "r")


def test_a_limit_holds_while_a_run_goes_on(recorded, tmp_path):
    """Below what the events take, the run ends and says so; above, it ends as it should; neither has much more."""
    needed = AROUND + recorded * EVENT_BYTES
    assert recorded * EVENT_BYTES > 4 * MARGIN
    for limit, status in ((needed - MIB, 2), (needed + MARGIN, 0)):
        arguments = ("run", *BOUNCING, *EVENTS, "-o", "r", "-q", "--memory-limit", f"{limit}B")
        ended = command(tmp_path, *arguments)
        assert ended.status == status, ended.said
        assert ended.peak < limit + MARGIN, (ended.peak // MIB, limit // MIB)
        assert (tmp_path / "r").exists() == (status == 0)
        if status:
            assert "the run takes more memory than" in ended.said
            assert "launches done" in ended.said
            assert "for what is recorded" in ended.said
            assert "record.events=false records less" in ended.said
    assert command(tmp_path, "run", *BOUNCING, "-o", "q", "-q", "--memory-limit", f"{needed - MIB}B").status == 0


def test_the_same_bytes_with_a_limit_and_without(tmp_path):
    arguments = ("run", "-w", "fir", "-s", str(SMALL), "-q")
    assert command(tmp_path, *arguments, "-o", "a").status == 0
    assert command(tmp_path, *arguments, "-o", "b", "--memory-limit", "200MiB").status == 0
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def sweep_of(where: Path) -> Path:
    """Two points: one that records its events, and one that does not."""
    path = where / "s.toml"
    path.write_text(
        "[scenario]\n"
        f'workload = {{ name = "gups", scale = {1 / 128} }}\n'
        'node = { preset = "grit-4gpu", capacity = { bytes = "0B", footprint_percent = 5 } }\n'
        'executor = { kind = "instant" }\n'
        "[grid]\nrecord.events = [true, false]\n"
    )
    return path


def test_a_point_that_meets_its_limit_fails_alone(recorded, cli, tmp_path):
    limit = 2 * AROUND + recorded * EVENT_BYTES // 2
    done = cli("sweep", str(sweep_of(tmp_path)), "-o", "out", "--workers", "1", "--memory-limit", f"{limit}B", "--json")
    rows = json.loads(done.stdout)["points"]
    assert [row["status"] for row in rows] == ["failed", "ok"], done.stderr
    assert "the run takes more memory than" in rows[0]["error"]
    assert "launches done" in rows[0]["error"]


def test_what_a_policy_keeps_counts(tmp_path):
    """It is not the engine's memory, but the process has it."""
    (tmp_path / "hoard.py").write_text(
        "from octavo.policies import Decision, PlacementPolicy\n\n\n"
        "class Hoard(PlacementPolicy):\n"
        '    """Keeps 2 MiB for each fault."""\n\n'
        "    def start(self):\n        self.kept = []\n\n"
        "    def on_fault(self, fault, page):\n"
        "        self.kept.append(b'.' * (2 << 20))\n        return Decision.MIGRATE\n"
    )
    run = ("run", "-w", "fir", "-s", str(SMALL), "-p", "hoard.py", "-o", "r", "-q")
    ended = command(tmp_path, *run, "--memory-limit", "400MiB")
    assert ended.status == 2, ended.said
    assert "the run takes more memory than the 288.0 MiB" in ended.said  # The command has the rest.
    assert not (tmp_path / "r").exists()


def test_a_run_for_which_python_has_no_memory_fails_alone(monkeypatch, tmp_path):
    """Its sibling is kept."""
    points = [
        execute.Point(str(seed), octavo.scenario(workload="fir", scale=SMALL, seed=seed), tmp_path / str(seed))
        for seed in (3, 4)
    ]
    save = folder.save

    def refuse(target, scenario, *result):
        if scenario == points[0].scenario:
            raise MemoryError
        return save(target, scenario, *result)

    monkeypatch.setattr(folder, "save", refuse)
    with refused("memory-limit", octavo.SimulationError):
        execute.execute(points, workers=1)
    assert execute.finished(points, force=False).keys() == {1}


PACKAGES = addresses._LOADED + addresses._later()


def test_too_few_addresses_for_packages_are_one_sentence(tmp_path):
    for most in (64 * MIB, 200 * MIB, PACKAGES - MIB):
        ended = command(tmp_path, "run", "-w", "fir", "-s", str(SMALL), "-o", "r", addresses_at_most=most)
        assert ended.status == 1
        assert ended.said.startswith("error: `ulimit -v` allows")
        assert ended.said.count("error") == 1


def test_a_run_ends_before_addresses_do(tmp_path):
    """The system's limit counts as one that was given: the run ends with what it can say."""
    large = [str(1 / 16) if each == str(1 / 128) else each for each in BOUNCING]
    ended = command(tmp_path, "run", *large, *EVENTS, "-o", "r", "-q", addresses_at_most=PACKAGES + 64 * MIB)
    assert ended.status == 2, ended.said
    assert "the run takes more memory than" in ended.said
    assert "`ulimit -v` counts, too" in ended.said
    ended = command(
        tmp_path, "run", "-w", "fir", "-s", str(SMALL), "-o", "q", "-q", addresses_at_most=PACKAGES + 128 * MIB
    )
    assert ended.status == 0, ended.said


def test_what_the_system_refuses_the_engine_ends_in_one_sentence(tmp_path):
    """A graph is built before it is counted. What was finished is kept; the worker of a sweep takes no other along."""
    most = PACKAGES + 192 * MIB
    both = (
        "compare",
        "-w",
        "fir,bfs-shoc",
        "-s",
        "16",
        "--executor",
        "instant",
        "-p",
        "on-touch",
        "--workers",
        "1",
        "-q",
    )
    ended = command(tmp_path, *both, "-o", "out", addresses_at_most=most)
    assert ended.status == addresses.NO_MORE_STATUS, ended.said
    assert ended.said.startswith("error: the system has no more memory")
    assert ended.said.count("error") == 1
    (tmp_path / "s.toml").write_text(
        'scenario = { executor = { kind = "instant" } }\n'
        'grid = { workload = [{ name = "bfs-shoc", scale = 16 }, { name = "fir", scale = 0.015625 }] }\n'
    )
    ended = command(tmp_path, "sweep", "s.toml", "-o", "swept", "--workers", "1", addresses_at_most=most)
    table = pl.read_parquet(tmp_path / "swept" / "points.parquet")
    assert table["status"].to_list() == ["failed", "ok"], ended.said
    assert "the system has no more memory" in table["error"][0]
