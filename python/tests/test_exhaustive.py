"""Every placement: run here or on a cluster, and one for those that are alike."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import NoReturn

import polars as pl
import pytest

import octavo
from octavo.advice import bounds, exhaustive, symmetry
from octavo.advice.facts import PLACEMENTS
from octavo.errors import DamagedError
from octavo.runs import execute

TWO: dict = {"scale": 1 / 256, "quick": True, "exhaustive": True, "placements": ["device", "managed"]}


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    root = tmp_path_factory.mktemp("searched")
    return octavo.advise("vectoradd", output=root / "all", **TWO), root


def test_like_buffers_are_those_that_nothing_tells_apart(searched):
    buffers = [each.buffer for each in searched[0].plan.buffers]
    assert symmetry.classes(buffers) == [["b", "c"]]
    larger = replace(buffers[1], size=buffers[1].size + 1)
    assert symmetry.classes([buffers[0], larger, buffers[2]]) == []


def test_one_of_like_placements_stands_for_all():
    """Against all permutations: the representative is one of them, and the same for each."""
    alike = [["a", "c"]]
    for places in product(PLACEMENTS, repeat=3):
        choice = dict(zip("abc", places, strict=True))
        swapped = {**choice, "a": choice["c"], "c": choice["a"]}
        found = symmetry.representative(choice, alike)
        assert found in (choice, swapped)
        assert found == symmetry.representative(swapped, alike)


def test_a_search_with_symmetry_runs_less_and_finds_nearly_the_same(searched):
    every, root = searched
    assert every.exhausted is not None
    less = octavo.advise("vectoradd", symmetry=True, output=root / "less", **TWO)
    assert less.exhausted is not None
    points, all_points = less.exhausted.points, every.exhausted.points
    assert (points.height, all_points.height) == (8, 8)
    assert "run" not in all_points.columns
    # `ddd` and its like: of 4 placements of b and c, 3 are run for each of a.
    assert points["run"].n_unique() == len(list((root / "less" / "runs").iterdir())) == 6
    own = points.filter(points["run"] == points["placements"])
    both = own.join(all_points, on="placements", suffix="_of_all")
    assert (both["seconds"] == both["seconds_of_all"]).all()


def test_whoever_runs_it_finds_the_same_and_goes_on(searched):
    """Processes, as the runs of a cluster are: the cluster itself is tested with sweeps."""
    every, root = searched
    there = octavo.advise("vectoradd", on="local", workers=2, output=root / "there", **TWO)
    assert there.exhausted is not None
    assert every.exhausted is not None
    assert there.exhausted.points.equals(every.exhausted.points)
    seen: list[int] = []
    again = octavo.advise("vectoradd", on="local", output=root / "there", watch=lambda to: seen.append(to.kept), **TWO)
    assert again.exhausted is not None
    assert again.exhausted.points.equals(every.exhausted.points)
    assert seen == []  # Nothing is run, so no progress is reported.


@pytest.mark.parametrize("count", [16, 17])
def test_more_than_can_be_listed_is_refused_as_that(count):
    """17 like buffers are run 18 times, and have twice as many placements as are listed."""
    names = [f"b{number}" for number in range(count)]
    buffers = [SimpleNamespace(buffer=SimpleNamespace(name=name, size=1)) for name in names]
    every = dict.fromkeys(names, "managed")
    plan = SimpleNamespace(buffers=buffers, present=every, placements=every, budget=count)
    if count == 16:
        assert len(exhaustive.choices(plan, ("device", "managed"), [names])) == exhaustive.MOST_ROWS
        return
    with pytest.raises(
        octavo.AdviceError, match=r"131,072 placements, expected at most 65,536 to list, .* 18"
    ) as caught:
        exhaustive.choices(plan, ("device", "managed"), [names])
    assert "--symmetry" not in str(caught.value.hint)


def test_what_is_about_a_search_needs_one():
    with pytest.raises(octavo.AdviceError, match="`symmetry`: expected exhaustive beside it"):
        octavo.advise("vectoradd", scale=1 / 256, quick=True, symmetry=True)
    with pytest.raises(octavo.ScenarioError, match="cannot run on `moon`"):
        octavo.advise("vectoradd", on="moon", **TWO)


BOUNDED: dict = {
    "scale": 1 / 256,
    "quick": True,
    "exhaustive": True,
    "bounds": True,
    "placements": ["device", "managed"],
}


def test_with_bounds_all_runs_are_where_they_were_asked_to_be(tmp_path, monkeypatch):
    """The present and the advised placement, too."""

    def here(*_: object, **__: object) -> NoReturn:
        raise AssertionError("it ran here")

    monkeypatch.setattr(execute._Runs, "_run", here)
    there = octavo.advise("vectoradd", on="local", workers=2, output=tmp_path / "there", **BOUNDED)
    assert there.exhausted is not None
    assert there.exhausted.points.height == 8


def test_what_an_earlier_search_left_is_checked(tmp_path):
    root, asked = tmp_path / "kept", {**BOUNDED, "scale": 1 / 32}
    first = octavo.advise("background", output=root, **asked).exhausted
    assert first is not None
    cut = json.loads((root / bounds.CUT_FILE).read_text())
    assert cut, "no run was given up"
    for run in (root / "runs").iterdir():
        if run.name in cut:
            shutil.rmtree(run)
    again = octavo.advise("background", output=root, **asked).exhausted
    assert again is not None
    assert again.points.equals(first.points)
    (root / bounds.CUT_FILE).write_text(json.dumps(dict.fromkeys(cut, 1e9)))
    with pytest.raises(DamagedError, match=r"cut\.json is damaged: expected \d"):
        octavo.advise("background", output=root, **asked)
    renewed = octavo.advise("background", output=root, force=True, **asked).exhausted
    assert renewed is not None
    assert renewed.points.equals(first.points)


def test_bounds_find_the_same_as_all_runs(tmp_path):
    """Against every placement run to its end: the fastest, the advice and all that are told are the same."""
    asked: dict = {"scale": 1 / 32, "quick": True, "exhaustive": True, "placements": ["device", "managed"]}
    every = octavo.advise("background", output=tmp_path / "all", **asked).exhausted
    bounded = octavo.advise("background", bounds=True, output=tmp_path / "bounded", **asked).exhausted
    assert every is not None
    assert bounded is not None
    assert (bounded.best["placements"], bounded.regret) == (every.best["placements"], every.regret)
    both = bounded.points.join(every.points, on="placements", suffix="_of_all")
    told, given_up = both.filter(pl.col("seconds").is_not_null()), both.filter(pl.col("seconds").is_null())
    assert (told["seconds"] == told["seconds_of_all"]).all()
    assert given_up.height > 0
    assert (given_up["seconds_of_all"] > given_up["at_least"]).all()
    assert (given_up["at_least"] >= bounded.best["seconds"]).all()
    assert given_up["regret"].null_count() == given_up.height
