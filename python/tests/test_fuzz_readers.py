"""Every reader of what users give, fed with changed files: an answer or one of our messages, never anything else.

Each target takes real files, changes them by chance and reads them. A seed and a number name a case: the same case is
the same bytes. `OCTAVO_FUZZ_SECONDS=60` goes on for so long with each target (`make soak`); a case that fails is
kept in `OCTAVO_FUZZ_KEEP`, if that names a folder. `corpus` has inputs that reached different messages: all are read
again by the tests. With `OCTAVO_FUZZ_GROW=1`, cases that reach a message which none of these reaches are added.
"""

from __future__ import annotations

import json
import lzma
import os
import pickle
import random
import re
import shutil
import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import nvprof_files
import pytest
import rocpd_files
from conftest import SMALL
from nsys_exports import saxpy
from reader_texts import (
    AZURE,
    BURST,
    DAMON,
    DENSE,
    DIMACS,
    JOBS,
    LACKEY,
    LIST,
    MATRIX,
    METIS,
    MOONCAKE,
    NODE,
    PERF,
    RANDOM,
    SCENARIO,
    SCRIPT,
    SWEEP,
)
from test_activity import GPU_FAULT, HTOD, PAGE, A, record
from test_allocator_programs import tables
from test_chakra import NODES, protobuf
from test_import_heat import RECORD
from test_import_torch_database import database

import octavo
from octavo.measurements.calibrate import machine, quantities
from octavo.measurements.calibrate.measurement import Measured
from octavo.measurements.calibrate.probes import VALUES
from octavo.measurements.imports import (
    Nvprof,
    Rocpd,
    import_damon,
    import_log,
    import_nvprof,
    import_perf_mem,
    import_program,
    import_rmm,
    import_rocprof,
    import_torch,
    rmm,
    torch,
)
from octavo.measurements.imports.cupti import import_cupti
from octavo.measurements.imports.nsys import import_nsys
from octavo.report.data import gather
from octavo.report.runs import read
from octavo.runs import measures
from octavo.sweeps import plan
from octavo.sweeps.spec import read as read_sweep
from octavo_studies.validate import correlate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
DATA = ROOT / "crates/octavo-trace/tests/data"
SECONDS = float(os.environ.get("OCTAVO_FUZZ_SECONDS", "0"))
CASES = 16
"""Of each target, where no time is asked for."""
GROWS = bool(os.environ.get("OCTAVO_FUZZ_GROW"))
CORPUS = Path(__file__).parent / "corpus"
"""By target and name of the case: the files that it changed."""
PACKED = ".packed"
"""What the names of kept files end with that are packed with xz."""
MOST = 24
"""Cases that are kept of a target, at most."""
LARGEST = 32 << 10
"""Bytes of a file that is kept, at most."""
PATIENCE = 30
"""Seconds after which a reader that has not ended never will."""
FIRST = int(os.environ.get("OCTAVO_FUZZ_FIRST", "0"))

WORDS = [
    *(b"[ ] { } = . , : ' \" # \\ \n \x00 \xff\xfe - + / * $ % ( ) < >".split(b" ")),
    *(b"0 1 -1 65536 2147483647 2147483648 4294967295 9223372036854775807 18446744073709551616 1e308 nan inf".split()),
    *(b"true false null 12:00:00 2026-01-01 1GiB 1TiB 5cycles 1ps 1s 1Hz 0B/s 1TB/s all end -".split()),
    b"node.",
    b"[[job]]\n",
    b"[node]\n",
    b"'''",
    b"\xe2\x80\xae",
    b"\x1b[31m",
    b"[" * 3000,
    b"9" * 400,
]


def changed(content: bytes, chance: random.Random) -> bytes:
    """The content after one to four changes."""
    bytes_ = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        at, end = sorted(chance.randrange(len(bytes_) + 1) for _ in range(2))
        match chance.randrange(7):
            case 0 if bytes_:
                bytes_[at % len(bytes_)] ^= 1 << chance.randrange(8)
            case 1:
                bytes_[at : min(end, at + 64)] = b""
            case 2:
                bytes_[at:at] = bytes_[at : min(end, at + 256)]
            case 3:
                bytes_[at:at] = chance.choice(WORDS)
            case 4:
                bytes_[at : at + chance.randint(1, 8)] = chance.choice(WORDS)
            case 5:
                del bytes_[at:]
            case _:
                bytes_[at : at + 8] = chance.choice([0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1]).to_bytes(8, "little")
    return bytes(bytes_)


@dataclass(frozen=True)
class Target:
    """A reader: the folder of a case holds what it reads."""

    corpus: Callable[[Path], None]
    """Writes the real files into a folder."""
    read: Callable[[Path], object]


def text(name: str, *contents: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / name).write_text("\n".join(contents))

    return write


