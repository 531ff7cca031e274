"""The stub file says what the binary does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import octavo

pytest.importorskip("mypy")


def test_the_stub_matches_the_binary():
    environment = {**os.environ, "MYPYPATH": str(Path(octavo.__file__).parents[1])}
    command = [sys.executable, "-m", "mypy.stubtest", "octavo._core"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
