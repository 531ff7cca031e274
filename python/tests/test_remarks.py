"""Remarks of publications: a verdict changes only if the table of remarks does."""

from __future__ import annotations

import csv
import json
import re

import polars as pl
import pytest

from octavo_studies.engine import Judge, Judged, Remarks
from octavo_studies.engine.remarks import HOLDS, IN_PART, NO, ROWS, UNJUDGED, VERDICTS, verdict
from octavo_studies.grace_hopper.remarks import REMARKS as GRACE_HOPPER
from octavo_studies.grit.remarks import REMARKS as GRIT
from octavo_studies.harvest.remarks import REMARKS as HARVEST
from octavo_studies.memmap.remarks import REMARKS as MEMMAP
from octavo_studies.mosaic.remarks import REMARKS as MOSAIC

STUDIES = {one.study: one for one in (GRIT, MOSAIC, HARVEST, MEMMAP, GRACE_HOPPER)}


@pytest.mark.parametrize("study", STUDIES)
def test_every_remark_has_a_verdict_and_a_reason(study):
    remarks = STUDIES[study]
    assert set(remarks.judges) <= set(remarks.said)
    for name, said in remarks.said.items():
        assert said["verdict"] in VERDICTS, name
        assert said["where"]
        assert said["remark"]
        # What rows say is a reason; what nobody judges has one of its own, as has what does not hold.
        assert said.get("why") or (name in remarks.judges and said["verdict"] == HOLDS), name
        assert name not in remarks.judges or said["verdict"] != UNJUDGED, name


@pytest.mark.parametrize("study", STUDIES)
def test_tracked_rows_give_the_tracked_verdicts(study):
    remarks = STUDIES[study]
    judged = {row["id"]: row for row in remarks.judged(remarks.tracked_rows)}
    assert set(remarks.judges) <= set(judged)
    assert {name: row["tracked"] for name, row in judged.items() if row["tracked"]} == {}
    assert all(judged[name]["found"] for name in judged if name in remarks.judges)


@pytest.mark.parametrize("study", STUDIES)
def test_tables_carry_the_version_that_made_them(study):
    assert re.fullmatch(r"Octavo \d+\.\d+\.\d+, octavo reproduce .*--reduced", STUDIES[study].made)


CHEAP = {
    "mosaic": ("mosaic", "--part", "page-sizes", "--part", "paging"),
    "grace_hopper": ("grace-hopper", "--part", "srad"),
}
"""Parts of reduced studies that take seconds, made again."""


@pytest.mark.parametrize("study", CHEAP)
def test_a_part_that_is_made_again_gives_the_tracked_verdicts(study, cli, tmp_path):
    done = cli("reproduce", *CHEAP[study], "--reduced", "-o", "out", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["id"]: row for row in json.loads(done.stdout)["remarks"]}
    made = [name for name in STUDIES[study].judges if name in rows]
    assert len(made) > 2
    assert {name: rows[name]["verdict"] for name in made if rows[name]["tracked"]} == {}
    with (tmp_path / "out" / "remarks.csv").open(newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == list(rows)
    assert (tmp_path / "out" / ROWS).is_dir()


def small(tmp_path, monkeypatch, verdict="holds"):
    """Two remarks, of which rows judge one."""
    text = f"""
made_with = "0"
made_by = "a test"

[A]
where = "figure 1"
remark = "Everything is fast."
verdict = "{verdict}"
why = "it is"

[B]
where = "text"
remark = "The paper is white."
verdict = "cannot be judged"
why = "nothing is printed"
"""
    (tmp_path / "remarks.toml").write_text(text)
    monkeypatch.setattr(Remarks, "folder", tmp_path)

    def fast(points: pl.DataFrame) -> Judged:
        return Judged(globals()["verdict"](speed > 1 for speed in points["speed"]), str(points["speed"].to_list()))

    return Remarks("small", {"A": Judge(("main",), fast)}, {"main": ("speed",)})


def test_a_remark_that_turns_says_what_is_tracked(tmp_path, monkeypatch):
    remarks = small(tmp_path, monkeypatch)
    same, other = (remarks.judged({"main": pl.DataFrame({"speed": speeds})})[0] for speeds in ([2.0, 3.0], [2.0, 0.5]))
    assert (same["verdict"], same["why"], same["tracked"]) == (HOLDS, "it is", "")
    assert (other["verdict"], other["why"], other["tracked"]) == (IN_PART, "", HOLDS)


def test_parts_that_did_not_run_are_named(tmp_path, monkeypatch):
    remarks = small(tmp_path, monkeypatch)
    rows = remarks.judged({})
    assert [row["id"] for row in rows] == ["B"]
    assert any(isinstance(one, str) and "A" in one.split()[-1] for one in remarks.shown(rows))


def test_rows_are_kept_as_judged(tmp_path, monkeypatch):
    remarks = small(tmp_path, monkeypatch)
    remarks.save(tmp_path, {"main": pl.DataFrame({"speed": [1.00001, 2.0], "other": [1, 2]})})
    assert (tmp_path / ROWS / "main.csv").read_text() == "speed\n1.0\n2.0\n"
    table = pl.read_csv(tmp_path / "remarks.csv")
    assert table.filter(id="A")["verdict"].item() == IN_PART, "judged by what is kept"


@pytest.mark.parametrize(("holds", "expected"), [([True, True], HOLDS), ([True, False], IN_PART), ([False], NO)])
def test_verdicts_of_several_cases(holds, expected):
    assert verdict(holds) == expected
