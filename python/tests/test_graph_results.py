"""What programs on graphs compute, beside what networkx and scipy compute of the same graphs."""

from __future__ import annotations

import numpy as np
import pytest

from octavo import api

nx = pytest.importorskip("networkx")
csgraph = pytest.importorskip("scipy.sparse.csgraph")
sparse = pytest.importorskip("scipy.sparse")

GRAPHS = {
    "drawn": "workload.graph={vertices=300,edges=900}",
    "with a direction": "workload.graph={vertices=300,edges=600,directed=true,shuffled=false}",
    "in pieces": "workload.graph={vertices=400,edges=150}",
}


@pytest.fixture(params=GRAPHS)
def graph(request):
    return GRAPHS[request.param]


def computed(name, *overrides):
    found = api.workload_result(api.scenario(workload=name, seed=3, overrides=overrides))
    values = [np.inf if value is None else value for value in found[found["result"]]]
    return np.array(values), np.array(found["offsets"], int), np.array(found["neighbours"], int), found


def rows(offsets, neighbours, weights=None):
    """The matrix of a graph: edges between the same two vertices count once, with the least weight, or all of them."""
    size = len(offsets) - 1
    row = np.repeat(np.arange(size), np.diff(offsets))
    if weights is None:
        return sparse.coo_array((np.ones(len(row)), (row, neighbours)), shape=(size, size)).tocsr()
    order = np.lexsort((weights, neighbours, row))
    pairs, first = np.unique(np.stack([row, neighbours])[:, order], axis=1, return_index=True)
    return sparse.coo_array((weights[order][first], tuple(pairs)), shape=(size, size)).tocsr()


def test_ranks(graph):
    found, offsets, neighbours, _ = computed("pagerank", graph, "workload.tolerance=1e-10")
    # Rows hold where edges come from.
    links = nx.from_scipy_sparse_array(rows(offsets, neighbours).T.tocsr(), create_using=nx.DiGraph)
    expected = nx.pagerank(links, alpha=0.85, tol=1e-12, max_iter=1000)
    assert found == pytest.approx([expected[vertex] for vertex in range(len(found))], abs=1e-8)


def test_levels(graph):
    found, offsets, neighbours, _ = computed("bfs-balanced", graph, "workload.source=7")
    assert (found == csgraph.shortest_path(rows(offsets, neighbours), unweighted=True, indices=7)).all()


def test_distances(graph):
    found, offsets, neighbours, result = computed("sssp", graph, "workload.source=7", "workload.largest_weight=9")
    weights = rows(offsets, neighbours, np.array(result["weights"]))
    assert (found == csgraph.dijkstra(weights.T.tocsr(), indices=7)).all()


def test_components(graph):
    found, offsets, neighbours, _ = computed("wcc", graph)
    check_components(found, rows(offsets, neighbours))


def test_components_by_sampling(graph):
    found, offsets, neighbours, _ = computed("wcc", graph, "workload.algorithm=afforest")
    check_components(found, rows(offsets, neighbours))


def test_communities(graph):
    found, offsets, neighbours, _ = computed("louvain", graph)
    # Rows hold both ends of each edge, and several edges between two vertices weigh more.
    links = nx.from_scipy_sparse_array(rows(offsets, neighbours))
    together = [set(np.flatnonzero(found == community)) for community in np.unique(found)]
    best = nx.community.modularity(links, nx.community.louvain_communities(links, seed=1))
    assert nx.community.modularity(links, together) > 0.9 * best


def check_components(found, matrix):
    count, expected = csgraph.connected_components(matrix, directed=False)
    least = [np.flatnonzero(expected == component)[0] for component in range(count)]
    assert (found == np.array(least)[expected]).all()


def test_a_program_without_a_result_is_refused(cli):
    done = cli("workload", "result", "fir", "--scale", "0.01")
    assert done.returncode == 2
    assert "programs on graphs do" in done.stderr


def test_results_are_printed(cli):
    done = cli("workload", "result", "bfs-balanced", "--set", GRAPHS["in pieces"])
    assert done.returncode == 0, done.stderr
    assert "of 400 vertices" in done.stdout
