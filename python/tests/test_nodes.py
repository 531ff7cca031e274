"""Nodes in files, named on the command line, in scenarios, in sweeps and from Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import octavo

MACHINE = """format = 1
date = 2026-11-21
[measured.copy]
value = "25GB/s"
[node]
extends = "grit-2gpu"
host_link.bandwidth = "25GB/s"
"""


def octavo_command(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "octavo", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def machine(tmp_path) -> Path:
    path = tmp_path / "lab" / "machine.toml"
    path.parent.mkdir()
    path.write_text(MACHINE)
    return path


def bandwidth(scenario: octavo.Scenario) -> str:
    node = scenario.values["node"]
    return f"{node['gpus']} x {node['host_link']['bandwidth']}"


def test_a_node_is_named_as_a_path_or_as_text(machine, monkeypatch):
    monkeypatch.chdir(machine.parent)
    found = [octavo.scenario(workload="fir", node=node) for node in (machine, str(machine), "machine.toml")]
    assert {bandwidth(scenario) for scenario in found} == {"2 x 25GB/s"}
    assert len({scenario.digest for scenario in found}) == 1
    (machine.parent / "plain").write_text(MACHINE)
    assert octavo.scenario(workload="fir", node=Path("plain")) == found[0]


def test_a_path_in_a_scenario_starts_from_its_folder(machine):
    scenario = machine.parent / "s.toml"
    scenario.write_text('workload = "fir"\nmemory.placement = "grit"\nnode.preset = "machine.toml"\n')
    assert bandwidth(octavo.scenario(scenario)) == "2 x 25GB/s"


def test_a_file_beside_a_node_file_can_be_extended(machine):
    mine = machine.parent / "mine.toml"
    mine.write_text('[node]\nextends = "machine.toml"\ngpus = 4\n')
    assert bandwidth(octavo.scenario(workload="fir", node=mine)) == "4 x 25GB/s"


def test_the_result_of_a_run_says_everything_and_names_no_file(machine, tmp_path):
    words = ("run", "--workload", "fir", "--scale", "0.01", "--node", "lab/machine.toml", "--output", "out", "--quiet")
    done = octavo_command(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out" / "scenario.toml").read_text()
    assert "machine.toml" not in text
    machine.unlink()
    again = octavo.scenario(tmp_path / "out" / "scenario.toml")
    assert again.toml == text
    assert bandwidth(octavo.scenario(workload="stencil2d", node=tmp_path / "out" / "scenario.toml")) == "2 x 25GB/s"


def test_a_changed_file_is_another_scenario(machine):
    before = octavo.scenario(workload="fir", node=machine)
    machine.write_text(MACHINE.replace("25GB/s", "26GB/s"))
    assert octavo.scenario(workload="fir", node=machine).digest != before.digest


@pytest.mark.parametrize("inline", [True, False], ids=["a table", "a file"])
def test_paths_in_a_sweep_start_from_its_folder(machine, inline):
    (machine.parent / "other.toml").write_text(MACHINE.replace("grit-2gpu", "grit-4gpu"))
    (machine.parent / "s.toml").write_text(
        'workload = {name = "fir", scale = 0.01}\nmemory.placement = "on-touch"\nnode.preset = "machine.toml"\n'
    )
    table = '{workload = {name = "fir", scale = 0.01}, memory = {placement = "on-touch"}}'
    sweep = machine.parent / "sweep.toml"
    base = table if inline else '"s.toml"'
    sweep.write_text(f'scenario = {base}\n[grid]\n"node.preset" = ["machine.toml", "other.toml", "grit-2gpu"]\n')
    points = octavo.sweep(sweep)
    assert points["status"].to_list() == ["ok"] * 3
    assert points["node.preset"].to_list() == ["machine.toml", "other.toml", "grit-2gpu"]
    assert points["time_ps"].n_unique() == 3


def test_compare_takes_a_node_from_a_file(machine, tmp_path):
    comparison = octavo.compare(workloads=["fir"], placements=["on-touch", "grit"], scale=0.01, node=machine)
    assert len(comparison.points) == 2
    done = octavo_command("workload", "inspect", "fir", "--node", "lab/machine.toml", "--scale", "0.01", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("machin.toml", None, "cannot read machin.toml: No such file or directory hint: did you mean `machine.toml`?"),
        ("none.toml", "[nodes]\n", "none.toml: `node`: missing; expected a table [node] hint: did you mean `nodes`?"),
        ("key.toml", '[node]\nextends = "grit-2gpu"\nl2.sise = "1MiB"\n', "key.toml:3: `node.l2.sise`: unknown key"),
        ("bytes.toml", b"\xff\xfe", "cannot read bytes.toml: it is not UTF-8 text"),
        ("base.toml", '[node]\nextends = "gone.toml"\n', "base.toml:2: `node.extends`: cannot read gone.toml"),
        ("turn.toml", '[node]\nextends = "../lab/turn.toml"\n', "expected at most 16 files that extend one another"),
        ("me.toml", '[node]\nextends = "me.toml"\n', "a node cannot extend itself: me.toml -> me.toml"),
        ("lab/", None, "cannot read lab"),
    ],
)
def test_what_cannot_be_used_is_refused_by_file_and_line(machine, name, text, message):
    folder = machine.parent
    if isinstance(text, bytes):
        (folder / name).write_bytes(text)
    elif text is not None:
        (folder / name).write_text(text)
    done = octavo_command("run", "--workload", "fir", "--node", name, "--output", "out", cwd=folder)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr
    assert not (folder / "out").exists()


def test_another_file_is_not_meant_for_its_ending_alone(machine):
    (machine.parent / "sweep.toml").touch()
    done = octavo_command("run", "--workload", "fir", "--node", "nothere.toml", cwd=machine.parent)
    assert "cannot read nothere.toml: No such file or directory" in " ".join(done.stderr.split())
    assert "did you mean" not in done.stderr
