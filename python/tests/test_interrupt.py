"""Ctrl-C and SIGTERM stop at once, say so, and keep what is finished."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from octavo.runs.content import is_finished


@pytest.mark.parametrize(
    ("workers", "number", "status"), [("1", signal.SIGINT, 130), ("2", signal.SIGINT, 130), ("2", signal.SIGTERM, 143)]
)
def test_finished_points_are_kept_and_not_repeated(workers, number, status, tmp_path):
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
    running.send_signal(number)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == status, errors
    assert "stopped: 1 of 2 runs are finished and kept" in errors
    assert "Traceback" not in errors
    runs = tmp_path / "out" / "runs"
    assert is_finished(runs / "fir" / "on-touch")
    assert sorted(path.name for path in runs.rglob("*") if path.is_dir()) == ["fir", "on-touch", "stencil2d"]


def test_sigterm_keeps_points_of_a_sweep(tmp_path):
    scenario = 'node.preset = "grit-2gpu"\n[zip]\nworkload.scale = [0.01, 2]\nworkload.name = ["fir", "stencil2d"]\n'
    (tmp_path / "s.toml").write_text("[scenario]\nworkload.name = 'fir'\n" + scenario)
    command = [sys.executable, "-m", "octavo", "sweep", "s.toml", "-o", "out", "--workers", "1"]
    # Ctrl-C is ignored, as in what a script starts in the background.
    ignore = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    running = subprocess.Popen(
        [sys.executable, "-c", ignore, *command], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert running.stderr is not None
    assert "[1/2] 0: " in running.stderr.readline()
    running.send_signal(signal.SIGTERM)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == 143, errors
    assert "1 of 2 points are finished and kept" in errors
    assert "Traceback" not in errors
    assert (tmp_path / "out" / "points.parquet").is_file()
