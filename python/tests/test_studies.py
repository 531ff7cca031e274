"""A new study, as ARCHITECTURE.md says to write one: settings, one part, a command."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

import polars as pl
import pytest
import typer
from conftest import contents, refused

from octavo.cli import options
from octavo.errors import ScenarioError
from octavo.runs.result import RunResult
from octavo.scenarios.scenario import Recipe, Scenario
from octavo_studies.engine import Answer, Asked, Command, Part, Study, compared, each, series, tables

SMALL = "workload.scale=0.004"


@dataclass(frozen=True)
class Toy(Study):
    name: ClassVar[str] = "toy"
    own: ClassVar[dict[str, str]] = {"workload.name": "--kernel"}

    kernels: tuple[str, ...] = ("fir", "relu")

    def recipe(self, key: tuple[str, str], changes: tuple[str, ...] = (), /) -> Recipe:
        return Recipe.from_names(key[0]).with_overrides(["record.events=false", *changes, *self.overrides])

    @cached_property
    def probe(self) -> Scenario:
        return self.recipe(("fir", "")).resolve()


speeds: Part[Toy] = Part(
    "speeds",
    title=lambda _: "Speed over on-touch",
    wanted=lambda study: {
        (kernel, name): (f"memory.placement={name}",) for kernel in study.kernels for name in ("on-touch", "ideal")
    },
    rows=each(lambda key, result: {"kernel": key[0], "placement": key[1], "time_ps": result.summary["time_ps"]}),
    points=lambda _, rows: rows.with_columns(speed=pl.col("time_ps").first().over("kernel") / pl.col("time_ps")),
    tables=lambda _, points: {"compared": [compared("largest speed", points["speed"].max(), 3.0)]},
    draw=lambda found, _runs: series.bars(
        found.root / "speed.png", found.points, "kernel", "placement", "speed", xlabel="speed", title=found.title
    ),
)


def toy(asked: Asked, kernel: Annotated[list[str] | None, typer.Option("--kernel", help="Kernels.")] = None) -> Answer:
    """A study of two kernels."""
    study = Toy(asked.output, asked.overrides(asked.scale), tuple(options.listed(kernel)) or Toy.kernels, **asked.how)
    found = speeds(study)
    return Answer(
        study.root, found.to_dict(), [tables.values(found.title, found.points), tables.beside("", found.compared)]
    )


@pytest.fixture
def command(monkeypatch, capsys):
    """The command; returns its status and what it printed."""
    monkeypatch.setattr("sys.stdout", sys.stdout)  # JSON takes it
    app = typer.Typer()
    app.callback()(lambda: None)
    Command("toy", toy, ("octavo reproduce toy",), without=("fidelity", "seed")).add_to(app)

    def run(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            app(["toy", *arguments])
        return int(ended.value.code or 0), capsys.readouterr().out

    return run


def test_a_part_leaves_tables_report_and_pictures_and_resumes(tmp_path):
    found = speeds(Toy(tmp_path / "out", (SMALL,), workers=2))
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_dir()} == {"runs", "speeds"}
    for row in found.points.to_dicts():
        run = RunResult.load(tmp_path / "out" / "runs" / row["kernel"] / row["placement"])
        assert run.summary["time_ps"] == row["time_ps"]
    report = json.loads((found.root / "report.json").read_text())
    assert report["compared"] == [{"what": "largest speed", "found": found.points["speed"].max(), "published": 3.0}]
    assert pl.read_parquet(found.root / "points.parquet").equals(found.points)
    assert (found.root / "speed.png").stat().st_size > 5000
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "runs").rglob("*")}
    left = contents(found.root)
    again = speeds(Toy(tmp_path / "out", (SMALL,)))
    assert again.points.equals(found.points)
    assert contents(found.root) == left
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "runs").rglob("*")} == before


def test_a_study_without_a_folder_has_one_for_each_set_of_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    roots = {Toy(overrides=(f"workload.scale={scale}",)).root for scale in (0.004, 0.008)}
    assert len(roots) == 2
    assert all(root.parent.name == "runs" and root.name.startswith("toy-") for root in roots)


@pytest.mark.parametrize("change", ["workload.name=mm", "memory.placement=grit", "memory.placement.name=grit"])
def test_changes_that_would_be_lost_are_refused(tmp_path, change):
    with refused("already-set", ScenarioError, key=change.partition("=")[0]):
        speeds(Toy(tmp_path / "out", (change,)))
    assert not (tmp_path / "out").exists()


def test_an_option_of_the_study_and_one_of_all_reach_it(command, tmp_path):
    status, out = command("--kernel", "fir", "--scale", "1/256", "-o", str(tmp_path / "out"), "--json")
    assert status == 0
    document = json.loads(out)
    assert document["folder"] == str(tmp_path / "out")
    assert [row["kernel"] for row in document["points"]] == ["fir", "fir"]


def test_a_command_has_the_options_of_the_study_and_those_of_all(command):
    _, usage = command("--help")
    assert all(option in usage for option in ("--kernel", "--scale", "--workers", "--force", "--json"))
    assert "--fidelity" not in usage
    assert command("--seed", "1")[0] == 2


def test_what_was_found_is_printed(command, tmp_path):
    status, out = command("--kernel", "fir", "--scale", "1/256", "-o", str(tmp_path / "out"))
    assert status == 0
    for text in ("Speed over on-touch", "on-touch", "ideal", "largest speed", "3.00", "at scale 1"):
        assert text in out


def test_a_part_that_is_asked_for_what_it_has_not_says_what_it_has(tmp_path):
    found = speeds(Toy(tmp_path / "out", (SMALL,), ("fir",)))
    with pytest.raises(AttributeError) as raised:
        _ = found.means
    assert "compared, points" in str(raised.value)


@pytest.mark.parametrize("option", ["fidelity", "assignments", "scale", "seed"])
def test_a_command_may_do_without_an_option(option, tmp_path):
    asked: list[Asked] = []

    def answer(told: Asked) -> Answer:
        asked.append(told)
        return Answer(tmp_path, {}, ())

    app = typer.Typer()
    app.callback()(lambda: None)
    Command("toy", answer, (), without=(option,)).add_to(app)
    with pytest.raises(SystemExit) as ended:
        app(["toy", "--quiet"])
    assert not ended.value.code
    assert getattr(asked[0], option) is None
