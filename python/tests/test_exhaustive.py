"""Every placement: run here or on a cluster, and where some do not fit into memory."""

from __future__ import annotations

import json
from typing import NoReturn

import pytest
from conftest import refused

import octavo
from octavo.advice import systems
from octavo.runs import execute

CAPACITY = {"node.capacity.bytes": "0B", "node.capacity.footprint_percent": 60}
TWO: dict = {"scale": 1 / 256, "quick": True, "exhaustive": True, "placements": ["device", "managed"]}


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    root = tmp_path_factory.mktemp("searched")
    return octavo.advise("vectoradd", output=root / "all", **TWO), root


def test_whoever_runs_it_finds_the_same_and_goes_on(searched):
    """Processes, as the runs of a cluster are: the cluster itself is tested with sweeps."""
    every, root = searched
    there = octavo.advise("vectoradd", on="local", workers=2, output=root / "there", **TWO)
    assert there.exhausted is not None
    assert every.exhausted is not None
    assert there.exhausted.points.equals(every.exhausted.points)
    seen: list[int] = []
    again = octavo.advise("vectoradd", on="local", output=root / "there", watch=lambda to: seen.append(to.kept), **TWO)
    assert again.exhausted is not None
    assert again.exhausted.points.equals(every.exhausted.points)
    assert seen == []  # Nothing is run, so no progress is reported.


def test_where_it_runs_is_about_a_search():
    with refused("conflict", octavo.AdviceError, key="on"):
        octavo.advise("vectoradd", scale=1 / 256, quick=True, on="local")
    with refused("unexpected-value", octavo.ScenarioError, key="on", found="moon"):
        octavo.advise("vectoradd", on="moon", **TWO)


def test_all_runs_are_where_they_were_asked_to_be(tmp_path, monkeypatch):
    def here(*_: object, **__: object) -> NoReturn:
        raise AssertionError("it ran here")

    monkeypatch.setattr(execute._Runs, "_run", here)
    there = octavo.advise("vectoradd", on="local", workers=2, output=tmp_path / "there", runs=0, **TWO)
    assert there.exhausted is not None
    assert there.exhausted.points.height == 8


@pytest.mark.parametrize("memory", [{"memory": "60%"}, {"overrides": CAPACITY}])
def test_what_does_not_fit_is_a_row_and_no_error(memory):
    """A buffer of 4 MiB, read eight times, in 2.5 MiB of memory; the node has a limit of bytes unless that is 0."""
    asked: dict = {"scale": 1 / 16, "node": "cuda-sm80"}
    iterations = {"workload.iterations": 8, **memory.pop("overrides", {})}
    advice = octavo.advise("red", exhaustive=True, overrides=iterations, **asked, **memory)
    assert advice.plan.budget == 615 * 4096
    assert advice.placements["idata"] == "pinned"
    assert advice.exhausted is not None
    assert advice.exhausted.regret == 0
    assert advice.found is not None
    assert advice.found.gain > 0.2 * advice.found.present


def test_placements_that_do_not_fit_are_told_apart(tmp_path, monkeypatch):
    """Taken for too small a program, both buffers on the device are tried, and are out of memory."""
    monkeypatch.setattr(systems, "limited", lambda constants, *_: constants)
    asked: dict = {"scale": 1 / 16, "node": "cuda-sm80", "memory": "60%", "placements": ["device", "managed"]}
    advice = octavo.advise("red", exhaustive=True, kind="explicit", output=tmp_path / "all", **asked)
    assert advice.exhausted is not None
    points = {row["placements"]: row["seconds"] for row in advice.exhausted.points.to_dicts()}
    assert {name for name, time in points.items() if time is None} == {"dd", "dm"}
    assert advice.found is not None
    assert advice.found.present is None
    assert advice.found.advised == min(time for time in points.values() if time is not None)
    assert any("present placement does not fit" in note for note in advice.notes)
    assert json.loads((tmp_path / "all" / "advice.json").read_text())["found"]["gain"] is None
