"""Former names of workloads: read on the command line, refused elsewhere."""

from __future__ import annotations

import json

import pytest

import octavo
from octavo.cli import former
from octavo.errors import ScenarioError
from octavo.files.notes import OctavoNote


def test_former_names_are_read_as_the_names_of_today() -> None:
    with pytest.warns(OctavoNote, match="`mm` is read as `matrixmultiplication`: MM is several"):
        assert former.read(["fir,mm"]) == ["fir,matrixmultiplication"]
    with pytest.warns(OctavoNote, match="`bfs` is read as `bfs-shoc`: BFS is also Rodinia's"):
        assert former.read("fir+bfs") == "fir+bfs-shoc"


def test_names_of_today_and_unknown_names_stay() -> None:
    assert former.read(["fir, bfs-shoc", "gems"]) == ["fir, bfs-shoc", "gems"]
    assert former.read(None) is None


def test_a_folder_of_that_name_stays(tmp_path, monkeypatch) -> None:
    (tmp_path / "mm").mkdir()
    monkeypatch.chdir(tmp_path)
    assert former.read("mm") == "mm"


def test_a_command_says_how_it_read_a_name(cli) -> None:
    done = cli("workload", "inspect", "mm", "--scale", "1/256", "--json")
    today = cli("workload", "inspect", "matrixmultiplication", "--scale", "1/256", "--json")
    assert json.loads(done.stdout) == json.loads(today.stdout)
    assert done.stderr.startswith("note: workload `mm` is read as `matrixmultiplication`")


def test_python_names_the_successor() -> None:
    with pytest.raises(ScenarioError, match="`mm` is called `matrixmultiplication` now"):
        octavo.scenario(workload="mm")
