"""Graphs in files: what NumPy writes is read, one graph in two formats is the same, errors say where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from conftest import refused

import octavo

if TYPE_CHECKING:
    from pathlib import Path

# Each vertex leads to the next ones, of 300; none leads back.
EDGES = [(vertex, vertex + step) for vertex in range(300) for step in (1, 7) if vertex + step < 300]


def launches(graph: Path) -> int:
    """Of a search, which follow from the levels, from vertex 0."""
    options = {"workload.graph": str(graph), "workload.source": 0}
    result = octavo.run(workload="bfs-balanced", node="grit-2gpu", overrides=options)
    return len(result.table("kernels"))


def levels() -> int:
    """How many levels there are, by dynamic programming."""
    level = [0] + [1000] * 299
    for start, end in EDGES:
        level[end] = min(level[end], level[start] + 1)
    return max(level) + 1


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_rows_that_numpy_wrote(save, kind, tmp_path):
    ends = np.cumsum([0] + [sum(start == vertex for start, _ in EDGES) for vertex in range(300)])
    indices = np.array([end for _, end in EDGES])
    save(tmp_path / "graph.npz", indptr=ends.astype(kind), indices=indices.astype(kind), data=np.ones(len(EDGES)))
    assert launches(tmp_path / "graph.npz") == 1 + 2 * levels()


def test_matrix_market_and_lists_of_edges_are_the_same_graph(tmp_path):
    matrix = "\n".join(f"{start + 1} {end + 1}" for start, end in EDGES)
    header = f"%%MatrixMarket matrix coordinate pattern general\n300 300 {len(EDGES)}\n"
    (tmp_path / "graph.mtx").write_text(header + matrix)
    (tmp_path / "graph.txt").write_text("# directed\n" + "\n".join(f"{start}\t{end}" for start, end in EDGES))
    assert launches(tmp_path / "graph.mtx") == launches(tmp_path / "graph.txt") == 1 + 2 * levels()


def test_a_vertex_out_of_range_is_named_with_its_line(tmp_path):
    graph = tmp_path / "graph.mtx"
    graph.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n4 1\n")
    with refused("cannot-run", names=["graph.mtx, line 4", "3", "4"]):
        launches(graph)
