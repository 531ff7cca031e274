"""Nodes whose host and GPU share memory: what a small program does on each, in each kind of memory, exactly."""

from __future__ import annotations

import polars as pl
import pytest
from conftest import refused

import octavo
from octavo.report.data import gather
from octavo.report.runs import read

GOLDEN: dict[tuple[str, str], tuple[int, int, int, int, int]] = {
    ("gh200-numa", "explicit"): (120574678, 0, 1, 0, 0),
    ("gh200-numa", "managed"): (355879435, 7, 3, 4, 0),
    ("gh200-numa", "system"): (276918150, 6, 1, 1, 790),
    ("gh200-cdmm", "explicit"): (120574678, 0, 1, 0, 0),
    ("gh200-cdmm", "managed"): (355879435, 7, 3, 4, 0),
    ("gh200-cdmm", "system"): (248325801, 5, 1, 0, 8258),
    ("gb200", "explicit"): (121492633, 0, 1, 0, 0),
    ("gb200", "managed"): (356822347, 7, 3, 4, 0),
    ("gb200", "system"): (249457410, 5, 1, 0, 8258),
    ("x86-h100-hmm", "explicit"): (133052928, 0, 4, 0, 0),
    ("x86-h100-hmm", "managed"): (308427225, 28, 3, 25, 0),
    ("x86-h100-hmm", "system"): (382853900, 33, 12, 16, 0),
    ("mi300a", "explicit"): (930796305, 0, 4, 0, 0),
    ("mi300a", "managed"): (161259251, 20, 4, 0, 0),
    ("mi300a", "system"): (179904243, 20, 4, 0, 0),
}
"""By preset and kind: picoseconds, faults of GPU and host, pages that moved, lines of the host
that the GPU had."""


def row(node: str, kind: str) -> tuple[int, int, int, int, int]:
    summary = octavo.run(workload="srad", node=node, scale=1 / 1024, kind=kind).summary
    accesses, manager, host = summary["accesses"], summary["manager"], summary["host"]
    moved = manager["migrations"] + manager["prefetched"]
    return summary["time_ps"], accesses["faults"], host["faults"], moved, accesses["remote_host_lines"]


@pytest.mark.parametrize(("node", "kind"), list(GOLDEN))
def test_a_small_program_takes_what_it_took(node, kind):
    assert row(node, kind) == GOLDEN[node, kind]


@pytest.mark.parametrize(("kind", "after"), [("explicit", "host-initialisation"), ("system", "host-initialisation")])
def test_each_kind_pays_for_its_context_where_it_first_needs_the_gpu(kind, after):
    context = {"node.host.costs.context": "132ms"}
    result = octavo.run(workload="srad", node="gh200-numa", scale=1 / 1024, kind=kind, overrides=context)
    table = result.table("phases").sort("began_ps")
    assert result.summary["phases"]["context_ps"] == 132_000_000_000
    before, following = (table["phase"].to_list().index("context") + step for step in (-1, 1))
    assert table["phase"][before] == after
    assert table["phase"][following] == {"explicit": "allocation", "system": "kernel"}[kind]


def test_traffic_over_time_is_all_that_passed():
    result = octavo.run(
        workload="srad",
        node="gh200-numa",
        scale=1 / 1024,
        overrides={"program.kind": "system", "record.interval": "10us"},
    )
    over_time, by_launch = result.table("traffic_intervals"), result.table("traffic")
    assert over_time["time_ps"].to_list() == result.table("intervals")["time_ps"].to_list()
    links = {row["link"]: row for row in result.table("links").to_dicts()}
    causes = ("migration", "duplication", "write_collapse", "eviction", "prefetch", "copies")
    for level, link in (("from_host", "host->gpu0"), ("to_host", "gpu0->host")):
        assert over_time[f"{level}_line_bytes"].sum() == links[link]["lines"]
        assert over_time[f"{level}_page_bytes"].sum() == sum(links[link][cause] for cause in causes)
    # The host's cores write the image before the launches, and read a part of it between them.
    host = result.summary["host"]
    elsewhere = host.get("gpu_lines", 0)
    lines = host["load_lines"] + host["store_lines"] - elsewhere
    assert over_time["lpddr_read_bytes"].sum() >= max(64 * lines, by_launch["lpddr_read_bytes"].sum())
    assert over_time["lpddr_written_bytes"].sum() >= 64 * (host["store_lines"] - elsewhere)
    assert "traffic_intervals" not in octavo.run(workload="fir", scale=1 / 256).tables


def test_reports_tell_traffic_by_level(tmp_path):
    options = {"program.kind": "system", "record.interval": "20us"}
    for node in ("gh200-numa", "x86-h100-hmm"):
        octavo.run(workload="srad", node=node, scale=1 / 1024, overrides=options, output=tmp_path / node)
    data = gather(read([tmp_path / "gh200-numa", tmp_path / "x86-h100-hmm"]), "fault-and-count")
    assert {row["run"] for row in data["kernel_traffic"]} == {row["run"] for row in data["traffic"]} == {0}
    table = octavo.RunResult.load(tmp_path / "gh200-numa").table("traffic")
    for row in data["kernel_traffic"]:
        own = table.filter(kernel=row["kernel"])
        assert row["launches"] == own.height
        assert row["LPDDR"] == own["lpddr_read_bytes"].sum() + own["lpddr_written_bytes"].sum()
    assert {row["level"] for row in data["traffic"]} == {"L1-L2", "HBM", "LPDDR", "CPU to GPU", "GPU to CPU"}


