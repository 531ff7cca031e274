"""Which machine of a cluster runs which point, on a cluster of which only the answers are made up."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import SMALL, refused

import octavo
from octavo.sweeps import cluster, hand, machines, remote
from octavo.sweeps.machines import LostMachinesError, Machines, NoMachineError, Task

exceptions = pytest.importorskip("ray.exceptions", reason="clusters need octavo[ray]")

TRACES = Path(__file__).parents[2] / "traces"
SAME = {"host": "x", "engine": hand.engine(), "problem": ""}
OTHER = SAME | {"engine": "0" * 32}
NONE = SAME | {"engine": None, "problem": "ModuleNotFoundError: No module named 'octavo'"}
DONE = {"summary": "", "tables": []}
UNFIT = {"unfit": "it cannot read t.trace/launches.parquet: No such file or directory"}
DEAD = exceptions.RayError("the process ended on host-a (127.0.0.2)")
BUSY = object()
"""An answer that never comes."""


@pytest.fixture(autouse=True)
def _settled(monkeypatch):
    """Whether a machine is lost is known at once."""
    monkeypatch.setattr(machines, "_SETTLE_SECONDS", 0.0)


class Ray:
    """A cluster whose machines answer as they are told: at first who they are, then what became of each point."""

    exceptions = exceptions
    cloudpickle = SimpleNamespace(register_pickle_by_value=lambda _: None)

    def __init__(self, answers, cores=1):
        self.cores, self.gone = cores, set()
        self.answers = answers
        """By machine, what is there, and what each point becomes there in turn, the last one for ever."""
        self.ran = []
        self.alive = 0
        self._given = {name: itertools.chain(then, itertools.repeat(then[-1])) for name, (_, then) in answers.items()}

    def nodes(self):
        return [
            {
                "NodeID": name * 56,
                "Alive": name not in self.gone,
                "NodeManagerHostname": f"host-{name}",
                "NodeManagerAddress": name,
                "Resources": {"CPU": float(self.cores)},
            }
            for name in self.answers
        ]

    def remote(self, _):
        return SimpleNamespace(options=lambda **asked: SimpleNamespace(remote=lambda: self._hired(asked)))

    def _hired(self, asked):
        name = asked["scheduling_strategy"].node_id[0]
        self.alive += 1

        def run(scenario, *_):
            self.ran.append((scenario, name))
            return Reference(next(self._given[name]))

        greet = SimpleNamespace(remote=lambda _: Reference(self.answers[name][0]))
        return SimpleNamespace(greet=greet, run=SimpleNamespace(remote=run))

    def wait(self, references, num_returns, timeout):
        return [each for each in references if each.value is not BUSY][:num_returns], []

    def get(self, reference):
        if isinstance(reference.value, Exception):
            raise reference.value
        return reference.value

    def kill(self, _):
        self.alive -= 1


class Reference:
    def __init__(self, value):
        self.value = value


def outcomes(ray, count, most=None):
    """What becomes of some points, by number; nothing hangs."""
    told = []
    crew = Machines(ray, most, "/nowhere", told.append)
    for number in range(count):
        crew.take(Task(number, f"point {number}", {}, (None, None)))
    found = {}
    for _ in range(1000):
        for outcome in crew.step(0):
            assert outcome.task.number not in found
            found[outcome.task.number] = outcome
        if len(found) == count:
            break
    crew.close()
    assert len(found) == count, told
    assert ray.alive == 0
    return found, " ".join(told)


@pytest.mark.parametrize("bad", [OTHER, NONE])
def test_a_machine_with_another_engine_or_none_gets_no_point(bad):
    ray = Ray({"a": (bad, [DONE]), "b": (SAME, [DONE])}, cores=2)
    found, told = outcomes(ray, 5)
    assert {outcome.machine for outcome in found.values()} == {"host-b (b)"}
    assert {name for _, name in ray.ran} == {"b"}
    assert "host-a" in told


def test_where_no_machine_can_be_used_each_is_named_and_why():
    ray = Ray({"a": (OTHER, [DONE]), "b": (NONE, [DONE])})
    with refused("no-cluster", NoMachineError, names=["host-a", "0" * 32, "host-b"]):
        outcomes(ray, 3)


@pytest.mark.parametrize("failure", [DEAD, UNFIT])
def test_what_fails_for_one_machine_runs_on_another(failure):
    ray = Ray({"a": (SAME, [failure]), "b": (SAME, [DONE])})
    found, _ = outcomes(ray, 4)
    assert all("tables" in outcome.found for outcome in found.values())
    assert {outcome.machine for outcome in found.values()} == {"host-b (b)"}
    assert "a" in {name for _, name in ray.ran}


@pytest.mark.parametrize(("failure", "why"), [(DEAD, "process ended"), (UNFIT, "cannot read t.trace")])
def test_a_point_fails_when_no_machine_is_left_for_it(failure, why):
    """Tables have its error, so it names no machine. Other points go on."""
    ray = Ray({"a": (SAME, [failure, DONE]), "b": (SAME, [failure, DONE])})
    found, _ = outcomes(ray, 6)
    failed = [outcome.found["error"] for outcome in found.values() if "error" in outcome.found]
    assert all(why in error and "no machine" in error and "host" not in error for error in failed)
    assert sum("tables" in outcome.found for outcome in found.values()) == 6 - len(failed) >= 4


def test_a_point_that_ends_every_process_is_not_tried_everywhere():
    ray = Ray({name: (SAME, [DEAD]) for name in "abcdef"})
    found, _ = outcomes(ray, 1)
    assert "error" in found[0].found
    assert len(ray.ran) == machines._MOST_LOSSES


def test_points_of_a_machine_that_is_gone_run_elsewhere():
    ray = Ray({"a": (SAME, [DEAD]), "b": (SAME, [DONE])})
    hear = ray.get

    def get(reference):
        ray.gone = {"a"} if reference.value is DEAD else ray.gone
        return hear(reference)

    ray.get = get
    found, told = outcomes(ray, 3)
    assert {outcome.machine for outcome in found.values()} == {"host-b (b)"}
    assert "host-a (a) was lost" in told


def test_when_every_machine_is_gone_no_point_has_failed():
    ray = Ray({"a": (SAME, [DONE, DEAD])})
    hear = ray.get

    def get(reference):
        ray.gone = {"a"} if reference.value is DEAD else ray.gone
        return hear(reference)

    ray.get = get
    with refused("lost-machines", LostMachinesError, names=["host-a"]):
        outcomes(ray, 3)


def test_points_that_end_their_processes_do_not_end_the_only_machine():
    found, _ = outcomes(Ray({"a": (SAME, [DEAD, DEAD, DEAD, DEAD, DONE])}), 5)
    assert sorted("tables" in outcome.found for outcome in found.values()) == [False] * 4 + [True]


def test_a_machine_that_others_keep_busy_holds_up_nothing(monkeypatch):
    monkeypatch.setattr(machines, "_PATIENCE_SECONDS", 0.0)
    found, _ = outcomes(Ray({"a": (BUSY, [DONE]), "b": (SAME, [DONE])}), 3, most=1)
    assert {outcome.machine for outcome in found.values()} == {"host-b (b)"}


def test_no_more_run_at_a_time_than_was_asked_for():
    ray = Ray({"a": (SAME, [BUSY]), "b": (SAME, [BUSY])}, cores=4)
    crew = Machines(ray, 3, "/nowhere", print)
    for number in range(9):
        crew.take(Task(number, f"point {number}", {}, (None, None)))
    for _ in range(50):
        crew.step(0)
    assert crew.slots == len(ray.ran) == 3
    assert {name for _, name in ray.ran} == {"a", "b"}


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"refused": "why"}, "no-cluster"),
        ({"unusable": "why"}, "no-cluster"),
        ({"lost": "why"}, "lost-machines"),
    ],
)
def test_what_ends_a_cluster_says_why(answer, code, monkeypatch):
    monkeypatch.setattr(cluster.RayCluster, "_begin", lambda *_: None)
    crew = cluster.RayCluster("ray://there:1", 2)
    crew._answers.put(answer)
    with refused(code, names=["ray://there:1", "why"]):
        crew.poll(1)


POLICY = """\
from octavo.policies import Decision, PlacementPolicy


