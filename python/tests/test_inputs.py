"""Files that people have: the right value, a refusal that names the place, or a note; each fact of a file counts."""

from __future__ import annotations

import gzip
import json
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest

import octavo
from octavo.files.notes import OctavoNote

if TYPE_CHECKING:
    from pathlib import Path

RING = [(vertex + 1, (vertex + 1) % 12 + 1) for vertex in range(12)]
"""Each of 12 vertices leads to the next, from 1."""


def metis(edges=RING, weights="", header="12 12"):
    near: dict[int, list[int]] = {vertex: [] for vertex in range(1, 13)}
    for one, other in edges:
        near[one].append(other)
        near[other].append(one)
    return f"{header}\n" + "".join(" ".join(f"{other}{weights}" for other in near[one]) + "\n" for one in near)


def listed(edges=RING, head="", tail=""):
    return head + "".join(f"{one} {other}{tail}\n" for one, other in edges)


def dimacs(kind="edge", count=12, line="e", tail=""):
    return f"c a ring\np {kind} 12 {count}\n" + "".join(f"{line} {one} {other}{tail}\n" for one, other in RING)


def matrix(kind="pattern symmetric", tail="", rows=12, edges=RING):
    lines = "".join(f"{max(pair)} {min(pair)}{tail}\n" for pair in edges)
    return f"%%MatrixMarket matrix coordinate {kind}\n{rows} 12 {len(edges)}\n{lines}"


def told(workload: str, key: str, file: Path, **more: object) -> tuple[dict[str, object], int]:
    """What a workload makes of a file, and how many notes there are."""
    overrides = {f"workload.{key}": str(file), **{f"workload.{name}": value for name, value in more.items()}}
    scenario = octavo.scenario(workload=workload, overrides=overrides)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", OctavoNote)
        result = octavo.workload_result(scenario)
    return result, len({str(one.message) for one in found if issubclass(one.category, OctavoNote)})


def searched(file: Path) -> tuple[int, int, int, int]:
    """Vertices, entries, vertices reached, notes."""
    found, notes = told("bfs-balanced", "graph", file, source=0)
    levels, offsets = found["levels"], found["offsets"]
    assert isinstance(levels, list)
    assert isinstance(offsets, list)
    return len(levels), int(offsets[-1]), sum(level is not None for level in levels), notes


READ = {
    "METIS": ("a.graph", metis(), (12, 24, 12, 0)),
    "METIS, weights of edges": ("a.graph", metis(weights=" 7", header="12 12 1"), (12, 24, 12, 1)),
    "METIS, two vertices alone": ("a.graph", metis(RING[:9], header="12 9"), (12, 18, 10, 0)),
    "list from 1": ("a.txt", listed(), (12, 24, 12, 1)),
    "list from 0": ("a.txt", listed([(one - 1, other - 1) for one, other in RING]), (12, 24, 12, 0)),
    "list with gaps": ("a.txt", listed([(one * 1_000_000, other * 1_000_000) for one, other in RING]), (12, 24, 12, 1)),
    "list with weights": ("a.txt", listed(tail=" 0.5"), (12, 24, 12, 3)),
    "list with a header": ("a.csv", listed(head="from,to\n").replace(" ", ","), (12, 24, 12, 2)),
    "list both ways": ("a.txt", listed(RING + [pair[::-1] for pair in RING]), (12, 24, 12, 2)),
    "SNAP, directed": ("a.txt", listed(head="# Directed graph: a\n# Nodes: 12 Edges: 12\n"), (12, 12, 12, 1)),
    "SNAP, other sizes": ("a.txt", listed(head="# Directed graph: a\n# Nodes: 13 Edges: 12\n"), (12, 12, 12, 2)),
    "KONECT": ("a.txt", listed(head="% sym unweighted\n"), (12, 24, 12, 1)),
    "DIMACS, colouring": ("a.col", dimacs(), (12, 24, 12, 0)),
    "DIMACS, paths": ("a.gr", dimacs("sp", line="a", tail=" 5"), (12, 12, 12, 1)),
    "matrix, symmetric": ("a.mtx", matrix(), (12, 24, 12, 0)),
    "matrix, skew": ("a.mtx", matrix("real skew-symmetric", " 1.5"), (12, 24, 12, 1)),
    "matrix, hermitian": ("a.mtx", matrix("complex hermitian", " 1 0"), (12, 24, 12, 1)),
    "matrix, general": ("a.mtx", matrix("integer general", " 3"), (12, 12, 1, 1)),
}
REFUSED = {
    "METIS, an edge in one line": ("a.graph", metis().replace("\n1 3\n", "\n1\n"), "line 1"),
    "METIS, a vertex too many": ("a.graph", metis() + "1\n", "line 14"),
    "METIS, a vertex 0": ("a.graph", metis().replace("\n1 3\n", "\n0 3\n"), "line 3"),
    "METIS by another name": ("a.txt", metis(), "METIS"),
    "a format that nobody knows": ("a.gexf", listed(), "a.gexf"),
    "list of two formats": ("a.txt", listed() + "1 2 3\n", "line 13"),
    "list of names": ("a.txt", listed() + "a b\n", "line 13"),
    "SNAP, cut off": ("a.txt", listed(head="# Nodes: 12 Edges: 13\n"), "line 1"),
    "DIMACS, an edge short": ("a.gr", dimacs("sp", 13, "a"), "line 2"),
    "matrix, not square": ("a.mtx", matrix("pattern general", rows=13), "as many rows as columns"),
    "matrix, the upper half": ("a.mtx", matrix(edges=[(2, 1)]).replace("\n2 1\n", "\n1 2\n"), "line 3"),
    "matrix, a value of a pattern": ("a.mtx", matrix(tail=" 1"), "line 3"),
    "empty": ("a.txt", "", "at least 2 vertices"),
}


