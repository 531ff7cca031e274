"""From measured values to a node: derived values are exact, and the simulated node gives back what was measured."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from conftest import refused

import octavo
from octavo.measurements.calibrate import machine, patterns
from octavo.measurements.calibrate.measurement import Measured
from octavo.measurements.calibrate.node import shapes
from octavo.measurements.calibrate.node.derivation import derive, preset_for

MIB = 1 << 20
SAMPLE = Path(__file__).parents[2] / "examples" / "machines" / "stand-in.toml"
GPU = {
    "compute_capability": "9.0",
    "gpus": 1,
    "multiprocessors": 100,
    "clock_khz": 1_700_000,
    "memory_bytes": 95_000_000_000,
    "l2_bytes": 50 * MIB,
    "shared_bytes_per_multiprocessor": 233_472,
    "threads_per_multiprocessor": 2048,
    "registers_per_multiprocessor": 65_536,
}
"""A GPU that does not exist, so that nothing can agree by chance with a preset."""
VALUES = {
    "stream_bandwidth_triad": (2.9e12, "B/s"),
    "random_line_bandwidth_64": (2.0e12, "B/s"),
    "random_line_bandwidth_128": (2.8e12, "B/s"),
    "l2_bandwidth": (7.4e12, "B/s"),
    "l1_latency": (21e-9, "s"),
    "l2_latency": (158e-9, "s"),
    "memory_latency": (390e-9, "s"),
    "l1_capacity": (192 << 10, "B"),
    "l2_capacity": (24 * MIB, "B"),
    "tlb_reach": (256 * MIB, "B"),
    "tlb_page_size": (2 * MIB, "B"),
    "tlb_miss_latency": (170e-9, "s"),
    "peak_fp32": (41e12, "op/s"),
    "launch_stream": (2.4e-6, "s"),
    "copy_bandwidth_h2d_pinned": (42e9, "B/s"),
    "zero_copy_bandwidth_read_sequential": (37e9, "B/s"),
    "zero_copy_bandwidth_read_random": (8e9, "B/s"),
    "zero_copy_round_trip_read": (1.6e-6, "s"),
    "managed_fault_group_to_gpu": (33e-6, "s"),
    "managed_fault_page_to_gpu": (6.5e-6, "s"),
    "copy_bandwidth_h2d_pageable": (11e9, "B/s"),
    "copy_bandwidth_d2h_pageable": (14e9, "B/s"),
    "managed_fault_group_to_cpu": (21e-6, "s"),
    "managed_fault_page_to_cpu": (5e-6, "s"),
    "managed_first_touch_bandwidth_cpu": (3.2e9, "B/s"),
    "managed_faults_a_block": (6, "1"),
}


def measured(**changes: float | None) -> dict[str, Measured]:
    found = {}
    for name, (value, unit) in VALUES.items():
        number = changes.get(name, value)
        if number is not None:
            found[name] = Measured(name, number, unit, number, number, 5, "probe")
    return found


def derived_node(**changes: float | None) -> patterns.Node:
    node = derive(GPU, measured(**changes))
    return patterns.Node(node.preset, {value.key: value.value for value in node.values})


@pytest.fixture(scope="module")
def node() -> patterns.Node:
    return derived_node()


def value(name: str) -> float:
    return VALUES[name][0]


def test_the_text_is_a_node_that_runs(tmp_path):
    found = derive(GPU, measured())
    path = tmp_path / "machine.toml"
    path.write_text('format = 1\n[machine]\ngpu = "none"\n' + found.text)
    values = octavo.scenario(workload="fir", node=path).values["node"]
    assert (values["compute"]["units"], values["clock"], values["capacity"]["bytes"]) == (
        100,
        "1700MHz",
        "95000000000B",
    )
    assert not found.kept
    for line in found.text.splitlines():
        assert line.startswith(("#", "[node]", "extends")) or "  # " in line, line


def test_values_are_what_they_were_made_from():
    node = derived_node().changes
    assert (node["compute.wavefronts_per_simd"], node["compute.vector_registers"]) == (8, 256)
    assert (node["l2_tlb.large.entries"], node["remote.lines_in_flight"]) == (128, round(1.6e-6 * 37e9 / 64))
    assert "l2_tlb.entries" not in node
    small = derived_node(tlb_page_size=64 << 10).changes
    assert small["l2_tlb.entries"] == 4096
    assert (node["host.costs.staging.to_gpu"], node["host.costs.staging.to_host"]) == ("11GB/s", "14GB/s")
    block = 2 * MIB / 3.2e9 - 6 * 750e-9
    assert node["host.costs.zeroing"] == f"{2 * MIB / block / 1e9:.5g}GB/s"
    assert node["host_link.bandwidth"] == "42GB/s"
    assert node["remote.header"] == f"{round(64 * (42 / 37 - 1))}B"
    assert node["compute.vector_alu.occupancy"] == "2cycles"
    cycle = 588e-12
    assert node["walker.level"] == f"{round(170e-9 / cycle)}cycles"
    assert node["compute.kernel_overhead"] == f"{round(2.4e-6 / cycle) - 1}cycles"


def test_what_was_not_measured_stays_as_in_the_preset_and_is_listed():
    found = derive({"compute_capability": "8.0"}, {})
    assert found.preset == "cuda-sm80"
    assert list(found.values) == []
    assert found.kept["dram.latency"] == "memory_latency was not measured"
    assert found.kept["clock"] == "the driver does not say clock_khz"
    assert "# Kept: dram.latency, since memory_latency was not measured." in found.text
    less = derive(GPU, measured(memory_latency=None, managed_fault_page_to_gpu=None))
    assert set(less.kept) == {"dram.latency", "driver.service.batch", "driver.service.block"}


def test_measurements_that_the_node_cannot_be_are_said_and_do_not_break_it():
    odd = derive(GPU, measured(l2_latency=1e-9, memory_latency=2e-9, zero_copy_round_trip_read=1e-9))
    assert {"l2.crossbar", "dram.latency", "host_link.latency"} <= set(odd.kept)
    with refused("unexpected-value", octavo.ScenarioError, key="node.host_link.bandwidth"):
        derive(GPU, measured(copy_bandwidth_h2d_pinned=10.0))
    free = derive(GPU, measured(managed_fault_group_to_gpu=1e-9, managed_fault_page_to_gpu=1e-9))
    values = {each.key: each.value for each in free.values}
    assert (values["driver.service.batch"], values["driver.service.block"]) == ("0ns", "0ns")
    calm = derive(GPU, measured(managed_fault_group_to_cpu=1e-9, managed_first_touch_bandwidth_cpu=1e15))
    values = {each.key: each.value for each in calm.values}
    assert values["host.costs.driver_fault"] == "0ns"
    assert "host.costs.zeroing" in calm.kept


def test_peers_give_the_link_between_gpus():
    pairs = {
        name: Measured(name, rate, "B/s", rate, rate, 5, "peers")
        for name, rate in {"peer_copy_bandwidth_0_1": 300e9, "peer_copy_bandwidth_1_0": 340e9}.items()
    }
    values = {each.key: each.value for each in derive({**GPU, "gpus": 2}, {**measured(), **pairs}).values}
    assert (values["gpus"], values["gpu_link.bandwidth"]) == (2, "320GB/s")
    assert "gpu_link.bandwidth" in derive({**GPU, "gpus": 2}, measured()).kept


def test_the_preset_follows_the_architecture():
    found = [preset_for(each) for each in ("6.1", "7.0", "8.9", "9.0", "10.0", "")]
    assert found == ["cuda-sm70", "cuda-sm70", "cuda-sm80", "cuda-sm90", "cuda-sm90", "cuda-sm90"]


def test_shapes_are_near_and_possible():
    assert shapes.nearest(3072, 4) == (3072, 3)
    assert shapes.nearest(4096, 16) == (4096, 16)
    for lines in (17.3, 1.02, 33.4, 250.7):
        banks, cycles = shapes.banks(lines)
        assert banks / cycles == pytest.approx(lines, rel=0.005)


# What follows simulates the derived node. Nothing of it was told to the derivation.


def test_a_launch_takes_what_was_measured(node):
    assert node.launch == pytest.approx(value("launch_stream"), rel=0.01)


@pytest.mark.parametrize("operation", ["copy", "read"])
def test_a_stream_reaches_the_measured_bandwidth(node, operation):
    found = patterns.stream(node, 128 * MIB, operation).run()
    assert found == pytest.approx(value("stream_bandwidth_triad"), rel=0.1)


@pytest.mark.parametrize(
    ("footprint", "name"), [(64 << 10, "l1_latency"), (8 * MIB, "l2_latency"), (256 * MIB, "memory_latency")]
)
def test_a_chase_finds_the_measured_latencies(node, footprint, name):
    assert patterns.chase(node, footprint, 128).run() == pytest.approx(value(name), rel=0.03)


def test_a_chase_beyond_the_reach_of_the_tlb_pays_for_walks(node):
    within, beyond = (patterns.chase(node, pages * 2 * MIB, 2 * MIB).run() for pages in (64, 512))
    assert beyond - within == pytest.approx(value("tlb_miss_latency"), rel=0.1)


def test_a_cache_holds_what_was_measured(node):
    within = patterns.chase(node, 128 << 10, 128).run()
    beyond = patterns.chase(node, 512 << 10, 128).run()
    assert within < 1.05 * value("l1_latency")
    assert beyond > 0.8 * value("l2_latency")


def test_line_accesses_to_the_host_saturate_at_the_measured_bandwidth(node):
    rate = value("zero_copy_bandwidth_read_sequential")
    at = {warps: patterns.line_access(node, 1 << 20, warps).run() for warps in (1, 4, 32, 256)}
    assert at[256] == pytest.approx(rate, rel=0.1)
    assert at[1] == pytest.approx(2048 / value("zero_copy_round_trip_read"), rel=0.03)
    assert at[32] > 0.85 * rate
    assert at[4] == pytest.approx(4 * at[1], rel=0.1)


@pytest.mark.parametrize("blocks", [1, 4, 16, 64, 128])
def test_groups_of_faults_take_what_was_measured(node, blocks):
    faults = 256
    seconds = patterns.demand(node, faults * 2 * MIB, 2 * MIB, blocks).run()
    groups = -(-faults // blocks)
    expected = groups * value("managed_fault_group_to_gpu") + faults * value("managed_fault_page_to_gpu")
    assert seconds == pytest.approx(expected, rel=0.1)


def test_faults_of_one_block_are_served_together(node):
    """Sixteen threads fault on neighbouring pages: never more than a group and a block for each of their rounds."""
    seconds = patterns.demand(node, 2 * MIB, 4096, 16).run()
    one = value("managed_fault_group_to_gpu") + value("managed_fault_page_to_gpu")
    assert one < seconds < 2 * MIB / 4096 / 16 * 1.5 * one


def test_a_lone_fault_of_the_host_takes_what_was_measured(node):
    expected = value("managed_fault_group_to_cpu") + value("managed_fault_page_to_cpu")
    assert patterns.lone_host_fault(node) == pytest.approx(expected, rel=0.01)


def test_first_touches_of_the_host_have_the_measured_bandwidth(node):
    changes = {f"node.{key}": value for key, value in node.changes.items()}

    def writing(kind: str) -> float:
        options = {**changes, "memory.preset": "stock-driver", "program.kind": kind}
        run = octavo.run(workload="vectoradd", scale=0.75, node=node.name, overrides=options)
        return run.summary["phases"]["host_initialisation_ps"] * 1e-12

    inputs = 2 * 8 * MIB
    assert inputs / (writing("managed") - writing("pinned")) == pytest.approx(3.2e9, rel=0.01)


def test_derivation_does_not_depend_on_the_order_of_what_was_measured():
    backwards = dict(reversed(list(measured().items())))
    assert derive(GPU, backwards).text == derive(GPU, measured()).text


def test_spread_and_notes_change_nothing():
    noted = {name: dataclasses.replace(each, low=0.0, note="a note") for name, each in measured().items()}
    assert derive(GPU, noted).text == derive(GPU, measured()).text


def test_the_kernel_of_the_roofline_stays_below_its_ceilings(node):
    peak, device, copy = 41e12, value("stream_bandwidth_triad"), value("copy_bandwidth_h2d_pinned")
    touched = 16 * MIB
    fault_bound = touched / patterns.demand(node, touched, 4096, 256).run()
    model = octavo.roofline.Roofline(peak, device, max(fault_bound, 1.0), copy)
    for sigma, alpha in ((1.0, 4.0), (0.25, 64.0)):
        on_device = patterns.roofline(node, touched, sigma, alpha).run()
        assert 0.8 < on_device / model.ceilings(alpha, sigma).device < 1.05
        once, often = (patterns.roofline(node, touched, sigma, alpha, rho).run() for rho in (1, 4))
        assert once < copy * alpha
        assert often == pytest.approx(once / 4, rel=0.25)


def test_the_sample_machine_says_what_it_is_and_is_read_by_runs_and_advice():
    assert SAMPLE.read_text(encoding="utf-8").startswith("# A stand-in for a machine file")
    found = machine.read(SAMPLE)
    assert "Stand-in" in found.about["gpu"]
    assert len(found.measured) > 90
    run = octavo.run(workload="vectoradd", scale=1 / 1024, node=SAMPLE)
    assert run.seconds != octavo.run(workload="vectoradd", scale=1 / 1024, node="cuda-sm90").seconds
    advice = octavo.advise("vectoradd", scale=1 / 1024, node=SAMPLE, quick=True)
    assert advice.constants.system.peak == found.measured["roofline_peak"].value
    assert advice.placements.keys() == {"a", "b", "c"}
