"""Demotions and sharings in Python do what built-in ones do, and say what is wrong with their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from conftest import contents, refused

import octavo
from octavo.policies import HOST, DemotionPolicy, SharingPolicy, Shortage, Yield
from octavo.policies.templates import demotion, sharing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NODE = "grit-2gpu"
SCALE = 1 / 64
LENDING = {
    "jobs": [{"name": "front", "workload": "stencil2d", "gpus": [0]}],
    "node": NODE,
    "scale": SCALE,
    "overrides": {"node.capacity.footprint_percent": 60, "memory.eviction": "lru-block"},
}
"""One GPU works, the other is idle, and whole blocks leave."""
CROWDED = {
    "jobs": [
        {"name": "front", "workload": "stencil2d", "gpus": [0]},
        {"name": "back", "workload": "fir", "gpus": [0]},
    ],
    "node": NODE,
    "scale": SCALE,
    "overrides": {"node.capacity.footprint_percent": 70},
}


class Nothing(DemotionPolicy):
    """`host`."""


class Reserve(DemotionPolicy):
    """`reserve`."""

    pages: int = 16

    def reserve(self) -> int:
        return self.pages


class Idle(DemotionPolicy):
    """`spare-memory` without a reserve."""

    def destination(self, source: int, pages: int) -> int:
        room = {gpu: self.occupancy.spare(gpu) + self.occupancy.removable(gpu) for gpu in range(self.node.gpus)}
        lenders = [gpu for gpu in room if gpu != source and room[gpu] >= pages]
        return min(lenders, key=self.occupancy.awaiting, default=HOST)


class Quota(SharingPolicy):
    """`quota` with equal shares."""

    seen = []  # noqa: RUF012 - of all runs; without a type it is no option

    def yields(self, shortage: Shortage) -> Iterable[Yield]:
        self.seen.append(shortage)
        equal = shortage.room // max(sum(job.at_home for job in shortage.jobs), 1)
        above = {job.number: job.held - equal * job.at_home for job in shortage.jobs if job.held}
        others = sorted((job for job in above if job != shortage.asking), key=lambda job: -above[job])
        found = [Yield(job, above[job]) for job in others if above[job] > 0]
        if shortage.asking in above:
            return [*found, Yield(shortage.asking)]
        return found or [Yield(job, shortage.wanted) for job in others[:1]]


def tables(folder: Path) -> dict[str, bytes]:
    return {name: content for name, content in contents(folder).items() if name.endswith(".parquet")}


@pytest.mark.parametrize(
    ("built_in", "own", "count"),
    [
        ({"name": "host"}, Nothing, "evictions_written"),
        ({"name": "reserve", "free": "64KiB"}, Reserve, "evictions_written"),
        ({"name": "spare-memory", "reserve": "0B", "neighbour": "fewest-pending"}, Idle, "evictions_to_spare"),
    ],
)
def test_a_demotion_does_what_a_built_in_one_does(built_in, own, count, tmp_path):
    overrides = {**LENDING["overrides"], "memory.demotion": built_in}
    known = octavo.run(**{**LENDING, "overrides": overrides}, output=tmp_path / "built-in")
    found = octavo.run(**LENDING, demotion=own, output=tmp_path / "own")
    assert found.summary["manager"] == known.summary["manager"]
    assert found.summary["manager"][count] > 0
    assert tables(found.folder) == tables(known.folder)


def test_a_sharing_does_what_a_built_in_one_does(tmp_path):
    known = octavo.run(**CROWDED, sharing="quota", output=tmp_path / "built-in")
    Quota.seen.clear()
    found = octavo.run(**CROWDED, sharing=Quota, output=tmp_path / "own")
    assert found.summary["manager"] == known.summary["manager"]
    assert found.summary["manager"]["evictions_for_others"] > 0
    assert tables(found.folder) == tables(known.folder)
    first = Quota.seen[0]
    assert [(job.number, job.name, job.at_home) for job in first.jobs] == [(0, "front", True), (1, "back", True)]
    assert (first.gpu, first.asking in (0, 1)) == (0, True)
    assert sum(job.held for job in first.jobs) == first.room, "it is full"
    assert all(each.room == first.room and each.wanted > 0 for each in Quota.seen)


@pytest.mark.parametrize(
    ("runs", "kind", "policy", "name"),
    [
        (LENDING, "demotion", demotion.MyPolicy, "evictions_to_spare"),
        (CROWDED, "sharing", sharing.MyPolicy, "evictions_for_others"),
    ],
)
def test_templates_do_something(runs, kind, policy, name, tmp_path):
    assert octavo.run(**runs, output=tmp_path / "none").summary["manager"].get(name, 0) == 0
    assert octavo.run(**runs, **{kind: policy}, output=tmp_path / "own").summary["manager"][name] > 0


NONSENSE = {
    "no processor": (LENDING, "demotion", "return 'gpu1'", "destination returned 'gpu1', expected a processor: a GPU"),
    "nobody": (
        LENDING,
        "demotion",
        "return 7",
        "destination returned 7, expected a processor: a GPU from 0 to 1, or HOST",
    ),
    "itself": (LENDING, "demotion", "return source", "expected HOST or another GPU than the one whose memory is full"),
    "an unknown GPU": (LENDING, "demotion", "return self.occupancy.spare(2)", "expected a GPU from 0 to 1, found 2"),
    "fewer than none": (
        LENDING,
        "demotion",
        "return HOST\n    def reserve(self):\n        return -1",
        "reserve returned -1, expected a number of pages from 0",
    ),
    "no list": (CROWDED, "sharing", "return 3", "yields returned 3, expected an iterable of Yield"),
    "no yield": (CROWDED, "sharing", "return [0]", "yields returned 0, expected an iterable of Yield"),
    "no such job": (
        CROWDED,
        "sharing",
        "return [Yield(2)]",
        "Yield(2), expected Yield of one of the shortage's jobs",
    ),
    "twice": (
        CROWDED,
        "sharing",
        "return [Yield(0), Yield(0, 3)]",
        "Yield(0, 3) twice, expected Yield of each job",
    ),
    "less than none": (CROWDED, "sharing", "return [Yield(0, -1)]", "expected Yield of a number of pages from 0"),
}


@pytest.mark.parametrize("executor", ["simulated", "instant"])
@pytest.mark.parametrize("answer", ["[]", "[Yield(shortage.jobs[0].number, 0)]"])
def test_a_sharing_that_yields_nothing_is_to_blame(answer, executor, tmp_path):
    policy = tmp_path / "mine.py"
    policy.write_text(
        "from octavo.policies import *\n\nclass Mine(SharingPolicy):\n"
        f"    def yields(self, shortage):\n        return {answer}\n"
    )
    with refused("no-room", octavo.SimulationError, key="memory.sharing") as raised:
        octavo.run(**CROWDED, sharing=str(policy), executor=executor)
    assert "eviction" not in str(raised.value)


METHODS = {"demotion": "destination(self, source, pages)", "sharing": "yields(self, shortage)"}


@pytest.mark.parametrize("case", NONSENSE)
def test_nonsense_is_refused(case, tmp_path):
    runs, kind, body, expected = NONSENSE[case]
    policy = tmp_path / "mine.py"
    header = f"from octavo.policies import *\n\nclass Mine({kind.title()}Policy):\n    def {METHODS[kind]}:\n        "
    policy.write_text(header + body)
    with refused("bad-policy", octavo.PolicyError, names=[kind, "mine.py:Mine"]) as raised:
        octavo.run(**runs, output=tmp_path / "run", **{kind: str(policy)})
    assert expected in str(raised.value).replace("\n", " ")


def test_the_occupancy_is_there_during_a_call_alone(tmp_path):
    with pytest.raises(RuntimeError):
        Idle().occupancy.spare(0)
    policy = tmp_path / "mine.py"
    policy.write_text("from octavo.policies import *\n\nclass Mine(SharingPolicy):\n    pass\n")
    with refused("unexpected-value", octavo.ScenarioError, key="memory.sharing.name"):
        octavo.scenario(**CROWDED, sharing=str(policy))


def test_the_command_line_takes_both(cli, tmp_path):
    for kind in ("demotion", "sharing"):
        assert cli("new", kind, f"my_{kind}.py").returncode == 0
    done = cli(
        *("compare", "--workload", "stencil2d+fir", "--scale", "0.004", "--node", NODE, "-o", "out"),
        *(
            "--sharing",
            "quota,my_sharing.py",
            "--demotion",
            "my_demotion.py",
            "--set",
            "node.capacity.footprint_percent=60",
        ),
    )
    assert done.returncode == 0, done.stderr
    assert "my_sharing" in done.stdout