def scenario(folder: Path) -> object:
    return octavo.scenario(folder / "s.toml")


def node(folder: Path) -> object:
    return octavo.scenario(workload="fir", node=folder / "node.toml")


def sweep(folder: Path) -> object:
    return plan.points(read_sweep(folder / "sweep.toml"))


def result(folder: Path) -> object:
    gather(read([folder / "r"]), "on-touch")
    found = octavo.RunResult.load(folder / "r")
    for name in found.tables:
        found.table(name)
    return measures.row("fir", "on-touch", found)


def trace(folder: Path) -> object:
    found = octavo.trace.open(folder / "t.trace")
    found.validate()
    found.head(10)
    return octavo.scenario(workload=folder / "t.trace")


def machine_file(folder: Path) -> None:
    """Some values of each unit."""
    known = {value.unit: value for value in VALUES if not value.each_pair}
    values = [value for value in VALUES[:8] if not value.each_pair] + list(known.values())
    about = {"gpu": "a GPU", "gpus": 1, "uuid": "GPU-1", "effort": "quick"}
    measured = {
        one.name: Measured(one.name, value=100, low=90, high=110, unit=one.unit, repetitions=12, probe=one.probe)
        for one in values
    }
    content = machine.machine_text(machine.Machine(about, measured, {"links": "one GPU"}), NODE)
    (folder / "machine.toml").write_text(content)


def result_of_a_run(folder: Path) -> None:
    octavo.run(workload="fir", scale=SMALL / 4, output=folder / "whole")
    (folder / "whole").rename(folder / "r")


def recorded(folder: Path) -> None:
    shutil.copytree(ROOT / "traces/nw-length-128.trace", folder / "t.trace")
    (folder / "t.trace" / "octavo-manifest.json").unlink(missing_ok=True)


def foreign(name: str, kind: str) -> Target:
    def corpus(folder: Path) -> None:
        source = DATA / name
        if source.is_dir():
            shutil.copytree(source, folder / "in")
        else:
            (folder / "in").mkdir()
            shutil.copy(source, folder / "in")

    def convert(folder: Path) -> object:
        given = folder / "in" if (DATA / name).is_dir() else next((folder / "in").iterdir())
        return octavo.trace.convert(given, folder / "out.trace", format=kind)

    return Target(corpus, convert)


def profile(folder: Path) -> None:
    saxpy(folder / "p.sqlite")


def of_nvprof(folder: Path) -> None:
    nvprof_files.saxpy(folder / "p.nvvp")


def both_ways(folder: Path) -> None:
    import_program(folder / "p.nvvp", folder / "own.py", force=True, kind=Nvprof)
    import_nvprof(folder / "p.nvvp", folder / "out")


def json_of_rocprof(folder: Path) -> None:
    rocpd_files.filled(rocpd_files.Document(folder / "p.db"))


def of_rocprof(folder: Path) -> None:
    rocpd_files.solver(folder / "p.db", timed=True)


def both_ways_of_rocprof(folder: Path) -> None:
    import_program(folder / "p.db", folder / "own.py", force=True, kind=Rocpd)
    import_rocprof(folder / "p.db", folder / "out")


def log_both_ways(folder: Path) -> None:
    """A log of an allocator, by what it holds, as a program and as a table."""
    (path,) = (each for each in folder.iterdir() if each.is_file())
    reader, load = (rmm, import_rmm) if path.suffix == ".csv" else (torch, import_torch)
    load(path, folder / "out")
    import_log(reader.read(path), folder / "own.py", force=True)
    octavo.fit(str(path), memory="1KB")


def chakra(folder: Path) -> None:
    for name in ("et.json", "a.et"):
        octavo.trace.convert_chakra(folder / name, folder / f"{name}.step")
        octavo.inspect_workload(octavo.scenario(folder / f"{name}.step"))


def of_chakra(folder: Path) -> None:
    (folder / "et.json").write_text(json.dumps({"schema": "1.0.2-chakra.0.0.4", "nodes": NODES}))
    protobuf(NODES).rename(folder / "a.et")


def log_of_rmm(folder: Path) -> None:
    rows = [
        f"1,{hour:02}:59:59.{number}00000,{action},0x{number}000,256,0x0"
        for hour in (22, 23, 0)
        for number in range(1, 6)
        for action in ("allocate", "free")
    ]
    (folder / "log.csv").write_text("\n".join(["Thread,Time,Action,Pointer,Size,Stream", *rows]) + "\n")


