"""Sweeps on a Ray cluster are as right as here, whatever its machines have and whatever happens to them."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from conftest import contents
from raylets import MARK, Cluster, until

import octavo

pytest.importorskip("ray", reason="clusters need octavo[ray]")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="addresses and processes as Linux has them")

HEAD, OTHER, NONE, LOST = "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"
FILE = """\
[scenario]
workload = { name = "fir", scale = 0.015625 }
node.preset = "grit-2gpu"
memory.placement = "gate.py"
[grid]
seed = [1, 2, 3, 4]
"""
GATE = f"""\
import itertools
import os
import time
from pathlib import Path

from octavo.policies import Decision, PlacementPolicy


class Gate(PlacementPolicy):
    \"""On a cluster, each run says that it began, as which of its machine, and waits until it may go on.\"""

    def start(self):
        host = os.environ.get("{MARK}", "").rpartition("@")[2]
        if host:
            number = next(each for each in itertools.count() if took(f"began-{{host}}-{{each}}"))
            while not Path(f"go-{{host}}-{{number}}").exists():
                time.sleep(0.02)

    def on_fault(self, fault, page):
        return Decision.MIGRATE


def took(name):
    try:
        return Path(name).touch(exist_ok=False) is None
    except FileExistsError:
        return False
"""


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The sweep as it is on this machine."""
    folder = tmp_path_factory.mktemp("here")
    prepare(folder)
    again(folder)
    return contents(folder / "out")


@pytest.fixture(scope="module")
def cluster():
    """A head with a token, whose machine has two cores; the last test ends it."""
    found = Cluster(HEAD, cores=2)
    yield found
    found.close()


def prepare(folder, *go):
    (folder / "s.toml").write_text(FILE)
    (folder / "gate.py").write_text(GATE)
    for name in go:
        (folder / name).touch()


def again(folder):
    """The command, given here."""
    command = [sys.executable, "-m", "octavo", "sweep", "s.toml", "-o", "out", "--workers", "2"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)


def begin(cluster, folder, *options, **more):
    command = [sys.executable, "-m", "octavo", "sweep", "s.toml", "-o", "out", *options]
    with (folder / "errors.txt").open("w") as errors:
        return subprocess.Popen(
            command, cwd=folder, env=cluster.environment | more, stdout=subprocess.DEVNULL, stderr=errors
        )


def begun(cluster, folder, tries=4):
    """A sweep by the port of clients in its second point; on a busy machine Ray sometimes starts no server for it."""
    running = begin(cluster, folder, "--on", cluster.address, "--workers", "1")
    until(lambda: running.poll() is not None or is_at_the_second(folder), lambda: said(folder))
    if running.poll() is not None and tries > 1 and "Starting Ray client server failed" in said(folder):
        return begun(cluster, folder, tries - 1)
    assert running.poll() is None, said(folder)
    return running


def is_at_the_second(folder):
    """Whether a sweep has landed one point and is in the next, which waits."""
    return places(folder) and (folder / f"began-{HEAD}-1").exists()


def said(folder):
    return (folder / "errors.txt").read_text()


def places(folder):
    """By point, the address of the machine that ran it."""
    found = [json.loads(path.read_text()) for path in sorted((folder / "out" / "points").glob("*.json"))]
    return {place["point"]: place["machine"].split("(")[1].rstrip(")") for place in found}


def without_places(folder):
    """Every file that has the same bytes whoever ran the points."""
    found = contents(folder / "out").items()
    return {name: data for name, data in found if not (name.startswith("points/") and name.endswith(".json"))}


def other_build(folder):
    """A copy of the package in which one byte of the library is another."""
    package = folder / "other" / "octavo"
    shutil.copytree(Path(octavo.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (library,) = package.glob("_core*.so")
    content = library.read_bytes()
    library.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))  # In a table that nothing reads to run it.
    return package.parent


def no_octavo(folder):
    """Where Python finds no Octavo, although one is installed."""
    package = folder / "none" / "octavo"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'octavo'\")\n")
    return package.parent


def test_only_the_same_engine_gets_points_and_those_of_a_killed_machine_run_elsewhere(cluster, here, tmp_path):
    """The cluster wants a token, which Ray has written; nobody says so."""
    paths = {OTHER: other_build(tmp_path), NONE: no_octavo(tmp_path), LOST: None}
    for host, path in paths.items():
        cluster.join(host, path)
    prepare(tmp_path)
    running = begin(cluster, tmp_path, "--on", cluster.address)
    until(
        lambda: OTHER in said(tmp_path) and NONE in said(tmp_path) and (tmp_path / f"began-{LOST}-0").exists(),
        lambda: (said(tmp_path), sorted(tmp_path.iterdir())),
    )
    cluster.kill(LOST)
    for number in range(8):  # Not what is still alive of the machine that was killed.
        (tmp_path / f"go-{HEAD}-{number}").touch()
    assert running.wait(timeout=120) == 0, said(tmp_path)
    for host in paths:
        cluster.kill_all(host)
    notes = [line for line in said(tmp_path).splitlines() if line.startswith("note:")]
    for host, why in ((OTHER, "build"), (NONE, "No module named"), (LOST, "elsewhere")):
        assert any(host in line and why in line for line in notes), said(tmp_path)
    assert places(tmp_path) == dict.fromkeys(range(4), HEAD)
    assert without_places(tmp_path) == here
    assert not list(tmp_path.glob(f"began-{OTHER}-*"))
    table = octavo.load_sweep(tmp_path / "out", machines=True)
    assert table["engine"].n_unique() == 1
    assert table["engine"].null_count() == 0
    assert table.drop("machine", "engine").equals(pl.read_parquet(tmp_path / "out" / "points.parquet"))


def test_sigterm_ends_like_ctrl_c(cluster, here, tmp_path):
    prepare(tmp_path, f"go-{HEAD}-0")
    running = begun(cluster, tmp_path)
    running.send_signal(signal.SIGTERM)
    assert running.wait(timeout=120) == 143, said(tmp_path)
    assert "stopped: 1 of 4 points are finished and kept" in said(tmp_path)
    assert "Traceback" not in said(tmp_path)
    again(tmp_path)
    assert without_places(tmp_path) == here


def test_a_lost_cluster_ends_like_ctrl_c(cluster, here, tmp_path):
    """Ray ends a process that is connected directly; by the port of clients, it raises an exception."""
    folders = [tmp_path / "by-port", tmp_path / "directly"]
    for folder in folders:
        folder.mkdir()
        prepare(folder, f"go-{HEAD}-0")
    running = [
        begun(cluster, folders[0]),
        begin(cluster, folders[1], "--on", "ray", "--workers", "1", RAY_ADDRESS=cluster.direct),
    ]
    until(lambda: all(map(is_at_the_second, folders)), lambda: [said(folder) for folder in folders])
    cluster.kill_all(HEAD)
    for folder, process in zip(folders, running, strict=True):
        assert process.wait(timeout=120) == 130, said(folder)
        assert "lost" in said(folder)
        assert "1 of 4 points are finished and kept" in " ".join(said(folder).split())
        assert "Traceback" not in said(folder)
    again(folders[0])
    assert without_places(folders[0]) == here
