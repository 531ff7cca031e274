"""What is in the package, how it is found, and what it costs to ask for help."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from importlib import import_module
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest

from octavo.cli.commands import COMMANDS, Imported

ROOT = Path(__file__).parents[2]
FREE = {"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib", "0BSD", "CC0-1.0", "Unlicense", "BSL-1.0"}
FREE |= {"Unicode-3.0", "Unicode-DFS-2016", "MIT-0", "PSF-2.0", "Python-2.0", "MPL-2.0", "LLVM-exception", "HPND"}
"""Licences under which anyone may use and hand on what is linked into the package, or installed with it."""


def test_the_list_of_commands_says_what_each_says_itself():
    for name, command in Imported().items():
        own = (command.help or "").split("\n\n", maxsplit=1)[0].replace("\n", " ")
        assert COMMANDS[name].summary == own


def test_help_imports_no_tables_and_no_commands():
    code = (
        "import sys\nsys.argv = ['octavo', '--help']\nfrom octavo.cli import main\ntry:\n main()\nexcept SystemExit:\n"
    )
    code += " print('LOADED', [n for n in ('polars', 'numpy', 'matplotlib', 'octavo.api') if n in sys.modules])"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stdout.rstrip().endswith("LOADED []")
    assert after.ru_utime >= before.ru_utime


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("octavo run --placement acc", "access-counter"),
        ("octavo compare -p on-touch,dupl", "on-touch,duplication"),
        ("octavo run --workload sten", "stencil2d"),
        ("octavo run --node grit-8", "grit-8gpu"),
        ("octavo expl", "explain"),
    ],
)
def test_shells_complete_commands_and_names(line, expected):
    words = line.split()
    asked = {"_OCTAVO_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    code = "import sys; sys.argv = ['octavo']; from octavo.cli.app import app; app(prog_name='octavo')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **asked}, check=False
    )
    assert expected in done.stdout.split()


def test_the_citation_names_what_the_package_is():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.match(r"cff-version: 1\.2\.0\n", text)
    for key in ("message", "title", "authors", "license", "abstract"):
        assert re.search(rf"^{key}:", text, re.MULTILINE), key
    for licence in ("MIT", "Apache-2.0"):
        assert f"  - {licence}\n" in text


def test_the_charts_library_is_that_of_the_package_where_it_has_one(tmp_path, monkeypatch):
    page = import_module("octavo.report.page")
    monkeypatch.setattr(page, "BUNDLE", tmp_path / "vega.js")
    page.library.cache_clear()
    assert "vegaEmbed" in page.library()
    (tmp_path / "vega.js").write_text("window.vegaEmbed = 'own';", encoding="utf-8")
    page.library.cache_clear()
    assert page.library() == "window.vegaEmbed = 'own';"
    page.library.cache_clear()


def test_everything_linked_into_the_package_may_be_handed_on():
    done = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--offline", "--locked"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("the sources of all crates are not here")
    for crate in json.loads(done.stdout)["packages"]:
        assert free(crate["license"] or ""), f"{crate['name']}: {crate['license']}"


def free(expression: str) -> bool:
    """Whether one of the licences that can be chosen is free; a slash is an old way to write `OR`."""
    choices = re.split(r"\s+OR\s+|/", expression.replace("(", "").replace(")", ""))
    return any(all(part in FREE for part in re.split(r"\s+(?:AND|WITH)\s+", choice.strip())) for choice in choices)


def test_licences_are_chosen_from():
    assert free("MIT OR GPL-3.0")
    assert free("MIT/Apache-2.0")
    assert free("(MIT OR Apache-2.0) AND Unicode-3.0")
    assert not free("GPL-3.0-only")
    assert not free("")


def test_everything_installed_with_the_package_may_be_handed_on():
    for requirement in requires("octavo") or []:
        if "extra ==" in requirement:
            continue
        name = re.split(r"[^\w.-]", requirement)[0]
        try:
            about = distribution(name).metadata
        except ModuleNotFoundError:
            continue
        told = " ".join(
            [about.get("License-Expression") or "", about.get("License") or "", *about.get_all("Classifier", [])]
        )
        assert re.search(r"MIT|BSD|Apache|PSF|Python Software Foundation|matplotlib", told), f"{name}: {told[:200]}"
