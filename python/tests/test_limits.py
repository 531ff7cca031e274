"""Limits of what users can write: what is at one is taken, what is one beyond is refused with what was found."""

from __future__ import annotations

import pytest
from conftest import refused

import octavo

ON_TIME = {"node.compute.issues_in_time_order": True}
BATCHES = {"node.driver.preset": "stock-driver"}


def memories(count: int) -> list[dict[str, object]]:
    """So many further memories of the host."""
    one = {"kind": "cxl", "capacity": "1GiB", "bandwidth": "10GB/s", "latency": "300ns"}
    return [{"name": f"expander {number}", **one} for number in range(count)]


LIMITS = {
    "node.gpus": (72, 73, {}),
    "node.host_switches.gpus": (72, 73, {}),
    "node.compute.units": (256, 257, {}),
    "node.compute.simds_per_unit": (16, 17, {"node.compute.wavefronts_per_simd": 1}),
    "node.compute.wavefronts_per_simd": (64, 65, {"node.compute.simds_per_unit": 1}),
    "node.compute.vector_decoder": (64, 65, ON_TIME),
    "node.l1.miss_registers": (1 << 16, (1 << 16) + 1, {}),
    "node.l2.lines_per_cycle": (64, 65, {}),
    "node.l2.banks": (1 << 12, (1 << 12) + 1, {}),
    "node.dram.banks": (1 << 12, (1 << 12) + 1, {}),
    "node.l1_tlb.ports": (64, 65, {}),
    "node.walker.walkers": (4096, 4097, {}),
    "node.walker.queue": (1 << 16, (1 << 16) + 1, {}),
    "node.host.walkers": (4096, 4097, {}),
    "node.host.cpu.cores": (4096, 4097, {}),
    "node.host.cpu.lines_in_flight": (1024, 1025, {}),
    "node.host.fault_message": ("64KiB", "65537B", {}),
    "node.remote.header": ("64KiB", "65537B", {}),
    "node.remote.lines_in_flight": (1 << 16, (1 << 16) + 1, {}),
    "node.remote.write_queue": (1 << 16, (1 << 16) + 1, {}),
    "node.driver.service.servers": (1024, 1025, {}),
    "node.driver.service.size": (1 << 16, (1 << 16) + 1, BATCHES),
    "node.settled.ahead": ("2us", "2000001ps", {"node.fidelity": "page"}),
    "workload.scale": (1024, 1024.5, {}),
}


@pytest.mark.parametrize(("key", "most", "beyond", "more"), [(key, *limit) for key, limit in LIMITS.items()])
def test_what_is_at_a_limit_is_taken_and_one_more_is_refused(key, most, beyond, more):
    def made(value: object) -> octavo.Scenario:
        workload = {} if key.startswith("workload") else {"scale": 0.001}
        return octavo.scenario(workload="fir", node="grit-4gpu", overrides={**more, key: value}, **workload)

    found = made(most).values
    for part in key.split("."):
        found = found[part]
    assert found == most
    with refused("unexpected-value", octavo.ScenarioError, key=key, names=[str(beyond)]):
        made(beyond)


def test_a_host_has_seven_further_memories_at_most():
    def made(count: int) -> octavo.Scenario:
        overrides = {"node.host.memory.capacity": "1GiB", "node.host.memories": memories(count)}
        return octavo.scenario(workload="fir", scale=0.001, node="grit-4gpu", overrides=overrides)

    assert len(made(7).values["node"]["host"]["memories"]) == 7
    with refused("unexpected-value", octavo.ScenarioError, key="node.host.memories", names=["7", "8"]):
        made(8)


def test_sixty_four_jobs_run_together_at_most(tmp_path):
    def made(count: int) -> octavo.Scenario:
        job = '[[job]]\nname = "{}"\nworkload = {{ name = "fir", scale = 0.001 }}\n'
        file = tmp_path / "jobs.toml"
        file.write_text('node = { preset = "grit-4gpu" }\n' + "".join(job.format(number) for number in range(count)))
        return octavo.scenario(file)

    assert len(made(64).jobs) == 64
    with refused(
        "unexpected-value",
        octavo.ScenarioError,
        file="jobs.toml",
        line=2,
        key="job",
        found="65",
        expected="1 to 64 jobs",
    ):
        made(65)
