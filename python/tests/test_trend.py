"""Whether a conclusion holds from scale to scale."""

from __future__ import annotations

import json

import pytest

from octavo.runs.trend import Course, Trend


@pytest.mark.parametrize(
    ("speedups", "at_full_size", "verdict"),
    [
        ((1.3, 1.3, 1.3), 1.3, "holds"),
        ((0.8, 0.85, 0.9), 0.95, "holds"),
        ((0.8, 0.9, 0.97), 1.4, "may turn"),
        ((0.8, 0.95, 1.1), 1.5, "turns"),
        ((1.01, 0.99, 1.0), 1.0, "holds"),
    ],
)
def test_a_conclusion_holds_where_no_scale_says_otherwise(speedups, at_full_size, verdict):
    assert Course("fir", "managed", speedups, at_full_size).verdict == verdict


def test_a_trend_needs_the_same_variants_at_each_scale():
    class Points:
        def __init__(self, rows):
            self.rows = rows

        def select(self, *_):
            return self

        def iter_rows(self):
            return iter(self.rows)

    class Compared:
        baseline = "explicit"

        def __init__(self, **speedups):
            self.points = Points([("fir", name, speedup) for name, speedup in {"explicit": 1.0, **speedups}.items()])

    trend = Trend.of({1 / 4: Compared(managed=0.5, pinned=2.0), 1 / 8: Compared(managed=0.25)})
    assert trend.scales == (1 / 8, 1 / 4)
    assert [course.variant for course in trend.courses] == ["managed"]
    assert trend.courses[0].at_full_size == pytest.approx(2.0), "doubled once from 1/8 to 1/4, so twice more to 1"
    assert trend.to_dict()["variants"][0]["verdict"] == "may turn"


def test_compare_says_whether_it_holds(cli):
    small = ("compare", "fir", "-n", "cuda-sm90", "--kind", "explicit,managed", "--scale", "1/64", "--trend", "-o", "a")
    done = cli(*small, "--json")
    found = json.loads(done.stdout)["trend"]
    assert found["scales"] == [1 / 256, 1 / 128, 1 / 64]
    assert [one["variant"] for one in found["variants"]] == ["managed"]
    assert found["variants"][0]["verdict"] in cli(*small).stdout


@pytest.mark.parametrize("given", [("--set", "workload.samples=20000"), ("--executor", "instant")])
def test_a_trend_needs_a_size_that_follows_the_scale(cli, given):
    done = cli("compare", "fir", "-n", "cuda-sm90", "--kind", "explicit,managed", "--trend", *given, "-o", "a")
    assert done.returncode == 2
    assert "--trend" in done.stderr


def test_a_dry_run_counts_all_scales(cli):
    small = (
        "compare",
        "fir",
        "-n",
        "cuda-sm90",
        "--kind",
        "explicit,managed",
        "--scale",
        "1/256",
        "--dry-run",
        "--json",
    )
    runs = [json.loads(cli(*small, *more).stdout)["runs"] for more in ((), ("--trend",))]
    assert runs == [2, 6]
