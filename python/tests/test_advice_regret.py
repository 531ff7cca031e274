"""How much slower than the fastest placement the advice of the default command is; every placement is simulated.

A slice of the search that `docs/advise.md` tells of.
"""

from __future__ import annotations

from statistics import mean

import pytest

import octavo
from octavo.advice import verification

ALONE = {"node.gpus": 1, "node.links": []}
CASES: list[tuple[str, str, float, str, dict]] = [
    ("relu", "machines/h100.toml", 1 / 64, "managed", {}),
    ("relu", "cuda-sm90", 1 / 16, "explicit", {}),
    ("lps", "machines/h100.toml", 1 / 64, "explicit", {}),
    ("lps", "power8-p100", 1 / 64, "managed", ALONE),
    ("fwt", "machines/h200.toml", 1 / 64, "managed", {}),
    ("nearestneighbor", "gh200", 1 / 64, "managed", {}),
    ("histo", "cuda-sm90", 1 / 256, "managed", {}),
    ("red", "cuda-sm80", 1 / 16, "managed", {"workload.iterations": 8, "node.capacity.footprint_percent": 60}),
]
WORST = 0.05
MEAN = 0.005


@pytest.fixture(scope="module")
def searched():
    """Advice on each case, with all placements."""
    found = []
    for workload, node, scale, kind, overrides in CASES:
        small = {"node.capacity.bytes": "0B"} if "node.capacity.footprint_percent" in overrides else {}
        of = {"node": node, "scale": scale, "kind": kind, "overrides": {**overrides, **small} or None}
        found.append(octavo.advise(workload, exhaustive=True, **of))
    return found


def test_the_default_command_is_as_good_as_the_fastest(searched):
    regrets = [each.exhausted.regret for each in searched]
    assert max(regrets) <= WORST
    assert mean(regrets) <= MEAN


def test_the_model_alone_is_nearly_as_good(searched):
    """So simulations check advice, and do not make it."""
    regrets = []
    for each in searched:
        rows = {row["placements"]: row["regret"] for row in each.exhausted.points.to_dicts()}
        proposed = max(each.found.candidates, key=lambda one: one.predicted)
        regrets.append(rows[verification.label(proposed.placements)])
    assert max(regrets) <= 2 * WORST
    assert mean(regrets) <= 2 * MEAN


def test_nothing_slower_than_the_present_is_advised(searched):
    for each in searched:
        assert each.found.advised <= each.found.present
        assert each.found.candidates[0].placements == each.plan.present
        assert len(each.found.candidates) <= verification.RUNS
        assert each.plan.gain.high <= each.found.present


def test_gains_lie_where_they_are_said_to(searched):
    changed = [each for each in searched if each.placements != each.plan.present]
    inside = [each.plan.gain.low <= each.found.gain <= each.plan.gain.high for each in changed]
    assert len(changed) > len(searched) / 2
    assert mean(inside) >= 0.75
