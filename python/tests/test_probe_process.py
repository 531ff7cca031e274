"""Probes in processes of their own, on the driver of a GPU that is not there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from conftest import refused

from octavo.errors import CalibrationError
from octavo.measurements.calibrate import probe_process

if TYPE_CHECKING:
    from conftest import Environment


@pytest.fixture(autouse=True)
def here(stand_in: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in stand_in.items():
        monkeypatch.setenv(name, value)


def nothing(*_step: object) -> None:
    pass


def test_what_was_measured_and_every_step_come_back():
    steps = []
    result = probe_process.measure("launches", 0, quick=True, progress=lambda *step: steps.append(step))
    assert {"series", "repetition", "seconds"} <= result["columns"].keys()
    assert [done for done, _, _ in steps] == list(range(len(steps)))
    assert steps[0][2] == "1 launches"


def test_records_are_bytes_again():
    result = {"columns": {}, "activity": {"records": b"\x00\xff", "cupti": 26}}
    assert probe_process._opened(probe_process._closed(result))["activity"]["records"] == b"\x00\xff"


def test_what_the_driver_refuses_is_an_error(monkeypatch):
    monkeypatch.setenv("OCTAVO_STAND_IN_FAIL", "cuLaunchKernel")
    with refused("refused-call", CalibrationError, key="cuLaunchKernel", found="CUDA_ERROR_UNKNOWN"):
        probe_process.measure("launches", 0, quick=True, progress=nothing)


def test_a_process_that_ends_early_is_an_error(monkeypatch):
    monkeypatch.setattr(sys, "executable", shutil.which("true"))
    with refused("bad-measurement", CalibrationError):
        probe_process.measure("launches", 0, quick=True, progress=nothing)


def test_an_interruption_ends_the_process(monkeypatch):
    started = []

    class Kept(subprocess.Popen):
        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            started.append(self)

    def interrupt(*_step: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", Kept)
    with pytest.raises(KeyboardInterrupt):
        probe_process.measure("zero_copy", 0, quick=True, progress=interrupt)
    assert [process.returncode for process in started] == [-9]


def test_a_process_that_nobody_listens_to_ends_without_a_word():
    command = [sys.executable, "-m", "octavo.measurements.calibrate.probe_process", "launches", "0", "quick"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1
