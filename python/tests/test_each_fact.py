"""Readers of files: if a number of a file is another one, so is the result, a note or the refusal."""

from __future__ import annotations

import re
import shutil
import sqlite3
import warnings
from pathlib import Path

import numpy as np
import pytest
from nsys_exports import saxpy
from test_activity import GPU_FAULT, HTOD, PAGE, A, record
from test_import_allocators import HEAD as RMM_HEAD
from test_import_allocators import LOG
from test_inputs import AZURE, BURST, HEADER, MOONCAKE, dimacs, jsonl, listed, matrix, metis

import octavo
from octavo.errors import OctavoError
from octavo.measurements.imports import import_cupti, import_nsys, import_rmm

NUMBER = re.compile(r"(?<![\w.])(0x[0-9a-f]+|\d+(\.\d+)?)(?![\w.])")
MOST = 40
"""Numbers of a file that are changed, evenly spread."""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def answer(read):
    """What a reader says: its result and its notes, or its refusal."""
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        try:
            found = read()
        except OctavoError as error:
            found = str(error)
    return found, sorted({str(note.message) for note in notes})


LABELS = re.compile(
    r"kernel id = \d+|^00\d\d|CTX 0x5|launch_id 0|warp 0 - |\"hash_ids\": [^]]*|Conversation|API", re.MULTILINE
)
"""Numbers that only tell things apart: with another one, they are the same things."""


