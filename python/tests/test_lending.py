"""Who lends to whom and where pages come from: a history by hand, and a run beside what its manager counts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from conftest import refused

import octavo
from octavo.report.data import gather
from octavo.report.runs import read
from octavo.runs import lending, pictures

PAGE = 4096
EVENTS = [
    # time, kind, page, pages, from, to: 0 is the host, 1 is GPU 0.
    (10, "migration", 0, 4, 0, 1),
    (20, "eviction", 0, 4, 1, 2),
    (25, "duplication", 0, 4, 2, 0),
    (30, "read_fault", 0, 1, 1, 0),
    (40, "migration", 0, 2, 2, 1),
    (50, "write_fault", 2, 1, 2, 0),
    (60, "discard", 3, 1, 2, 2),
    (70, "duplication", 8, 1, 0, 3),
    (75, "read_fault", 8, 1, 1, 0),
    (80, "migration", 8, 1, 3, 1),
    (85, "prefetch", 9, 1, 0, 1),
    (90, "eviction", 9, 1, 1, 3),
    (95, "eviction", 0, 1, 1, 0),
]


@pytest.fixture
def by_hand() -> Any:
    columns = ["time_ps", "kind", "page", "pages", "from", "to"]
    events = pl.DataFrame(EVENTS, schema=columns, orient="row").with_columns(address=pl.col("page") * PAGE)
    unsigned = events.drop("page").cast(dict.fromkeys(("time_ps", "address", "pages", "from", "to"), pl.UInt64))
    scenario = SimpleNamespace(values={"memory": {"page_size": "4KiB"}})
    return SimpleNamespace(table={"events": unsigned}.__getitem__, summary={"time_ps": 100}, scenario=scenario)


def test_what_is_kept_for_whom_and_when(by_hand):
    found = lending.intervals(by_hand)
    rows = [(row["keeper"], row["owner"], row["began_ps"], row["ended_ps"], row["bytes"]) for row in found.to_dicts()]
    assert rows == [
        (1, 0, 20, 40, 2 * PAGE),  # taken back
        (1, 0, 20, 50, PAGE),  # the keeper wrote to it: its own from then on
        (1, 0, 20, 60, PAGE),  # given up
        (2, 0, 70, 80, PAGE),  # staged on its way from the host
        (2, 0, 90, 100, PAGE),  # there to the end
    ]


def test_averages_over_parts_of_the_run_add_up(by_hand):
    found = lending.over_time(by_hand, 5)
    kept = {(row["keeper"], row["from_ps"]): row["bytes"] / PAGE for row in found.to_dicts()}
    assert kept[1, 20] == 4
    assert kept[1, 40] == pytest.approx(1 * 0.5 + 1)
    assert kept[2, 60] == pytest.approx(0.5)
    assert kept[1, 0] == kept[1, 80] == 0
    totals = {(row["keeper"], row["owner"]): row for row in lending.totals(by_hand).to_dicts()}
    assert totals[1, 0]["sent"] == 4 * PAGE
    assert totals[1, 0]["most"] == 4 * PAGE
    assert totals[1, 0]["mean"] == pytest.approx((2 * 20 + 30 + 40) * PAGE / 100)
    assert totals[2, 0]["most"] == PAGE


def test_pairs_beyond_the_colours_are_one():
    """Of twelve pairs, the nine that lend most have an area of their own."""
    pairs = [(keeper, owner) for keeper in range(4) for owner in range(4) if keeper != owner]
    rows = [
        {"keeper": keeper, "owner": owner, "from_ps": at, "to_ps": at + 1, "bytes": 1.0 + number}
        for number, (keeper, owner) in enumerate(pairs)
        for at in (0, 1)
    ]
    found = lending.by_pair(pl.DataFrame(rows))
    names = found["pair"].unique(maintain_order=True).to_list()
    assert names == [*(lending.called(*pair) for pair in pairs[3:]), lending.OTHERS]
    assert found.filter(pair=lending.OTHERS)["bytes"].to_list() == [1.0 + 2.0 + 3.0] * 2
    few = lending.by_pair(pl.DataFrame(rows).filter(keeper=3))
    assert few["pair"].unique(maintain_order=True).to_list() == [lending.called(*pair) for pair in pairs[9:]]


def test_where_pages_came_from(by_hand):
    rows = lending.sources(by_hand).to_dicts()
    assert rows == [
        {"gpu": 0, "why": "fault", "host": 4, "neighbour": 2, "staged": 1},
        {"gpu": 0, "why": "prefetch", "host": 1, "neighbour": 0, "staged": 0},
    ]


HARVEST = """
node.preset = "grit-2gpu"
node.capacity = { bytes = "6MiB", footprint_percent = 0 }
memory.preset = "stock-driver"
memory.prefetch.threshold = 1
memory.demotion = { name = "spare-memory", reserve = "1MiB" }

