"""`octavo show` of workloads that are files: those in Python, and recorded programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

OWN = """
from octavo.generators import Buffer, Generator, Launch, load, option


class Mine(Generator):
    rounds: int = option(7, "how often", minimum=1)

    def buffers(self):
        return [Buffer("a", 4096)]

    def launches(self):
        return [Launch("k", 1, 1)] * self.rounds

    def instructions(self, launch, group, wavefront):
        yield load(0)
"""
TRACE = str(Path(__file__).parents[2] / "traces" / "nw-length-128.trace")


def shown(cli, name):
    done = cli("show", name, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["workloads"]


def test_a_workload_in_python_shows_its_options(cli, tmp_path):
    (tmp_path / "my.py").write_text(OWN)
    (option,) = shown(cli, "my.py")["options"]
    assert (option["name"], option["default"], option["description"]) == ("rounds", 7, "how often")
    (tmp_path / "my.py").write_text(OWN.replace("7", "8"))
    assert shown(cli, "my.py")["options"][0]["default"] == 8
    done = cli("show", "my.py")
    assert done.returncode == 0, done.stderr
    assert "rounds" in done.stdout


def test_a_recorded_program_shows_how_it_can_be_changed(cli):
    found = shown(cli, TRACE)
    assert found["name"] == TRACE
    assert "path" not in [option["name"] for option in found["options"]]
    assert "trace info" in found["summary"]


@pytest.mark.parametrize("text", ["x = 1\n", "raise SystemExit(3)\n", "def (\n"])
def test_a_file_that_holds_no_workload_is_refused(cli, tmp_path, text):
    (tmp_path / "none.py").write_text(text)
    done = cli("show", "none.py")
    assert done.returncode == 2
    assert "none.py" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_not_there_is_refused(cli, tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("absent.py", "empty", "absent.trace", "absent.step"):
        done = cli("show", name)
        assert done.returncode == 2, name
        assert name in done.stderr
