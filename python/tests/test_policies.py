"""Policies in Python do what built-in strategies do, wherever those can be named."""

from __future__ import annotations

import hashlib
import itertools
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import SMALL, contents
from copies import COPIES, HotPages, OnTouch

import octavo
from octavo.policies import Decision, Fault, Page, PlacementPolicy, option
from octavo.policies.new import class_name
from octavo.policies.templates.placement import MyPolicy

COPIES_FILE = Path(__file__).with_name("copies.py")
MIGRATES = """\
from octavo.policies import Decision, PlacementPolicy

class Mine(PlacementPolicy):
    def on_fault(self, fault, page):
        return Decision.MIGRATE
"""
BROKEN = """\
class HotPages(PlacementPolicy):
    lines: int = 4

    def on_fault(self, fault, page):
        raise ValueError("broken")
"""
NODES = {
    "one GPU": {"node.preset": "grit-2gpu", "node.gpus": 1},
    "too little memory": {"node.capacity": {"footprint_percent": 50, "scope": "total"}},
    "batches": {
        "node.driver.service": {"model": "batch", "size": 256, "batch": "20us", "request": "1us"},
        "node.capacity": {"footprint_percent": 20, "scope": "per-gpu"},
    },
    "large pages": {"memory.page_size": "64KiB"},
}
COMBINATIONS = [*itertools.product(*(COPIES[kind] for kind in COPIES))]


def outcome(result: octavo.RunResult) -> tuple[dict[str, str], dict[str, Any]]:
    """Everything that a run left but its scenario and the size of the engine's own state.

    Tables by their digests: pytest takes minutes to tell how two long byte strings differ.
    """
    found = contents(result.folder).items()
    tables = {name: hashlib.sha256(content).hexdigest() for name, content in found if name.endswith(".parquet")}
    assert len(tables) >= 5
    return tables, {key: value for key, value in result.summary.items() if key != "manager_state_bytes"}


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize(("placement", "prefetch", "eviction"), COMBINATIONS)
def test_copies_of_built_in_strategies_give_the_same_bytes(placement, prefetch, eviction, node, tmp_path):
    names = {"placement": placement, "prefetch": prefetch, "eviction": eviction}
    classes = {kind: COPIES[kind][name] for kind, name in names.items()}
    common = {"workload": "bfs-shoc", "scale": 0.004, "overrides": NODES[node] | {"record.events": True}}
    built_in = octavo.run(output=tmp_path / "built-in", **common, **names)
    assert outcome(octavo.run(output=tmp_path / "python", **common, **classes)) == outcome(built_in)


@pytest.mark.parametrize("workload", ["gemm", "stencil2d"])
def test_a_copy_of_on_touch_gives_the_same_bytes_on_kernels(workload, tmp_path):
    results = {
        name: octavo.run(
            workload=workload,
            placement=placement,
            scale=SMALL,
            output=tmp_path / name,
            overrides={"record.events": True},
        )
        for name, placement in {"built-in": "on-touch", "python": OnTouch}.items()
    }
    assert outcome(results["python"]) == outcome(results["built-in"])


def test_results_do_not_depend_on_workers(cli, tmp_path):
    shutil.copy(COPIES_FILE, tmp_path)
    names = "copies.py:OnTouch,copies.py:AccessCounter,copies.py:HotPages"
    for workers in ("1", "2"):
        done = cli(
            "compare",
            "-w",
            "bfs-shoc,stencil2d",
            "-p",
            names,
            "-s",
            "0.01",
            "--workers",
            workers,
            "-o",
            f"workers{workers}",
            "--quiet",
        )
        assert done.returncode == 0, done.stderr
    one, two = contents(tmp_path / "workers1"), contents(tmp_path / "workers2")
    runs = [name for name in one if name.startswith("runs/")]
    assert len(runs) > 6
    assert [name for name in runs if one[name] != two[name]] == []


