"""Programs of PyTorch without a GPU: recorded, and what memory they need of one."""

from __future__ import annotations

import gzip
import json
import shutil

import pytest
from conftest import missing, refused
from test_networks import with_torch

import octavo
from octavo import trace
from octavo.advice import systems
from octavo.advice.fit.costs import Costs
from octavo.advice.step import levers, memory, picture, program
from octavo.advice.step.ask import ask

MIB = 1 << 20
TRANSFORMER = """
import torch
from torch import nn
from torch.nn.functional import cross_entropy, gelu

WORDS, WIDTH, HEADS, LENGTH, LAYERS, BATCH = 8192, 512, 8, 256, 8, 8

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.into, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, data):
        samples, words, width = data.shape
        asked, keys, values = self.into(self.before(data)).view(samples, words, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(asked @ keys.transpose(-1, -2) / (width // HEADS) ** 0.5, dim=-1)
        data = data + self.out((weights @ values).transpose(1, 2).reshape(samples, words, width))
        return data + self.narrow(gelu(self.wide(self.between(data))))

class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.Sequential(*[Layer() for _ in range(LAYERS)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, text):
        data = self.words(text) + self.places(torch.arange(text.shape[1], device=text.device))
        return self.head(self.norm(self.layers(data)))

net = Language().to("cuda")
opt = torch.optim.Adam(net.parameters(), lr=1e-4)
text = torch.randint(0, WORDS, (BATCH, LENGTH + 1), device="cuda")

def step():
    opt.zero_grad(set_to_none=True)
    out = net(text[:, :-1])
    loss = cross_entropy(out.reshape(-1, WORDS), text[:, 1:].reshape(-1))
    loss.backward()
    opt.step()
    return loss

for _ in range(3):
    step()
"""
"""As the program that was measured on an H100: the same network, batch and optimizer."""

TRAIN = """
import torch
from torch import nn
batch_size = 16
assert torch.cuda.is_available() and torch.cuda.device_count() == 1
device = torch.device("cuda")

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(256, 1024), nn.Linear(1024, 256)

    def forward(self, data):
        return data + self.down(torch.relu(self.up(data)))

net = nn.Sequential(*[Block() for _ in range(4)]).cuda()
assert next(net.parameters()).is_cuda and next(net.parameters()).device == torch.device("cuda", 0)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(STEPS):
    opt.zero_grad()
    data = torch.randn(batch_size * 64, 256, device="cuda")
    target = torch.ones(batch_size * 64, 256).to(device)
    loss = nn.functional.mse_loss(net(data), target)
    loss.backward()
    opt.step()
    assert f"{loss:.1f}" == "0.0" and loss.item() == 0 and loss.cpu().device.type == "cpu"
torch.cuda.synchronize()
assert torch.cuda.max_memory_allocated() > 4 * 2 * 256 * 1024 * 4 * 3
"""


@pytest.fixture
def recorded(tmp_path):
    """Records a script with some arguments, and returns the file."""
    if with_torch() is None:
        missing("a Python with PyTorch")

    def record(text, name="train", **options):
        script = tmp_path / f"{name}.py"
        script.write_text(text.replace("STEPS", "3"))
        trace.record_torch(script, tmp_path / f"{name}.step", python=with_torch(), **options)
        return tmp_path / f"{name}.step"

    return record


@pytest.fixture
def trained(recorded):
    """A training program's file."""
    return recorded(TRAIN)


def test_a_script_for_a_gpu_is_recorded_without_one(trained):
    found = program.read(trained)
    parameters = 4 * (2 * 256 * 1024 + 256 + 1024) * 4
    at = {role: sum(size for size, one in zip(found.blocks(16), found.roles, strict=True) if one == role)
          for role in program.ROLES}  # fmt: skip
    assert found.batch == 16
    assert at["parameter"] == parameters
    # Three steps, each with gradients of its own; Adam keeps two numbers a parameter, and counts steps on the host.
    assert at["gradient"] == 3 * parameters
    assert 2 * parameters <= at["state"] < 2.01 * parameters
    needs = ask(trained)
    roles = needs.base.peak.roles
    assert roles["workspace"] == 2 * memory.HOPPER_WORKSPACE
    assert sum(roles.values()) <= needs.base.peak.allocated <= sum(roles.values()) * 1.02
    assert needs.base.peak.allocated <= needs.base.peak.reserved
    assert (found.model, found.optimizer, found.optimizer_class) == ("net", "opt", "torch.optim.Adam")