class Own(PlacementPolicy):
    def on_fault(self, fault, page):
        return Decision.MIGRATE
"""


def test_a_point_runs_only_with_the_policy_that_it_is_about(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(POLICY)
    scenario = octavo.scenario(workload="fir", scale=SMALL, placement="own.py").toml
    assert "tables" in remote.run(scenario, {}, (None, None))
    (tmp_path / "own.py").write_text(POLICY.replace("MIGRATE", "MAP_REMOTE"))
    assert "changed" in remote.run(scenario, {}, (None, None))["unfit"]
    (tmp_path / "own.py").unlink()
    assert "own.py" in remote.run(scenario, {}, (None, None))["unfit"]


def test_a_point_runs_only_with_the_trace_that_it_is_about(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(TRACES / "fir-length-16384.trace", "a.trace")
    scenario = octavo.scenario(workload="a.trace")
    needed = remote.needed(scenario)
    assert "tables" in remote.run(scenario.toml, needed, (None, None))
    shutil.rmtree("a.trace")
    assert "a.trace" in remote.run(scenario.toml, needed, (None, None))["unfit"]
    shutil.copytree(TRACES / "nw-length-128.trace", "a.trace")
    assert "expected" in remote.run(scenario.toml, needed, (None, None))["unfit"]


def test_the_engine_is_what_is_in_the_files(tmp_path, monkeypatch):
    package = tmp_path / "octavo"
    shutil.copytree(Path(octavo.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(octavo._core, "__file__", str(next(package.glob("_core.*so"))))
    assert hand.engine() == SAME["engine"]
    source = package / "policies" / "find.py"
    source.write_bytes(source.read_bytes().swapcase())
    assert hand.engine() != SAME["engine"]