def test_a_sweep_varies_a_policy_and_its_options(cli, tmp_path):
    shutil.copy(COPIES_FILE, tmp_path)
    (tmp_path / "sweep.toml").write_text(
        '[scenario]\nworkload = { name = "stencil2d", scale = 0.01 }\nnode.preset = "grit-2gpu"\n'
        'memory.placement = "copies.py:HotPages"\n[grid]\n"memory.placement.lines" = [4, 10000]\n'
    )
    assert cli("sweep", "sweep.toml", "-o", "out", "--workers", "2").returncode == 0
    points = pl.read_parquet(tmp_path / "out" / "points.parquet")
    assert points["status"].to_list() == ["ok", "ok"]
    assert points["migrations"][0] > points["migrations"][1]
    (tmp_path / "copies.py").write_text("from octavo.policies import *\n" + BROKEN)
    assert cli("sweep", "sweep.toml", "-o", "broken").returncode == 1
    errors = pl.read_parquet(tmp_path / "broken" / "points.parquet")["error"].to_list()
    assert all("on_fault raised ValueError: broken, asked about" in error for error in errors)
    assert all("Traceback" in error for error in errors)


def test_reports_move_pages():
    result = octavo.run(workload="stencil2d", placement=HotPages, scale=SMALL)
    assert result.summary["manager"]["report_migrations"] > 0
    assert result.summary["manager"]["pages_by_scheme"]["access_counter"] > 0
    calmer = octavo.run(
        workload="stencil2d", placement=HotPages, scale=SMALL, overrides={"memory.placement.lines": 10_000}
    )
    assert calmer.summary["manager"]["report_migrations"] < result.summary["manager"]["report_migrations"]


def test_charged_accesses_to_metadata_cost_time():
    class Charged(OnTouch):
        accesses: int = 0

        def on_fault(self, fault: Fault, page: Page) -> Decision:
            self.memory.charge(self.accesses)
            return super().on_fault(fault, page)

    # Of a kernel without shared pages: where pages go back and forth, later may mean less often.
    waits = [
        sum(
            octavo.run(workload="fir", placement=Charged, scale=SMALL, overrides={"memory.placement.accesses": count})
            .summary["breakdown"]
            .values()
        )
        for count in (0, 100)
    ]
    assert waits[0] < waits[1]


@pytest.mark.parametrize("kind", [*COPIES, "demotion", "sharing"])
def test_templates_run_at_once_and_take_their_names(kind, cli, tmp_path):
    assert cli("new", kind, "my_idea.py").returncode == 0
    again = cli("new", kind, "my_idea.py")
    assert again.returncode == 2
    assert "my_idea.py exists already" in again.stderr
    text = (tmp_path / "my_idea.py").read_text()
    commands = [line.strip() for line in text.split('"""')[1].replace("\\\n", "").splitlines() if "octavo " in line]
    assert len(commands) == 3
    for command in commands:
        done = cli(*command.replace("0.0625", "0.01").split()[1:], "--quiet")
        assert done.returncode == 0, done.stderr
    assert (
        f'name = "my_idea.py:{class_name("my_idea")}"'
        in next(tmp_path.glob("runs/stencil2d*-*/scenario.toml")).read_text()
    )


def test_a_scenario_names_a_policy_with_its_options_and_its_digest(cli, tmp_path):
    shutil.copy(COPIES_FILE, tmp_path / "mine.py")
    (tmp_path / "s.toml").write_text(
        'workload = { name = "bfs-shoc", scale = 0.004 }\nnode.preset = "grit-2gpu"\n'
        'memory.placement = { name = "mine.py:AccessCounter", threshold = 64 }\nmemory.eviction = "mine.py:LruPage"\n'
    )
    assert cli("run", "s.toml", "-o", "out").returncode == 0
    placement = octavo.RunResult.load(tmp_path / "out").scenario.values["memory"]["placement"]
    digest = placement.pop("digest")
    assert len(digest) == 16
    assert placement == {"name": "mine.py:AccessCounter", "threshold": 64, "moves": "page", "host_pages": "map"}
    assert cli("run", "out/scenario.toml", "-o", "again").returncode == 0
    first, second = (contents(tmp_path / name) for name in ("out", "again"))
    assert first == second


def test_a_changed_policy_is_another_scenario(cli, tmp_path):
    def run(*arguments: str):
        return cli("run", "-w", "bfs-shoc", "-s", "0.004", "-p", "mine.py", "-o", "out", *arguments)

    (tmp_path / "mine.py").write_text(MIGRATES)
    assert run().returncode == 0
    assert "holds" not in run().stderr
    (tmp_path / "mine.py").write_text(MIGRATES.replace("MIGRATE\n", "MAP_REMOTE\n"))
    assert "already holds the result of another scenario" in run().stderr
    resolved = cli("run", "out/scenario.toml", "-o", "again")
    assert resolved.returncode == 2
    assert "mine.py:Mine has changed since the scenario was resolved" in resolved.stderr
    # Naming it anew takes it as it is now; the result stays readable without it.
    assert cli("run", "out/scenario.toml", "-p", "mine.py:Mine", "-o", "again").returncode == 0
    (tmp_path / "mine.py").unlink()
    assert octavo.RunResult.load(tmp_path / "out").scenario.placement == "mine.py:Mine"


