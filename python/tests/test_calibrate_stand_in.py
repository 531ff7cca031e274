"""`octavo calibrate` from the command to the machine file, on a driver whose numbers mean nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from conftest import contents

import octavo._core as _core
from octavo.measurements.calibrate import machine
from octavo.measurements.calibrate.probes import PROBES

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Environment


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "octavo", "calibrate", *arguments]


def calibrate(folder: Path, environment: Environment, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_every_probe_is_in_the_registry():
    assert {probe["name"] for probe in _core.gpu_probes()} <= set(PROBES)


def test_a_machine_file_from_a_driver(stand_in, tmp_path):
    two = stand_in | {"OCTAVO_STAND_IN_GPUS": "2"}
    arguments = ("--quick", "--probe", "launches", "--gpu", "1", "-o", "machine.toml")
    done = calibrate(tmp_path, two, *arguments)
    assert done.returncode == 0, done.stderr
    assert "Measuring GPU 1 of 2: Stand-in (no GPU)" in done.stderr
    found = machine.read(tmp_path / "machine.toml")
    assert found.about["gpus"] == 2
    assert found.about["device"]["multiprocessors"] > 0
    assert {"launch_wait_stream", "launch_wait_graph"} <= found.measured.keys()
    before = contents(tmp_path)
    assert calibrate(tmp_path, two, *arguments).returncode == 0
    assert contents(tmp_path) == before


def test_a_driver_that_fails_in_a_probe_is_quoted(stand_in, tmp_path):
    broken = stand_in | {"OCTAVO_STAND_IN_FAIL": "cuLaunchKernel"}
    done = calibrate(tmp_path, broken, "--quick", "--probe", "launches", "-o", "machine.toml")
    assert done.returncode == 1
    assert "launches: cuLaunchKernel failed" in done.stderr
    assert "cuLaunchKernel failed" in machine.read(tmp_path / "machine.toml").skipped["launches"]


def test_every_probe_that_there_is_gives_what_the_fits_expect(stand_in, tmp_path):
    """Samples of real probes pass the checks of their tables, and only what a GPU would show is missing."""
    environment = stand_in | {"OCTAVO_STAND_IN_GPUS": "2", "OCTAVO_STAND_IN_PAGEABLE": "1"}
    done = calibrate(tmp_path, environment, "--quick", "-o", "machine.toml", "--json")
    assert done.returncode == 0, done.stderr
    without = json.loads(done.stdout)["skipped"]
    strange = ("no samples", "has no samples", "do not state", "needs 3", "expected a stride")
    assert [reason for reason in without.values() if any(part in reason for part in strange)] == []
    assert calibrate(tmp_path, stand_in, "show", "machine.toml", "--quiet").returncode == 0


def test_ctrl_c_in_a_probe_ends_it_and_keeps_the_others(stand_in, tmp_path):
    running = subprocess.Popen(
        command("--probe", "launches,managed", "-o", "machine.toml"),
        cwd=tmp_path,
        env={**os.environ, **stand_in},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr is not None
    while "[1/2] launches" not in running.stderr.readline():
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130, errors
    assert "stopped: 1 of 2 probes are finished and kept" in errors
    assert "Traceback" not in errors
    assert {path.name for path in (tmp_path / "machine.samples").iterdir()} == {"launches.json", "launches.parquet"}
