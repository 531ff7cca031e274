"""Changes that something else replaces are told from those that stay."""

from __future__ import annotations

import pytest
from conftest import refused

from octavo.errors import ScenarioError
from octavo.scenarios import conflicts
from octavo.scenarios.scenario import Recipe

GRIT, ON_TOUCH = ["memory.placement=grit"], ["memory.placement=on-touch"]


@pytest.mark.parametrize(
    ("change", "varied", "key"),
    [
        ("memory.placement=ideal", [GRIT, ON_TOUCH], "memory.placement"),
        ("memory.placement.name=ideal", [GRIT], "memory.placement"),
        ('memory={placement="ideal"}', [GRIT], "memory.placement"),
        ("memory.placement.fault_threshold=9", [ON_TOUCH], "memory.placement"),
        ("memory.placement.fault_threshold=9", [ON_TOUCH, GRIT], None),
        ('memory={page_size="64KiB"}', [GRIT, ON_TOUCH], None),
        ("workload.scale=0.002", [["workload=gemm"]], None),
        ("workload.name=gemm", [["workload=sc"]], "workload"),
        ("node.gpus=2", [["node={gpus=4}"]], "node.gpus"),
        ("node.gpus=2", [["node={fidelity='page'}"]], None),
        ("seed=3", [["seed=4"]], "seed"),
    ],
)
def test_what_clashes(change, varied, key):
    base = Recipe.from_names("fir", "grit").with_overrides([change])
    assert conflicts.clash(base, change, varied) == key


def test_scale_and_seed_may_be_varied_and_others_not():
    base = Recipe.from_names("fir")
    conflicts.refuse_varied(base, ["workload.scale=0.5", "seed=3"], [["workload.scale=0.25", "seed=4"]], "it")
    with refused("already-set", ScenarioError, key="node.gpus"):
        conflicts.refuse_varied(base.with_overrides(["node.gpus=2"]), ["node.gpus=2"], [["node.gpus=4"]], "it")


@pytest.mark.parametrize("change", ["program.kind=pinned", "program.kind.x=1", 'program={kind="pinned"}', "program={}"])
def test_a_study_keeps_its_own_keys(change):
    with refused("already-set", ScenarioError, key=change.partition("=")[0]):
        conflicts.refuse([change], {"program.kind": "--kind"})


def test_keys_that_only_begin_alike_are_others():
    conflicts.refuse(["program.kinds=1", "nodes.gpus=2"], {"program.kind": "", "node": ""})
