"""Guards in Python do what a guard can do, and say what is wrong with their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from conftest import contents, refused

import octavo
from octavo.policies import Fault, GuardPolicy, Hint, Page, PrefetchPolicy, Service
from octavo.policies.templates.guard import MyPolicy

if TYPE_CHECKING:
    from collections.abc import Iterable

PING_PONG = {
    "node": "grit-2gpu",
    "workload": "touch",
    "overrides": {
        "workload.bytes": 65536,
        "workload.operation": "write",
        "workload.touches": 262144,
        "workload.groups": 8,
        "workload.wavefronts": 1,
    },
}


class Nobody(GuardPolicy):
    """`none`."""

    def on_fault(self, fault: Fault, page: Page) -> Hint | None:
        return None


class Briefly(GuardPolicy):
    """Pins each page with the GPU that has it, for so many microseconds."""

    microseconds: int = 10

    def start(self) -> None:
        self.pins: dict[int, int] = {}
        self.over = 0

    def on_fault(self, fault: Fault, page: Page) -> Hint | None:
        if page.owner < 0:
            return None
        self.pins.setdefault(fault.page, self.memory.now + self.microseconds * 10**6)
        return Hint.pin(page.owner, mappers=range(self.node.gpus))

    def keeps(self, page: int) -> bool:
        return page in self.pins

    def deadline(self) -> int | None:
        return min(self.pins.values(), default=None)

    def on_deadline(self) -> Iterable[int]:
        due = [page for page, until in self.pins.items() if until <= self.memory.now]
        for page in due:
            del self.pins[page]
        return due


class EverySixteenth(GuardPolicy):
    """Keeps a page of each 64 KiB."""

    def on_fault(self, fault: Fault, page: Page) -> Hint | None:
        return None

    def keeps(self, page: int) -> bool:
        return page % 16 == 3


class Sees(PrefetchPolicy):
    """Brings nothing, and is told what the guard keeps of the allocation's part of a block."""

    def pages(self, service: Service) -> Iterable[int]:
        assert service.contested == {page for page in service.extent if page % 16 == 3}
        assert service.contested.isdisjoint(service.faulted)
        return ()


def test_a_guard_that_says_nothing_changes_nothing(tmp_path):
    tables = []
    for name, guard in {"none": "none", "python": Nobody}.items():
        result = octavo.run(output=tmp_path / name, guard=guard, **PING_PONG)
        found = contents(result.folder)
        tables.append({name: content for name, content in found.items() if name.endswith(".parquet")})
    assert tables[0] == tables[1]


@pytest.mark.parametrize("guard", ["stock-driver", MyPolicy, Briefly])
def test_guards_keep_pages_where_they_are(guard, tmp_path):
    migrations = [
        octavo.run(output=tmp_path / str(number), guard=name, **PING_PONG).summary["manager"]["migrations"]
        for number, name in enumerate(["none", guard])
    ]
    assert 0 < migrations[1] < migrations[0]


def test_64_kib_with_a_page_that_a_guard_keeps_are_not_brought_whole(tmp_path):
    fir = {"workload": "fir", "scale": 1 / 64, "placement": "on-touch"}
    brought = [
        octavo.run(output=tmp_path / str(number), guard=guard, prefetch="tree", **fir).summary["manager"]["prefetched"]
        for number, guard in enumerate(["none", EverySixteenth])
    ]
    assert brought[1] < brought[0]
    seen = octavo.run(output=tmp_path / "seen", guard=EverySixteenth, prefetch=Sees, **fir)
    assert seen.summary["manager"]["migrations"] > 0


NONSENSE = {
    "no hint": ("return 3", "on_fault returned 3, expected a Hint such as Hint.throttle(until), or None"),
    "a time that has passed": (
        "return Hint.throttle(0)",
        "on_fault returned 0, expected Hint.throttle of a time in picoseconds that is later than now (",
    ),
    "nobody's memory": (
        "return Hint.pin(7)",
        "expected Hint.pin of a processor: a GPU from 0 to 1, or HOST",
    ),
    "a deadline that is none": (
        "return None\n    def deadline(self):\n        return 'soon'",
        "deadline returned 'soon', expected a time in picoseconds, or None",
    ),
    "a deadline that stays": (
        "return None\n    def deadline(self):\n        return 1000",
        "deadline returned 1000, expected a time in picoseconds, or None that is later than now (",
    ),
}


@pytest.mark.parametrize("case", NONSENSE)
def test_nonsense_is_refused(case, tmp_path):
    body, expected = NONSENSE[case]
    policy = tmp_path / "mine.py"
    policy.write_text(
        "from octavo.policies import *\n\nclass Mine(GuardPolicy):\n    def on_fault(self, fault, page):\n        "
        + body
    )
    with refused("bad-policy", octavo.PolicyError, names=["guard", "mine.py:Mine"]) as raised:
        octavo.run(output=tmp_path / "run", guard=str(policy), **PING_PONG)
    assert expected in str(raised.value).replace("\n", " ")