def changed(text):
    """The text with one number after another replaced by another one, and where that is."""
    labels = [label.span() for label in LABELS.finditer(text)]
    found = NUMBER.finditer(text)
    places = [each for each in found if not any(begin <= each.start() < end for begin, end in labels)]
    for place in places[:: -(-len(places) // MOST)]:
        old = place[1]
        new = hex(int(old, 16) + 4096) if old.startswith("0x") else str(int(old) + 1) if old.isdigit() else f"9{old}"
        yield f"{text[: place.start()]}{new}{text[place.end() :]}", f"{old} at {place.start()}"


def of_graph(file):
    """What two workloads make of a graph: who leads where, and weights."""

    def read():
        options = {"workload.graph": file, "workload.source": 0}
        return [
            octavo.workload_result(octavo.scenario(workload=name, overrides=options))
            for name in ("bfs-balanced", "sssp")
        ]

    return read


def of_requests(file):
    options = {"workload.trace": file, "workload.step_ms": 10}
    return lambda: octavo.workload_result(octavo.scenario(workload="llm-decode", overrides=options))


def converted(file):
    def read():
        Path("in").mkdir(exist_ok=True)
        shutil.copy(file, "in/kernel-1.traceg")
        Path("in/kernelslist.g").write_text("kernel-1.traceg\n")
        source = "in" if file.endswith(".traceg") else file
        shutil.rmtree("out.trace", ignore_errors=True)
        summary = octavo.trace.convert(source, "out.trace")
        found = octavo.trace.open("out.trace")
        return summary, found.head(1000), found.launches.to_dicts()

    return read


def tables(load):
    """What an import writes: its tables, and its summary without the file's size."""

    def read():
        found = load()
        about = {key: value for key, value in found.summary.items() if key != "source"}
        return about, {name: found.table(name).to_dict(as_series=False) for name in found.tables}

    return read


ADDRESSES = " ".join(f"0x{0x10000 + lane * 4:x}" for lane in range(32))
WEIGHTED = "".join(f"{one} {one % 6 + 1} {one}.5\n" for one in range(1, 7))
TEXTS = {
    "list": ("a.txt", listed(), of_graph),
    "list with weights": ("a.csv", WEIGHTED.replace(" ", ","), of_graph),
    "SNAP": ("a.txt", listed(head="# Directed graph: a\n# Nodes: 12 Edges: 12\n"), of_graph),
    "METIS": ("a.graph", metis(), of_graph),
    "METIS with weights": ("a.graph", metis(weights=" 7", header="12 12 1"), of_graph),
    "DIMACS": ("a.gr", dimacs("sp", line="a", tail=" 5"), of_graph),
    "matrix": ("a.mtx", matrix("integer general", " 3"), of_graph),
    "symmetric matrix": ("a.mtx", matrix(), of_graph),
    "Azure": ("a.csv", AZURE, of_requests),
    "BurstGPT": ("a.csv", BURST, of_requests),
    "Mooncake": ("a.jsonl", jsonl([{**row, "timestamp": 20 * at} for at, row in enumerate(MOONCAKE)]), of_requests),
    "Accel-Sim": ("a.traceg", HEADER.format(threads=32, shared=1, registers=32), converted),
    "NVBit": ("a.txt", f"MEMTRACE: CTX 0x5 - grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E - {ADDRESSES}\n", converted),
    "RMM": (
        "a.csv",
        "\n".join([RMM_HEAD, *LOG[:3], LOG[4]]) + "\n",
        lambda file: tables(lambda: import_rmm(file, "out", force=True)),
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_each_number_of_a_text_counts(name):
    file, content, reader = TEXTS[name]
    Path(file).write_text(content)
    before = answer(reader(file))
    assert not isinstance(before[0], str), before
    same = []
    for text, what in changed(content):
        Path(file).write_text(text)
        if answer(reader(file)) == before:
            same.append(what)
    assert same == []


def test_each_number_of_compressed_rows_counts():
    def read(**arrays):
        np.savez("a.npz", **arrays)
        return answer(of_graph("a.npz"))

    whole = {"indptr": np.arange(13), "indices": (np.arange(12) + 1) % 12}
    before = read(**whole)
    for name, values in whole.items():
        for place in range(len(values)):
            other = values.copy()
            other[place] += 1
            assert read(**whole | {name: other}) != before, (name, place)
    assert read(**whole, format=np.array(b"csc")) != before


UNUSED = {
    *("contextId", "streamId", "pc", "originalFaultPc", "CpuInstruction", "module", "unresolvedFaultPc", "globalPid"),
    *("demangledName", "registersPerThread", *(f"{what}{axis}" for what in ("grid", "block") for axis in "XYZ")),
    "deviceId of CUDA_GPU_MEMORY_USAGE_EVENTS",
}
"""Columns that tables of `real-programs.md` do not list; processes are told apart alone."""


def test_each_value_of_an_export_counts():
    path = saxpy(Path("a.sqlite"))
    read = tables(lambda: import_nsys(path, "out", force=True))
    before = answer(read)
    base = path.read_bytes()
    made = sqlite3.connect(path)
    names = [
        name for (name,) in made.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'CU%'")
    ]
    columns = [(name, row[1]) for name in names for row in made.execute(f'PRAGMA table_info("{name}")')]
    same = []
    for table, column in columns:
        found = made.execute(f'SELECT "{column}" FROM {table} WHERE rowid = 1').fetchone()  # noqa: S608 - our own names
        if {column, f"{column} of {table}"} & UNUSED or found == (None,):
            continue
        made.close()
        path.write_bytes(base)
        made = sqlite3.connect(path)
        made.execute(f'UPDATE {table} SET "{column}" = "{column}" + 4096 WHERE rowid = 1')  # noqa: S608
        made.commit()
        if answer(read) == before:
            same.append((table, column))
    assert same == []


def test_each_field_of_a_record_counts():
    rows = [(HTOD, 8 * PAGE, 1000, 1500, A, 0, 1, 2), (GPU_FAULT, 17, 1300, 1350, A + PAGE, 0, 0, 2)]

    def read(values):
        Path("a.bin").write_bytes(b"".join(record(*row) for row in values))
        return answer(tables(lambda: import_cupti("a.bin", "out", force=True)))

    before = read(rows)
    for number, row in enumerate(rows):
        for place in range(len(row)):
            if (number, place) in ((0, 5), (1, 6)):
                continue  # A copy from the host has no other source, and a fault no target.
            other = [*row[:place], row[place] + (PAGE if row[place] == max(row) else 1), *row[place + 1 :]]
            assert read([*rows[:number], other, *rows[number + 1 :]]) != before, (number, place)
