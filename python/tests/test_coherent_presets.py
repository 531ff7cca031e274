"""Nodes whose host and GPU share memory: what a small program does on each, in each kind of memory, exactly."""

from __future__ import annotations

import pytest

import octavo

GOLDEN: dict[tuple[str, str], tuple[int, int, int, int, int]] = {
    ("gh200", "explicit"): (921515734, 0, 1, 0, 0),
    ("gh200", "managed"): (142003356, 7, 3, 4, 0),
    ("gh200", "system"): (185694690, 6, 1, 1, 790),
    ("gh200-cdmm", "explicit"): (921515734, 0, 1, 0, 0),
    ("gh200-cdmm", "managed"): (142003356, 7, 3, 4, 0),
    ("gh200-cdmm", "system"): (169497426, 5, 1, 0, 8258),
    ("gb200", "explicit"): (923816192, 0, 1, 0, 0),
    ("gb200", "managed"): (144601574, 7, 3, 4, 0),
    ("gb200", "system"): (186343999, 6, 1, 1, 790),
    ("x86-h100-hmm", "explicit"): (923469496, 0, 4, 0, 0),
    ("x86-h100-hmm", "managed"): (235045950, 28, 3, 19, 0),
    ("x86-h100-hmm", "system"): (274197252, 28, 12, 16, 0),
    ("mi300a", "explicit"): (930889743, 0, 4, 0, 0),
    ("mi300a", "managed"): (93265651, 20, 4, 0, 0),
    ("mi300a", "system"): (111910643, 20, 4, 0, 0),
}
"""By preset and kind: picoseconds, faults of GPU and host, pages that moved, lines that the GPU had of the host."""


def row(node: str, kind: str) -> tuple[int, int, int, int, int]:
    summary = octavo.run(workload="srad", node=node, scale=1 / 1024, overrides={"program.kind": kind}).summary
    accesses, manager, host = summary["accesses"], summary["manager"], summary["host"]
    moved = manager["migrations"] + manager["prefetched"]
    return summary["time_ps"], accesses["faults"], host["faults"], moved, accesses["remote_host_lines"]


@pytest.mark.parametrize(("node", "kind"), list(GOLDEN))
def test_a_small_program_takes_what_it_took(node, kind):
    assert row(node, kind) == GOLDEN[node, kind]


@pytest.mark.parametrize("kind", ["managed", "system", "explicit"])
def test_nothing_moves_where_there_is_one_memory(kind):
    result = octavo.run(workload="srad", node="mi300a", scale=1 / 1024, overrides={"program.kind": kind})
    assert result.summary["manager"]["migrations"] == 0
    assert result.summary["accesses"]["remote_host_lines"] == 0
    links = {row["link"]: row for row in result.table("links").to_dicts()}
    assert all(row[cause] == 0 for row in links.values() for cause in ("migration", "prefetch", "eviction"))
