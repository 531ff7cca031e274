"""The command line: help, listings, and the same answers for people and programs."""

from __future__ import annotations

import inspect
import json
import re
import shutil
from dataclasses import dataclass, fields
from pathlib import Path
from typing import get_type_hints

import pytest
from typer.testing import CliRunner

from octavo.cli import complete, options
from octavo.cli.app import app
from octavo.cli.commands import COMMANDS, load
from octavo.cli.requests import spread

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["run"],
        ["compare"],
        ["list"],
        ["show"],
        ["sweep"],
        ["new", "sweep"],
        ["workload", "inspect"],
        ["workload", "program"],
        ["trace", "info"],
        ["trace", "head"],
        ["trace", "validate"],
        ["trace", "convert"],
        ["advise"],
        ["constants"],
        ["transform"],
        ["import", "nsys"],
        ["import", "cupti"],
        ["reproduce", "grit"],
        ["reproduce", "mosaic"],
        ["validate", "mgpusim"],
        ["calibrate"],
        ["calibrate", "probes"],
        ["calibrate", "show"],
        ["schema"],
    ],
    ids=" ".join,
)
def test_every_help_shows_examples(command, cli):
    done = cli(*command, "--help")
    assert done.returncode == 0
    assert "Examples" in done.stdout
    assert "octavo " in done.stdout.split("Examples")[1]


def test_a_workload_is_a_target_as_a_scenario_file_is(cli, tmp_path):
    for name, command in (("a", ["fir"]), ("b", ["--workload", "fir"])):
        assert cli("run", *command, "--scale", "1/256", "-q", "-o", name).returncode == 0
    assert (tmp_path / "a" / "summary.json").read_bytes() == (tmp_path / "b" / "summary.json").read_bytes()
    assert cli("run", "a/scenario.toml", "--dry-run").returncode == 0
    done = cli("compare", "fir,relu", "-p", "grit", "--scale", "1/256", "--json", "-o", "c")
    assert {point["workload"] for point in json.loads(done.stdout)["points"]} == {"fir", "relu"}


@pytest.mark.parametrize(
    "command",
    [["fir", "--workload", "gemm"], ["missing.toml"], ["missing.trace"], ["firr"], [], ["fir,relu"], [""], ["a" * 300]],
    ids=lambda command: " ".join(command)[:20],
)
def test_a_target_that_is_none_is_refused(command, cli):
    done = cli("run", *command)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")


def test_a_file_is_no_workload_and_a_folder_with_a_comma_is_one(cli, tmp_path):
    (tmp_path / "fir").write_bytes(b"\x7fELF")
    assert cli("run", "fir", "--scale", "1/256", "-q", "-o", "out").returncode == 0
    shutil.copytree(ROOT / "traces" / "fir-length-16384.trace", tmp_path / "a,b.trace")
    for command in (["run"], ["compare", "-p", "grit"]):
        assert cli(*command, "a,b.trace", "-q", "-o", command[0]).returncode == 0


def test_one_of_what_is_listed_is_shown(cli):
    for kind, entries in json.loads(cli("list", "--json").stdout).items():
        found = json.loads(cli("show", entries[0]["name"], "--json").stdout)
        assert found[kind] == entries[0]
    assert "fault_threshold" in cli("show", "grit").stdout
    done = cli("show", "Grit")
    assert done.returncode == 2
    assert "`grit`" in done.stderr


def every_command():
    """The words of every command, and the command."""
    for name, where in COMMANDS.items():
        command = load(name, where)
        yield (name,), command
        for word, below in getattr(command, "commands", {}).items():
            yield (name, word), below


def test_help_of_80_columns_breaks_no_word():
    for path, command in every_command():
        told = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "80"}).output
        assert "Usage" in told, path
        assert all(len(line) <= 80 for line in told.splitlines()), path
        assert not re.search(r"\w…", told), f"{path}: a word is cut"
        types = re.sub("[<>]=", "", told.partition("Examples")[0]).splitlines()
        assert all(line.count("<") == line.count(">") for line in types), f"{path}: choices are broken"
        paragraphs = command.help.split("\n\n")
        assert not any("\n" in paragraph for paragraph in paragraphs), f"{path}: lines end where the source's do"


def test_version(cli):
    assert cli("--version").stdout.startswith("octavo 0.")


