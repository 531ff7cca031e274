"""What faults wait for: the histograms of runs, against their summary and their timeline."""

from __future__ import annotations

import polars as pl
import pytest
from conftest import SMALL

import octavo
from octavo.explain import words
from octavo.explain.facts import facts
from octavo.explain.waits import TOTAL, percentile, waits

PLACEMENTS = ("on-touch", "access-counter", "duplication", "grit")


@pytest.fixture(scope="module", params=PLACEMENTS)
def run(request):
    return octavo.run(workload="stencil2d", scale=SMALL, placement=request.param)


def sums(result):
    table = result.table("fault_waits").group_by("part").agg(pl.col("faults", "sum_ps").sum())
    return {row["part"]: (row["faults"], row["sum_ps"]) for row in table.to_dicts()}


def test_every_fault_counts_once_and_its_parts_sum_to_the_whole(run):
    found = sums(run)
    assert {count for count, _ in found.values()} == {run.summary["accesses"]["faults"]}
    assert sum(time for part, (_, time) in found.items() if part != TOTAL) == found[TOTAL][1]
    rows = run.table("fault_waits")
    assert (rows["from_ps"] * rows["faults"] <= rows["sum_ps"]).all()
    assert (rows["sum_ps"] < rows["below_ps"] * rows["faults"]).all()
    assert ((rows["below_ps"] - rows["from_ps"]) <= (rows["from_ps"] / 32).clip(lower_bound=1)).all()


def test_service_is_what_the_driver_takes_for_each(run):
    # Each request takes one server for 1250 ns.
    count, time = sums(run)["service"]
    assert time == count * 1_250_000


def test_no_run_without_faults_and_no_fault_without_a_message():
    still = octavo.run(workload="stencil2d", scale=SMALL, placement="interleaved")
    assert "fault_waits" not in still.tables
    assert waits(still) == []
    assert "faults wait" not in " ".join(words.run("still", facts(still)))


def test_percentiles_are_the_means_of_their_ranges():
    rows = pl.DataFrame({"from_ps": [0, 10, 20], "faults": [5, 4, 1], "sum_ps": [5, 44, 25]})
    assert [percentile(rows, share) for share in (0.5, 0.51, 0.9, 0.91, 0.99)] == [1.0, 11.0, 11.0, 25.0, 25.0]
    assert percentile(rows.clear(), 0.5) == 0.0


def test_explanations_and_reports_tell_them(run, tmp_path, cli):
    found = {one.part: one for one in run.explain().facts.waits}
    assert list(found)[-1] == TOTAL
    assert sum(one.share for part, one in found.items() if part != TOTAL) == pytest.approx(1)
    assert found[TOTAL].p50_ps <= found[TOTAL].p95_ps <= found[TOTAL].p99_ps
    assert f"Half of the faults wait {words.duration(found[TOTAL].p50_ps)} or less" in str(run.explain())
    page = run.report(tmp_path / "run.html").read_text(encoding="utf-8")
    assert '"part":"queues"' in page
    told = cli("explain", str(run.folder))
    assert told.returncode == 0
    assert "what faults wait for" in told.stdout
    assert "draining compute units" in told.stdout


@pytest.mark.parametrize(
    ("picoseconds", "text"), [(500, "0.5 ns"), (1_500, "1.5 ns"), (2_000_000, "2.0 µs"), (3_456_000_000, "3.5 ms")]
)
def test_waits_have_the_unit_that_suits_them(picoseconds, text):
    assert words.duration(picoseconds) == text
