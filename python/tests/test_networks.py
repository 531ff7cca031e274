"""Steps of PyTorch programs: recorded where there is a PyTorch, made to fit any batch, run."""

from __future__ import annotations

import functools
import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import missing, refused

import octavo
from octavo import api, trace
from octavo.cli import main
from octavo.trace import steps

PYTHONS = (sys.executable, "/usr/bin/python3")
TOY = """
import sys, torch
batch = int(sys.argv[1])
weight = torch.nn.Parameter(torch.ones(64, 8))
optimizer = torch.optim.SGD([weight], lr=0.1)
data = torch.ones(batch, 64)
for _ in range(2):
    optimizer.zero_grad(set_to_none=True)
    data.mm(weight).sum().backward()
    optimizer.step()
"""


@functools.cache
def with_torch() -> str | None:
    """A Python that has PyTorch."""
    for python in PYTHONS:
        if Path(python).exists():
            ended = subprocess.run([python, "-c", "import torch"], check=False, capture_output=True)
            if ended.returncode == 0:
                return python
    return None


@pytest.fixture
def recorded(tmp_path):
    """Records a script with some arguments."""
    if with_torch() is None:
        missing("a Python with PyTorch")

    def record(text, *arguments, batch=None):
        script = tmp_path / "script.py"
        script.write_text(text)
        return trace.record_torch(script, tmp_path / "it.step", arguments, batch=batch, python=with_torch())

    return record


def names(step):
    return [operator["name"] for operator in step["operators"]]


def test_a_training_step_is_what_the_script_does(recorded, tmp_path):
    step = recorded(TOY, "{batch}", batch=16)
    assert (step["parameters"], step["batch"]) == (512, 16)
    product, *_, update = step["operators"]
    data = next(index for index, (role, size) in enumerate(step["tensors"]) if size == (0, 256))
    weight = next(index for index, (role, _) in enumerate(step["tensors"]) if role == "parameter")
    assert step["tensors"][weight] == ("parameter", (2048, 0))
    assert (product["name"], product["flops"], product["reads"]) == ("mm", (0, 2 * 64 * 8), [data, weight])
    assert step["tensors"][product["writes"][0]] == ("temporary", (0, 32))
    gradient = update["reads"][1]
    assert (update["name"], update["writes"]) == ("add_", [weight])
    made, gone = (
        next(index for index, one in enumerate(step["operators"]) if gradient in one.get(key, ()))
        for key in ("allocates", "frees")
    )
    assert gone < made, "the gradient of the step before goes when this one begins"
    found = json.loads(gzip.decompress((tmp_path / "it.step").read_bytes()))
    assert found == json.loads(json.dumps(step)), "the file is what was returned"


def test_a_recorded_step_runs_with_any_batch(recorded, tmp_path):
    recorded(TOY, "{batch}", batch=16)

    def lines(**options):
        overrides = [f"workload.{key}={value}" for key, value in options.items()]
        scenario = api.scenario(workload=str(tmp_path / "it.step"), overrides=overrides)
        return api.inspect_workload(scenario)["total"]["accesses"]

    few, many = lines(), lines(batch=32)
    assert lines(iterations=3) == 3 * few
    assert many > few


def test_marks_win_and_a_call_alone_is_a_step(recorded):
    inference = """
import torch
model = torch.nn.Linear(4, 4)
with torch.no_grad():
    model(torch.ones(2, 4))
"""
    assert names(recorded(inference)) == ["addmm"]
    mark = 'with torch.profiler.record_function("octavo-step"):\n    torch.ones(8).exp()\n'
    assert names(recorded(TOY.replace("sys.argv[1]", "3") + mark)) == ["ones", "exp"]


def test_what_cannot_be_recorded_is_said(recorded, tmp_path):
    with refused("bad-trace", octavo.TraceError, file="script.py"):
        recorded("import torch\ntorch.ones(3)\n")
    with refused("bad-trace", octavo.TraceError, file="script.py"):
        recorded("1 / 0\n")
    with refused("conflict", octavo.TraceError, key="batch"):
        recorded(TOY, "{batch}")
    with refused("unexpected-value", octavo.TraceError, key="operators"):
        recorded(TOY.replace("data = ", "data = torch.ones(9) if batch == 5 else 0\ndata = ").replace(
            "optimizer.step()", "optimizer.step() if batch < 5 else (data.exp(), optimizer.step())"
        ), "{batch}", batch=4)  # fmt: skip
    assert not (tmp_path / "it.step").exists()


@pytest.fixture
def octavo_says(monkeypatch, capsys):
    """What the command says on its standard error when it fails."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["octavo", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        return " ".join(capsys.readouterr().err.split())

    return run


def test_without_pytorch_it_says_where_to_look(tmp_path, octavo_says):
    script = tmp_path / "train.py"
    script.write_text("import torch\n")
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'torch'\" >&2\nexit 1\n")
    fake.chmod(0o755)
    said = octavo_says("trace", "torch", script, "--python", fake, "-o", tmp_path / "it.step")
    assert "has no PyTorch" in said
    assert "--python /usr/bin/python3" in said
    assert "there is no script" in octavo_says("trace", "torch", tmp_path / "none.py")


def test_sizes_are_lines_of_the_batch_or_refused():
    assert steps._line([10, 14, 22], "bytes") == (2, 4)
    assert steps._line([7], "bytes") == (7, 0)
    with refused("unexpected-value", octavo.TraceError, key="bytes", found="4, 9, 25"):
        steps._line([4, 9, 25], "bytes")


def test_files_that_are_no_steps_are_refused(tmp_path):
    wrong = tmp_path / "wrong.step"
    wrong.write_bytes(b"{}")
    with refused("unexpected-value", octavo.ScenarioError, key="workload.path"):
        api.scenario(workload=str(wrong))
    with refused("unexpected-value", octavo.ScenarioError, key="workload.path"):
        api.scenario(workload=str(tmp_path / "none.step"))
