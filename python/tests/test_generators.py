"""Workloads in Python: what the class says runs as it says it; what cannot be is refused with file and line."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import noted, refused

import octavo
from octavo.errors import WorkloadError
from octavo.policies.new import template
from octavo.trace.user_workloads import cache

EXAMPLES = Path(__file__).parents[2] / "examples" / "workloads"
HEAD = "import numpy as np\nfrom octavo.generators import *\n\n\nclass Own(Generator):\n"
BUFFERS = '    def buffers(self):\n        return [Buffer("a", 4096, input=True), Buffer("b", 100, output=True)]\n'
LAUNCHES = '    def launches(self):\n        return [Launch("one", groups=2, wavefronts=2)]\n'
ASKED = "    def instructions(self, launch, group, wavefront):\n        "
COPY = 'yield load("a", group * 2 + wavefront)\n        yield wait()\n        yield store("b", 0)\n'
LINE_OF_INSTRUCTIONS = 11


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Write a workload, and return its name."""
    monkeypatch.chdir(tmp_path)

    def write(instructions=COPY, *, buffers=BUFFERS, launches=LAUNCHES, more=""):
        Path("own.py").write_text(f"{HEAD}{buffers}{launches}{ASKED}{instructions}{more}")
        return "own.py"

    return write


def launched(name, **arguments):
    return octavo.run(name, node="grit-2gpu", **arguments).totals


def trace_of(name, **arguments):
    """The only trace that a workload has now."""
    octavo.inspect_workload(octavo.scenario(name, **arguments))
    (path,) = cache.folder().glob("*.trace")
    return octavo.trace.open(path)


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("OCTAVO_CACHE", str(tmp_path / "cache"))


def test_a_workload_touches_what_it_says(own):
    found = octavo.inspect_workload(octavo.scenario(own(), node="grit-2gpu"))
    assert [(each["name"], each["bytes"], each["loads"], each["stores"]) for each in found["buffers"]] == [
        ("a", 4096, 4, 0),
        ("b", 100, 0, 4),
    ]
    assert (found["launches"], found["work_groups"], found["wavefronts"]) == (1, 2, 4)


def test_lines_stand_in_order_of_work_groups_and_those_that_are_none_or_twice_do_not(own, empty_cache):
    lines = (
        "np.concatenate([group + 0 * wavefront, 1 + 0 * group * wavefront, np.where(wavefront == 0, -1, 7)], axis=2)"
    )
    given = f'yield compute(3)\n        yield load("a", {lines} + 0 * group)\n        yield compute(group)\n'
    trace = trace_of(
        own(given.replace("np.where(wavefront == 0, -1, 7)", "np.where(wavefront == 0, -1, 7) + 0 * group"))
    )
    rows = [
        (each["group"], each["wavefront"], each["kind"], each["lines"], each["vector_alu"]) for each in trace.head(20)
    ]
    assert rows == [
        (0, 0, "load", [0, 1], 3),
        (0, 0, "end", [], 0),
        (0, 1, "load", [0, 1, 7], 3),
        (0, 1, "end", [], 0),
        (1, 0, "load", [1], 3),
        (1, 0, "end", [], 1),
        (1, 1, "load", [1, 7], 3),
        (1, 1, "end", [], 1),
    ]


def test_a_wavefront_without_lines_lacks_the_instruction_and_keeps_its_counts(own, empty_cache):
    given = 'yield compute(5)\n        yield load("a", np.where(wavefront == 0, -1, group))\n        yield barrier()\n'
    rows = [(each["wavefront"], each["kind"], each["vector_alu"]) for each in trace_of(own(given)).head(5)]
    assert rows == [(0, "barrier", 5), (0, "end", 0), (1, "load", 5), (1, "barrier", 0), (1, "end", 0)]


def test_scale_seed_and_options_reach_the_class(own):
    more = (
        "    rounds: int = option(2, 'how often', minimum=1)\n"
        "    def launches(self):\n"
        "        return [Launch(f'seed {self.seed}', groups=self.scaled(8))] * self.rounds\n"
    )
    name = own('yield load("a", self.random(64, group, wavefront))\n', launches="", more=more)
    resolved = octavo.scenario(name, scale=0.5, seed=7, overrides={"workload.rounds": 3})
    found = octavo.inspect_workload(resolved)
    assert (found["launches"], found["work_groups"]) == (3, 12)
    assert octavo.workload_program(resolved)["actions"][-1]["action"]
    assert resolved.label == "own"
    with refused("unexpected-value", octavo.ScenarioError, key="workload.rounds"):
        octavo.scenario(name, overrides={"workload.rounds": 0})
    with refused("unexpected-value", octavo.ScenarioError, key="workload.round"):
        octavo.scenario(name, overrides={"workload.round": 3})


