"""What is in the package, how it is found, and what it costs to ask for help."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from importlib import import_module
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest

from octavo.cli.commands import COMMANDS, Imported
from octavo.cli.option_names import as_typed

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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("LOADED []")


@pytest.mark.parametrize("command", ["", "run", "report", "reproduce harvest", "trace seal", "apply"])
def test_help_names_no_types_of_python(command, cli):
    shown = cli(*command.split(), "--help").stdout
    assert "--help" in shown
    assert not re.search(r"<(bool|str|path|int|float|list)\b", shown)


def test_logs_of_rmm_are_looked_at_without_numpy(tmp_path):
    code = "import sys; sys.modules['numpy'] = None; sys.argv = ['octavo', 'import', 'rmm', 'no.csv']; "
    code += "from octavo.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "cannot read no.csv: No such file or directory" in done.stderr


NOT_INSTALLED = """\
import importlib.metadata, sys

def distribution(name):
    raise importlib.metadata.PackageNotFoundError(name)

importlib.metadata.distribution = distribution
from octavo.cli import main
main()
"""


def test_a_folder_with_the_package_is_enough(tmp_path):
    """Where it is used without being installed, nothing of Python's says which version it has."""

    def octavo(*arguments: str) -> str:
        command = [sys.executable, "-c", NOT_INSTALLED, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    fir = ("--workload", "fir", "--scale", "0.004")
    assert octavo("--version") == f"octavo {distribution('octavo').version}\n"
    octavo("run", *fir, "-o", "run", "--quiet")
    octavo("compare", *fir, "-p", "on-touch,grit", "-o", "both", "--quiet")
    sweep = 'scenario.workload = { name = "fir", scale = 0.004 }\n[grid]\nseed = [1, 2]\n'
    (tmp_path / "sweep.toml").write_text(sweep)
    octavo("sweep", "sweep.toml", "-o", "sweep", "--quiet")
    octavo("report", "run", "-o", "run.html", "--quiet")
    octavo("explain", "run", "--quiet")
    octavo("profile", "-o", "profile", "--quiet", "--", "true")


ALONE = """\
import sys
sys.modules |= dict.fromkeys(("numpy", "matplotlib"))  # not to be found
import octavo
both = octavo.compare(workloads=["fir"], placements=["on-touch", "grit"], scale=1 / 256, output="both")
octavo.report.report("both/runs/fir/grit", "one.html")
octavo.explain.explain(both.results["fir", "grit"])
octavo.advise("spmv", scale=1 / 256, output="advice")
for wanted in (both.plot, lambda: octavo.roofline.Roofline(1e12, 1e11, 1e10, 1e10).ceilings([1.0])):
    try:
        wanted()
    except octavo.OctavoError as error:
        print(str(error).replace("\\n", ": "))
"""


def test_runs_and_reports_need_no_extra(tmp_path):
    done = subprocess.run([sys.executable, "-c", ALONE], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    assert done.stdout.splitlines() == [
        "Matplotlib is not installed: install it with `pip install 'octavo[pictures]'`",
        "NumPy is not installed: install it with `pip install 'octavo[arrays]'`",
    ]
    assert "no pictures are drawn, as Matplotlib is not installed" in done.stderr
    assert '"chunks":' in (tmp_path / "one.html").read_text(encoding="utf-8")
    assert not list(tmp_path.rglob("*.png"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("octavo run --placement acc", "access-counter"),
        ("octavo compare -p on-touch,dupl", "on-touch,duplication"),
        ("octavo run --workload sten", "stencil2d"),
        ("octavo run --node grit-8", "grit-8gpu"),
        ("octavo run --kind mana", "managed"),
        ("octavo compare -k explicit,pin", "explicit,pinned"),
        ("octavo run --fidelity p", "page"),
        ("octavo compare --executor ins", "instant"),
        ("octavo run --demotion spare", "spare-memory"),
        ("octavo run --guard stock", "stock-driver"),
        ("octavo compare --sharing quo", "quota"),
        ("octavo run --prefetch tree-", "tree-neighborhood"),
        ("octavo run --eviction lfu", "lfu-block"),
        ("octavo advise fir --node gh200-", "gh200-cdmm"),
        ("octavo validate programs x.csv --node gh200-", "gh200-cdmm"),
        ("octavo run --set node.gpu_link.b", "node.gpu_link.bandwidth="),
        ("octavo sweep s.toml --set memory.pla", "memory.placement="),
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


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there is always a screen")
def test_the_demo_opens_no_browser_without_a_screen(monkeypatch):
    demo = import_module("octavo.cli.demo")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not demo._has_screen()
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert demo._has_screen()


def test_the_citation_names_what_the_package_is():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.match(r"cff-version: 1\.2\.0\n", text)
    for key in ("message", "title", "authors", "license", "abstract"):
        assert re.search(rf"^{key}:", text, re.MULTILINE), key
    for licence in ("MIT", "Apache-2.0"):
        assert f"  - {licence}\n" in text


@pytest.mark.parametrize(
    ("version", "titles", "fits"),
    [
        ("0.1.0", ["0.1.0 – 2026-11-28"], True),
        ("0.2.0", ["0.2.0 – 2027-01-31", "0.1.0 – 2026-11-28"], True),
        ("0.2.0", ["0.1.0 – 2026-11-28"], False),
        ("0.1.0", ["Not released yet", "0.1.0 – 2026-11-28"], False),
        ("0.1.0", ["0.1.0"], False),
        ("0.1.0", [], False),
    ],
)
def test_a_release_has_the_first_section_of_the_changelog(version, titles, fits):
    release = runpy.run_path(str(ROOT / "tools" / "wheel" / "release.py"))
    changelog = "".join(f"## {title}\n\n- something\n\n" for title in titles)
    assert release["version"]((ROOT / "Cargo.toml").read_text(encoding="utf-8")) == distribution("octavo").version
    if fits:
        release["check_changelog"](version, changelog)
    else:
        with pytest.raises(SystemExit):
            release["check_changelog"](version, changelog)


def test_a_release_is_a_wheel_and_its_sources(tmp_path):
    release = runpy.run_path(str(ROOT / "tools" / "wheel" / "release.py"))
    for name in ("octavo-0.1.0-cp310-abi3-any.whl", "octavo-0.0.9.tar.gz"):
        (tmp_path / name).touch()
    with pytest.raises(SystemExit):
        release["packages"](tmp_path, "0.1.0")
    (tmp_path / "octavo-0.1.0.tar.gz").touch()
    found = [path.name for path in release["packages"](tmp_path, "0.1.0")]
    assert found == ["octavo-0.1.0-cp310-abi3-any.whl", "octavo-0.1.0.tar.gz"]


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
    words = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))
    found, rest = either(words)
    return found and not rest


def either(words: list[str]) -> tuple[bool, list[str]]:
    """Whether licences joined by `OR` are free, of which one is enough, and what follows them."""
    found, rest = every(words)
    while rest[:1] == ["OR"]:
        other, rest = every(rest[1:])
        found = found or other
    return found, rest


def every(words: list[str]) -> tuple[bool, list[str]]:
    """Whether licences joined by `AND` are all free, with their exceptions."""
    found, rest = one(words)
    while rest[:1] in (["AND"], ["WITH"]):
        other, rest = one(rest[1:])
        found = found and other
    return found, rest


def one(words: list[str]) -> tuple[bool, list[str]]:
    if words[:1] != ["("]:
        return words[:1] != [] and words[0] in FREE, words[1:]
    found, rest = either(words[1:])
    return found and rest[:1] == [")"], rest[1:]


def test_licences_are_chosen_from():
    assert free("MIT OR GPL-3.0")
    assert free("MIT/Apache-2.0")
    assert free("(MIT OR Apache-2.0) AND Unicode-3.0")
    assert free("Unicode-3.0 AND (GPL-3.0-only OR MIT)")
    assert free("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only")
    assert not free("(MIT OR Apache-2.0) AND GPL-3.0-only")
    assert not free("GPL-3.0-only AND MIT OR GPL-2.0")
    assert not free("(MIT")
    assert not free("MIT GPL-3.0-only")
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
        assert re.search(r"\b(MIT|BSD|Apache|PSF|Python Software Foundation|matplotlib)\b", told), (
            f"{name}: {told[:200]}"
        )


@pytest.mark.parametrize(
    ("line", "message", "shown"),
    [
        (
            "run --scale -1",
            "--set workload.scale=-1.0: `workload.scale`: found -1",
            "--scale -1.0: `workload.scale`: found -1",
        ),
        ("run -n x", "--set node.preset=x: `node.preset`: unknown", "--node x: `node.preset`: unknown"),
        ("run --set workload.scale=-1", "--set workload.scale=-1: `a`: b", "--set workload.scale=-1: `a`: b"),
        ("run -s-1", "--set workload.scale=-1.0: `a`: b", "--scale -1.0: `a`: b"),
        ("run -s 0.1 --set=seed=-1", "--set seed=-1: `seed`: b", "--set seed=-1: `seed`: b"),
        ("run -p grit --prefetch=x", "--set memory.prefetch=x: `a`: b", "--prefetch x: `a`: b"),
        ("run -s 1 --set=workload.scale=-1", "--set workload.scale=-1: `a`: b", "--set workload.scale=-1: `a`: b"),
        ("run --set workload.scale=2 -s -1", "--set workload.scale=-1.0: `a`: b", "--scale -1.0: `a`: b"),
        ("advise firr", "--set workload=firr: `workload.name`: unknown", "`workload.name`: unknown"),
        ("advise fir --machine x", "--set node.preset=x: `a`: b", "--machine x: `a`: b"),
        ("profile x.toml -- prog --scale 1", "--set workload.scale=-1: `a`: b", "--set workload.scale=-1: `a`: b"),
        ("run x.toml", "--set seed=-1: `seed`: b", "--set seed=-1: `seed`: b"),
        ("run x.toml", "x.toml:1: `seed`: b", "x.toml:1: `seed`: b"),
    ],
)
def test_messages_name_the_option_that_was_typed(line, message, shown):
    assert as_typed(message, line.split()) == shown