def tells(error: Exception, fact: str) -> bool:
    """Whether a message names the place or the key that a test has, whatever its other words are."""
    place = fact.partition(": expected")[0]
    return place.startswith("expected") or place in str(error)


@pytest.mark.parametrize("name", READ)
def test_graphs_are_read_right(name, tmp_path):
    file, content, expected = READ[name]
    (tmp_path / file).write_text(content)
    assert searched(tmp_path / file) == expected
    (tmp_path / f"{file}.gz").write_bytes(gzip.compress(content.encode()))
    assert searched(tmp_path / f"{file}.gz") == expected


@pytest.mark.parametrize("name", REFUSED)
def test_graphs_that_do_not_add_up_are_refused(name, tmp_path):
    file, content, said = REFUSED[name]
    (tmp_path / file).write_text(content)
    with pytest.raises(octavo.OctavoError) as error:
        searched(tmp_path / file)
    assert file in str(error.value)
    assert tells(error.value, said), error.value


def buffers(file: Path, **more: object) -> dict[str, int]:
    overrides = {"workload.matrix": str(file), **{f"workload.{name}": value for name, value in more.items()}}
    program = octavo.workload_program(octavo.scenario(workload="spmv", overrides=overrides))
    return {one["name"]: one["bytes"] for one in program["buffers"]}


def test_a_product_with_a_matrix_of_a_file(tmp_path):
    (tmp_path / "a.mtx").write_text(matrix("real general", " 2", rows=20))
    found = buffers(tmp_path / "a.mtx")
    assert found == {"values": 48, "vector": 48, "columns": 48, "row_offsets": 84, "output": 80}
    (tmp_path / "b.mtx").write_text(matrix())
    assert buffers(tmp_path / "b.mtx")["columns"] == 96, "the other half follows"
    for name, compressed in (("csr", 20), ("csc", 12)):
        ends = np.minimum(np.arange(compressed + 1), 12)
        arrays = {"indptr": ends, "indices": np.arange(12), "format": np.array(name.encode()), "shape": [20, 12]}
        np.savez(tmp_path / f"{name}.npz", **arrays)
        assert buffers(tmp_path / f"{name}.npz") == found
    for refused, said in (({"rows": 5}, "rows"), ({}, "expected a matrix")):
        (tmp_path / "c.graph").write_text(metis())
        with pytest.raises(octavo.OctavoError) as error:
            buffers(tmp_path / ("a.mtx" if refused else "c.graph"), **refused)
        assert tells(error.value, said), error.value


