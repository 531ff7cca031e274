"""Full disks, endless files, nesting without end, names that a terminal would obey: one message, never a traceback."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys

import pytest
from conftest import SMALL, contents, refused

import octavo
from octavo.cli.sink import Sink
from octavo.plain import visible
from octavo.report.data import gather
from octavo.report.page import _json as json_of_pages
from octavo.report.runs import read
from octavo.runs import measures

RUN = ("run", "-w", "fir", "-s", str(SMALL), "-q")
SWEEP = """\
[scenario]
workload = { name = "fir", scale = 0.015625 }
node.preset = "grit-2gpu"
memory.placement = "grit"
"""
DEEP = "[" * 20_000


def run(folder, *arguments, **how):
    command = [sys.executable, "-m", "octavo", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120, **how)
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    assert done.returncode in (0, 1, 2), (done.returncode, done.stderr[-2000:])
    return done


@pytest.mark.parametrize("kilobytes", [0, 1, 4])
@pytest.mark.parametrize("command", [RUN, ("compare", *RUN[1:], "-p", "grit"), ("sweep", "s.toml", "-q")])
def test_a_disk_that_takes_no_more_is_one_message(command, kilobytes, tmp_path):
    """A limit of the size of files stands for a full disk: writing fails in the same places."""
    (tmp_path / "s.toml").write_text(SWEEP + "[grid]\nseed = [1]\n")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes << 10, kilobytes << 10))

    done = run(tmp_path, *command, "-o", "out", preexec_fn=limit)
    assert done.returncode in (1, 2)
    assert "File too large" in done.stderr
    assert not list(tmp_path.rglob("*.octavo-*")), "what was begun is gone"
    assert run(tmp_path, *command, "-o", "out").returncode == 0


def test_a_real_full_disk_leaves_the_old_result(tmp_path):
    """On a file system of 200 KiB, where that may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=200k", "none", str(place)]
    mounted = subprocess.run(command, check=False, capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("only root may mount")
    try:
        assert run(tmp_path, *RUN, "-o", "disk/r").returncode == 0
        before = contents(place / "r")
        (place / "filler").write_bytes(b"x" * (os.statvfs(place).f_bavail * os.statvfs(place).f_bsize - 8192))
        done = run(tmp_path, *RUN, "--seed", "7", "--force", "-o", "disk/r")
        assert done.returncode == 2
        assert "No space left on device" in done.stderr
        assert contents(place / "r") == before
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_standard_stream_changes_no_result(tmp_path, closed):
    command = f"exec {sys.executable} -m octavo run -w fir -s {SMALL} -o out {closed}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    octavo.RunResult.load(tmp_path / "out").check()


def test_a_process_of_one_with_a_closed_standard_stream_has_it_open(tmp_path):
    script = "import subprocess, sys; from octavo.cli import streams; streams.open_closed(); "
    script += "sys.exit(subprocess.run([sys.executable, '-c', 'import os; os.fstat(2)']).returncode)"
    command = f'exec {sys.executable} -c "{script}" 2>&-'
    assert subprocess.run(["bash", "-c", command], check=False, cwd=tmp_path).returncode == 0


def test_a_full_disk_names_the_trace_and_not_what_stands_in_for_it(tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 10, 4 << 10))

    done = run(tmp_path, "trace", "record", "fir", "full.trace", "-s", str(SMALL), "-q", preexec_fn=limit)
    assert done.stderr.startswith("error: full.trace/instructions.parquet: cannot be written"), done.stderr


UNSEEN = "a\x1b[31mb\x9bc\u202ed\\u202e\x7f\ne"


def test_json_for_programs_has_escapes_and_reads_the_same(capsys):
    Sink(as_json=True).document({UNSEEN: [UNSEEN, "\udcff"]})
    text = capsys.readouterr().out
    assert visible(text) == text
    assert json.loads(text) == {UNSEEN: [UNSEEN, "\udcff"]}


def test_names_in_reports_are_text():
    text = json_of_pages({UNSEEN: [UNSEEN]})
    assert json.loads(text) == {visible(UNSEEN): [visible(UNSEEN)]}


