"""Every command and every line of Python in the README works as printed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


COMMANDS = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ octavo")]


def test_there_is_something_to_test():
    assert len(COMMANDS) >= 3
    assert blocks("python")
    assert blocks("toml")


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command, tmp_path):
    (tmp_path / "scenario.toml").write_text(blocks("toml")[0])
    words = [sys.executable, "-m", *shlex.split(command)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("block", blocks("python"))
def test_python(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "README.md", "exec"), {})  # noqa: S102 - our own text
