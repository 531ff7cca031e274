"""Gates: product nodes reach what their values promise, and what is in the way is found."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from test_nodes import octavo_command
from test_one_machine import OF_PUBLICATIONS, OTHERS, STOCK_DRIVER

from octavo.gates import check
from octavo.gates.as_published import KNOWN
from octavo.gates.expectations import Promised
from octavo.scenarios.catalogue import names
from octavo.scenarios.scenario import Recipe

MACHINES = Path(__file__).parents[2] / "machines"
GENERATIONS = ("cuda-sm70", "cuda-sm80", "cuda-sm90", str(MACHINES / "h200.toml"), "b200-8")
"""V100, A100, H100, H200, B200."""
ALIKE = 0.97
"""Of a rate, in which neighbouring generations may be alike: Hopper's chips are the same, and so is PCIe from there on.
"""
FASTER = ("memory stream", "arithmetic", "copy to GPU", "copy to host", "lines of the host")
"""What Volta, Ampere and Hopper each have more of; what the driver stages is the host's."""


@pytest.mark.parametrize("node", [*STOCK_DRIVER, *OTHERS])
def test_a_product_node_reaches_what_it_promises(node):
    failed = {gate.quantity: round(gate.ratio, 3) for gate in check(node).gates if not gate.passed}
    assert not failed


@pytest.mark.parametrize("node", [name for name in names("nodes") if name.startswith(OF_PUBLICATIONS)])
def test_a_node_of_a_publication_reaches_it_or_a_reason_is_known(node):
    found = check(node)
    assert found.passed
    assert {gate.quantity for gate in found.gates if not gate.passed} == {*KNOWN.get(node, {})}
    assert KNOWN.keys() <= {*names("nodes")}


def test_a_reason_explains_the_ratio_that_it_was_found_for():
    known = KNOWN["grit-4gpu"]["memory stream"]
    assert known.explains(known.ratio)
    assert not known.explains(0.9 * known.ratio)
    assert not known.explains(5 * known.ratio)


def test_generations_are_in_order():
    """In every rate. Latencies are not: a load of memory takes a B200 longer than a V100."""
    found = [check(node) for node in GENERATIONS]
    rates = [gate.quantity for gate in found[0].gates if gate.unit in ("B/s", "op/s")]
    assert {*FASTER} < {*rates}
    for before, after in itertools.pairwise(found):
        ratios = {name: after[name].simulated / before[name].simulated for name in rates}
        assert all(ratio > ALIKE for ratio in ratios.values()), (after.node, ratios)
        assert ratios["memory stream"] > 1.1, (after.node, ratios)
    for before, after in itertools.pairwise(found[:3]):
        assert all(after[name].simulated > 1.1 * before[name].simulated for name in FASTER), after.node


def test_what_stands_in_the_way_is_found():
    """Entries of 4 KiB cost an MI300A a quarter of its bandwidth: what `hipMalloc` gives has larger ones."""
    small = check("mi300a", ["memory.sizing=base"])
    assert not small["memory stream"].passed
    slow = check("cuda-sm90", ["node.l1.miss_registers=16", "node.l2.banks=8"])
    assert {gate.quantity for gate in slow.gates if not gate.passed} >= {"memory stream"}


def test_a_promise_follows_its_keys():
    def promised(*changes: str) -> Promised:
        recipe = Recipe.from_names("touch", node="dgx-v100-4").with_overrides(changes)
        return Promised(recipe.resolve().values["node"])

    usual = promised()
    assert promised("node.dram.banks=23").memory == pytest.approx(usual.memory / 2)
    assert promised("node.compute.units=40").arithmetic == pytest.approx(usual.arithmetic / 2)
    assert promised("node.host_link.to_host=1GB/s").to_host == 1e9
    assert promised("node.remote.header=64B").lines_of_host == pytest.approx(usual.to_gpu / 2)
    assert promised("node.dram.latency=0cycles").beyond_caches < usual.beyond_caches
    two = promised("node.links=[{ gpus = [1, 0], count = 2 }]")
    assert two.lines_of_peer == pytest.approx(2 * usual.lines_of_peer)
    none = promised("node.links=[]")
    assert none.lines_of_peer < usual.lines_of_host, "the other's requests take the same way"


def test_the_command_says_what_passes_and_fails_if_something_does_not(tmp_path):
    done = octavo_command("node", "check", "cuda-sm70", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["passed"]
    assert {"quantity", "key", "unit", "expected", "simulated", "ratio", "passed"} <= set(found["gates"][0])
    assert found["driver"].startswith("580")
    node = tmp_path / "slow.toml"
    node.write_text('[node]\nextends = "cuda-sm70"\nl2.banks = 4\n')
    failed = octavo_command("node", "check", "slow.toml", cwd=tmp_path)
    assert failed.returncode == 1
    assert "memory stream" in failed.stdout
    assert octavo_command("node", "check", "cuda-sm7", cwd=tmp_path).returncode not in (0, 1)