def test_what_a_policy_imports_from_its_folder_counts(tmp_path):
    (tmp_path / "mine.py").write_text("from base_of_mine import Mine\n\nclass Own(Mine):\n    pass\n")

    def resolved(base: str) -> octavo.Scenario:
        (tmp_path / "base_of_mine.py").write_text(base)
        return octavo.scenario(workload="bfs-shoc", scale=0.004, placement=tmp_path / "mine.py")

    migrating = resolved(MIGRATES)
    mapping = resolved(MIGRATES.replace("MIGRATE\n", "MAP_REMOTE\n"))
    assert migrating != mapping
    assert octavo.run(mapping).summary["manager"]["migrations"] == 0
    assert resolved(MIGRATES) == migrating
    assert octavo.run(migrating).summary["manager"]["migrations"] > 0


LIMIT = 3


def test_what_a_class_refers_to_counts(monkeypatch):
    class Refers(PlacementPolicy):
        def on_fault(self, fault: Fault, page: Page) -> Decision:
            return Decision.MIGRATE if fault.page > LIMIT else Decision.MAP_REMOTE

    first = octavo.scenario(workload="bfs-shoc", scale=0.004, placement=Refers)
    assert octavo.scenario(workload="bfs-shoc", scale=0.004, placement=Refers) == first
    monkeypatch.setitem(globals(), "LIMIT", 4)
    assert octavo.scenario(workload="bfs-shoc", scale=0.004, placement=Refers) != first


def test_classes_compare_under_their_own_names():
    comparison = octavo.compare(
        workloads=["bfs-shoc"], placements=["on-touch", OnTouch, MyPolicy], scale=0.004, workers=2
    )
    assert comparison.variants == ["on-touch", "OnTouch", "MyPolicy"]
    speedups = comparison.speedups().row(0, named=True)
    assert speedups["OnTouch"] == 1.0


def test_the_page_is_a_read_only_view_of_its_state():
    seen: list[tuple[Fault, Page]] = []

    class Looks(PlacementPolicy):
        def start(self) -> None:
            seen.clear()

        def on_fault(self, fault: Fault, page: Page) -> Decision:
            with pytest.raises(AttributeError):
                page.owner = 1  # type: ignore[misc]
            assert page.number == fault.page == self.memory.page(fault.page).number
            assert page.address == fault.page * self.node.page_bytes
            seen.append((fault, page))
            return Decision.MIGRATE

    result = octavo.run(workload="bfs-shoc", scale=0.004, placement=Looks, overrides={"node.preset": "grit-2gpu"})
    first = {fault.page: page for fault, page in reversed(seen)}
    assert all(page.owner == -1 and page.resident == {-1} and not page.touched for page in first.values())
    again = [(fault, page) for fault, page in seen if page.touched]
    assert all(page.owner in page.resident and fault.processor not in page.writable for fault, page in again)
    faults = result.summary["manager"]["far_faults"] + result.summary["manager"]["protection_faults"]
    assert len(seen) == faults
    assert {fault.processor for fault, _ in seen} == {0, 1}


def test_options_are_class_attributes_with_types():
    class Typed(PlacementPolicy):
        words: str = "x"
        limit: float = option(0.5, "share", minimum=0, maximum=1)
        _hidden: int = 3

        def on_fault(self, fault: Fault, page: Page) -> Decision:
            assert (self.words, self.limit) == ("y", 1.0)
            return Decision.MIGRATE

    assert Typed.limit == 0.5
    overrides = {"memory.placement.words": "y", "memory.placement.limit": 1}
    scenario = octavo.scenario(workload="bfs-shoc", scale=0.004, placement=Typed, overrides=overrides)
    found = scenario.values["memory"]["placement"]
    assert {key: found[key] for key in found if key not in ("name", "digest")} == {"words": "y", "limit": 1.0}
    octavo.run(scenario)