def snapshot(folder: Path) -> None:
    frames = [{"filename": "/a/model.py", "line": 7, "name": "forward"}]
    trace = [
        {"action": action, "addr": number << 16, "size": 512, "stream": 0, "time_us": time, "frames": frames}
        for number in range(1, 6)
        for time, action in ((10 * number, "alloc"), (10 * number + 25, "free_completed"))
    ]
    blocks = [{"address": 99 << 16, "size": 512, "requested_size": 500, "state": "active_allocated", "frames": frames}]
    segments = [{"device": 1, "address": 99 << 16, "total_size": 512, "blocks": blocks}]
    (folder / "snapshot.pickle").write_bytes(pickle.dumps({"segments": segments, "device_traces": [trace]}, protocol=4))


def recording(folder: Path) -> None:
    ways = ("copied_in", "copied_out", "copied_within", "filled", "prefetched")
    nothing = {way: {"calls": 1, "bytes": 4096} for way in ways}
    rows = [
        {"kind": kind, "call": "cudaMalloc", "bytes": 1 << 20, "site": site, **nothing}
        for site, kind in enumerate(("device", "managed"))
    ]
    sites = [[{"module": "/none/program", "offset": 0x1234 + site, "symbol": None}] for site in range(2)]
    (folder / "profile.json").write_text(json.dumps({"octavo_profile": 1, "sites": sites, "allocations": rows}))


def graph(folder: Path) -> object:
    given = next(path for path in folder.iterdir() if path.name.startswith("graph"))
    return octavo.workload_result(octavo.scenario(workload="wcc", overrides={"workload.graph": str(given)}))


def product(folder: Path) -> object:
    return octavo.inspect_workload(
        octavo.scenario(workload="spmv", overrides={"workload.matrix": str(folder / "matrix.mtx")})
    )


def requests(name: str) -> Callable[[Path], object]:
    def replay(folder: Path) -> object:
        options = {"workload.trace": str(folder / name), "workload.steps": 64}
        return octavo.workload_result(octavo.scenario(workload="llm-decode", overrides=options))

    return replay


def figures(folder: Path) -> None:
    result_of_a_run(folder)
    (folder / "mine.csv").write_text("run,measure,value,unit\nr,time,1.5,us\nr,faults,12,\nr,migrations,7,\n")


def records(folder: Path) -> None:
    rows = [record(HTOD, 8 * PAGE, 1000, 1500, A, 0, 1, 2), record(GPU_FAULT, 17, 1300, 1350, A + PAGE, 0, 0, 2)]
    (folder / "records.bin").write_bytes(b"".join(rows * 8))


TARGETS: dict[str, Target] = {
    "scenario": Target(text("s.toml", SCENARIO), scenario),
    "jobs": Target(text("s.toml", JOBS), scenario),
    "node": Target(text("node.toml", NODE), node),
    "machine": Target(machine_file, lambda folder: machine.read(folder / "machine.toml")),
    "sweep": Target(text("sweep.toml", SWEEP), sweep),
    "random sweep": Target(text("sweep.toml", RANDOM), sweep),
    "result": Target(result_of_a_run, result),
    "trace": Target(recorded, trace),
    "accel-sim": foreign("accel-sim", "accel-sim"),
    "mem-trace": foreign("mem-trace/numbered.txt", "nvbit-mem-trace"),
    "packed": foreign("mem-trace/numbered.txt.xz", "nvbit-mem-trace"),
    "nsys": Target(profile, lambda folder: import_nsys(folder / "p.sqlite", folder / "out")),
    "nvprof": Target(of_nvprof, both_ways),
    "rocprof": Target(of_rocprof, both_ways_of_rocprof),
    "rocprof json": Target(json_of_rocprof, both_ways_of_rocprof),
    "perf mem": Target(text("m.txt", PERF), lambda folder: import_perf_mem(folder / "m.txt", folder / "out")),
    "perf script": Target(text("m.txt", SCRIPT), lambda folder: import_perf_mem(folder / "m.txt", folder / "out")),
    "damon": Target(
        text("d.json", json.dumps([RECORD])), lambda folder: import_damon(folder / "d.json", folder / "out")
    ),
    "damon text": Target(text("d.txt", DAMON), lambda folder: import_damon(folder / "d.txt", folder / "out")),
    "chakra": Target(of_chakra, chakra),
    "lackey": Target(
        text("l.txt", LACKEY),
        lambda folder: octavo.trace.convert(folder / "l.txt", folder / "out.trace", format="lackey"),
    ),
    "rmm": Target(log_of_rmm, log_both_ways),
    "torch": Target(snapshot, log_both_ways),
    "torch database": Target(lambda folder: database(path=folder / "s.db") and None, log_both_ways),
    "torch tables": Target(lambda folder: tables(folder / "s.db") and None, log_both_ways),
    "recording": Target(recording, lambda folder: octavo.advise(folder / "profile.json")),
    "correlate": Target(figures, lambda folder: correlate(folder / "mine.csv").to_dict()),
    "edges": Target(text("graph.txt", LIST), graph),
    "metis": Target(text("graph.graph", METIS), graph),
    "dimacs": Target(text("graph.gr", DIMACS), graph),
    "matrix": Target(text("graph.mtx", MATRIX), graph),
    "dense": Target(text("matrix.mtx", DENSE), product),
    "azure": Target(text("azure.csv", AZURE), requests("azure.csv")),
    "burst": Target(text("burst.csv", BURST), requests("burst.csv")),
    "mooncake": Target(text("mooncake.jsonl", MOONCAKE), requests("mooncake.jsonl")),
    "cupti": Target(records, lambda folder: import_cupti(folder / "records.bin", folder / "out")),
}


