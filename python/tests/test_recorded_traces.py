"""The list of digests that recorded traces are held to, and what is said of a trace that differs."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "mgpusim-reference"


@pytest.fixture(scope="module")
def tool():
    """The script that `make traces` runs."""
    known = set(sys.modules)
    sys.path.insert(0, str(TOOL))
    yield importlib.import_module("traces")
    sys.path.remove(str(TOOL))
    for name in set(sys.modules) - known:
        if getattr(sys.modules[name], "__file__", None) and Path(sys.modules[name].__file__).parent == TOOL:
            del sys.modules[name]


@pytest.fixture
def copied(tool, tmp_path, monkeypatch):
    """One trace of the repository, in a repository of its own."""
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    folder = shutil.copytree(ROOT / "traces" / "nw-length-128.trace", tmp_path / "traces" / "nw-length-128.trace")
    return tool.Recording(folder, [])


def test_the_repository_has_the_traces_that_its_readme_makes(tool):
    named = [one.path for one in tool.of_readme()]
    assert sorted(named) == sorted((ROOT / "traces").glob("*.trace"))
    tracked = subprocess.run(
        ["git", "ls-files", "--", "*.trace/*"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if not tracked.returncode:
        assert not [path for path in tracked.stdout.splitlines() if path.startswith("validation/")]


def test_points_of_four_tables_are_recorded(tool):
    found = list(tool.of_tables())
    assert len({one.name for one in found}) == len(found) == 222
    assert found[0].words[:4] == ["-benchmark", "aes", "-gpus", "1"]


def test_a_trace_that_differs_is_named_with_the_reason(tool, copied):
    expected = tool.digests()[copied.name]
    assert tool.difference(copied, expected) == ""
    assert tool.difference(copied, None) == "not listed in validation/traces.sha256; --note lists it"
    file = copied.path / "launches.parquet"
    whole = file.stat().st_size
    file.write_bytes(file.read_bytes()[:-1])
    damage = f"launches.parquet is damaged: expected {whole:,} bytes, found {whole - 1:,}"
    assert damage in tool.difference(copied, expected)
    copied.sealed.write_text("{}")
    assert tool.difference(copied, expected) == "recorded to other bytes than those listed"
    copied.sealed.unlink()
    assert tool.difference(copied, expected) == "missing"


def test_names_without_a_command_are_told(tool, copied):
    wrong = tool.differing([copied])
    assert len(wrong) == len(tool.digests()) - 1
    assert set(wrong.values()) == {"listed, but nothing makes it"}
