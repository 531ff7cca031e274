"""What runs are called in reports: as who made them says, or by what tells them apart."""

from __future__ import annotations

from conftest import SMALL

import octavo
from octavo.explain import targets
from octavo.report.runs import read
from octavo.report.sweep import along

MACHINES = {"a": "grit-2gpu", "b": "grit-4gpu"}
"""Two nodes, and folders that say nothing of them."""
CHANGED = [
    f"node.{change}"
    for change in (
        "gpu_link.bandwidth=100GB/s",
        "gpu_link.latency=7cycles",
        "host_link.bandwidth=10GB/s",
        "l2_tlb.entries=64",
        "remote.lines_in_flight=8",
        "walker.walkers=2",
        "compute.units=8",
    )
]
"""What makes another node of one, which no preset is."""


def test_runs_on_presets_are_named_after_these(tmp_path):
    for (place, node), placement in zip(MACHINES.items(), ("on-touch", "grit"), strict=True):
        octavo.run(workload="fir", node=node, placement=placement, scale=SMALL, output=tmp_path / place / placement)
    assert [run.variant for run in read([tmp_path])] == ["on-touch, grit-2gpu", "grit, grit-4gpu"]


def test_runs_on_other_machines_have_folders_in_their_names(tmp_path):
    for name, placement, overrides in (("a", "on-touch", []), ("b", "grit", CHANGED)):
        folder = tmp_path / name / placement
        octavo.run(workload="fir", placement=placement, scale=SMALL, overrides=overrides, output=folder)
    assert [run.variant for run in read([tmp_path])] == ["on-touch (a/on-touch)", "grit (b/grit)"]


def test_comparisons_on_two_machines_are_told_apart_by_these(tmp_path):
    for place, node in MACHINES.items():
        octavo.compare(
            workloads=["fir"], placements=["on-touch", "grit"], node=node, scale=SMALL, output=tmp_path / place
        )
    assert [run.variant for run in read([tmp_path])] == [
        f"{placement}, {node}" for node in MACHINES.values() for placement in ("grit", "on-touch")
    ]


def test_runs_are_called_as_what_made_them_says(tmp_path):
    octavo.compare(
        workloads="fir",
        placements=["on-touch", "ideal"],
        kinds=["explicit", "managed"],
        scale=SMALL,
        output=tmp_path / "kinds",
    )
    found = {run.variant: run for run in read([tmp_path / "kinds"])}
    assert set(found) == {"explicit", "managed on-touch", "managed ideal"}
    assert [name for name, run in found.items() if run.bound] == ["managed ideal"]
    one = found["explicit"].result.folder
    assert [run.variant for run in read([one])] == ["explicit"], "wherever the report begins"
    grid = {"node.preset": ["grit-2gpu", "grit-4gpu", "grit-8gpu"], "memory.placement": ["on-touch", "grit"]}
    octavo.sweep({"scenario": {"workload": {"name": "fir", "scale": SMALL}}, "grid": grid}, output=tmp_path / "nodes")
    runs = read([tmp_path / "nodes"])
    nodes, placements = grid.values()
    assert [run.variant for run in runs] == [f"{node}, {placement}" for node in nodes for placement in placements]
    assert along(runs) is None, "nodes are no numbers along one of their keys"


def test_runs_on_different_machines_are_named_after_their_folders(tmp_path):
    for name, overrides in (("mine", CHANGED), ("plain", [])):
        octavo.run(workload="fir", overrides=overrides, scale=SMALL, output=tmp_path / name)
    variants = [run.variant for run in read([tmp_path])]
    assert [variant.partition(" (")[2] for variant in variants] == ["mine)", "plain)"]
    assert "node." not in "".join(variants)


def test_a_bound_is_called_so_wherever_it_is_named(tmp_path):
    compared = octavo.compare(workload="fir", placements=["on-touch", "ideal"], scale=SMALL, output=tmp_path / "c")
    assert set(compared.marked(compared.points)["variant"]) == {"on-touch", "ideal (bound)"}
    assert list(targets.named([tmp_path / "c"])) == ["fir under on-touch", "fir under ideal (bound)"]
