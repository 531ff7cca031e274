"""What commands print at 80 columns: no line is longer, and no number and no name is broken."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import pytest
from test_calibrate_files import ABOUT, measured
from test_import_allocators import HEAD, LOG, entry

from octavo.measurements.calibrate import machine

HOME = Path(__file__).parents[2]
SMALL = ("--scale", "0.01", "--force")
PLACEMENTS = "on-touch,first-touch,access-counter,duplication,grit,ideal"
VALIDATION = (
    "--reference",
    str(HOME / "validation" / "mgpusim-v4.2.0.csv"),
    "--traces",
    str(HOME / "traces"),
)
COMMANDS = {
    "compare": ("compare", "-w", "fir,spmv", "-p", PLACEMENTS, "--replicates", "2", "-o", "compared", *SMALL),
    "alone": ("compare", "-w", "fir+spmv", "-p", "on-touch,access-counter", "--alone", "-o", "alone", *SMALL),
    "kinds": ("compare", "-w", "fir", "--kind", "explicit,managed,pinned", "-o", "kinds", *SMALL),
    "jobs": ("run", "-w", "fir+spmv", "-o", "jobs", *SMALL),
    "validate": ("validate", "mgpusim", "--only", "fir,floydwarshall", *VALIDATION, "-o", "validated", "--force"),
    "rmm": ("import", "rmm", "log.csv", "-o", "rmm", "--force"),
    "torch": ("import", "torch", "snapshot.pickle", "-o", "torch", "--force"),
    "calibrate": ("calibrate", "show", "machine.toml"),
    "probes": ("calibrate", "probes"),
    "nodes": ("list", "nodes"),
    "workloads": ("list", "workloads"),
    "demotions": ("list", "demotions"),
    "placement": ("show", "grit"),
    "head": ("trace", "head", str(HOME / "traces" / "fir-length-16384.trace")),
    "inspect": ("workload", "inspect", "pagerank", "--scale", "0.01"),
    "unknown": ("run", "-w", "firr"),
    "key": ("run", "-w", "fir", "--set", "node.gpu_lnik.latency=3"),
}
REFUSED = ("unknown", "key")
"""Commands that end with an error."""
LONG_REASON = "the driver refuses advice for memory of the operating system, so that nothing of it could be measured"


@pytest.fixture
def files(tmp_path):
    """What commands read."""
    again = ["1,00:00:00.200000,allocate,0x1000,64,0x0", "1,00:00:00.300000,free,0x9000,64,0x0"]
    (tmp_path / "log.csv").write_text("\n".join([HEAD, *LOG, *again]) + "\n")
    rows = [entry("alloc", 0x10000, 512, 5), entry("alloc", 0x10000, 1024, 7), entry("free_completed", 0x90000, 64, 9)]
    (tmp_path / "snapshot.pickle").write_bytes(pickle.dumps({"segments": [], "device_traces": [rows]}))
    found = machine.Machine({**ABOUT, "date": "2026-01-01"}, measured(), {"managed.advise": LONG_REASON})
    (tmp_path / "machine.toml").write_text(machine.machine_text(found))


def printed(cli, monkeypatch, columns, command, code=0):
    monkeypatch.setenv("COLUMNS", str(columns))
    done = cli(*command)
    assert done.returncode == code, done.stderr
    return done.stdout + re.sub(r"^\[\d+/\d+\].*$", "", done.stderr, flags=re.MULTILINE)


def whole(text):
    """Words, and measured numbers with their units."""
    return set(text.split()) | set(re.findall(r"\d+[.,][\d.,]+ (?:[nµm]?s|[KMG]?i?B)\b", text))


def checked(narrow, wide):
    assert len(narrow.split()) > 5, narrow
    assert not [line for line in narrow.splitlines() if len(line) > 80]
    assert not {word for word in whole(wide) - whole(narrow) if not re.fullmatch("─+", word)}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", COMMANDS)
def test_lines_end_between_words_within_80_columns(name, cli, monkeypatch):
    code = 2 if name in REFUSED else 0
    narrow, wide = (printed(cli, monkeypatch, columns, COMMANDS[name], code) for columns in (80, 1000))
    checked(narrow, wide)


def test_sentences_about_runs_fit_80_columns(cli, monkeypatch):
    for name, placement in (("one", "on-touch"), ("other", "access-counter")):
        cli("run", "-w", "fir", "-p", placement, "-o", name, *SMALL)
    for command in (("explain", "one"), ("explain", "one", "other")):
        narrow, wide = (printed(cli, monkeypatch, columns, command) for columns in (80, 1000))
        assert max(map(len, wide.splitlines())) > 100
        checked(narrow, wide)
    monkeypatch.delenv("COLUMNS")
    assert cli("explain", "one").stdout.splitlines()[0] == wide_first(cli, monkeypatch)


def wide_first(cli, monkeypatch):
    """The first sentence on one line, as it is in files."""
    return printed(cli, monkeypatch, 1000, ("explain", "one")).splitlines()[0]


def test_a_description_is_one_line_for_programs(cli):
    found = json.loads(cli("list", "demotions", "--json").stdout)
    assert all("\n" not in option["description"] for entry in found["demotions"] for option in entry["options"])


def test_speed_ups_have_a_row_for_whatever_there_is_more_of(cli):
    many = cli("compare", "-w", "fir,spmv", "-p", "on-touch,first-touch,grit,ideal", *SMALL).stdout
    assert re.search(r"variant +fir +spmv +geomean", many)
    few = cli("compare", "-w", "fir,spmv,relu", "-p", "on-touch,ideal", *SMALL).stdout
    assert re.search(r"workload +on-touch +ideal", few)