def test_the_same_runs_give_the_same_and_another_seed_another(own, empty_cache):
    name = own('yield load("a", self.random(64, group, wavefront, np.arange(3)))\n')
    first, again, other = (launched(name, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first["launches"] == other["launches"]
    one, two = (path.read_bytes() for path in cache.folder().glob("*.trace/instructions.parquet"))
    assert one != two


def test_the_host_does_what_the_class_says(own):
    more = (
        "    def launches(self):\n        return [Launch('one', groups=2, wavefronts=2)] * 2\n"
        "    def host(self):\n        return [reads('b', before=1, bytes=64), writes('a', before=1, first=64)]\n"
    )
    actions = octavo.workload_program(own(launches="", more=more), "explicit")["actions"]
    between = [(each["action"], each["buffers"], each["bytes"]) for each in actions if each["action"] == "copy"]
    assert between == [
        ("copy", ["a@host", "a"], 4096),
        ("copy", ["b", "b@host"], 64),
        ("copy", ["a@host", "a"], 4032),
        ("copy", ["b", "b@host"], 100),
    ]


@pytest.mark.parametrize("kind", ["launches", "explicit", "managed"])
def test_every_kind_of_program_runs(own, kind):
    assert launched(own(), kind=kind)["time_ps"] > 0


def test_a_scenario_file_a_comparison_and_jobs_name_it(own, cli):
    own()
    Path("mine.toml").write_text('node.preset = "grit-2gpu"\nworkload = { name = "own.py", scale = 0.5 }\n')
    assert octavo.run("mine.toml").totals["time_ps"] > 0
    compared = octavo.compare("own.py", placements=["on-touch", "first-touch"], node="grit-2gpu")
    assert len(compared.results) == 2
    assert octavo.scenario("own.py+fir").workload == "own.py+fir"
    assert octavo.scenario("fir+own.py").workload == "fir+own.py"
    done = cli("run", "own.py", "--node", "grit-2gpu", "--quiet", "-o", "out")
    assert done.returncode == 0, done.stderr
    again = octavo.run("out/scenario.toml", output="again")
    assert again.scenario.workload == "own.py"


def test_the_template_and_the_example_run_and_are_checked_without_a_note(tmp_path, monkeypatch, recwarn):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(template("workload", Path("mine.py")))
    shutil.copy(EXAMPLES / "hash_join.py", "hash_join.py")
    for name in ("mine.py", "hash_join.py"):
        assert launched(name, scale=1 / 16)["time_ps"] > 0
    assert [str(each.message) for each in recwarn if "mine.py" in str(each.message)] == []


def test_new_writes_a_file_and_completes_its_name(cli, tmp_path):
    assert cli("new", "workload", "ring").returncode == 0
    assert "class Ring(Generator)" in (tmp_path / "ring.py").read_text()
    assert cli("new", "workload", "ring.txt").returncode == 2


WRONG = {
    "a shape that does not fit": ('yield load("a", np.zeros((3, 2, 1), int))', "lines", "(3, 2, 1)"),
    "a fraction": ('yield load("a", 0.5)', "lines", "float64"),
    "rows of different lengths": ('yield load("a", [[1], [1, 2]])', "lines", "inhomogeneous"),
    "a line outside": ('yield load("a", group + 63)', "lines", "0 to 63"),
    "a negative line": ('yield load("a", group - 2)', "lines", "line -2"),
    "a buffer too small for a line": ('yield store("b", 2)', "lines", "0 to 1"),
    "more lines than lanes touch": ('yield load("a", np.arange(9), lanes=4)', "lines", "at most 8"),
    "too many lanes": ('yield load("a", 0, lanes=65)', "launch 0 (`one`), load of `a`: lanes", "1 to 64"),
    "a negative count": ("yield compute(-1)", "vector_alu", "whole numbers"),
    "a long wait": ("yield wait(256)", "launch 0 (`one`), wait", "0 to 255"),
}


@pytest.mark.parametrize("what", WRONG)
def test_instructions_that_cannot_be_are_refused_with_their_line(own, what):
    instructions, key, found = WRONG[what]
    name = own(f"{instructions}\n")
    with refused("unexpected-value", WorkloadError, file="own.py", line=LINE_OF_INSTRUCTIONS, key=key, names=[found]):
        launched(name)


DESCRIBED = {
    "no buffers": ("missing", {"buffers": "    def buffers(self):\n        return []\n"}),
    "an empty buffer": ("unexpected-value", {"buffers": "    def buffers(self):\n        return [Buffer('a', 0)]\n"}),
    "two of a name": ("ambiguous", {"buffers": "    def buffers(self):\n        return [Buffer('a', 1)] * 2\n"}),
    "no launches": ("missing", {"launches": "    def launches(self):\n        return []\n"}),
    "no work-group": ("unexpected-value", {"launches": "    def launches(self):\n        return [Launch('x', 0)]\n"}),
    "something else": ("unexpected-value", {"launches": "    def launches(self):\n        return [3]\n"}),
    "more than can be": (
        "too-large",
        {"buffers": "    def buffers(self):\n        return [Buffer('a', 1 << 37), Buffer('b', 1 << 37)] \n"},
    ),
    "an unknown buffer": ("unknown-name", {"more": "    def host(self):\n        return [reads('c', before=0)]\n"}),
    "a launch that is not": (
        "unexpected-value",
        {"more": "    def host(self):\n        return [reads('a', before=2)]\n"},
    ),
}


@pytest.mark.parametrize("what", DESCRIBED)
def test_descriptions_that_cannot_be_are_refused(own, what):
    code, parts = DESCRIBED[what]
    with refused(code, WorkloadError, file="own.py"):
        launched(own(**parts))


@pytest.mark.parametrize("method", ["start", "buffers", "launches", "host"])
def test_an_exception_has_file_line_and_traceback(own, method):
    name = own(more=f"    def {method}(self):\n        raise RuntimeError('my own')\n")
    with refused("bad-workload", WorkloadError, file="own.py", line=15, names=["own.py", method, "my own"]) as caught:
        launched(name)
    assert "RuntimeError: my own" in caught.value.details


def test_an_exception_among_instructions_has_its_line(own, cli):
    name = own(COPY + "        group[99]\n")
    with refused("bad-workload", WorkloadError, line=14, names=["instructions raised IndexError"]):
        launched(name)
    done = cli("run", name, "--node", "grit-2gpu")
    assert done.returncode == 2
    assert "own.py: line 14" in done.stderr


def test_a_process_that_ends_is_told(own):
    name = own("import os\n        os._exit(3)\n        yield wait()\n")
    with refused("bad-workload", WorkloadError, names=["status 3"]):
        launched(name)


def test_a_file_that_cannot_be_loaded_is_refused_when_it_is_named(own):
    name = own()
    Path(name).write_text("import nothing_of_this_name\n")
    with refused("unexpected-value", octavo.ScenarioError, key="workload.name", names=["nothing_of_this_name"]):
        octavo.scenario(name)
    with refused("unexpected-value", octavo.ScenarioError, key="workload.name", names=["missing.py"]):
        octavo.scenario("missing.py")


RANDOM = {
    "random numbers without a seed": 'yield load("a", np.random.default_rng().integers(0, 64, (len(group), 2, 1)))\n',
    "one sequence for all portions": 'yield load("a", self.made(group))\n',
    "a clock": "import time\n        yield compute(time.time_ns() % (1 << 30))\n",
}


@pytest.mark.parametrize("what", RANDOM)
def test_what_differs_when_it_is_asked_again_is_refused(own, what):
    launches = LAUNCHES.replace("groups=2", "groups=200")
    more = (
        "    def made(self, group):\n"
        "        return np.random.default_rng(self.seed).integers(0, 64, (len(group), 2, 1))\n"
    )
    with refused("bad-workload", WorkloadError, key="instructions", names=["launch 0", "again"]):
        launched(own(RANDOM[what], launches=launches, more=more))


def test_a_changed_file_is_another_workload_and_a_resolved_scenario_refuses_it(own, empty_cache):
    resolved = octavo.scenario(own(), node="grit-2gpu")
    own(COPY + '        yield load("a", 1)\n')
    with refused("bad-workload", WorkloadError, names=["digest"]):
        octavo.run(resolved)
    assert octavo.scenario("own.py", node="grit-2gpu").toml != resolved.toml


def test_what_was_generated_is_kept_without_the_file(own, empty_cache):
    resolved = octavo.scenario(own(), node="grit-2gpu")
    first = octavo.run(resolved).totals
    Path("own.py").unlink()
    assert octavo.run(resolved).totals == first


def test_what_was_generated_and_is_damaged_is_generated_again(own, empty_cache):
    first = launched(own())
    (path,) = cache.folder().glob("*.trace/instructions.parquet")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert launched("own.py") == first


def test_a_cache_that_cannot_be_written_is_refused(own, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("OCTAVO_CACHE", str(tmp_path / "file"))
    with refused("unwritable", octavo.OctavoError, names=["OCTAVO_CACHE"]):
        launched(own('yield load("a", 5)\n'))


def test_what_may_be_a_mistake_is_noted(own):
    idle = BUFFERS.replace("input=True", "input=False").replace("]", ', Buffer("c", 64)]')
    for said in ("loads `a`", "no kernel touches `c`"):
        with noted("own.py", said):
            launched(own(buffers=idle))


def lives(b="", a=", first=1, end=2"):
    """`a` is there for the second of three launches alone, `b` for all."""
    return (
        "    def buffers(self):\n"
        f'        return [Buffer("a", 4096{a}), Buffer("b", 8192{b}), Buffer("c", 2048, first=2)]\n'
    )


THREE = '    def launches(self):\n        return [Launch("one", groups=1, about=n) for n in range(3)]\n'
EACH = 'yield store("a" if launch.about == 1 else "b", wavefront)\n'


def test_a_buffer_exists_between_launches_alone(own):
    name = own(EACH, buffers=lives(), launches=THREE)
    scenario = octavo.scenario(name, node="grit-2gpu", kind="explicit")
    words = {"allocate": "+", "free": "-", "launch": "."}
    actions = octavo.workload_program(scenario, "explicit")["actions"]
    told = [words[each["action"]] + "".join(each["buffers"]) for each in actions]
    assert told == ["+b", ".", "+a", ".", "-a", "+c", ".", "-b", "-c"]
    for kind in ("explicit", "managed", "pinned"):
        assert launched(name, kind=kind)["footprint_bytes"] == 8192 + 4096


@pytest.mark.parametrize(
    ("instructions", "changes", "key"),
    [
        ('yield store("a", wavefront)\n', {}, "a"),
        (EACH, {"b": ", end=4"}, "end of buffer `b`"),
        (EACH, {"b": ", end=0"}, "end of buffer `b`"),
        (EACH, {"b": ", first=3"}, "first of buffer `b`"),
        (EACH, {"b": ", first=1, input=True"}, "first of buffer `b`"),
        (EACH, {"b": ", end=2, output=True"}, "end of buffer `b`"),
    ],
)
def test_buffers_that_do_not_exist_are_not_touched(own, instructions, changes, key):
    name = own(instructions, buffers=lives(**changes), launches=THREE)
    with refused("unexpected-value", WorkloadError, key=key):
        launched(name)


def test_the_host_touches_what_exists(own):
    exchange = '    def host(self):\n        return [reads("a", before=0)]\n'
    name = own(EACH, buffers=lives(), launches=THREE, more=exchange)
    with refused("unexpected-value", WorkloadError, key="host()[0].before"):
        launched(name)


def test_numbers_of_random_are_spread_and_follow_from_coordinates():
    class Any(octavo.generators.Generator):
        buffers = launches = instructions = None

    own = Any()
    own.seed, own.scale = 5, 1.0
    found = own.random(1000, np.arange(100_000))
    assert found.min() == 0
    assert found.max() == 999
    assert abs(found.mean() - 499.5) < 5
    assert (own.random(1000, np.arange(50, 60)) == found[50:60]).all()
    assert (own.random(1000, 1, np.arange(10)) != own.random(1000, 2, np.arange(10))).any()
