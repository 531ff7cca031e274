"""What the repository keeps: nothing twice."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMALL = 1000
"""Bytes up to which files may be alike: empty ones, tables without a row."""


def test_no_content_is_kept_twice():
    listed = subprocess.run(["git", "ls-files", "-sz"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no checkout of the repository")
    paths = defaultdict(list)
    for entry in listed.stdout.split("\0")[:-1]:
        about, path = entry.split("\t", 1)
        paths[about.split()[1]].append(path)
    assert len(paths) > 1000
    twice = [alike for alike in paths.values() if len(alike) > 1 and (ROOT / alike[0]).stat().st_size > SMALL]
    assert not twice
