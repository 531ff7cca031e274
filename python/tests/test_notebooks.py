"""Octavo as Python sees it: typed arguments, results that show themselves, errors that speak of arguments."""

from __future__ import annotations

import inspect
import os
import pydoc
import re
import subprocess
import sys
from pathlib import Path
from pydoc import locate

import pytest
from conftest import refused

import octavo
from octavo.arguments import Arguments
from octavo.errors import OctavoError, OutputError, ScenarioError
from octavo.runs.pictures import check_target

ROOT = Path(__file__).parents[2]
KEYS_OF_FILES = re.compile(r"octavo\.trace\.(command|lanes|source|version)$|octavo\.(h|hpp|pc)$")
"""Metadata of Parquet files, and files of the C library: not names of Python."""


@pytest.fixture(scope="module")
def comparison():
    return octavo.compare(workloads=["fir"], placements=["on-touch", "grit"], scale=0.01)


def test_a_type_checker_refuses_wrong_arguments(tmp_path):
    snippet = tmp_path / "snippet.py"
    lines = [
        "import octavo",
        'octavo.run(workload="fir", placement="grit", scale=0.01, watch=True)',
        'octavo.run(workload="fir", placment="grit")',
        'octavo.compare(workloads=["fir"], scale="x")',
        'octavo.scenario(workload="fir", seed="x")',
        'octavo.sweep({}, trial="x")',
        'octavo.run(workload="fir", overrides=octavo.Config(node={"gpus": 2, "l2": {"ways": 8}}))',
        'octavo.Config(memory={"page_sise": "64KiB"})',
        'octavo.Config(record={"events": "yes"})',
        'octavo.run(workload="fir", fidelity="paeg")',
        'octavo.run(workload="fir", kind="manged", executor="instant")',
        'octavo.compare(workloads="fir", kinds=["managed", "pined"], placements=["my_policy.py", "grit"])',
        'octavo.sweep("sweep.toml", direction="up")',
    ]
    snippet.write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(snippet)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    refused = {int(line) for line in re.findall(r"snippet\.py:(\d+): error", done.stdout)}
    assert refused == {3, 4, 5, 6, 8, 9, 10, 11, 12, 13}, done.stdout + done.stderr


@pytest.mark.parametrize("function", [octavo.run, octavo.compare, octavo.scenario])
def test_arguments_are_shown_one_by_one(function):
    assert set(Arguments.__annotations__) <= set(inspect.signature(function).parameters)


@pytest.mark.parametrize("function", [octavo.run, octavo.compare, octavo.scenario, octavo.advise])
def test_help_says_what_each_argument_means(function):
    shown = pydoc.render_doc(function, renderer=pydoc.plaintext)
    assert "ForwardRef" not in shown
    assert "**arguments" not in shown
    for name in Arguments.__annotations__:
        assert re.search(rf"^ +{name}: \S+ \S+", shown, re.MULTILINE), name


def test_the_package_lists_its_own_names_alone():
    assert {name for name in dir(octavo) if not name.startswith("__")} == set(octavo.__all__)


def test_a_misspelt_argument_is_named():
    with pytest.raises(TypeError) as raised:
        octavo.run(workload="fir", placment="grit")
    assert all(name in str(raised.value) for name in ("run()", "placment", "placement"))


def test_errors_speak_of_arguments_and_keep_their_hint():
    with pytest.raises(ScenarioError) as failure:
        octavo.scenario(workload="fir", placement="grt")
    assert str(failure.value).startswith("argument `placement`: unknown placement `grt`")
    assert str(failure.value).endswith("did you mean `grit`?")
    with refused("unknown-key", ScenarioError, key="node.gpu_lnk"):
        octavo.scenario(workload="fir", overrides={"node.gpu_lnk.bandwidth": "1GB/s"})
    hint = OctavoError("it is there", "choose another folder with -o, or replace it with --force; `x --force` does not")
    assert str(hint).endswith("with output, or replace it with force=True; `x --force` does not")
    assert hint.message == "it is there"
    assert "--force" in hint.hint


def test_results_show_themselves(comparison, tmp_path):
    result = comparison.results["fir", "grit"]
    assert re.match(r"RunResult\(fir under grit, [\d.]+ ms, in ", repr(result))
    assert "<td>migrations</td>" in result._repr_html_()
    assert repr(comparison) == "Comparison(fir: on-touch, grit; over on-touch)"
    assert comparison._repr_html_().count("<tr>") == 3
    assert "cannot be read" in repr(type(result)(tmp_path))


def test_replicates_show_their_intervals_and_who_is_level():
    placements = ["on-touch", "duplication", "ideal"]
    several = octavo.compare(workloads=["fir"], placements=placements, scale=1 / 64, replicates=2)
    shown = several._repr_html_()
    assert "<th>interval</th>" in shown
    assert "medians of 2 replicates" in shown
    assert re.search(r"<td>[−+][\d.]+% [−+][\d.]+%</td>", shown)
    assert "<p>fir: fastest is duplication.</p>" in shown