def test_a_full_standard_output_is_one_message(tmp_path):
    with open("/dev/full", "w") as full:  # noqa: PTH123
        command = [sys.executable, "-m", "octavo", "list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


NESTED = {
    "a value": ("run", "-w", "fir", "--set", f"seed={DEEP}"),
    "a key": ("run", "-w", "fir", "--set", "a." * 20_000 + "b=1"),
    "a scenario": ("run", "deep.toml"),
    "a node": ("run", "-w", "fir", "-n", "./deep.toml"),
    "a sweep": ("sweep", "deep.toml"),
    "keys of a sweep": ("sweep", "keys.toml"),
    "a machine": ("validate", "machine", "deep.toml"),
    "a result": ("report", "result"),
}


@pytest.mark.parametrize("case", NESTED)
def test_nesting_without_end_is_one_message(case, tmp_path):
    (tmp_path / "deep.toml").write_text(f"a = {DEEP}\n")
    (tmp_path / "keys.toml").write_text(SWEEP + "[grid]\n" + "a." * 20_000 + "b = [1]\n")
    (tmp_path / "result").mkdir()
    (tmp_path / "result" / "scenario.toml").write_text("")
    (tmp_path / "result" / "summary.json").write_text(DEEP)
    done = run(tmp_path, *NESTED[case])
    assert done.returncode in (1, 2)
    assert "error:" in done.stderr
    assert len(done.stderr) < 2_500


KEYS_WITHOUT_END = """\
import sys
from pathlib import Path
from octavo import OctavoError
from octavo.advice.systems import measured_of
from octavo.measurements.calibrate import machine
from octavo.runs import memory
from octavo.sweeps import spec
for read in (spec.read, machine.read, measured_of):
    try:
        read(Path("keys.toml"))
    except OctavoError as error:
        print(error)
print(memory.peak(), file=sys.stderr)
"""


def test_keys_without_end_take_no_gigabyte(tmp_path):
    (tmp_path / "keys.toml").write_text("a." * 20_000 + "b = 1\n")
    command = [sys.executable, "-c", KEYS_WITHOUT_END]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.count("recursion limit") == 2
    assert int(done.stderr) < 1 << 29


LONG = "x" * 20_000


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "-w", LONG),
        ("run", "-w", "fir", "--set", LONG),
        ("run", "-w", "fir", "--set", f"{LONG}=1"),
        ("run", "-w", "fir", "--set", f"workload.{LONG}=1"),
        ("run", "-w", "fir", "--set", f"node.clock={LONG}"),
        ("run", "-w", "fir", "--memory-limit", LONG),
        ("compare", "-w", "fir", "-p", f"on-touch,{LONG}"),
        ("list", LONG),
        (LONG,),
    ],
    ids=lambda arguments: " ".join(word[:20] for word in arguments),
)
def test_a_message_about_long_input_has_its_beginning_and_its_length(arguments, tmp_path):
    done = run(tmp_path, *arguments)
    assert done.returncode == 2
    assert len(done.stderr) < 3_000, done.stderr
    assert "xxxx" in done.stderr
    assert re.search(r"\d\d,?\d{3}characters", re.sub(r"[\s│]", "", done.stderr)), done.stderr


def test_a_long_message_is_short_in_python_too():
    with refused("unknown-key", octavo.ScenarioError) as caught:
        octavo.run(workload="fir", overrides={"a" + LONG: 1})
    assert len(str(caught.value)) < 3_000


@pytest.mark.parametrize("arguments", ["run", "run -w fir -n", "sweep", "validate machine"])
def test_a_file_without_end_is_refused(arguments, tmp_path):
    done = run(tmp_path, *arguments.split(), "/dev/zero")
    assert done.returncode in (1, 2)
    assert "found more than 64 MiB" in " ".join(done.stderr.split())


OTHER_FILES = {
    "transform /dev/zero": "found more than 64 MiB",
    "validate mgpusim --reference /dev/zero": "found more than 64 MiB",
    "validate mgpusim --only fir --gpus 1 --markdown /dev/zero": "found more than 64 MiB",
    "import cupti /dev/zero -o r": "expected unified-memory records, found more than 1024 MiB",
    "import rmm /dev/zero -o r": "found one of more than 1048576 characters",
    "apply /dev/zero -- true": "expected a placement file, found more than 1024 MiB",
}


@pytest.mark.parametrize("arguments", OTHER_FILES)
def test_a_file_of_another_tool_without_end_is_refused(arguments, tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))

    done = run(tmp_path, *arguments.split(), preexec_fn=limit)
    assert done.returncode == 2
    assert OTHER_FILES[arguments] in " ".join(done.stderr.split())


@pytest.mark.parametrize("literal", ["12:00:00", "2026-01-01", "2026-01-01T12:00:00Z", "nan", "inf"])
def test_literals_that_mean_nothing_in_a_sweep_are_named(literal, tmp_path):
    (tmp_path / "s.toml").write_text(SWEEP + f"seed = {literal}\n[grid]\nnode.gpus = [2]\n")
    done = run(tmp_path, "sweep", "s.toml")
    assert done.returncode == 2
    assert "`seed`" in done.stderr


@pytest.mark.parametrize(
    "name", ["\x1b[31mred\x07.toml", "[bold]x[/].toml", "\u202emoc.toml", "x\udcff.toml", "[/].toml"]
)
def test_names_are_shown_as_text(name, tmp_path):
    done = run(tmp_path, "run", os.fsencode(name))
    assert done.returncode == 2
    assert visible(name) in done.stderr
    assert "\x1b" not in done.stderr


