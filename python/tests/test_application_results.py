"""What applications of the MemMap study compute, beside what numpy and scipy compute of the same input."""

from __future__ import annotations

import numpy as np
import pytest

from octavo import api

csgraph = pytest.importorskip("scipy.sparse.csgraph")
sparse = pytest.importorskip("scipy.sparse")


def computed(name, *overrides):
    found = api.workload_result(api.scenario(workload=name, seed=3, overrides=overrides))
    return {
        key: np.array([np.inf if value is None else value for value in values])
        for key, values in found.items()
        if key != "result"
    }


def test_every_point_is_in_its_nearest_cluster():
    found = computed("kmeans", "workload.points=500", "workload.rounds=500")
    points, centres = found["features"].reshape(500, 34), found["clusters"].reshape(5, 34)
    distances = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
    chosen = distances[np.arange(500), found["membership"].astype(int)]
    assert chosen == pytest.approx(distances.min(axis=1), rel=1e-5)
    means = np.array([points[found["membership"] == cluster].mean(axis=0) for cluster in range(5)])
    assert means == pytest.approx(centres, abs=1e-5)


def test_the_background_is_learnt_and_what_moves_is_in_front():
    found = computed("background", "workload.pixels=300", "workload.frames=4")
    frames = found["frames"].reshape(5, 900).astype(np.float32)
    background, learnt = frames[0], np.float32(0.03)
    for frame in frames[1:]:
        foreground = np.where(np.floor(np.abs(frame - background)) > 10, frame, 0)
        background = background * (np.float32(1) - learnt) + frame * learnt
    assert (found["foreground"] == foreground).all()
    assert found["background"] == pytest.approx(background, rel=1e-6)


def test_places_that_match_are_found_and_scored():
    found = computed("alignment", "workload.target=100000", "workload.query=40", "workload.batch=30000")
    letters = {key: bytes(found[key].astype(np.uint8)) for key in ("target", "query")}
    runs = {letters["query"][at : at + 11] for at in range(30)}
    places = [at for at in range(100000 - 11) if letters["target"][at : at + 11] in runs]
    spans = list(zip(found["places"].astype(int), found["places_end"].astype(int), strict=True))
    assert len(places) > 20
    assert [place for start, end in spans for place in range(start, end)] == places
    for (start, end), score in zip(spans, found["scores"], strict=True):
        assert score == smith_waterman(letters["query"], letters["target"][start : end + 40])


def smith_waterman(query, target):
    scores = np.zeros((len(target) + 1, len(query) + 1), int)
    for row, letter in enumerate(target, 1):
        for column, own in enumerate(query, 1):
            along = scores[row - 1, column - 1] + (4 if own == letter else -1)
            scores[row, column] = max(0, along, scores[row - 1, column] - 2, scores[row, column - 1] - 2)
    return scores.max()


def test_keys_hang_where_their_walk_ends():
    found = computed("bst", "workload.keys=400", "workload.batches=3")
    keys, parents = found["keys"], found["parents"]
    assert np.isinf(parents[0])
    children = {}
    for number in range(1, 400):
        at = 0
        while (side := (at, keys[number] >= keys[at])) in children:
            at = children[side]
        children[side] = number
        assert parents[number] == at


def test_the_best_creatures_survive():
    found = computed("evolution", "workload.population=200", "workload.generations=8")
    for best in (found["best_of_island_1"], found["best_of_island_2"]):
        assert len(best) == 8
        assert best[-1] > best[0]


@pytest.mark.parametrize(
    "graph",
    ["workload.graph={vertices=300,edges=900}", "workload.graph={vertices=400,edges=150}"],
    ids=["drawn", "in pieces"],
)
def test_the_forest_is_the_lightest(graph):
    found = computed("mst", graph)
    offsets, neighbours = found["offsets"].astype(int), found["neighbours"].astype(int)
    size = len(offsets) - 1
    row = np.repeat(np.arange(size), np.diff(offsets))
    # Several edges between two vertices have the same weight.
    (ends, first) = np.unique(np.stack([row, neighbours]), axis=1, return_index=True)
    matrix = sparse.coo_array((found["weights"][first], tuple(ends)), shape=(size, size)).tocsr()
    expected = csgraph.minimum_spanning_tree(matrix)
    chosen = found["chosen"][np.isfinite(found["chosen"])]
    assert sorted(chosen) == sorted(expected.data)


def test_all_that_is_shown_has_a_name(cli):
    done = cli("workload", "result", "bst", "--set", "workload.keys=100")
    assert done.returncode == 0, done.stderr
    assert "largest parents of 100" in done.stdout