AZURE = """TIMESTAMP,ContextTokens,GeneratedTokens
2024-01-01 00:00:00.0000000,374,44
2024-01-01 00:00:04.3148790,396,109
2024-01-01 00:00:04.5421770,879,55
"""
BURST = """Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type
5,ChatGPT,472,18,490,Conversation log
45,ChatGPT,1087,230,1317,API log
"""
MOONCAKE = [
    {"timestamp": 0, "input_length": 1024, "output_length": 3, "hash_ids": [0, 1]},
    {"timestamp": 1, "input_length": 1024, "output_length": 3, "hash_ids": [0, 2]},
]


def jsonl(rows: list[dict[str, object]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def served(file: Path, **more: object) -> tuple[dict[str, object], int]:
    return told("llm-decode", "trace", file, **more)


def requests(file: Path, **more: object) -> list[tuple[float, int, int]]:
    found, _ = served(file, **more)
    columns = [found[name] for name in ("arrives_s", "prompt_tokens", "reply_tokens")]
    return [(round(time, 6), prompt, reply) for time, prompt, reply in zip(*columns, strict=True)]


def test_requests_of_a_file_are_replayed(tmp_path):
    (tmp_path / "azure.csv").write_text(AZURE)
    assert requests(tmp_path / "azure.csv") == [(0, 374, 44), (4.314879, 396, 109), (4.542177, 879, 55)]
    found, notes = served(tmp_path / "azure.csv")
    made = [found["request"].count(number) for number in range(3)]
    assert (made, notes) == ([44, 109, 55], 1), "every token of every reply, and one assumption"
    assert served(tmp_path / "azure.csv", step_ms=5)[1] == 0
    (tmp_path / "burst.csv").write_text(BURST)
    assert requests(tmp_path / "burst.csv") == [(0, 472, 18), (40, 1087, 230)]
    (tmp_path / "mooncake.jsonl").write_text(jsonl(MOONCAKE))
    assert requests(tmp_path / "mooncake.jsonl") == [(0, 1024, 3), (0.001, 1024, 3)]


def test_times_decide_who_is_served_together(tmp_path):
    """With steps of 5 s all three are there at once; with steps of 1 ms each is alone."""
    (tmp_path / "azure.csv").write_text(AZURE)

    def together(step_ms: float) -> int:
        found, _ = served(tmp_path / "azure.csv", step_ms=step_ms)
        return max(found["made"].count(step) for step in set(found["made"]))

    assert [together(5000), together(100), together(1)] == [3, 2, 1]


def test_prompts_share_blocks_of_the_cache(tmp_path):
    def held(rows: list[dict[str, object]], **more: object) -> int:
        (tmp_path / "mooncake.jsonl").write_text(jsonl(rows))
        return int(max(served(tmp_path / "mooncake.jsonl", step_ms=1, **more)[0]["cache_blocks"]))

    whole = [row | {"output_length": 1} for row in MOONCAKE]
    apart = [whole[0], whole[1] | {"hash_ids": [5, 2]}]
    same_time = [row | {"timestamp": 0} for row in whole]
    assert held(same_time, block=512) == 3
    assert served(tmp_path / "mooncake.jsonl")[0]["prompt_blocks"] == [3]
    assert held([row | {"timestamp": 0} for row in apart], block=512) == 4
    assert held(same_time) == 3 * 32
    with pytest.raises(octavo.OctavoError) as error:
        held(same_time, block=48)
    assert "block" in str(error.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (AZURE.replace("ContextTokens", "Prompt"), "line 1: expected the columns"),
        (AZURE.replace("04.3148790", "4 o'clock"), "line 3: expected a date"),
        (AZURE.replace("396", "-3"), "line 3: expected tokens"),
        (AZURE.replace("396", "200000"), "`cache`: expected at least"),
        (BURST.replace("490", "480"), "line 2: expected 490"),
        (jsonl([MOONCAKE[0] | {"hash_ids": [0]}]), "line 1: `hash_ids`: expected 2"),
        (jsonl([{"timestamp": 0}]), "line 1: expected `input_length`"),
        ("", "line 1"),
        ("TIMESTAMP,ContextTokens,GeneratedTokens\n", "expected a request"),
    ],
)
def test_requests_that_cannot_be_are_refused(content, said, tmp_path):
    (tmp_path / "requests.csv").write_text(content)
    with pytest.raises(octavo.OctavoError) as error:
        served(tmp_path / "requests.csv")
    assert tells(error.value, said), error.value


def test_a_window_behind_the_last_request_is_refused(tmp_path):
    (tmp_path / "azure.csv").write_text(AZURE)
    with pytest.raises(octavo.OctavoError) as error:
        served(tmp_path / "azure.csv", after=1000)
    assert "`after`" in str(error.value)


HEADER = """-kernel name = k
-kernel id = 1
-grid dim = (1,1,1)
-block dim = ({threads},1,1)
-shmem = {shared}
-nregs = {registers}
#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]
#BEGIN_TB
thread block = 0,0,0
warp = 0
insts = 2
0000 ffffffff 1 R12 LDG.E.128 1 R2 16 1 0x7f580face400 16
0010 ffffffff 0 EXIT 0 0
#END_TB
"""


def converted(folder: Path, names: tuple[str, ...] = ("kernel-1.traceg",), **header: int) -> dict[str, object]:
    folder.mkdir()
    for name in names:
        (folder / name).write_text(HEADER.format(**{"threads": 32, "shared": 1, "registers": 32} | header))
    (folder / "kernelslist.g").write_text("".join(f"{name}\n" for name in names))
    summary = octavo.trace.convert(folder, folder.with_suffix(".trace"))
    registers = [
        launch["vector_registers"] for launch in octavo.trace.open(folder.with_suffix(".trace")).launches.to_dicts()
    ]
    return {"registers": registers, "notes": len(summary["notes"])}


def test_registers_that_no_thread_has_are_counted_anew(tmp_path):
    assert converted(tmp_path / "a") == {"registers": [32], "notes": 0}
    assert converted(tmp_path / "b", registers=21_955) == {"registers": [16], "notes": 1}
    octavo.run(workload=tmp_path / "b.trace", node="cuda-sm90")
    for number, wrong in enumerate(({"threads": 1056}, {"shared": 300_000})):
        with pytest.raises(octavo.OctavoError) as error:
            converted(tmp_path / f"c{number}", **wrong)
        assert "kernel-1.traceg: `-" in str(error.value)


def test_contexts_are_kept_apart(tmp_path):
    names = ("kernel-1-ctx_0x5.traceg", "kernel-1-ctx_0x9.traceg")
    assert converted(tmp_path / "a", names) == {"registers": [32, 32], "notes": 1}
    lanes = " ".join(f"0x{0x10000 + lane * 4:x}" for lane in range(32))
    access = "MEMTRACE: CTX {} - grid_launch_id 0 - CTA 0,0,0 - warp 0 - LDG.E - " + lanes + "\n"

    def launches(*contexts: str) -> tuple[int, int]:
        log = tmp_path / f"{'-'.join(contexts)}.txt"
        log.write_text("".join(access.format(context) for context in contexts))
        summary = octavo.trace.convert(log, log.with_suffix(".trace"))
        return summary["launches"], len(summary["notes"])

    assert launches("0x5", "0x5") == (1, 1)
    assert launches("0x5", "0x9") == (2, 2)


@pytest.mark.parametrize("name", ["kernelslist.g", "log.txt", "kernel-1.traceg"])
def test_empty_files_are_refused_by_name(name, tmp_path):
    (tmp_path / "kernelslist.g").write_text("" if name == "kernelslist.g" else "kernel-1.traceg\n")
    (tmp_path / name).write_text("")
    source = tmp_path / name if name == "log.txt" else tmp_path
    with pytest.raises(octavo.OctavoError) as error:
        octavo.trace.convert(source, tmp_path / "out.trace")
    assert name in str(error.value)