def test_scenarios_are_shown_in_a_line():
    shown = repr(octavo.scenario(workload="fir", placement="grit"))
    assert re.fullmatch(r"Scenario\(fir under grit, \d+ lines of TOML\)", shown)
    assert repr(octavo.Scenario("seed = 'x'")) == "Scenario(of which the TOML cannot be used)"


def test_notebooks_show_scenarios_and_advice():
    shown = octavo.scenario(workload="fir", placement="grit", scale=0.25)._repr_html_()
    assert "<caption>fir under grit</caption>" in shown
    assert "<td>scale</td><td>0.25</td>" in shown
    jobs = [{"name": "a", "workload": "fir", "gpus": [0]}, {"name": "b", "workload": "hs", "gpus": [1]}]
    assert "<td>a (fir), b (hs)</td>" in octavo.scenario(jobs=jobs)._repr_html_()
    assert octavo.Scenario("seed = 'x'")._repr_html_().startswith("<p>")
    advised = octavo.advise("vectoradd", scale=1 / 256, quick=True)._repr_html_()
    assert "<caption>vectoradd on cuda-sm90</caption>" in advised
    assert advised.count("<tr>") == 4
    assert "Predicted gain" in advised


def test_results_draw_themselves(comparison, tmp_path):
    result = comparison.results["fir", "grit"]
    assert result.plot()._repr_png_().startswith(b"\x89PNG")
    assert comparison.plot("breakdown").save(tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")
    with refused("unknown-name", ScenarioError, found="phases"):
        comparison.plot("phases")
    with refused("unwritable", OutputError, file="x.bmp"):
        comparison.plot().save(tmp_path / "x.bmp")


def test_results_report_themselves(comparison, tmp_path, monkeypatch):
    written = comparison.report(tmp_path / "both.html")
    assert "fir" in written.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    alone = comparison.results["fir", "grit"].report("one of them.html")
    assert Path(os.fspath(alone)).is_file()
    assert '<a href="one%20of%20them.html"' in alone._repr_html_()
    assert alone.with_name("none.html")._repr_html_() is None


def test_files_of_others_are_not_replaced(comparison, tmp_path, cli):
    result = comparison.results["fir", "grit"]
    own = tmp_path / "own.html"
    own.write_text("<!DOCTYPE html><title>Mine</title>")
    with refused("exists", OutputError, file="own.html"):
        result.report(own)
    with refused("exists", OutputError, file="own.html"):
        octavo.run(result.scenario, perfetto=own)
    assert own.read_text() == "<!DOCTYPE html><title>Mine</title>"
    for file in (tmp_path / "again.html", tmp_path / "empty.html"):
        (tmp_path / "empty.html").touch()
        assert result.report(file) == result.report(file)
    timeline = tmp_path / "own.pftrace"
    for _ in range(2):
        octavo.run(result.scenario, perfetto=timeline)
        assert timeline.stat().st_size
    picture = tmp_path / "own.png"
    picture.write_text("mine")
    done = cli("explain", str(result.folder), "--picture", str(picture))
    assert done.returncode == 2
    assert "own.png exists already, and is no PNG picture" in done.stderr


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_pictures_replace_pictures(ending, comparison, tmp_path):
    picture = comparison.plot().save(tmp_path / f"x.{ending}")
    check_target(picture)


def test_progress_is_shown_if_asked_for(capfd):
    octavo.run(workload="fir", scale=0.01, watch=True)
    assert "[1/1] fir on-touch" in capfd.readouterr().err
    octavo.sweep({"scenario": {"workload": {"name": "fir", "scale": 0.01}}, "grid": {"seed": [0]}}, watch=True)
    assert "[1/1]" in capfd.readouterr().err
    octavo.run(workload="fir", scale=0.01)
    assert not capfd.readouterr().err


def named():
    """Names of Octavo in the running text and the code of pages."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"(?<![\w/.-])octavo(?:\.[A-Za-z_]\w*)+", " ".join(re.findall(r"`([^`\n]+)`", text))):
            if not KEYS_OF_FILES.match(name):
                yield f"{page.relative_to(ROOT)}: {name}", name


@pytest.mark.parametrize(
    "name", [name for _, name in sorted(set(named()))], ids=[where for where, _ in sorted(set(named()))]
)
def test_what_pages_name_exists(name):
    assert locate(name) is not None, name


def test_reports_need_no_further_import():
    command = [sys.executable, "-c", "import octavo; octavo.report.report; octavo.measurements.imports.import_nsys"]
    assert subprocess.run(command, check=False).returncode == 0