def test_folders_may_have_names_that_look_like_patterns(tmp_path):
    folder = tmp_path / "a[1]*?{b}\x1b[1m"
    assert octavo.run(workload="fir", scale=SMALL, output=folder / "r").table("kernels").height > 0
    rows = {"kind": ["load", "end"], "bytes": [4, 0], "lanes": [64, 0], "lines": [[0, 1, 2, 3], []]}
    launch = {"kernel": "copy", "grid": (64, 1, 1), "group": (64, 1, 1)}
    octavo.trace.write(folder / "t", rows, [{"name": "a", "base": 0, "bytes": 256}], [launch])
    assert octavo.trace.open(folder / "t").instructions.collect().height == 2
    scenario = {"workload": {"name": "fir", "scale": SMALL}}
    table = octavo.sweep({"scenario": scenario, "grid": {"seed": [1]}}, output=folder / "s", workers=1)
    assert octavo.load_sweep(folder / "s").equals(table)
    octavo.report.report([folder], tmp_path / "report.html")


def test_labels_are_shown_as_text(tmp_path):
    """In tables, pictures and lines of progress."""
    rows = {"kind": ["load", "end"], "bytes": [4, 0], "lanes": [64, 0], "lines": [[0, 1, 2, 3], []]}
    launch = {"kernel": "copy", "grid": (64, 1, 1), "group": (64, 1, 1)}
    name = "a\x1b[31m$_$ [bold]x.trace"
    octavo.trace.write(tmp_path / name, rows, [{"name": "a", "base": 0, "bytes": 256}], [launch])
    done = run(tmp_path, "compare", "-w", f"./{name}", "-p", "on-touch,grit", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "[bold]x" in done.stdout


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return octavo.run(workload="fir", scale=SMALL, output=tmp_path_factory.mktemp("earlier") / "r").folder


def test_damage_is_never_a_traceback(result, tmp_path):
    """Results with bits flipped and files cut."""
    chance = random.Random(5)  # noqa: S311 - no secrets
    for file in sorted(path.name for path in result.iterdir() if path.name != "octavo-manifest.json"):
        for number in range(25 if file.endswith(("json", "toml")) else 8):
            copy = shutil.copytree(result, tmp_path / "copy")
            content = bytearray((copy / file).read_bytes())
            if number % 4 == 0:
                del content[chance.randrange(len(content)) :]
            else:
                content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
            (copy / file).write_bytes(content)
            try:
                gather(read([copy]), "on-touch")
                measures.row("fir", "on-touch", octavo.RunResult.load(copy))
            except octavo.OctavoError:
                pass
            shutil.rmtree(copy)


DAMAGED_TABLES = """\
import random, sys
from pathlib import Path
from octavo import OctavoError
from octavo.files import parquet
from octavo.runs import memory
chance = random.Random(11)
tables = sorted(Path(sys.argv[1]).glob("*.parquet"))
for number in range(200):
    content = bytearray(chance.choice(tables).read_bytes())
    near_the_end = len(content) - 1 - chance.randrange(min(len(content), 3000))  # Where sizes and counts stand.
    at = chance.choice([chance.randrange(len(content)), near_the_end])
    if number % 2:
        content[at] ^= 1 << chance.randrange(8)
    else:
        content[at : at + 5] = b"\\xff\\xff\\xff\\xff\\x07"  # The largest size that Parquet can state.
    Path("damaged.parquet").write_bytes(content)
    try:
        parquet.read(Path("damaged.parquet"), "")
    except OctavoError:
        pass
print(memory.peak())
"""


def test_damaged_tables_take_no_gigabyte_and_panic_nowhere(result, tmp_path):
    command = [sys.executable, "-c", DAMAGED_TABLES, str(result)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) < 1 << 30
    assert done.stderr == "", "polars prints panics of its own"


DAMAGED_TRACES = """\
import random, warnings
from pathlib import Path
import octavo
warnings.simplefilter("ignore")
chance = random.Random(3)
octavo.trace.record(octavo.scenario(workload="relu", scale=1 / 256), "t.trace")
file = Path("t.trace/instructions.parquet")
Path("t.trace/octavo-manifest.json").unlink()
whole = file.read_bytes()
for number in range(300):
    content = bytearray(whole)
    at = chance.randrange(len(content))
    content[at : at + 5] = b"\\xff\\xff\\xff\\xff\\x07"
    file.write_bytes(content)
    try:
        octavo.trace.open("t.trace").validate()
    except octavo.TraceError as error:
        print(error)
"""


def test_what_a_decoder_does_not_expect_is_told_once(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", DAMAGED_TRACES], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "its decoder does not expect" in done.stdout
    assert done.stderr == ""


def test_a_run_that_ends_badly_does_not_end_its_siblings(cli, tmp_path):
    arguments = ("-w", "matrixmultiplication,fir", "-p", "grit,on-touch", "-s", str(SMALL), "--workers", "1")
    done = cli("compare", *arguments, "--set", "node.capacity.footprint_percent=1", "-o", "out")
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "2 of 4 runs failed: matrixmultiplication grit:" in said, said
    finished = (tmp_path / "out" / "runs").rglob("summary.json")
    assert sorted(path.parent.name for path in finished) == ["grit", "on-touch"]