[[job]]
name = "harvester"
workload = { name = "stencil2d", scale = 0.25 }
gpus = [0]

[[job]]
name = "owner"
workload = { name = "spmv", scale = 0.0625 }
gpus = [1]
start = "5ms"
until = "harvester"
"""


def test_a_run_lends_what_its_manager_counts(tmp_path):
    (tmp_path / "harvest.toml").write_text(HARVEST)
    result = octavo.run(tmp_path / "harvest.toml", output=tmp_path / "run")
    manager = result.summary["manager"]
    totals = lending.totals(result)
    assert totals["sent"].sum() == manager["evictions_to_spare"] * PAGE
    sources = lending.sources(result)
    assert sources["neighbour"].sum() == manager["fetched_from_spare"]
    assert totals.select("keeper", "owner").rows() == [(1, 0)]
    assert 0 < totals["mean"].item() < totals["most"].item() <= 6 << 20
    mean = lending.over_time(result, 7)
    weighted = (mean["bytes"] * (mean["to_ps"] - mean["from_ps"])).sum() / result.summary["time_ps"]
    assert weighted == pytest.approx(totals["mean"].item(), rel=1e-6)


def test_all_techniques_go_with_grit_and_mosaic(tmp_path):
    (tmp_path / "harvest.toml").write_text(HARVEST.replace("scale = 0.25", "scale = 0.2"))
    techniques = {"pre_eviction": True, "parallel_fetch": True}
    large = {key: {"entries": 16, "ways": 16} for key in ("node.l1_tlb.large", "node.l2_tlb.large")}
    mosaic = {"memory.sizing": "mosaic", "memory.allocator": "cocoa"} | large
    changes = {f"memory.demotion.{name}": value for name, value in techniques.items()}
    changes |= {"memory.host_frames": "large", "memory.prefetch": {"name": "multi-path"}} | mosaic
    result = octavo.run(tmp_path / "harvest.toml", placement="grit", overrides=changes, output=tmp_path / "run")
    manager = result.summary["manager"]
    assert min(manager[count] for count in ("fetched_from_spare", "staged", "coalesced")) > 0


@pytest.mark.parametrize("executor", ["simulated", "instant"])
def test_a_reserve_of_more_than_half_of_a_gpu_is_refused(tmp_path, executor):
    (tmp_path / "harvest.toml").write_text(HARVEST.replace("1MiB", "4MiB").replace('start = "5ms"', ""))
    with refused("unexpected-value", key="memory.demotion.reserve", names=["3MiB", "4MiB"]):
        octavo.run(tmp_path / "harvest.toml", executor=executor)


def test_a_run_that_lends_nothing_has_no_pairs(tmp_path):
    (tmp_path / "harvest.toml").write_text(HARVEST.replace('"spare-memory", reserve = "1MiB"', '"host"'))
    result = octavo.run(tmp_path / "harvest.toml", output=tmp_path / "run")
    assert lending.totals(result).is_empty()
    assert lending.over_time(result, 7).is_empty()
    assert lending.sources(result)["neighbour"].sum() == 0


def test_a_report_and_a_picture_show_it(tmp_path):
    (tmp_path / "harvest.toml").write_text(HARVEST)
    result = octavo.run(tmp_path / "harvest.toml", output=tmp_path / "run")
    runs = read([tmp_path / "run"])
    data = gather(runs, runs[0].variant)
    assert [row["pair"] for row in data["lenders"]] == ["GPU 1 for GPU 0"]
    assert data["lenders"][0]["sent"] == result.summary["manager"]["evictions_to_spare"] * PAGE
    assert max(row["mebibytes"] for row in data["lending"]) <= data["lenders"][0]["most"] / (1 << 20)
    pictures.lent(tmp_path / "lent.png", result, title="Memory lent")
    assert (tmp_path / "lent.png").stat().st_size > 5000
