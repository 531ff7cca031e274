"""What cannot be meant ends in a message that says where and why, and a status; never in a traceback."""

from __future__ import annotations

import os

import pytest

SCENARIO = """\
workload = { name = "fir", scale = 0.015625 }
memory.placement = "grit"
node.preset = "grit-4gpu"
"""

BAD = {
    "a misspelt key": ("node.gpu_lnik.bandwidth=1GB/s", ["node.gpu_lnik", "unknown key", "did you mean `gpu_link`?"]),
    "a misspelt option": ("memory.placement.fault_treshold=3", ["unknown option", "did you mean `fault_threshold`?"]),
    "a misspelt table": ("memroy.page_size=4KiB", ["`memroy`", "did you mean `memory`?"]),
    "a wrong unit": ("node.gpu_link.bandwidth=300GB", ["expected a bandwidth such as 300GB/s", "found `300GB`"]),
    "no unit": ("node.gpu_link.latency=200", ["expected a count of cycles such as 100cycles", "found 200"]),
    "a word for a number": ("node.gpus=four", ["`node.gpus`", "expected a whole number", 'found "four"']),
    "an unknown placement": ("memory.placement=grid", ["unknown placement `grid`", "did you mean `grit`?"]),
    "an unknown workload": ("workload=fri", ["unknown workload `fri`"]),
    "an unknown preset": ("node.preset=grit-4", ["unknown preset `grit-4`", "did you mean `grit-4gpu`?"]),
    "an impossible node": ("node.l1.ways=3", ["`node.l1.size`", "power of two"]),
    "too many GPUs": ("node.gpus=73", ["expected 1 to 72, found 73"]),
    "a page size nobody has": ("memory.page_size=8KiB", ["`memory.page_size`", "found 8KiB"]),
    "a threshold out of range": ("memory.placement.fault_threshold=0", ["`memory.placement.fault_threshold`"]),
    "a scale of zero": ("workload.scale=0", ["`workload.scale`", "expected more than 0"]),
    "a negative scale": ("workload.scale=-1", ["`workload.scale`", "found -1"]),
    "too little memory": ('node.capacity={footprint_percent=1,scope="total"}', ["memory is too small"]),
    "no assignment": ("node.gpus", ["expected key=value"]),
}


@pytest.mark.parametrize("case", BAD)
def test_values_are_refused(case, cli, tmp_path):
    assignment, expected = BAD[case]
    (tmp_path / "s.toml").write_text(SCENARIO)
    done = cli("run", "s.toml", "--set", assignment)
    assert done.returncode == 2, done.stderr
    assert all(text in done.stderr for text in expected), done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(
    ("command", "key"),
    [
        (("run", "s.toml", "--scale", "1/64", "--set", "workload.scale=0.5"), "workload.scale"),
        (("run", "s.toml", "--placement", "grit", "--set", "memory.placement.name=on-touch"), "memory.placement.name"),
        (("compare", "s.toml", "--placement", "grit", "--set", "memory.placement=on-touch"), "memory.placement"),
        (("compare", "s.toml", "--seed", "2", "--set", "seed=3"), "seed"),
        (("sweep", "s.toml", "--scale", "1/64", "--set", "workload.scale=0.5"), "workload.scale"),
        (("workload", "inspect", "fir", "--scale", "1/64", "--set", "workload.scale=0.5"), "workload.scale"),
    ],
)
def test_what_is_set_twice_is_refused(command, key, cli, tmp_path):
    (tmp_path / "s.toml").write_text(SCENARIO)
    done = cli(*command)
    assert done.returncode == 2, done.stdout
    assert f"both set `{key}`" in done.stderr
    assert "hint: leave one of them out" in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("command", ["explain", "report"])
def test_a_folder_that_is_nearly_called_so_is_offered(command, cli, tmp_path):
    (tmp_path / "first").mkdir()
    done = cli(command, "Firts")
    assert done.returncode == 2
    assert "did you mean `first`?" in done.stderr


def test_a_file_is_named_with_the_line(cli, tmp_path):
    (tmp_path / "s.toml").write_text(SCENARIO + 'node.l2.sise = "2MiB"\n')
    done = cli("run", "s.toml")
    assert done.returncode == 2
    assert "s.toml:4: `node.l2.sise`: unknown key" in done.stderr
    assert "hint: did you mean `size`?" in done.stderr


@pytest.mark.parametrize(
    ("content", "expected"),
    [(None, "cannot read scenario s.toml"), (b"\xff", "not UTF-8"), (b"a =", "s.toml:1: not valid TOML")],
)
def test_files_that_are_no_scenarios_are_refused(content, expected, cli, tmp_path):
    if content is not None:
        (tmp_path / "s.toml").write_bytes(content)
    done = cli("run", "s.toml")
    assert done.returncode == 2
    assert expected in done.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run"], "nothing to run"),
        (["run", "--scael", "1"], "No such option"),
        (["compare", "-w", "fir", "-p", "grit,grit"], "named twice"),
        (["compare", "-w", "fir", "-p", "grit,,"], "an empty name"),
        (["compare", "-w", "fir", "--baseline", "gritt"], "--baseline: unknown variant `gritt`"),
        (["compare", "-w", "fir", "--workers", "0"], "--workers"),
        (["workload", "inspect", "fri"], "unknown workload"),
        (["workload", "program", "fri"], "unknown workload"),
        (["workload", "program", "fir", "--kind", "remote"], "'remote' is not one of"),
        (["list", "placment"], "Invalid value for 'KIND': 'placment' is not one of"),
        (["list", "placment"], "Did you mean `placements`?"),
        (["list", "Placements"], "Did you mean `placements`?"),
        (["advise", "fir", "--for", "CUDA"], "Did you mean `cuda`?"),
        (["advise", "fir", "--quick", "--placements", "Device"], "did you mean `device`?"),
        (["compare", "-w", "fir", "--baseline", "GRIT"], "did you mean `grit`?"),
        (["run", "FIR"], "did you mean `fir`?"),
        (["show", "GH200"], "did you mean `gh200`?"),
        (["explain", "nosuch"], "nosuch: expected the folder of a result, found nothing"),
        (["workload", "program", "fir", "--threads", "0"], "--threads"),
        (["reproduce", "grit", "--ensemble", "--sensitivity", "gpus"], "different studies"),
        (["reproduce", "grit", "--reduced", "--walks"], "leave out what chooses one"),
        (["reproduce", "grit", "--sensitivity", "weather"], "weather"),
    ],
)
def test_arguments_are_refused(arguments, expected, cli):
    done = cli(*arguments)
    assert done.returncode == 2, done.stderr
    assert expected in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_folder_that_cannot_be_written_is_found_before_anything_runs(cli, tmp_path):
    (tmp_path / "file").write_text("")
    for output in ("file", "file/below"):
        done = cli("run", "-w", "bitonicsort", "--scale", "1", "-o", output)
        assert done.returncode == 2
        assert "cannot write results" in done.stderr or "is not a folder" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_is_refused(cli, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    done = cli("run", "-w", "fir", "--scale", "0.015625", "-o", "locked/result")
    assert done.returncode == 2
    assert "cannot write results" in done.stderr