def test_the_measured_peak_of_a_transformer_is_predicted(recorded):
    """On an H100, PyTorch 2.11: 1,425,440,256 bytes allocated, 1,482,686,464 reserved (docs/pytorch.md)."""
    found = ask(recorded(TRANSFORMER, "transformer"))
    assert found.program.batch == 8
    assert found.base.peak.allocated == pytest.approx(1_425_440_256, rel=0.02)
    assert found.base.peak.reserved == pytest.approx(1_482_686_464, rel=0.03)


def test_a_checkpoint_does_what_advice_says_of_it(trained, recorded):
    needs = ask(trained)
    advised = next(one for one in needs.singles if one.levers[0].action == "recompute")
    code = "\n".join(line for line in advised.levers[0].code)
    done = ask(recorded(TRAIN.replace("opt = ", f"{code}\nopt = ", 1), "checkpointed"))
    assert advised.peak.allocated < 0.95 * needs.base.peak.allocated
    assert done.base.peak.allocated == pytest.approx(advised.peak.allocated, rel=0.05)


def test_state_that_leaves_does_what_advice_says_of_it(trained, recorded):
    needs = ask(trained)
    advised = next(one for one in needs.singles if one.levers[0].role == "state")
    *code, before, after = advised.levers[0].code
    text = TRAIN.replace("opt = ", "\n".join(code) + "\nopt = ", 1)
    text = text.replace("    opt.step()\n", f"    {before}\n    opt.step()\n    {after}\n")
    done = ask(recorded(text, "moved"))
    assert done.base.peak.allocated == pytest.approx(advised.peak.allocated, rel=0.05)


def test_what_does_not_fit_fails_and_is_told_what_helps(trained):
    whole = ask(trained)
    assert (whole.verdict, whole.chosen, whole.code) == ("fits", (), [])
    assert {whole.advice(role) for role in program.ROLES} == {"keep"}
    tight = ask(trained, memory=round(whole.base.peak.allocated * 0.97))
    assert tight.verdict == "fails"
    assert tight.together is not None
    assert tight.together.peak.fails is None
    assert tight.together.peak.reserved <= tight.room
    assert any("net" in line or "opt" in line for line in tight.code)
    assert tight.largest < 16 <= tight.largest_with
    assert not any("cudaMalloc" in line for line in tight.code)
    for point in tight.frontier:
        assert point.fits == (point.batch <= tight.largest), point
    hopeless = ask(trained, memory="20MB")
    assert (hopeless.verdict, hopeless.together, hopeless.largest) == ("fails", None, 0)


def test_other_batches_are_what_the_script_needs_with_them(trained, recorded):
    many = ask(recorded(TRAIN.replace("batch_size = 16", "batch_size = 64"), "many"))
    asked = ask(trained, batch=64)
    assert (asked.base.peak.allocated, asked.base.peak.reserved) == (
        many.base.peak.allocated,
        many.base.peak.reserved,
    )
    assert asked.base.seconds > ask(trained).base.seconds


def test_a_batch_that_nobody_names_is_one_size(recorded):
    path = recorded(TRAIN.replace("batch_size", "samples"))
    assert program.read(path).batch is None
    assert ask(path).frontier == []
    with refused("conflict", octavo.AdviceError, key="batch"):
        ask(path, batch=4)
    assert program.read(recorded(TRAIN.replace("batch_size", "samples"), vary="samples")).batch == 16
    with refused("unexpected-value", octavo.TraceError, key="vary"):
        recorded(TRAIN, vary="nothing")


def test_steps_end_the_script_and_values_need_the_cpu(recorded):
    endless = recorded(TRAIN.replace("range(STEPS)", "iter(int, 1)"), steps=2)
    assert sum(what == "end" for _, what in program.read(endless).marks) == 2
    picks = TRAIN.replace("loss.backward()", "loss = loss + net(data)[target > 0].sum()\n    loss.backward()")
    picks = picks.replace("    assert f", "    continue\n    assert f")
    found = program.read(recorded(picks, "picks"))
    assert any("CPU" in one for one in found.assumed)
    assert found.batch == 16


def test_half_precision_dropout_and_shared_parameters_are_as_on_a_gpu(recorded):
    text = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(64, 64), nn.Linear(64, 64)
        self.two.weight = self.one.weight
    def forward(self, data):
        return nn.functional.dropout(self.two(self.one(data)), 0.5, True)