def test_a_gpu_waits_for_the_hosts_memory_where_they_share_it():
    """On other nodes, host memory has a latency for GPUs, and no bandwidth."""

    def kernels(node: str, bandwidth: str) -> int:
        options = {"program.kind": "pinned", "node.host.cpu.memory_bandwidth": bandwidth}
        summary = octavo.run(workload="srad", node=node, scale=1 / 1024, overrides=options).summary
        return summary["phases"]["kernels_ps"]

    assert kernels("gh200-numa", "1GB/s") > 1.5 * kernels("gh200-numa", "486GB/s")
    assert kernels("x86-h100-hmm", "1GB/s") < 1.01 * kernels("x86-h100-hmm", "486GB/s"), "but for when launches begin"


def small(kind: str, **more: str) -> dict:
    options = {"program.kind": kind, "workload.side": 1024, **more}
    return octavo.run(workload="hs", node="gh200-numa", overrides=options).summary


@pytest.mark.parametrize(("kind", "fewer"), [("explicit", 2.0), ("managed", 1.2)])
def test_blocks_that_are_on_the_gpu_are_translated_by_two_mebibytes(kind, fewer):
    """Under managed memory, most walks find that the page is not there."""
    large, base = small(kind), small(kind, **{"memory.sizing": "base", "memory.allocator": "free-list"})
    assert large["manager"]["coalesced"] > 0 == base["manager"]["coalesced"]
    assert large["accesses"]["l1_tlb_large_hits"] > 0 == base["accesses"]["l1_tlb_large_hits"]
    assert large["accesses"]["walks"] * fewer < base["accesses"]["walks"]


def test_memory_of_the_operating_system_is_never_translated_by_two_mebibytes():
    # The GPU touches the output first: it is there whole, in entries of the kernel's.
    assert small("system")["manager"]["coalesced"] == 0


def test_huge_pages_spare_cores_faults_and_walks():
    pages = {"memory.page_size": "4KiB"}
    huge, base = small("system", **pages, **{"memory.system.huge_pages": "always"}), small("system", **pages)
    # Two inputs of 4 MiB: two faults each, and one for each page of 4 KiB; walks, the sweeps of one thread, alike.
    assert base["host"]["faults"] - huge["host"]["faults"] == 4 * 511
    assert base["host"]["walks"] > 100 * huge["host"]["walks"]
    assert huge["phases"]["deallocation_ps"] < base["phases"]["deallocation_ps"]
    assert huge["accesses"]["host_translations"] < base["accesses"]["host_translations"]
    with refused("unexpected-value", octavo.ScenarioError, key="memory.system.huge_pages"):
        small("system", **{"memory.system.huge_pages": "always"})


def policy(name: str, *nodes: str, scale: float = 1 / 1024, **more: str) -> octavo.RunResult:
    numa = {"memory.system.numa.policy": name, "memory.system.numa.nodes": list(nodes)}
    options = {"program.kind": "system", **numa, **more}
    return octavo.run(workload="srad", node="gh200-numa", scale=scale, overrides=options)


def test_policies_say_where_system_memory_is():
    """A node that is not named has none of it, and lines go to the one that is."""

    def most(result: octavo.RunResult) -> dict[str, int]:
        table = result.table("memory_intervals").group_by("processor").agg(pl.col("bytes").max())
        return dict(table.iter_rows())

    bound = policy("bind", "host")
    assert most(bound)["gpu0"] == 0 < bound.summary["accesses"]["remote_host_lines"]
    assert "gpu_lines" not in bound.summary["host"]
    there = policy("preferred", "gpu0")
    assert most(there)["host"] == 0 == there.summary["accesses"]["remote_host_lines"]
    assert there.summary["host"]["gpu_lines"] > 0


def test_policies_name_nodes_that_are_there():
    for nodes, found in ((["gpu1"], "host, gpu0, found `gpu1`"), ([], "expected at least one node")):
        with refused("unexpected-value", octavo.ScenarioError, key="memory.system.numa.nodes") as raised:
            policy("bind", *nodes)
        assert found in str(raised.value)
    with refused("unexpected-value", octavo.ScenarioError, key="memory.system.numa.nodes"):
        policy("bind", "gpu0", **{"node.coherence.gpu_memory": "cdmm"})
    with refused("no-room", octavo.SimulationError, key="memory.system.numa"):
        policy("bind", "gpu0", scale=1 / 64, **{"node.capacity.bytes": "256KiB"})


def test_what_a_node_cannot_offer_is_refused_with_what_it_can():
    with refused("unexpected-value", octavo.ScenarioError, key="memory.page_size", found="16KiB"):
        octavo.run(workload="srad", node="gh200-numa", scale=1 / 1024, overrides={"memory.page_size": "16KiB"})
    for node in ("dgx-v100-4", "power8-p100", "x86-p100-pcie3"):
        with refused("unexpected-value", octavo.ScenarioError, key="program.kind"):
            octavo.run(workload="srad", node=node, scale=1 / 1024, overrides={"program.kind": "system"})


@pytest.mark.parametrize("kind", ["managed", "system", "explicit"])
def test_nothing_moves_where_there_is_one_memory(kind):
    result = octavo.run(workload="srad", node="mi300a", scale=1 / 1024, overrides={"program.kind": kind})
    assert result.summary["manager"]["migrations"] == 0
    assert result.summary["accesses"]["remote_host_lines"] == 0
    links = {row["link"]: row for row in result.table("links").to_dicts()}
    assert all(row[cause] == 0 for row in links.values() for cause in ("migration", "prefetch", "eviction"))
