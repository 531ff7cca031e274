"""Why a run took as long as it did: facts by hand, words that follow them, remedies that are what their runs say."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from conftest import SMALL, refused
from nsys_exports import saxpy

import octavo
from octavo.errors import OutputError, SimulationError
from octavo.explain import changes, difference, explain, targets, what_if, words
from octavo.explain.facts import facts, pairs
from octavo.explain.occupancy import MEMORY, REMOTE, WALKERS
from octavo.explain.what_if import Remedy, beside
from octavo.measurements.imports import import_nsys
from octavo.runs.result import RunResult
from octavo.scenarios.scenario import Recipe

SYSTEM = {"workload": "stencil2d", "scale": SMALL}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("explained")
    for placement in ("on-touch", "grit"):
        octavo.run(**SYSTEM, placement=placement, output=root / placement)
    return root


@pytest.fixture(scope="module")
def on_touch(runs):
    return RunResult.load(runs / "on-touch")


@pytest.fixture(scope="module")
def explained(on_touch, runs):
    return on_touch.explain(what_if=runs / "what-if")


def test_facts_are_those_of_the_tables(on_touch):
    found, summary = facts(on_touch), on_touch.summary
    requests = (
        on_touch.table("allocations").select(pl.sum_horizontal("read_fault", "write_fault", "counter")).sum().item()
    )
    # One server, 1250 ns a request.
    assert found.driver == pytest.approx(requests * 1_250_000 / summary["time_ps"])
    assert found.faults == summary["manager"]["far_faults"] + summary["manager"]["protection_faults"]
    assert sum(found.shares.values()) == pytest.approx(1)
    assert list(found.shares.values()) == sorted(found.shares.values(), reverse=True)
    busiest = on_touch.table("links").sort("busy_ps", descending=True).row(0, named=True)
    assert next(iter(found.links.items())) == (busiest["link"], busiest["busy_ps"] / summary["time_ps"])
    assert {row["allocation"]: row["faults"] for row in found.buffers} == {
        row["allocation"]: row["read_fault"] + row["write_fault"] for row in on_touch.table("allocations").to_dicts()
    }
    pages = -(-on_touch.table("allocations")["bytes"][0] // 4096)
    first = next(row for row in found.buffers if row["allocation"] == on_touch.table("allocations")["allocation"][0])
    assert first["times"] == pytest.approx(on_touch.table("allocations")["migration"][0] / pages)
    assert sum(row["pages"] for row in pairs(on_touch)) == sum(row["moved"] for row in found.buffers)
    assert sum(row["share"] for row in pairs(on_touch)) == pytest.approx(1)
    assert found.phases == {}
    # Four GPUs at 1 GHz: 16 banks, a line for a cycle; 8 walkers, 100 cycles a level; 16 remote lines.
    gpu_time, counts = 4 * summary["time_ps"], summary["accesses"]
    assert found.occupied == pytest.approx(
        {
            MEMORY: (counts["dram_reads"] + counts["dram_writes"]) * 1_000 / (16 * gpu_time),
            WALKERS: counts["walk_levels"] * 100_000 / (8 * gpu_time),
            REMOTE: summary["breakdown"]["remote_access_ps"] / (16 * gpu_time),
        }
    )


def test_what_is_busy_enough_is_said_to_bound_the_run(on_touch):
    found = facts(on_touch)
    assert "the driver bounds this run" in "\n".join(words.run("it", replace(found, driver=0.8)))
    assert "the driver bounds" not in "\n".join(words.run("it", replace(found, driver=0.79)))
    assert "the driver bounds the kernels" in "\n".join(
        words.run("it", replace(found, driver=1.0, phases={"kernels": 0.5}))
    )
    assert "fills" not in "\n".join(words.run("it", replace(found, driver=None)))
    full = "\n".join(words.run("it", replace(found, links={"a": 0.9, "b": 0.85, "c": 0.1})))
    assert "bounding this run: a, b." in full
    loaded = "\n".join(words.run("it", replace(found, occupied={MEMORY: 0.81, WALKERS: 0.2, REMOTE: 1.5})))
    assert "GPU memory 81%, page-table walkers 20%, remote lines in flight 150% of their limit" in loaded
    assert "This bounds the run: GPU memory, remote lines in flight." in loaded
    many = "\n".join(words.run("it", replace(found, occupied={REMOTE: 53.7})))
    assert "remote lines in flight 54 times their limit, waiting ones included" in many
    short = "\n".join(words.run("it", replace(found, occupied={WALKERS: 0.79, REMOTE: 0.99})))
    assert "This bounds" not in short
    assert "The driver served no fault." in words.run("it", replace(found, faults=0, buffers=[]))
    assert words.run("it", replace(found, shares={}))[0].endswith("nothing was accessed.")


def test_pages_that_take_up_no_room_are_spoken_of_where_memory_has_a_limit(tmp_path):
    def said(percent):
        changes = [f"node.capacity.footprint_percent={percent}"]
        result = octavo.run(**SYSTEM, placement="ideal", overrides=changes, output=tmp_path / f"{percent}")
        return "took up no room" in "\n".join(words.run("it", facts(result)))

    assert said(20)
    assert not said(0)


def test_remedies_are_runs_of_what_they_say(explained, on_touch, runs):
    assert explained.remedies == sorted(explained.remedies, key=lambda one: one.time_ps)
    by_override = {one.override: one for one in explained.remedies}
    grit = by_override["memory.placement=grit"]
    assert grit.time_ps == RunResult.load(runs / "grit").summary["time_ps"]
    assert grit.change == pytest.approx(grit.time_ps / on_touch.summary["time_ps"] - 1)
    halved = by_override["node.driver.service.service=625ns"]
    assert RunResult.load(halved.folder).scenario.values["node"]["driver"]["service"]["service"] == "625ns"
    assert halved.change < -0.4
    assert [one.override for one in explained.remedies if one.bound] == ["memory.placement=ideal"]
    assert "memory.placement=on-touch" not in by_override
    assert "memory.prefetch=tree" in by_override


def test_a_host_link_is_twice_as_fast_in_both_directions():
    node = {
        "placement": "on-touch",
        "overrides": {"node.host_link.to_host": "20GB/s", "node.host_link.bandwidth": "30GB/s"},
    }
    scenario = octavo.scenario(workload="vectoradd", scale=SMALL, **node)
    tries = dict(changes.changes(Recipe(scenario.toml, "scenario"), scenario))
    override, changed = tries["host links twice as fast"]
    assert override == "node.host_link.bandwidth=60GB/s --set node.host_link.to_host=40GB/s"
    link = changed.values["node"]["host_link"]
    assert (link["bandwidth"], link["to_host"]) == ("60GB/s", "40GB/s")
    assert tries["GPU links twice as fast"][0].count("=") == 1


def test_remedies_are_kept_like_any_run(explained, on_touch, runs):
    before = {path: path.stat().st_mtime_ns for path in (runs / "what-if").rglob("*.json")}
    assert on_touch.explain(what_if=runs / "what-if").remedies == explained.remedies
    assert {path: path.stat().st_mtime_ns for path in (runs / "what-if").rglob("*.json")} == before


def test_what_cannot_be_simulated_is_left_out(on_touch, runs, monkeypatch):
    execute = what_if.execute

    def failing(points, **options):
        found = execute(points[:2], **options)
        if len(points) > 2:
            raise SimulationError("the others cannot be simulated")
        return found

    monkeypatch.setattr(what_if, "execute", failing)
    assert len(what_if.tried(on_touch, runs / "few").remedies) == 2


def remedy(label: str, override: str, time: float, *, tie: bool | None = None, replicates: int = 1) -> Remedy:
    """A change of a run that took 1."""
    return Remedy(
        label=label,
        override=override,
        time_ps=time,
        low_ps=time,
        high_ps=time,
        change=time - 1,
        tie=abs(time - 1) < what_if.TIE if tie is None else tie,
        replicates=replicates,
        bound=override.endswith("=ideal"),
        folder="",
    )


def test_a_placement_that_beats_the_bound_is_not_denied():
    found = [remedy("`ideal`", "memory.placement=ideal", 0.9), remedy("c", "memory.placement=coherent", 0.8)]
    assert words.remedies(found)[-1].endswith("placements that leave pages on the host can beat that, and do here.")
    links = [remedy("`ideal`", "memory.placement=ideal", 0.9), remedy("a link", "node.gpu_link.bandwidth=2GB/s", 0.8)]
    assert words.remedies(links)[-1].endswith("none tried beats it.")


def test_changes_within_the_intervals_of_replicates_are_ties(on_touch, runs):
    found = {one.name: one for one in what_if.tried(on_touch, runs / "thrice", count=3).remedies}
    assert not found["grit"].tie
    assert (found["grit"].replicates, found["grit"].low_ps <= found["grit"].time_ps) == (3, True)
    links = found["GPU links twice as fast"]
    assert links.tie
    assert links.low_ps < links.high_ps
    told = words.remedies(list(found.values()))
    assert any(one.startswith("What cannot be told from chance") and "GPU links" in one for one in told)
    assert [one.override for one in what_if.kept(on_touch, runs / "thrice")] == [one.override for one in found.values()]


def test_sentences_sort_remedies_by_what_came_of_them():
    found = [
        remedy("`ideal`", "memory.placement=ideal", 0.1),
        remedy("a help", "x=1", 0.877),
        remedy("nothing", "x=2", 0.996),
        remedy("a harm", "memory.placement=gps", 1.5),
    ]
    assert words.remedies(found) == [
        "What helps, tried by simulation, one change at a time: a help −12.3%.",
        "What makes a difference below 0.5%: nothing.",
        "What makes it slower: a harm +50.0%.",
        "A bound for placements is `ideal` −90.0%, where a page costs one cold read: none tried beats it.",
    ]
    assert words.remedies([]) == ["Nothing could be tried."]
    assert words.remedies(None) == []


def test_a_difference_adds_up(runs, on_touch):
    found = difference(on_touch, RunResult.load(runs / "grit"))
    total = found.facts[1].time_ps - found.facts[0].time_ps
    assert sum(found.causes.values()) == pytest.approx(total)
    assert "stencil2d under grit took" in found.sentences[0]
    assert {row["allocation"] for row in found.buffers} == {"data1", "data2"}
    assert "no difference of 0.5% or more" in difference(on_touch, on_touch).sentences[0]


def test_pictures_and_words_for_notebooks(explained, on_touch):
    for one in (explained, explain(on_touch)):
        assert one.plot()._repr_png_().startswith(b"\x89PNG")
        assert one._repr_html_().count("<p>") == len(one.sentences)
        assert str(one).splitlines() == one.sentences


def test_the_command_says_what_python_says(cli, runs, explained):
    done = cli("explain", str(runs / "on-touch"), "--json", "--what-if", "-o", str(runs / "what-if"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sentences"] == explained.sentences
    two = cli("explain", str(runs / "on-touch"), str(runs / "grit"))
    expected = difference(*(RunResult.load(runs / name) for name in ("on-touch", "grit"))).sentences
    said = two.stdout.splitlines()
    assert said[: len(expected)] == expected
    assert all(line.startswith(("stencil2d: ", "Note")) for line in said[len(expected) :]), "of the size and the node"
    assert cli("explain", str(runs / "on-touch"), str(runs / "grit"), "--what-if").returncode == 2
    picture = runs / "apart.svg"
    cli("explain", str(runs / "on-touch"), str(runs / "grit"), "--picture", str(picture))
    assert "stencil2d under grit against stencil2d under on-touch" in picture.read_text()


def test_pictures_that_cannot_be_drawn_are_refused_before_anything_is_said(cli, runs):
    done = cli("explain", str(runs / "on-touch"), "--picture", "why.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot draw why.txt" in done.stderr


def test_options_of_runs_that_are_not_made_are_refused(cli, runs):
    first, second = str(runs / "on-touch"), str(runs / "grit")
    for arguments in (
        [first, "-o", "out"],
        [first, "--workers", "1"],
        [first, "--replicates", "2"],
        [first, second, "-o", "out"],
    ):
        done = cli("explain", *arguments)
        assert done.returncode == 2
        assert "--output, --workers and --replicates apply only to the runs of --what-if" in " ".join(
            done.stderr.split()
        )


def test_the_folder_that_one_stands_in_is_a_run_like_any(cli, tmp_path, runs, monkeypatch):
    shutil.copytree(runs / "on-touch", tmp_path, dirs_exist_ok=True)
    done = cli("explain", ".")
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(runs / "on-touch")
    assert beside(Path()) == runs / "on-touch-what-if"
    assert beside(Path("..")) == runs.with_name(f"{runs.name}-what-if")
    assert beside(Path("a/b")) == Path("a/b-what-if")


def test_no_error_advises_an_option_that_the_command_has_not(cli, tmp_path, on_touch, runs, monkeypatch):
    damaged = Path(shutil.copytree(runs / "on-touch", tmp_path / "damaged"))
    (damaged / "summary.json").write_text("{")
    done = cli("explain", "damaged")
    assert "is damaged" in done.stderr
    assert "the command that made it has --force" in " ".join(done.stderr.split())
    monkeypatch.setattr(what_if, "slug", lambda _: "same")
    shutil.copytree(runs / "on-touch", tmp_path / "what-if" / "same")
    with refused("other-result", OutputError, file="same") as found:
        on_touch.explain(what_if=tmp_path / "what-if")
    assert found.value.hint == "remove the folder of that run: the same command then runs it again"


def test_a_whole_program_is_told_by_phase(tmp_path):
    result = octavo.run(workload="fir", scale=SMALL, kind="managed", output=tmp_path / "run")
    found = facts(result)
    assert found.phases["kernels"] == pytest.approx(result.summary["phases"]["kernels_ps"] / result.summary["time_ps"])
    assert any(sentence.startswith("The whole program by phase") for sentence in result.explain().sentences)


def test_what_has_no_time_or_no_scenario_is_refused(tmp_path):
    instant = octavo.run(**SYSTEM, executor="instant", output=tmp_path / "instant")
    with refused("no-time", OutputError):
        instant.explain()
    profile = import_nsys(saxpy(tmp_path / "saxpy.sqlite"), tmp_path / "profile")
    with refused("no-scenario", OutputError):
        profile.explain()


def test_a_comparison_and_a_sweep_are_targets(cli, tmp_path):
    small = ("--scale", "1/256", "-q")
    assert cli("compare", "fir,spmv", "-p", "on-touch,grit", "--replicates", "2", "-o", "both", *small).returncode == 0
    told = json.loads(cli("explain", "both", "--json").stdout)
    pairs = [one["runs"] for one in told["differences"]]
    assert pairs == [[f"{name} under on-touch", f"{name} under grit"] for name in ("fir", "spmv")]
    scenario = {"workload": {"name": "fir", "scale": 1 / 256}}
    octavo.sweep({"scenario": scenario, "grid": {"node.gpus": [2, 4, 8]}}, output=tmp_path / "swept")
    assert [*targets.named([tmp_path / "swept"])] == [f"fir under gpus={count}" for count in (2, 4, 8)]
    one = next((tmp_path / "swept" / "runs").iterdir())
    assert len(targets.named([one, one])) == 1, "a run that is named twice is one"
    done = cli("explain", "both", "--what-if")
    assert done.returncode == 2
    (tmp_path / "empty").mkdir()
    assert cli("explain", "empty").returncode == 2
