"""One writer a folder, and what is left of those that are killed: real processes, ended at random points."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import SMALL, contents, refused
from nsys_exports import saxpy

import octavo
from octavo.files import manifest, ours, swap
from octavo.measurements.imports import import_nsys
from octavo.runs.content import FILES

ACCEL_SIM = Path(__file__).parents[2] / "crates" / "octavo-trace" / "tests" / "data" / "accel-sim"

COMPARE = ("compare", "-w", "fir", "-p", "on-touch,grit", "-s", str(SMALL), "-o", "out", "-q")
RUN = ("run", "-w", "fir", "-s", str(SMALL), "-o", "out", "-q")

REPLACE = """\
import sys
from pathlib import Path
from octavo.files import swap

if sys.argv[2] == "steps":
    swap._exchanged = lambda *_: False
print("ready", flush=True)
for number in range(10_000):
    with swap.locked(Path(sys.argv[1]), ("summary.json",)) as target:
        with swap.replaced(target, "run", ("summary.json",)) as folder:
            for name in ("summary.json", "scenario.toml", f"{number % 3}.parquet"):
                (folder / name).write_text(f"{number}")
"""


def start(folder, *arguments):
    command = [sys.executable, "-m", "octavo", *arguments]
    return subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def outcomes(processes):
    done = [(process.communicate(timeout=120)[1], process.returncode) for process in processes]
    assert all("Traceback" not in said for said, _ in done), done
    return sorted((status, " ".join(said.split())) for said, status in done)


def test_two_identical_comparisons_at_once_end_in_one_result(cli, tmp_path):
    octavo.compare(workloads=["fir"], placements=["on-touch", "grit"], scale=SMALL, output=tmp_path / "alone")
    (first, _), (second, said) = outcomes([start(tmp_path, *COMPARE), start(tmp_path, *COMPARE)])
    assert first == 0
    assert second == 0 or "has been writing there since 20" in said
    assert contents(tmp_path / "out") == contents(tmp_path / "alone")


def test_two_different_runs_into_one_folder_lose_none_silently(tmp_path):
    processes = [start(tmp_path, *RUN, "--seed", seed) for seed in ("1", "2")]
    (first, _), (second, said) = outcomes(processes)
    assert (first, second) == (0, 2), said
    assert "has been writing there since 20" in said or "already holds the result of another scenario" in said
    octavo.RunResult.load(tmp_path / "out").check()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_lock_says_who_has_it_and_ends_with_its_process(tmp_path):
    holding = (
        "import sys, time\nfrom pathlib import Path\nfrom octavo.files import swap\n"
        "with swap.locked(Path('out'), ()):\n    print(flush=True)\n    time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", holding], cwd=tmp_path, stdout=subprocess.PIPE)
    process.stdout.readline()
    with refused("in-use", octavo.OutputError, file="out"):
        octavo.run(workload="fir", scale=SMALL, output=tmp_path / "out")
    process.kill()
    process.communicate()
    octavo.run(workload="fir", scale=SMALL, output=tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("how", ["exchange", "steps"])
def test_a_folder_that_is_replaced_survives_kills_at_random_points(how, tmp_path):
    place, chance = tmp_path / "result", random.Random(how)  # noqa: S311 - no secrets
    with swap.locked(place, FILES) as target, swap.replaced(target, "run", FILES) as folder:
        (folder / "summary.json").write_text("first")
    (place / "mine.txt").write_text("mine")
    for _ in range(25):
        command = [sys.executable, "-W", "ignore", "-c", REPLACE, str(place), how]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(chance.uniform(0, 0.03))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        left = [path for path in (place, place.with_name("result.octavo-old")) if path.is_dir()]
        assert left, "an old result is never only in a hidden folder"
        whole = left[0]
        manifest.verify(whole, manifest.read(whole))
        assert any((path / "mine.txt").is_file() for path in tmp_path.iterdir() if path.is_dir())
        with swap.locked(place, FILES):
            pass
        assert [path.name for path in tmp_path.iterdir()] == ["result"]
        manifest.verify(place, manifest.read(place))
        assert [path.name for path in ours.others(place, FILES)] == ["mine.txt"]


def test_what_a_killed_process_left_is_mended_without_force(monkeypatch, tmp_path):
    """Between the exchange of two folders and the end, files of a user lie in the hidden one only."""

    def interrupted(*_args, **_named):
        raise KeyboardInterrupt

    path = saxpy(tmp_path / "saxpy.sqlite")
    writes = {
        "t": lambda force: octavo.trace.convert(ACCEL_SIM, tmp_path / "t", replace=force),
        "p": lambda force: import_nsys(path, tmp_path / "p", force=force),
    }
    for name, write in writes.items():
        write(False)
        (tmp_path / name / "notes").write_text("mine")
        with monkeypatch.context() as patch:
            patch.setattr(swap, "_settle", interrupted)
            with pytest.raises((KeyboardInterrupt, octavo.InterruptedRun)):
                write(True)
        (tmp_path / f".{name}.octavo-new").mkdir()
        assert not (tmp_path / name / "notes").exists()
        with refused("exists"):
            write(False)
        assert (tmp_path / name / "notes").read_text() == "mine"
    assert sorted(found.name for found in tmp_path.iterdir()) == ["p", "saxpy.sqlite", "t"]


def test_a_forced_run_that_is_killed_leaves_the_old_result_or_the_new_one(cli, tmp_path):
    octavo.run(workload="fir", scale=SMALL, seed=1, output=tmp_path / "out")
    chance = random.Random(1)  # noqa: S311
    for _ in range(4):
        process = start(tmp_path, *RUN, "--seed", "2", "--force")
        time.sleep(chance.uniform(0.3, 1.5))
        process.kill()
        process.communicate()
        result = octavo.RunResult.load(tmp_path / "out")
        result.check()
        assert result.scenario.values["seed"] in (1, 2)
    done = cli(*RUN, "--seed", "2", "--force")
    assert done.returncode == 0, done.stderr
    octavo.RunResult.load(tmp_path / "out").check()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_comparison_that_is_killed_goes_on_to_the_same_bytes(cli, tmp_path):
    octavo.compare(workloads=["fir"], placements=["on-touch", "grit"], scale=SMALL, output=tmp_path / "alone")
    chance = random.Random(2)  # noqa: S311
    for _ in range(4):
        process = start(tmp_path, *COMPARE)
        time.sleep(chance.uniform(0.3, 2.0))
        process.kill()
        process.communicate()
    done = cli(*COMPARE)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "out") == contents(tmp_path / "alone")
