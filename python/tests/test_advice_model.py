"""The models of `octavo.advice` as Python sees them; their numbers are tested in Rust."""

from __future__ import annotations

from dataclasses import replace

import pytest
from conftest import refused

import octavo
from octavo.advice import model, systems
from octavo.advice.model import Structure

PAGE = 4096
SIXTEEN = Structure(
    size=PAGE * 16,
    lines=PAGE,
    sigma=0.5,
    rho=2.0,
    fault_concurrency=4,
    prefetched_pages=8,
    copied_in=PAGE * 16,
    copies=1,
)


@pytest.fixture(scope="module")
def h100():
    return systems.from_node("cuda-sm90")


def test_the_penalty_is_the_equations(h100):
    system = h100.system
    found = model.penalty(system, SIXTEEN)
    assert found.volume == PAGE * 16
    beside = 8 * system.fault_unmap
    group = system.fault_wait + system.fault_group + system.fault_block
    assert found.faults == pytest.approx(8 / 4 * group + 8 * system.fault + beside)
    assert found.copy == pytest.approx(PAGE * 16 / system.copy + system.copy_call)
    assert found.latency == pytest.approx(PAGE * 16 / system.on_demand, rel=1e-6)
    assert found.phi == pytest.approx(sum(found.terms.values()))
    assert found.advises_host == (found.phi < 0)


def test_readings_are_chosen_by_name_or_one_by_one(h100):
    printed = model.penalty(h100.system, SIXTEEN, readings="published")
    assert printed.copy == pytest.approx(PAGE * 16 * h100.system.copy, rel=1e-6)
    alone = model.penalty(h100.system, SIXTEEN, readings={"latency": "alone"})
    assert alone.latency < model.penalty(h100.system, SIXTEEN).latency
    assert alone.copy == model.penalty(h100.system, SIXTEEN).copy


def test_pinned_memory_has_no_faults(h100):
    found = model.penalty(h100.system, SIXTEEN, "pinned")
    assert (found.volume, found.faults, found.first_touch, found.returned) == (PAGE, 0, 0, 0)


def test_a_node_says_where_each_constant_comes_from(h100):
    names = set(h100.system.__dataclass_fields__)
    assert set(h100.origins) == names
    assert h100.origins["copy_call"].where == "node.host.costs.copy_call"
    assert h100.system.fault_group == pytest.approx(4.030e-6 + 2 * 2516 / 1980e6)
    assert (h100.system.fault_wait, h100.system.fault_block) == (10e-6, 11.242e-6)
    assert h100.system.device == pytest.approx(68 * 64 / 3 * 1980e6)
    pool = systems.from_node("grit-4gpu")
    assert (pool.system.most_faults, pool.gpus) == (1, 4)
    assert pool.system.by_lines == pytest.approx(16 * 64 / pool.system.latency)


def test_the_way_to_the_host_has_a_bandwidth_of_its_own_where_the_node_has():
    both = systems.from_node("grit-4gpu").system
    assert (both.copy_back, both.on_demand_back) == (both.copy, both.on_demand)
    found = systems.from_node("gh200")
    assert (found.system.on_demand, found.system.on_demand_back) == (375e9, 297e9)
    assert found.system.copy == found.system.copy_back == 243e9, "half of what LPDDR5X gives is less than the link"
    assert found.origins["on_demand_back"].where == "node.host_link.to_host"
    link = replace(both, copy=20e9, copy_back=10e9)
    output = replace(SIXTEEN, copied_in=0, copied_out=PAGE * 16, copies=1)
    assert model.penalty(link, output).copy == pytest.approx(PAGE * 16 / 10e9 + link.copy_call)


def test_a_machine_file_of_another_version_is_refused(tmp_path):
    path = tmp_path / "machine.toml"
    path.write_text('format = 2\n[machine]\ngpu = "x"\n')
    with refused("other-format", octavo.CalibrationError, file="machine.toml", key="format", found=2):
        systems.from_node(path)


def test_measured_values_win_over_the_nodes(tmp_path):
    path = tmp_path / "machine.toml"
    path.write_text(
        'format = 1\n[machine]\ngpu = "made up"\ngpus = 1\nuuid = "GPU-0"\neffort = "full"\n'
        "[measured.launch_stream]\n"
        'value = "3us"\nlow = "2.9us"\nhigh = "3.1us"\nrepetitions = 5\nprobe = "launches"\n'
        '[node]\npreset = "cuda-sm90"\n'
    )
    found = systems.from_node(path)
    assert found.system.launch == pytest.approx(3e-6)
    assert found.origins["launch"].certainty == "measured"
    assert found.origins["fault"].certainty == "derived"


def test_a_block_is_paid_for_once_by_a_group_of_faults():
    def constants(block: str) -> systems.System:
        override = {"node.driver.service.block": block}
        return systems.from_scenario(octavo.scenario(workload="fir", node="cuda-sm90", overrides=override)).system

    without, with_block = constants("0ns"), constants("9us")
    assert with_block.fault_block - without.fault_block == pytest.approx(9e-6)
    assert replace(with_block, fault_block=without.fault_block) == without


def test_memory_costs_what_its_calls_do():
    system = systems.from_node("cuda-sm90").system
    assert system.device_memory.to_model() == {"call": "211000000ps", "each": "620000ps", "below_chunk": "12800000ps"}
    small, large = (replace(SIXTEEN, size=size, lines=size) for size in (1 << 20, 64 << 20))
    for one, device in ((small, 12.8e-6), (large, 211e-6 + 32 * 620e-9)):
        pinned = 950e-6 + one.size / 4096 * 685e-9 + one.size / 4.1e9
        ordinary = -(-one.size // system.page) * (system.first_touch + system.unmap + system.page / system.zeroing)
        costs = model.penalty(system, one, "pinned").having
        assert costs == pytest.approx(pinned - device - ordinary, rel=1e-6)


@pytest.mark.parametrize(
    ("ask", "names"),
    [
        (lambda system: model.penalty(system, replace(SIXTEEN, sigma=2.0)), ["structure.sigma", "2"]),
        (lambda system: model.penalty(system, replace(SIXTEEN, size=0)), ["structure", "0"]),
        (
            lambda system: model.penalty(system, SIXTEEN, readings="printed"),
            ["readings", "printed"],
        ),
        (lambda system: model.penalty(system, SIXTEEN, readings={"copie": "product"}), ["copie"]),
        (lambda system: model.penalty(system, SIXTEEN, "remote"), ["host", "remote"]),
        (lambda _: model.prefetched([0], range(1), "stride"), ["prefetcher", "stride"]),
        (lambda _: model.graph_sparsity([0, 2], [0]), ["row offsets", "2"]),
    ],
)
def test_what_means_nothing_is_refused(ask, names, h100):
    with refused("unexpected-value", octavo.AdviceError, names=names):
        ask(h100.system)


def test_prefetchers_sparsity_and_budget_answer():
    assert model.prefetched(range(512), range(512)).each == [16, 16, 32, 64, 128, 256]
    assert model.prefetched(range(0, 700, 7), range(700), "doubling").each[:6] == [1, 1, 2, 4, 8, 16]
    ring = model.graph_sparsity([0, 1, 2], [1, 0])
    assert (ring.reached, ring.vertices, ring.edges) == (2, 1, 1)
    assert model.choose([(6, 9.0), (5, 7.0), (5, 7.0)], 10).chosen == [False, True, True]