net = Net().cuda()
assert net.one.weight is net.two.weight
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
scaler = torch.cuda.amp.GradScaler()
for _ in range(2):
    with torch.cuda.amp.autocast():
        made = net(torch.ones(1000, 64, device="cuda"))
    assert made.dtype == torch.float16 and made.is_cuda
    scaler.scale(made.sum()).backward()
    scaler.step(opt)
    scaler.update()
    opt.zero_grad()
"""
    found = program.read(recorded(text))
    sizes = found.blocks(0)
    assert sum(size for size, role in zip(sizes, found.roles, strict=True) if role == "parameter") == (64 + 2) * 64 * 4
    # Of 64,000 numbers in half precision, a mask has a byte each.
    assert 64_000 in sizes


def test_the_picture_is_drawn_for_both_papers(trained, tmp_path):
    needs = ask(trained, memory="1GB")
    for dark in (False, True):
        picture.draw(needs, dark=dark).save(tmp_path / f"{dark}.png")
    light, dark = ((tmp_path / f"{dark}.png").read_bytes() for dark in (False, True))
    assert light.startswith(b"\x89PNG")
    assert light != dark


def test_commands_answer_for_a_step(trained, cli, tmp_path):
    shutil.copy(trained, tmp_path / "it.step")
    told = json.loads(cli("fit", "it.step", "--memory", "24GB", "--json").stdout)
    assert (told["verdict"], told["advice"]["activation"], told["batch"]) == ("fits", "keep", 16)
    peak = told["peak"]["allocated"]
    done = cli("advise", "it.step", "--memory", f"{peak}B", "-o", "answer")
    assert "cudaMalloc" not in done.stdout
    kept = json.loads((tmp_path / "answer" / "needs.json").read_text())
    assert (kept["verdict"], kept["memory"]) == ("fails", peak)
    assert kept["code"]
    assert {"frontier.png", "frontier-dark.png"} <= {path.name for path in (tmp_path / "answer").iterdir()}
    # Whoever names a kind of memory asks for the simulation of its buffers.
    assert "peak" in json.loads(cli("fit", "it.step", "--memory", "24GB", "--kind", "explicit", "--json").stdout)


def test_workspaces_follow_the_architecture():
    assert memory.workspace_of(memory.capability("cuda-sm90")) == 32 * MIB
    assert memory.workspace_of(memory.capability("cuda-sm80")) == 8_519_680
    assert memory.workspace_of(memory.capability("machines/h200.toml")) == 32 * MIB
    assert memory.workspace_of(memory.capability("b200-8")) == 8_519_680


def test_damaged_files_are_refused(trained, tmp_path):
    document = json.loads(gzip.decompress(trained.read_bytes()))

    def written(**changes):
        path = tmp_path / "bad.step"
        path.write_text(json.dumps({**document, **changes}))
        return path

    history = document["memory"]
    assert ask(written()).base.peak == ask(trained).base.peak
    with refused("missing", octavo.AdviceError, key="memory"):
        ask(written(memory=None))
    for key, bad in {
        "blocks": [["nothing", [1, 0]]],
        "events": [0, 0],
        "products": ["x"],
        "marks": [[1]],
        "modules": [{}],
    }.items():
        with refused("unexpected-value", octavo.AdviceError, file="bad.step"):
            ask(written(memory={**history, key: bad}))
    (tmp_path / "bad.step").write_bytes(trained.read_bytes()[:100])
    with refused("syntax", octavo.AdviceError, file="bad.step"):
        ask(tmp_path / "bad.step")


def test_levers_leave_the_history_in_order(trained):
    """Each lever, and all that go together, give a history that the allocator accepts, and that needs less or equal."""
    found = program.read(trained)
    needs = ask(trained)
    machine = levers.Machine(*_machine(needs))
    story = memory.Story.of(found, 16, machine.workspace)
    for lever in levers.levers(found, 16, machine):
        done = memory.peak(lever.apply(story))
        assert done.allocated <= needs.base.peak.allocated * 1.01, lever.name
        assert sorted(lever.apply(story).sizes) == sorted(story.sizes)


def _machine(needs):
    constants = systems.from_node(needs.node)
    return constants.system, Costs.of(constants), memory.HOPPER_WORKSPACE
