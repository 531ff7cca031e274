"""Execution traces of PyTorch programs, as Chakra has them, become recorded steps."""

from __future__ import annotations

import copy
import gzip
import json
import subprocess
from pathlib import Path

import pytest
from conftest import refused

import octavo
from octavo.errors import TraceError
from octavo.trace import convert_chakra, record_torch
from octavo.trace.steps import _python_with_torch

F32 = 4


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def tensor(number, storage, *shape, first=0):
    elements = 1
    for size in shape:
        elements *= size
    return [number, storage, first, elements, F32, "cuda:0"], list(shape), "Tensor(float)"


def node(number, name, signature, inputs, outputs, parent=1):
    def side(several):
        parts = list(map(list, zip(*several, strict=True))) or [[], [], []]
        return json.loads(json.dumps(dict(zip(("values", "shapes", "types"), parts, strict=True))))

    return {
        "id": number,
        "name": name,
        "ctrl_deps": parent,
        "inputs": side(inputs),
        "outputs": side(outputs),
        "attrs": [{"name": "op_schema", "type": "string", "value": f"{name}{signature}" if signature else ""}],
    }


X, W, Y = tensor(10, 20, 8, 16), tensor(11, 21, 4, 16), tensor(12, 22, 8, 4)
WT = tensor(13, 21, 16, 4)
NODES = [
    node(1, "[pytorch|profiler|execution_trace|process]", "", [], []),
    node(2, "aten::linear", "(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", [X, W], [Y]),
    node(3, "aten::t", "(Tensor(a) self) -> Tensor(a)", [W], [WT], 2),
    node(4, "aten::mm", "(Tensor self, Tensor mat2) -> Tensor", [X, WT], [Y], 2),
    node(5, "aten::relu", "(Tensor self) -> Tensor", [Y], [tensor(14, 23, 8, 4)]),
    # The storage of what `mm` made is free by now, and used again.
    node(6, "aten::mul", "(Tensor self, Tensor other) -> Tensor", [tensor(14, 23, 8, 4)], [tensor(15, 22, 8, 4)]),
    node(
        7,
        "aten::add_",
        "(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
        [W, tensor(15, 22, 4, 4), (0.1, [], "Double")],
        [W],
    ),
]


def written(nodes, **more):
    content = {"schema": "1.1.0-chakra.0.0.4", "pid": 1, "nodes": nodes, **more}
    Path("et.json").write_text(json.dumps(content))
    return Path("et.json")


def step(path):
    found = convert_chakra(path, "a.step")
    return {key: found[key] for key in ("tensors", "operators", "assumed")}


def test_operators_and_tensors_are_those_of_the_trace():
    found = step(written(NODES))
    # What is there before: x and w. Then what mm, relu and mul make.
    assert [(role, size) for role, (size, _) in found["tensors"]] == [
        ("input", 512),
        ("state", 256),
        ("temporary", 128),
        ("temporary", 128),
        ("temporary", 128),
    ]
    told = [(each["name"], each.get("reads"), each.get("writes"), each["frees"]) for each in found["operators"]]
    assert told == [
        ("aten::mm", [0, 1], [2], []),
        ("aten::relu", [2], [3], []),
        ("aten::mul", [3], [4], [2]),
        ("aten::add_", [1, [4, [0, 0], [64, 0]]], [1], [3]),
        ("end of the step", None, None, [4]),
    ]
    assert found["operators"][0]["flops"] == [2 * 8 * 16 * 4, 0]
    run = octavo.run("a.step", node="cuda-sm90", kind="managed")
    assert run.summary["launches"] == 4


def varint(number):
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*made, number])


def message(*fields):
    """Fields of protobuf: texts, messages and whole numbers."""
    made = b""
    for number, value in fields:
        if isinstance(value, int):
            made += varint(number << 3) + varint(value)
        else:
            content = value.encode() if isinstance(value, str) else value
            made += varint(number << 3 | 2) + varint(len(content)) + content
    return made


def protobuf(nodes, **more):
    messages = [message((1, "0.0.4"))]
    for one in nodes:
        sides = [
            message(*((place, str(one[side][part])) for place, part in enumerate(("values", "shapes", "types"), 1)))
            for side in ("inputs", "outputs")
        ]
        schema = message((1, "op_schema"), (29, one["attrs"][0]["value"]))
        control = [(4, varint(one["ctrl_deps"]))] if one["ctrl_deps"] else []
        messages.append(
            message((1, one["id"]), (2, one["name"]), (3, 4), *control, (8, sides[0]), (9, sides[1]), (10, schema))
        )
    Path("a.et").write_bytes(b"".join(varint(len(one)) + one for one in messages))
    return Path("a.et")


def test_protobuf_and_packed_json_tell_the_same(cli):
    expected = step(written(NODES))
    assert step(protobuf(NODES)) == expected
    Path("et.json.gz").write_bytes(gzip.compress(Path("et.json").read_bytes()))
    assert step(Path("et.json.gz")) == expected
    assert cli("trace", "chakra", "a.et", "-o", "b.step").returncode == 0
    assert cli("trace", "chakra", "a.et", "-o", "b.step").returncode == 2
    assert cli("run", "b.step", "--node", "cuda-sm90", "--kind", "explicit", "--quiet").returncode == 0


