"""Every snippet of the README and of docs/ does what it says, and the documentation site builds without a warning.

A page's snippets run one after another in one folder, as a reader would run them. A `toml` snippet whose first line is
`# name.toml` is that file. What is not run says so, with the reason, in the line before: `<!-- not run: reason -->`.
"""

from __future__ import annotations

import doctest
import gzip
import importlib
import os
import pickle
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from inline_code import Keys, inline, is_python, options
from nsys_exports import saxpy, solver
from test_activity import record
from test_allocator_programs import ROWS, log
from test_import_allocators import WEIGHTS
from typer.main import get_command

import octavo
from octavo.cli.app import app
from octavo.scenarios import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]+) -->\n)?```(?P<language>\w+)[^\n]*\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
RUN = ("console", "sh", "bash", "python")


@dataclass(frozen=True)
class Snippet:
    language: str
    text: str
    reason: str | None
    """Why it is not run."""


def snippets(page: Path) -> list[Snippet]:
    found = FENCE.finditer(page.read_text(encoding="utf-8"))
    return [Snippet(each["language"], each["text"], each["reason"]) for each in found]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


WITH_SNIPPETS = [page for page in PAGES if any(each.language in RUN for each in snippets(page))]
NOT_RUN = [(page, each) for page in PAGES for each in snippets(page) if each.reason]


def prepare_own_workload(folder: Path) -> None:
    """Traces of other tools as the page's commands expect them."""
    data = ROOT / "crates" / "octavo-trace" / "tests" / "data"
    shutil.copytree(data / "accel-sim", folder / "traces")
    (folder / "mem_trace.txt.gz").write_bytes(gzip.compress((data / "mem-trace" / "numbered.txt").read_bytes()))


def prepare_real_programs(folder: Path) -> None:
    """Profiles as the page's commands expect them."""
    saxpy(folder / "saxpy.sqlite")
    solver(folder / "solver.sqlite")
    (folder / "snapshot.pickle").write_bytes(pickle.dumps(WEIGHTS))
    log(ROWS, folder / "rmm.log")
    (folder / "managed.activity.bin").write_bytes(record(4, 3) + record(1, 4096, flags=2))


def prepare_machines(folder: Path) -> None:
    """The machines and examples of a checkout, where the page's commands are run."""
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "machines").symlink_to(ROOT / "machines")


IN_A_CHECKOUT = ("advise", "calibrate", "fits", "index", "kinds", "nodes")
PREPARE = {
    "README.md": prepare_machines,
    **{f"docs/{page}.md": prepare_machines for page in IN_A_CHECKOUT},
    "docs/own-workload.md": prepare_own_workload,
    "docs/real-programs.md": prepare_real_programs,
}


def test_there_is_something_to_test():
    assert {"README.md", "docs/sweeps.md", "docs/tutorials/first-results.md"} <= {name(page) for page in WITH_SNIPPETS}


@pytest.mark.parametrize("page", WITH_SNIPPETS, ids=name)
def test_snippets(page, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PREPARE.get(name(page), lambda _: None)(tmp_path)
    variables = {}
    for snippet in snippets(page):
        if snippet.reason:
            continue
        if snippet.language == "toml" and (file := re.match(r"# (\S+\.toml)\n", snippet.text)):
            (tmp_path / file[1]).write_text(snippet.text)
        elif snippet.language == "python":
            exec(compile(snippet.text, name(page), "exec"), variables)  # noqa: S102 - our own text
        elif snippet.language in RUN:
            for command in commands(snippet):
                run(command, cli)


def commands(snippet: Snippet) -> list[str]:
    lines = snippet.text.replace("\\\n", " ").splitlines()
    if snippet.language == "console":
        return [line[2:] for line in lines if line.startswith("$ ")]
    return [line for line in lines if line.strip() and not line.startswith("#")]


def run(command: str, cli: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    program, *arguments = shlex.split(command, comments=True)
    assert program == "octavo", f"neither run nor marked as not run: {command}"
    done = cli(*arguments)
    assert done.returncode == 0, f"{command}\n{done.stderr}"


@pytest.mark.parametrize(("page", "snippet"), NOT_RUN, ids=[f"{name(page)}: {each.reason}" for page, each in NOT_RUN])
def test_what_is_not_run_is_listed(page, snippet):
    pytest.skip(f"{name(page)} does not run `{commands(snippet)[0]}` ...: {snippet.reason}")


@pytest.mark.parametrize(
    "module",
    [
        "octavo.advice.model",
        "octavo.api",
        "octavo.roofline",
        "octavo.sweeps.api",
        "octavo.tier",
        "octavo.trace",
        "octavo.trace.writer",
    ],
)
def test_examples_of_docstrings(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traces").symlink_to(ROOT / "traces")
    globs = {"octavo": octavo, "folder": tmp_path}
    found = doctest.testmod(importlib.import_module(module), extraglobs=globs)
    assert found.attempted > 0
    assert found.failed == 0


def test_commands_in_running_text_exist():
    inline = [
        (name(page), code)
        for page in [*PAGES, ROOT / "CHANGELOG.md"]
        for code in re.findall(r"`(octavo [^`\n]+)`", page.read_text())
    ]
    assert len(inline) > 100
    assert [(page, code, wrong) for page, code in inline if (wrong := misnamed(code.split()[1:]))] == []
    assert misnamed(["exlpain", "runs/first"]) == "exlpain"
    assert misnamed(["trace", "info", "x.trace", "--scael=1"]) == "--scael"


NO_KEYS = {
    "docs/calibrate.md": {"managed.events.parquet"},
    "docs/jobs.md": {"job.back"},
    "docs/python-policies.md": {"service.block"},
}
"""Attributes of Python, columns of tables and files of others, which are no keys of scenarios."""
NO_PYTHON = re.compile(r"octavo\.(h|hpp|pc)|octavo\.trace\.(version|lanes|source|command)")
"""Files of the runtime library, and metadata of traces."""
OPTIONS_OF_OTHERS = {
    "docs/calibrate.md": {"--limit", "--point-time", "--cupti"},
    "docs/coherent.md": {"--localalloc", "--preferred", "--preferred-many", "--interleave", "--membind"},
    "docs/speed.md": {"--bench"},
    "docs/real-programs.md": {"--cuda-memory-usage"},
    "docs/formats.md": {"--trace-mem", "--output-format"},
}
"""Options of `octavo-probe`, numactl, the benchmarks, and the tools whose files are read."""
RUNNING_TEXT = [*PAGES, *(ROOT / page for page in ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"))]


def test_keys_in_running_text_can_be_set():
    keys = Keys(catalogue.schema_spelled_out())
    found = {
        (name(page), key)
        for page in RUNNING_TEXT
        for code in inline(page.read_text(encoding="utf-8"))
        if (key := keys.flaw(code)) and key not in NO_KEYS.get(name(page), ())
    }
    assert not found
    assert keys.flaw("host.costs.pin") == "host.costs.pin", "an end of a key is no key"
    assert keys.flaw("node.l2_tlb.entrys = 4") == "node.l2_tlb.entrys"
    assert keys.flaw("memory.placement.fault_threshold") is keys.flaw("machine.toml") is None


def test_names_of_python_in_running_text_exist():
    named = [
        (name(page), found[0])
        for page in RUNNING_TEXT
        for code in inline(page.read_text(encoding="utf-8"))
        if (found := re.match(r"octavo(\.\w+)+", code)) and not NO_PYTHON.fullmatch(found[0])
    ]
    assert len(named) > 25
    assert not [each for each in named if not is_python(each[1])]
    assert not is_python("octavo.trace.opne")


def test_options_in_running_text_exist():
    known = {*options(get_command(app)), "--help"}
    named = [
        (name(page), option)
        for page in RUNNING_TEXT
        for code in inline(page.read_text(encoding="utf-8"))
        if re.match("--[a-z]", option := re.split(r"[=\s]", code)[0])
    ]
    assert len(named) > 100
    assert not [(page, each) for page, each in named if each not in known | OPTIONS_OF_OTHERS.get(page, set())]
    assert "--scael" not in known


def misnamed(words: list[str]) -> str | None:
    """The command or option that there is not, of what follows `octavo`."""
    command = get_command(app)
    while words and not words[0].startswith("-") and (known := getattr(command, "commands", None)) is not None:
        if words[0] not in known:
            return words[0]
        command, words = known[words[0]], words[1:]
    given = [
        word.partition("=")[0] for word in takewhile(lambda word: word != "--", words) if re.match(r"--?[a-z]", word)
    ]
    known = {
        "--help",
        "-h",
        *(name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)),
    }
    return next((option for option in given if option not in known), None)


def test_links_lead_from_the_first_page_to_every_other():
    docs = ROOT / "docs"
    pages = {page for page in docs.rglob("*.md") if page.parent.name != "reference"}
    found, open_ = set(), [docs / "index.md"]
    while open_:
        page = open_.pop()
        if page not in found:
            found.add(page)
            linked = re.findall(r"\]\(([^):#]+\.md)", page.read_text(encoding="utf-8"))
            open_ += [target for each in linked if (target := (page.parent / each).resolve()) in pages]
    assert not [str(page.relative_to(docs)) for page in pages - found]


def test_every_strategy_is_explained_with_its_source():
    text = (ROOT / "docs" / "systems.md").read_text(encoding="utf-8")
    kinds = catalogue.listing()
    for kind in ("placements", "prefetchers", "evictions", "demotions", "sharings", "guards", "allocators", "sizings"):
        for entry in kinds[kind]:
            assert f"`{entry['name']}`" in text, entry["name"]
            assert re.split(r"[,:(]", entry["source"])[0].strip() in text, entry["source"]


def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    site = tmp_path / "site"
    assert "fault_threshold" in (site / "reference" / "strategies.html").read_text()
    assert "node.gpu_link.bandwidth" in (site / "reference" / "scenario.html").read_text()
    assert "octavo sweep" in (site / "reference" / "command-line.html").read_text()
    assert "octavo calibrate -o machine.toml --quick" in (site / "reference" / "command-line.html").read_text()
    assert "copy_bandwidth_h2d_pinned" in (site / "reference" / "measured.html").read_text()
    assert "octavo.compare" in (site / "reference" / "python.html").read_text()
    assert (site / "repository" / "presets" / "nodes" / "grit-4gpu.toml").is_file()
    loaded = re.compile(r'(src|href)="https?://[^"]+\.(js|css|woff2?)"')
    outside = [path for path in site.rglob("*.html") if loaded.search(path.read_text(encoding="utf-8"))]
    assert not outside, "a page loads something from elsewhere"
