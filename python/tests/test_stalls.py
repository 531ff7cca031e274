"""What the time of kernels passes with: shares that sum up, sentences that follow them, changes against them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from conftest import SMALL

import octavo
from octavo.explain import changes, words
from octavo.explain.facts import facts
from octavo.explain.stalls import GAP, TABLE, Stalled, of_kernels, together
from octavo.explain.words_of_stalls import NAMES, STALLED
from octavo.report import stalls
from octavo.report.runs import read
from octavo.runs.colours import STALLS
from octavo.scenarios.scenario import Recipe

H100 = Path(__file__).parents[2] / "machines" / "h100.toml"
NEEDLE = {"workload": "nw", "kind": "explicit", "node": str(H100), "scale": SMALL}


@pytest.fixture(scope="module")
def needle(tmp_path_factory):
    return octavo.run(**NEEDLE, output=tmp_path_factory.mktemp("stalled") / "needle")


def of_one(**stalls):
    kernel = {"kernel": "one", "launches": 4, "time_ps": 1000, "share": 1.0, "in_series": 32.0}
    return Stalled(**kernel, stalls=stalls, allocations={"table": 0.9, "seldom": 0.04})


def test_stalls_sum_up_to_the_time_of_wavefronts(needle):
    sums = needle.table(TABLE).group_by("kernel").agg(pl.sum("wavefront_ps")).sort("kernel")
    assert sums.equals(needle.table("kernels").group_by("kernel").agg(pl.sum("wavefront_ps")).sort("kernel"))


def test_shares_are_of_the_time_of_kernels(needle):
    kernels = of_kernels(needle)
    table = needle.table("kernels").with_columns(time=pl.col("ended_ps") - pl.col("began_ps"))
    assert [one.kernel for one in kernels] == sorted(
        table["kernel"].unique().to_list(),
        key=lambda name: -table.filter(pl.col("kernel") == name)["time"].sum(),
    )
    assert sum(one.share for one in kernels) == pytest.approx(1)
    for one in kernels:
        own = table.filter(pl.col("kernel") == one.kernel)
        assert (one.launches, one.time_ps) == (own.height, own["time"].sum())
        assert one.stalls[GAP] == pytest.approx(1 - own["run_ps"].sum() / one.time_ps)
        assert sum(one.stalls.values()) == pytest.approx(1)
        assert sum(one.allocations.values()) == pytest.approx(1)
    whole = together(kernels)
    assert sum(whole.values()) == pytest.approx(1)
    assert whole[GAP] == pytest.approx(1 - table["run_ps"].sum() / table["time"].sum())
    # Launches in a row are this far apart on an H100, whatever they do.
    gaps = (table["time"] - table["run_ps"]).unique().to_list()
    assert gaps == [pytest.approx(2_854_545, rel=1e-3)]


def test_loads_in_series_are_waits_of_a_wavefront(needle):
    for one in of_kernels(needle):
        own = pl.col("kernel") == one.kernel
        waits = needle.table(TABLE).filter(own, pl.col("stall").cast(pl.String) == "load")["waits"].sum()
        assert one.in_series == waits / needle.table("kernels").filter(own)["wavefronts"].sum()
        assert one.in_series > 1


def test_every_stall_has_words_and_a_colour(needle):
    assert set(needle.table(TABLE)["stall"]) < STALLED.keys() == NAMES.keys()
    assert len(stalls.SHADES) == len(STALLS)
    drawn = stalls.rows(read([needle.folder]))
    assert {row["stall"] for row in drawn} <= stalls.SHADES.keys()


def test_stalls_lead_where_accesses_tell_least(needle):
    found = replace(facts(needle), phases={})
    first = words.run("it", found)[0]
    biggest = next(stall for stall in together(found.kernels) if stall != GAP)
    assert STALLED[biggest] in first
    assert words.SPENT["local"] not in first
    unknown = words.run("it", replace(found, kernels=[]))[0]
    assert words.SPENT["local"] in unknown
    faulting = words.run("it", replace(found, shares={"host": 1.0}))
    assert words.SPENT["host"] in faulting[0]
    assert STALLED[biggest] in faulting[1]


def test_gaps_are_told_apart_from_the_rest(needle):
    def said(**found):
        return words.run("it", replace(facts(needle), phases={}, kernels=[of_one(**found)]))

    first, *others = said(gap=0.2, load=0.6, barrier=0.2)
    assert [share in first for share in ("20%", "75%", "25%")] == [True] * 3
    assert [text in "\n".join(others) for text in ("32 times", "table 90%", "seldom")] == [True, True, False]
    assert STALLED[GAP] not in said(gap=0.01, load=0.99)[0]
    assert "100%" in said(gap=1.0)[0]


def test_nobody_speaks_of_kernels_that_hardly_count(needle):
    told = [replace(of_one(load=1.0), share=0.95), replace(of_one(load=1.0), kernel="rare", share=0.05)]
    sentences = "\n".join(words.run("it", replace(facts(needle), kernels=told)))
    assert "one (95%" in sentences
    assert "rare" not in sentences


def test_what_wavefronts_wait_for_has_changes_of_its_own(needle):
    recipe, scenario = Recipe(needle.scenario.toml, "scenario"), needle.scenario
    plain = dict(changes.changes(recipe, scenario))
    all_of_them = dict.fromkeys(STALLED, changes.TRIED)
    more = {
        label: override for label, (override, _) in changes.changes(recipe, scenario, all_of_them) if label not in plain
    }
    assert "node.compute.kernel_overhead=0cycles" in more.values()
    assert "node.ideal_tlb=true" in more.values()
    assert "node.compute.loads_ahead=12" in more.values()
    assert dict(changes.changes(recipe, scenario, dict.fromkeys(STALLED, 0.01))).keys() == plain.keys()
    one = dict(changes.changes(recipe, scenario, {"barrier": 1.0}))
    assert [one[label][0] for label in one.keys() - plain.keys()] == ["node.compute.barrier=0cycles"]


def test_launches_without_gaps_take_what_they_ran(needle, tmp_path):
    scenario = dict(changes.changes(Recipe(needle.scenario.toml, "scenario"), needle.scenario, {GAP: 1.0}))
    changed = scenario["launches without gaps"][1]
    found = octavo.run(changed, output=tmp_path / "changed")
    kernels = found.table("kernels")
    assert (kernels["ended_ps"] - kernels["began_ps"]).to_list() == kernels["run_ps"].to_list()
    assert GAP not in together(of_kernels(found))


def test_a_report_draws_the_time_of_each_kernel(needle):
    rows = pl.DataFrame(stalls.rows(read([needle.folder])))
    whole = rows.group_by("kernel").agg(pl.sum("share", "time_ms"), pl.first("whole"))
    assert whole["share"].to_list() == pytest.approx([1.0] * whole.height)
    assert whole["time_ms"].to_list() == pytest.approx(whole["whole"].to_list())
    assert set(rows["stall"]) <= stalls.SHADES.keys()


def test_fidelity_page_has_no_stalls(tmp_path):
    result = octavo.run(workload="fir", scale=SMALL, fidelity="page", output=tmp_path / "page")
    assert TABLE not in result.tables
    assert facts(result).kernels == []
    assert stalls.rows(read([result.folder])) == []
