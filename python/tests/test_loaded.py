"""What each command loads: libraries that take long to import are loaded by commands that use them alone."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version

import pytest

from octavo.cli.commands import COMMANDS

HEAVY = ("matplotlib", "numpy", "pandas", "polars", "pydantic", "ray", "rich", "optuna", "vl_convert")
"""Libraries that take tens of milliseconds or more."""
LOADED = """
import json, runpy, sys
sys.argv[0] = "octavo"
try:
    runpy.run_module("octavo", run_name="__main__")
except SystemExit as ended:
    assert not ended.code, ended.code
finally:
    print(json.dumps(list(sys.modules)), file=sys.stderr)
"""
SMALL = ("--scale", "1/256")
OF_TYPER = {"pydantic"} if tuple(map(int, version("typer").split(".")[:2])) >= (0, 29) else set()
"""What versions of Typer load that pyproject.toml does not allow, should one of them be installed."""


def loaded(folder, *words: str) -> set[str]:
    """The modules that a command loads."""
    command = [sys.executable, "-c", LOADED, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {*json.loads(done.stderr.splitlines()[-1])}


def heavy(folder, *words: str) -> set[str]:
    """The heavy libraries that a command loads."""
    return loaded(folder, *words).intersection(HEAVY) - OF_TYPER


@pytest.mark.parametrize(
    ("command", "most"),
    [
        (("--help",), 25),
        (("--version",), 25),
        (("run", "--help"), 95),
        (("run", "fir", *SMALL), 95),
        (("run", "fir", "--kind", "managed", "--node", "cuda-sm90", *SMALL), 95),
        (("run", "fir", "--executor", "instant", *SMALL), 95),
        (("run", "fir", "--json", *SMALL), 95),
        (("run", "fir", "--dry-run", *SMALL), 100),
        (("list", "nodes"), 50),
        (("show", "grit"), 50),
        (("schema",), 50),
        (("new", "placement", "mine.py"), 60),
        (("workload", "inspect", "fir", *SMALL), 90),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_a_short_command_loads_nothing_heavy_and_few_modules_of_ours(command, most, tmp_path):
    found = loaded(tmp_path, *command)
    assert found.intersection(HEAVY) - OF_TYPER == set()
    assert sum(name.partition(".")[0] == "octavo" for name in found) <= most


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        (("explain", "run"), {"polars"}),
        (("compare", "fir", "--executor", "instant", *SMALL), {"polars", "matplotlib", "numpy"}),
    ],
    ids=lambda value: " ".join(sorted(value)),
)
def test_a_command_loads_what_it_uses(command, allowed, tmp_path):
    if "run" in command:
        heavy(tmp_path, "run", "fir", "-o", "run", *SMALL)
    assert heavy(tmp_path, *command) <= allowed


@pytest.mark.parametrize("command", COMMANDS)
def test_help_loads_nothing_heavy(command, tmp_path):
    studies = {"polars"} if command in ("reproduce", "validate") else set()
    assert heavy(tmp_path, command, "--help") <= studies
