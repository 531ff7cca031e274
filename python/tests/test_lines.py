"""The lines that memories of GPUs read and write, as files for simulators of memory."""

from __future__ import annotations

import csv
import gzip
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import SMALL, refused

import octavo
from octavo.errors import OutputError, ScenarioError


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(file, workload="fir", **more):
    return octavo.run(workload=workload, scale=SMALL, lines=file, **{"node": "cuda-sm90", **more})


def test_every_line_that_memory_reads_or_writes_is_in_the_file():
    # A small second level, so that lines are written back.
    small = {"node.l2.size": "128KiB", "node.l2.ways": 16}
    counted = run("a.ldst", "stencil2d", overrides=small).summary["accesses"]
    words = [line.split() for line in Path("a.ldst").read_text().splitlines()]
    assert {kind: sum(word == kind for word, _ in words) for kind in ("LD", "ST")} == {
        "LD": counted["dram_reads"],
        "ST": counted["dram_writes"],
    }
    assert counted["dram_writes"] > 0
    addresses = [int(address, 16) for _, address in words]
    assert all(address % 64 == 0 for address in addresses)
    run("a.csv.gz", "stencil2d", overrides=small)
    with gzip.open("a.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["address"]) for row in rows] == addresses
    times = [int(row["time_ps"]) for row in rows]
    assert times == sorted(times)
    assert times[-1] > times[0]
    again = run("b.ldst", "stencil2d", overrides=small | {"node.l2.size": "32MiB"}).summary["accesses"]
    assert again["dram_reads"] + again["dram_writes"] < counted["dram_reads"] + counted["dram_writes"]


def test_a_table_names_the_gpus():
    counted = run("a.csv", node="grit-2gpu").summary["accesses"]
    with Path("a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["gpu"] for row in rows} == {"0", "1"}
    assert sum(row["kind"] == "read" for row in rows) == counted["dram_reads"]


@pytest.mark.skipif(shutil.which("zstd") is None, reason="needs zstd")
def test_zstd_holds_the_same(cli):
    run("a.ldst")
    done = cli("run", "fir", "--scale", str(SMALL), "--node", "cuda-sm90", "--lines", "b.zst", "-o", "r")
    assert done.returncode == 0, done.stderr
    assert subprocess.check_output(["zstd", "-dc", "b.zst"]) == Path("a.ldst").read_bytes()
    # It is not replaced, and a finished run runs again for another.
    again = cli("run", "fir", "--scale", str(SMALL), "--node", "cuda-sm90", "--lines", "b.zst", "-o", "r")
    assert again.returncode == 2
    assert (
        cli("run", "fir", "--scale", str(SMALL), "--node", "cuda-sm90", "--lines", "c.zst", "-o", "r").returncode == 0
    )
    assert Path("c.zst").read_bytes() == Path("b.zst").read_bytes()


def test_the_name_says_what_is_written():
    with refused("conflict", ScenarioError, key="lines"):
        run("both", perfetto=Path("both").absolute())
    for ending in (".csv.xz", ".ldst.BZ2", ".csv.zstd"):
        with refused("unexpected-value", ScenarioError, key="lines"):
            run(f"z{ending}")
    assert [path.name for path in Path().iterdir() if path.is_file()] == []
    with refused("conflict", ScenarioError) as hint:
        run("there/z.ldst.zst", node="grit-2gpu")
    assert str(hint.value.hint).endswith(" there/z.csv.zst")
    run("a.CSV.GZ")
    with gzip.open("a.CSV.GZ", "rt") as file:
        assert "time_ps" in next(csv.DictReader(file))


def test_what_has_no_such_lines_is_refused_before_it_runs():
    with refused("conflict", ScenarioError, key="lines", found=2):
        run("a.ldst", node="grit-2gpu")
    with refused("conflict", ScenarioError, key="lines", found="page"):
        run("a.ldst", fidelity="page")
    with refused("no-time", ScenarioError, key="lines", found="instant"):
        run("a.ldst", executor="instant")
    assert not Path("a.ldst").exists()
    Path("a.ldst").write_text("mine")
    with refused("exists", OutputError):
        run("a.ldst")
    assert Path("a.ldst").read_text() == "mine"
