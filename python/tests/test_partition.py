"""GRIT's partition: what is counted under each dispatch, and what the publication says of it."""

from __future__ import annotations

import json
from types import SimpleNamespace

import polars as pl
import pytest
from conftest import SMALL, refused

import octavo
from octavo.report.publications import KERNELS
from octavo_studies.grit import characterise, dispatches
from octavo_studies.grit.partition_statements import STATEMENTS
from octavo_studies.grit.study import Study


def _events(*rows: tuple[str, int, int, int]) -> pl.DataFrame:
    kinds, first, pages, to = zip(*rows, strict=True)
    return pl.DataFrame(
        {"kind": kinds, "address": [4096 * page for page in first], "pages": pages, "to": to},
        schema_overrides={"address": pl.UInt64, "pages": pl.UInt64},
    )


def test_collapses_counted_by_hand():
    events = _events(
        ("read_fault", 9, 1, 0),  # asked for, and nothing else: not a page of the run
        ("migration", 0, 4, 1),
        ("duplication", 0, 3, 2),
        ("discard", 1, 1, 2),  # page 1 collapses and stays alone
        ("write_collapse", 2, 1, 3),  # page 2 collapses twice and is duplicated in between
        ("duplication", 2, 1, 1),
        ("discard", 2, 1, 3),
    )
    found = characterise.collapses(events, 4096)
    assert found == {"collapsed": 2 / 4, "duplicated_again": 1 / 4, "shared_in_run": 3 / 4}
    assert set(characterise.collapses(events.clear(), 4096).values()) == {0.0}


def test_collapses_are_counted_by_the_pages_of_the_run():
    """Two pages of 64 KiB: an event is about both of them, two others about the second."""
    rows = _events(("migration", 0, 2, 1), ("duplication", 16, 1, 2), ("write_collapse", 16, 1, 3))
    scenario = SimpleNamespace(values={"memory": {"page_size": "64KiB"}})
    result = SimpleNamespace(table=lambda _: rows, scenario=scenario)
    assert characterise.collapsed(result) == {"collapsed": 1 / 2, "duplicated_again": 0.0, "shared_in_run": 1 / 2}


def test_kernels_are_characterised_under_each_dispatch(tmp_path):
    even, robin = dispatches.NAMED[0], dispatches.NAMED[-1]
    study = Study(tmp_path / "out", (f"workload.scale={SMALL}",), ("fir", "st"), workers=2)
    found = characterise.characterise(study, None, (even, robin))
    shares = {(row["kernel"], row["dispatch"]): row for row in found.points.to_dicts()}
    assert shares["fir", "even-split"]["shared_pages"] < shares["fir", "round-robin"]["shared_pages"]
    assert shares["fir", "even-split"]["collapsed"] == 0
    st = shares["st", "even-split"]
    assert st["collapsed"] >= st["duplicated_again"] > 0
    assert st["phased"] == 1, "each launch reads one array and writes the other"
    for row in shares.values():
        assert sum(row[f"by_{count}"] for count in range(1, 5)) == pytest.approx(1.0)
        assert row["shared_pages"] == pytest.approx(1 - row["by_1"])
        assert row["shared_in_run"] == pytest.approx(row["shared_pages"]), "who runs what is decided ahead"
    report = json.loads((found.root / "report.json").read_text())
    assert set(report["held"]) == {even.label, robin.label}
    assert {row["kernel"] for row in report["statements"]} == {"fir", "st"}
    for name in characterise.PICTURES:
        assert (found.root / f"{name}.png").is_file()


def test_statements_are_of_the_kernels_and_their_ranges_are_shares():
    assert {statement.kernel for statement in STATEMENTS} == set(KERNELS)
    for statement in STATEMENTS:
        assert 0 <= statement.low < statement.high <= 1
        assert statement.holds(statement.low)
        assert not statement.holds(statement.high + 0.01)


def test_every_dispatch_runs_the_same_program():
    def accesses(*overrides: str) -> int:
        small = octavo.scenario(workload="fir", scale=1 / 256, overrides=list(overrides))
        return octavo.inspect_workload(small)["total"]["accesses"]

    usual = accesses()
    assert [accesses(one.override) for one in dispatches.DISPATCHERS] == [usual] * len(dispatches.DISPATCHERS)


def test_blocks_have_at_least_one_work_group():
    with refused("unexpected-value", octavo.ScenarioError, key="node.dispatch.blocks", found="0"):
        octavo.scenario(workload="fir", overrides=["node.dispatch={blocks = 0}"])
    with refused("unexpected-value", octavo.ScenarioError, key="node.dispatch", found='"rounds"', expected="a table"):
        octavo.scenario(workload="fir", overrides=["node.dispatch=rounds"])