@pytest.mark.parametrize("text", ["___GB/s", "9e999999999GB/s", "9e400GB/s"])
def test_a_quantity_that_is_no_number_is_refused(text):
    with pytest.raises(ValueError, match="expected a bandwidth"):
        quantities.number(text, "B/s")


@contextmanager
def an_end() -> Iterator[None]:
    """What has not ended by then is an error here."""

    def late(_number: int, _frame: object) -> None:
        raise AssertionError(f"not read after {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def kind(error: octavo.OctavoError) -> str:
    """What a message says, without what it quotes: its first words."""
    text = re.sub(r"`[^`]*`|'[^']*'|\S*[/\d]\S*", " ", error.message.split("found")[0])
    return " ".join(re.findall(r"[A-Za-z]{2,}", text)[:12])


def outcome(name: str, folder: Path, about: str) -> str:
    """Read what is in a folder: the kind of message, or nothing if it can be read."""
    try:
        with an_end():
            TARGETS[name].read(folder)
    except octavo.OctavoError as error:
        return kind(error)
    except BaseException as error:
        keep = os.environ.get("OCTAVO_FUZZ_KEEP")
        if keep:
            shutil.copytree(folder, Path(keep) / about.replace(" ", "-"), dirs_exist_ok=True)
        raise AssertionError(f"{about}: {type(error).__name__}: {error}") from error
    return ""


def case(name: str, number: int, corpus: Path, folder: Path, reached: set[str]) -> None:
    """Change one file of the corpus and read it all."""
    chance = random.Random(f"{name} {number}")  # noqa: S311 - no secrets
    shutil.copytree(corpus, folder)
    file = chance.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
    content = changed(file.read_bytes(), chance)
    file.write_bytes(content)
    try:
        found = outcome(name, folder, f"case {number} of {name}")
        if GROWS and found not in reached and len(reached) < MOST and len(content) <= LARGEST:
            keep(content, CORPUS / name / str(number) / file.relative_to(folder))
            reached.add(found)
    finally:
        shutil.rmtree(folder)


def kept(name: str) -> list[Path]:
    """The cases of a target that are kept."""
    return sorted((CORPUS / name).glob("*"))


def keep(content: bytes, path: Path) -> None:
    """Keep a file of a case, packed with xz where that is smaller."""
    packed = lzma.compress(content, check=lzma.CHECK_NONE, preset=9 | lzma.PRESET_EXTREME)
    path.parent.mkdir(parents=True)
    if len(packed) < len(content):
        path.with_name(path.name + PACKED).write_bytes(packed)
    else:
        path.write_bytes(content)


def unpack(one: Path, folder: Path) -> None:
    """The files of a kept case take the place of those in a folder."""
    for path in (path for path in one.rglob("*") if path.is_file()):
        target = folder / path.relative_to(one)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == PACKED:
            target.with_suffix("").write_bytes(lzma.decompress(path.read_bytes()))
        else:
            target.write_bytes(path.read_bytes())


def again(name: str, corpus: Path, folder: Path) -> set[str]:
    """Read the cases that are kept; the messages that they reach."""
    reached = {""}
    for one in kept(name):
        shutil.copytree(corpus, folder)
        unpack(one, folder)
        reached.add(outcome(name, folder, f"case {one.name} of {name}"))
        shutil.rmtree(folder)
    return reached


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_has_cases_that_are_kept(name):
    assert kept(name)
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < 1 << 20


@pytest.mark.filterwarnings("ignore:.*no manifest")
@pytest.mark.parametrize("name", TARGETS)
def test_whatever_a_file_holds_it_is_read_or_refused(name, tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    TARGETS[name].corpus(corpus)
    TARGETS[name].read(shutil.copytree(corpus, tmp_path / "unchanged"))  # What is not changed can be read.
    reached = again(name, corpus, tmp_path / "case")
    number, until = FIRST, time.monotonic() + SECONDS
    while number < FIRST + CASES or time.monotonic() < until:
        case(name, number, corpus, tmp_path / "case", reached)
        number += 1
    print(f"{name}: {number - FIRST} cases, {len(kept(name))} kept ones")
