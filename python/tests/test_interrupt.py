"""Ctrl-C stops at once, says so, and keeps what is finished."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from octavo.runs.held import is_finished


@pytest.mark.parametrize("workers", ["1", "2"])
def test_finished_points_are_kept_and_not_repeated(workers, tmp_path):
    # The first point takes well under a second, the second one many.
    command = [
        sys.executable,
        "-m",
        "octavo",
        "compare",
        "-w",
        "fir,stencil2d",
        "-p",
        "on-touch",
        "-s",
        "0.5",
        "-o",
        "out",
    ]
    running = subprocess.Popen([*command, "--workers", workers], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert running.stderr is not None
    assert "[1/2] fir on-touch" in running.stderr.readline()
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == 130, errors
    assert "stopped: 1 of 2 runs are finished and kept" in errors
    assert "Traceback" not in errors
    runs = tmp_path / "out" / "runs"
    assert is_finished(runs / "fir" / "on-touch")
    assert sorted(path.name for path in runs.rglob("*") if path.is_dir()) == ["fir", "on-touch", "stencil2d"]