def changes():
    """Traces in which one fact is another."""
    for place, one in enumerate(NODES[1:], 1):
        # What makes a view or calls others touches nothing: the facts of the others are those that count.
        if one["name"] in ("aten::linear", "aten::t"):
            continue
        for side in ("inputs", "outputs"):
            for index, value in enumerate(one[side]["values"]):
                if isinstance(value, list):
                    for part, other in ((1, 99), (3, 4096)):
                        changed = copy.deepcopy(NODES)
                        changed[place][side]["values"][index][part] = other
                        yield f"{place} {side} {index} {part}", changed
        yield f"{place} is gone", NODES[:place] + NODES[place + 1 :]
    changed = copy.deepcopy(NODES)
    changed[-1]["attrs"][0]["value"] = changed[-1]["attrs"][0]["value"].replace("!", "")
    yield "writes nothing", changed
    yield "communicates", [*NODES, node(8, "c10d::allreduce_", "(Tensor[] tensors) -> Tensor[]", [W], [W])]


@pytest.mark.parametrize("make", [written, protobuf])
def test_one_fact_changed_changes_the_step(make):
    before = step(make(NODES))
    for what, changed in changes():
        # An operator that stores in place gives back what it got.
        if what.startswith("6 outputs"):
            continue
        assert step(make(changed)) != before, what


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "missing"),
        (b"{", "unexpected-value"),
        (b"{}", "unexpected-value"),
        (b'{"schema": "1.0.1", "nodes": []}', "missing"),
        (b'{"schema": "1.0.1", "nodes": [7]}', "unexpected-value"),
        (
            b'{"schema": "1.0.1", "nodes": [{"id": 1, "name": "aten::mm", "inputs": [1], "outputs": []}]}',
            "unexpected-value",
        ),
        (
            b'{"schema": "1.1.0", "nodes": [{"id": 1, "name": "n", "attrs": [{"name": [], "value": 1}]}]}',
            "unexpected-value",
        ),
        (b"\xff" * 20, "unexpected-value"),
        (b"\x05ab", "unexpected-value"),
        (b"\x1f\x8bdamaged", "unreadable"),
    ],
)
def test_what_is_no_execution_trace_is_refused(content, code):
    Path("x").write_bytes(content)
    with refused(code, TraceError):
        convert_chakra("x", "a.step")
    assert not Path("a.step").exists()


def test_an_operator_with_too_few_operands_does_no_known_work():
    for name in ("aten::_scaled_dot_product_flash_attention", "aten::mm"):
        nodes = [*NODES, node(8, name, "(Tensor query, Tensor key) -> Tensor", [X, W][:2], [tensor(16, 24, 8, 4)])]
        assert step(written(nodes))["operators"][4]["name"] == name


def test_damaged_or_large_traces_are_refused():
    # A number that no float holds.
    odd = [dict(one) for one in NODES]
    odd[3] = {**odd[3], "inputs": {**odd[3]["inputs"], "shapes": "[" + "9" * 400 + "+1j]"}}
    with refused("unexpected-value", TraceError):
        convert_chakra(protobuf(odd), "a.step")
    with Path("large").open("wb") as file:
        file.truncate(65 << 20)
    with refused("unreadable", TraceError, file="large"):
        convert_chakra("large", "a.step")


def test_a_trace_without_tensors_is_refused_by_what_it_lacks():
    # As generators write them: a duration, no tensors.
    nodes = [message((1, number), (2, f"COMP_{number}"), (3, 4), (7, 100)) for number in range(3)]
    Path("made.et").write_bytes(b"".join(varint(len(one)) + one for one in (message((1, "0.0.4")), *nodes)))
    with refused("missing", TraceError, key="op_schema", file="made.et"):
        convert_chakra("made.et", "a.step")


SCRIPT = """
import torch, torch.nn as nn
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
x, y = torch.randn(32, 64), torch.randint(0, 10, (32,))
def step():
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
step()
"""
RECORD = """
from torch import profiler
kind = getattr(profiler, "ExecutionTraceObserver", None) or profiler.ExecutionGraphObserver
observer = kind()
observer.register_callback("et.json")
observer.start(); step(); observer.stop(); observer.unregister_callback()
"""


def test_a_real_trace_is_the_step_that_octavo_records():
    python = _python_with_torch()
    if subprocess.run([python, "-c", "import torch.profiler"], check=False, capture_output=True).returncode:
        pytest.skip("needs a Python with PyTorch")
    Path("train.py").write_text(SCRIPT + "step()\n")
    Path("observed.py").write_text(SCRIPT + RECORD)
    subprocess.run([python, "observed.py"], check=True)
    ours = octavo.trace.facts(record_torch("train.py", "train.step", python=python))
    found = octavo.trace.facts(convert_chakra("et.json", "et.step"))
    assert found["operations"] == ours["operations"]
    assert found["state_bytes"] == ours["parameter_bytes"] + ours["state_bytes"]
    # Scalars that the trace knows as tensors.
    assert 0 <= found["input_bytes"] - ours["input_bytes"] <= 64
    assert found["temporary_bytes"] == pytest.approx(ours["temporary_bytes"], rel=0.02)
