"""Anybody's figures beside runs."""

from __future__ import annotations

import json

import pytest
from conftest import SMALL, refused

import octavo
from octavo.errors import ValidationError
from octavo_studies.validate import correlate
from octavo_studies.validate.correlate import Correlation, Pair, spearman


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("correlated")
    for placement in ("on-touch", "grit"):
        octavo.run(workload="stencil2d", scale=SMALL, placement=placement, output=root / placement)
    return root


def written(runs, *rows, head="run,measure,value,unit"):
    path = runs / "mine.csv"
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


def test_figures_stand_beside_what_runs_have(runs, cli):
    summary = octavo.RunResult.load(runs / "grit").summary
    half = summary["time_ps"] * 0.5e-6
    path = written(runs, f"grit,time,{half},us", "on-touch,migrations,0,")
    first, second = correlate(path).pairs
    assert (first.unit, first.found) == ("us", pytest.approx(2 * half))
    assert first.error == pytest.approx(1.0)
    assert second.found > 0
    told = cli("validate", "correlate", str(path), "--json")
    document = json.loads(told.stdout)
    assert document["pairs"][0]["error"] == pytest.approx(1.0)
    assert document["pairs"][1]["error"] is None
    assert "rank correlation" in cli("validate", "correlate", str(path)).stdout


def test_measures_that_end_in_their_unit_need_no_other(runs):
    time = octavo.RunResult.load(runs / "grit").summary["time_ps"]
    (pair,) = correlate(written(runs, f"grit,time_ps,{time},")).pairs
    assert (pair.unit, pair.error) == ("ps", 0.0)


def test_the_summary_is_that_of_the_figures():
    pairs = [Pair("a", "time", "ms", value, found) for value, found in ((10, 10.5), (20, 19), (30, 60), (40, 80))]
    (row,) = Correlation(pairs).summary()
    assert row["count"] == 4
    assert row["mean_error"] == pytest.approx((0.05 + 0.05 + 1 + 1) / 4)
    assert row["median_error"] == pytest.approx(0.525)
    assert row["within_10"] == 0.5
    assert row["rank"] == pytest.approx(1.0)


def test_ranks_are_spearmans():
    assert spearman([1, 2, 3, 4], [8, 6, 4, 2]) == pytest.approx(-1)
    # 1 - 6 * (0 + 1 + 1 + 0) / (4 * 15)
    assert spearman([1, 2, 3, 4], [10, 30, 20, 40]) == pytest.approx(0.8)
    assert spearman([1, 1, 2], [1, 1, 2]) == pytest.approx(1)
    assert spearman([1, 1, 1], [1, 2, 3]) is None
    assert spearman([1, 2], [1, 2]) is None


def test_a_table_that_is_not_there_is_named_once(tmp_path):
    with refused("unreadable", ValidationError, file="nope.csv"):
        correlate(tmp_path / "nope.csv")


@pytest.mark.parametrize(
    ("row", "code", "facts"),
    [
        ("grit,tim,1,", "unknown-name", {"found": "tim"}),
        ("grit,time,1,h", "unexpected-value", {"key": "time", "found": "`h`"}),
        ("grit,time,1,", "unexpected-value", {"key": "time", "found": "none"}),
        ("gritt,time,1,ms", "nothing-there", {"file": "gritt"}),
        ("grit,faults,1,ms", "unexpected-value", {"found": "ms"}),
        ("grit,time,much,ms", "unexpected-value", {"key": "value", "found": "much"}),
        ("grit,time,-1,ms", "unexpected-value", {"key": "value", "found": "-1"}),
        ("grit,time", "unexpected-value", {}),
        ("grit,time,1,ms,2", "unexpected-value", {}),
    ],
)
def test_what_cannot_be_compared_is_named_with_its_line(runs, row, code, facts):
    with refused(code, names=["mine.csv:2"], **facts):
        correlate(written(runs, row))


def test_a_table_that_is_no_csv_is_refused(runs):
    with refused("unreadable", ValidationError, file="mine.csv"):
        correlate(written(runs, f"grit,time,{'1' * 200_000},ms"))


def test_tables_without_figures_or_columns_are_refused(runs):
    with refused("missing", ValidationError, file="mine.csv"):
        correlate(written(runs))
    with refused("missing", ValidationError, file="mine.csv", key="value"):
        correlate(written(runs, "grit,time", head="run,measure"))
    with refused("unknown-key", ValidationError, file="mine.csv", key="who", found="who"):
        correlate(written(runs, "grit,time,1,me", head="run,measure,value,who"))