def test_compare_prints_a_table_and_draws_pictures(cli, tmp_path):
    done = cli("compare", "-w", "fir", "-p", "on-touch,ideal", "--scale", "0.015625", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "speed-up" in done.stdout
    assert "[2/2]" in done.stderr
    for name in ("speedup.png", "breakdown.png"):
        assert (tmp_path / "out" / name).read_bytes().startswith(b"\x89PNG")


def test_pictures_are_of_the_formats_and_the_width_that_were_asked_for(cli, tmp_path):
    asked = ("compare", "-w", "fir", "-p", "on-touch,ideal", "--scale", "0.015625", "-o", "out", "-q")
    root, names = tmp_path / "out", ("speedup", "breakdown")
    assert cli(*asked, "--pictures", "png").returncode == 0
    wide = {name: (root / f"{name}.png").read_bytes() for name in names}
    done = cli(*asked, "--pictures", "svg,pdf", "--picture-width", "3.5")
    assert done.returncode == 0, done.stderr
    listed = json.loads((root / "octavo-manifest.json").read_text())["files"]
    for name in names:
        svg = (root / f"{name}.svg").read_text()
        assert 'width="252pt"' in svg, "3.5 inches of 72 points"
        assert (root / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert (root / f"{name}.png").read_bytes() != wide[name], "what is there already is drawn again"
        assert {f"{name}.{kind}" for kind in ("png", "svg", "pdf")} <= listed.keys()
    for wrong, said in (("bmp", "expected one of png, svg, pdf, found 'bmp'"), ("svg,", "an empty name in `svg,`")):
        refused = cli(*asked, "--pictures", wrong)
        assert (refused.returncode, said in refused.stderr) == (2, True), refused.stderr
    refused = cli(*asked, "--picture-width", "0.1")
    assert "--picture-width: expected inches between 1.5 and 40, found 0.1" in refused.stderr


def test_json_is_the_only_output_when_asked_for(cli, tmp_path):
    done = cli("compare", "-w", "fir", "-p", "on-touch,ideal", "--scale", "0.015625", "--json")
    document = json.loads(done.stdout)
    assert [point["variant"] for point in document["points"]] == ["on-touch", "ideal"]
    assert (tmp_path / document["folder"] / "report.json").is_file()


def test_run_names_its_folder_after_what_it_ran(cli, tmp_path):
    arguments = ("run", "-w", "fir", "-p", "grit", "--scale", "0.015625", "--json")
    first, second = cli(*arguments), cli(*arguments)
    assert first.stdout == second.stdout
    document = json.loads(first.stdout)
    assert document["folder"].startswith("runs/fir-grit-")
    assert (tmp_path / document["folder"] / "summary.json").is_file()


def test_quiet_prints_nothing(cli):
    done = cli("run", "-w", "fir", "--scale", "0.015625", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_list_shows_options_and_sources(cli):
    kinds = json.loads(cli("list", "--json").stdout)
    grit = next(entry for entry in kinds["placements"] if entry["name"] == "grit")
    assert "HPCA 2024" in grit["source"]
    threshold = next(option for option in grit["options"] if option["name"] == "fault_threshold")
    assert threshold["default"] == 4
    assert "grit-4gpu" in cli("list", "nodes").stdout


def test_inspect_prints_who_shares_what(cli):
    done = cli("workload", "inspect", "stencil2d", "--scale", "0.015625")
    assert done.returncode == 0, done.stderr
    assert "footprint" in done.stdout
    assert "branch instructions" in done.stdout
    assert "local data instructions" in done.stdout
    found = json.loads(cli("workload", "inspect", "stencil2d", "--scale", "0.015625", "--json").stdout)
    assert found["total"]["stores"] > 0


def test_a_program_of_each_kind_is_printed(cli):
    arguments = ("workload", "program", "fir", "--scale", "0.015625")
    explicit = json.loads(cli(*arguments, "--kind", "explicit", "--spread", "split", "--json").stdout)
    sizes = {buffer["name"]: buffer["bytes"] for buffer in explicit["buffers"]}
    copies = [action for action in explicit["actions"] if action["action"] == "copy"]
    assert [action["buffers"] for action in copies] == [
        *([f"{name}@host", name] for name in ("history", "input", "filter")),
        ["output", "output@host"],
    ]
    assert all(action["bytes"] == sizes[action["buffers"][0]] for action in copies)
    assert {buffer["kind"]: buffer.get("spread") for buffer in explicit["buffers"]} == {
        "device": "split",
        "system": None,
    }
    done = cli(*arguments)
    assert done.returncode == 0, done.stderr
    for shown in ("managed", "initialise (writes)", "FIR 0", "synchronise", "read results (reads)", "free"):
        assert shown in done.stdout, shown
    assert "copy" not in done.stdout


def test_schema_is_json(cli):
    assert json.loads(cli("schema").stdout)["title"] == "Octavo scenario"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["RUN", "fir"], "run"),
        (["rn", "fir"], "run"),
        (["trace", "INFO", "x"], "info"),
        (["run", "fir", "--Placement", "grit"], "--placement"),
        (["run", "fir", "--placement", "GRIT"], "grit"),
        (["run", "FIR"], "fir"),
        (["run", "fir", "--node", "Grit-4GPU"], "grit-4gpu"),
        (["run", "fir", "--set", "Memory.placement=grit"], "memory"),
        (["list", "Nodes"], "nodes"),
        (["show", "Grit"], "grit"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_what_is_nearly_a_name_gets_a_hint(typed, meant, cli):
    done = cli(*typed)
    assert done.returncode == 2, done.stderr
    assert re.search(rf"(did you mean|possible options)\W+{meant}\b", done.stderr, re.IGNORECASE), done.stderr


def test_commands_stand_in_groups_and_all_of_them(cli):
    told = cli("--help").stdout
    assert [told.count(f"\n  {name} ") for name in COMMANDS] == [1] * len(COMMANDS)
    groups = list(dict.fromkeys(command.group for command in COMMANDS.values()))
    assert sorted(groups, key=told.index) == groups
    assert "..." not in told.partition("Simulate:")[2], "no sentence is cut"


def test_a_target_is_completed_from_workloads_folders_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("fir.toml", "first.png", ".fir.toml"):
        Path(name).touch()
    (tmp_path / "firs").mkdir()
    (tmp_path / "firs" / "a.toml").touch()
    assert complete.targets("fir") == ["fir", "fir.toml", "firs/"]
    assert complete.targets("firs/") == ["firs/a.toml"]
    assert complete.targets("nowhere/") == []
    assert ".fir.toml" in complete.targets(".f")
    assert ".fir.toml" not in complete.targets("")


@dataclass(frozen=True)
class Asked:
    """Some options."""

    scale: options.Scale = None
    node: options.Node = None


def test_a_request_stands_for_its_options():
    found = []

    def command(target: options.Target, asked: Asked, force: options.Force = False) -> None:
        """What it does."""
        found.append((target, asked, force))

    made = spread(command)
    assert list(inspect.signature(made).parameters) == ["target", "scale", "node", "force"]
    assert made.__doc__ == command.__doc__
    made(target="fir", scale=0.5, node=None, force=True)
    assert found == [("fir", Asked(0.5), True)]
    assert spread(test_version) is test_version


REQUESTS = {
    "run": ("Common", "Kept", "Said"),
    "compare": ("Common", "Effort", "Kept", "Drawn", "Said"),
    "sweep": ("Changes", "Effort", "Kept", "Drawn", "Said"),
    "advise": ("Changes", "Effort", "Kept", "Said"),
    "explain": ("Effort", "Said"),
    "demo": ("Effort", "Said"),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_what_commands_have_in_common_is_said_once(name):
    given = {each.name: each for each in load(name, COMMANDS[name]).params}
    for request in (getattr(options, one) for one in REQUESTS[name]):
        hints = get_type_hints(request, include_extras=True)
        for each in fields(request):
            assert given[each.name].help == hints[each.name].__metadata__[0].help, each.name


def test_studies_have_the_options_that_all_commands_have():
    for name, command in load("reproduce", COMMANDS["reproduce"]).commands.items():
        given = {each.name for each in command.params}
        assert {each.name for of in (options.Kept, options.Effort, options.Said) for each in fields(of)} <= given, name
        assert "watch" not in given


def test_all_options_in_common_reach_the_functions():
    common = {each.name for each in fields(options.Common)}
    every = options.Common(*common).arguments()
    assert sorted(every.values()) == sorted(common), "each option reaches the scenario"
