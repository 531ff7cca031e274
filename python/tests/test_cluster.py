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
from raylets import Cluster, until

import octavo

pytest.importorskip("ray", reason="clusters need octavo[ray]")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="addresses and processes as Linux has them")

HEAD, SECOND, THIRD, FOURTH = "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"
FILE = """\
[scenario]
workload = { name = "stencil2d", scale = 0.0625 }
node.preset = "grit-2gpu"
memory.placement = "on-touch"
[grid]
seed = [1, 2, 3, 4, 5, 6]
"""


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """The sweep as it is on this machine."""
    folder = tmp_path_factory.mktemp("here")
    (folder / "s.toml").write_text(FILE)
    again(folder)
    return contents(folder / "out")


@pytest.fixture(scope="module")
def cluster():
    """A head with a token, whose machine has two cores; the last test ends it."""
    found = Cluster(HEAD, cores=2)
    yield found
    found.close()


def again(folder):
    """The command, given here."""
    command = [sys.executable, "-m", "octavo", "sweep", "s.toml", "-o", "out", "--workers", "2"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)


def begin(cluster, folder, *options, file=FILE, **more):
    (folder / "s.toml").write_text(file)
    command = [sys.executable, "-m", "octavo", "sweep", "s.toml", "-o", "out", *(options or ("--on", cluster.address))]
    return subprocess.Popen(
        command, cwd=folder, env=cluster.environment | more, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


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
    with library.open("ab") as file:
        file.write(b"\0")
    return package.parent


def no_octavo(folder):
    """Where Python finds no Octavo, although one is installed."""
    package = folder / "none" / "octavo"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'octavo'\")\n")
    return package.parent


def test_only_machines_with_the_same_engine_get_points(cluster, here, tmp_path):
    """The cluster wants a token, which Ray has written; nobody says so."""
    cluster.join(SECOND, other_build(tmp_path), cores=4)
    cluster.join(THIRD, no_octavo(tmp_path), cores=4)
    running = begin(cluster, tmp_path)
    _, errors = running.communicate(timeout=120)
    for host in (SECOND, THIRD):
        cluster.kill_all(host)
    assert running.returncode == 0, errors
    assert places(tmp_path) == dict.fromkeys(range(6), HEAD)
    assert without_places(tmp_path) == here
    refused = [line for line in errors.splitlines() if line.startswith("note:")]
    assert any(SECOND in line and "build" in line for line in refused), errors
    assert any(THIRD in line and "No module named" in line for line in refused), errors
    table = octavo.load_sweep(tmp_path / "out", machines=True)
    assert table["engine"].n_unique() == 1
    assert all(HEAD in machine for machine in table["machine"])
    assert table.drop("machine", "engine").equals(pl.read_parquet(tmp_path / "out" / "points.parquet"))


def test_points_of_a_machine_that_is_killed_run_elsewhere(cluster, here, tmp_path):
    cluster.join(FOURTH)
    running = begin(cluster, tmp_path)
    until(lambda: FOURTH in places(tmp_path).values())
    cluster.kill(FOURTH)
    _, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    assert FOURTH in errors
    assert set(places(tmp_path).values()) == {HEAD, FOURTH}
    assert without_places(tmp_path) == here


def test_sigterm_ends_like_ctrl_c(cluster, tmp_path):
    running = begin(cluster, tmp_path)
    until(lambda: places(tmp_path))
    running.send_signal(signal.SIGTERM)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 143, errors
    assert "points are finished and kept" in errors
    assert "Traceback" not in errors


def test_a_lost_cluster_ends_like_ctrl_c(cluster, tmp_path):
    """Ray ends a process that is connected directly; by the port of clients, it raises an exception."""
    longer = FILE.replace("0.0625", "0.125")
    folders = [tmp_path / "by-port", tmp_path / "directly"]
    for folder in folders:
        folder.mkdir()
    running = [
        begin(cluster, folders[0], "--on", cluster.address, "--workers", "1", file=longer),
        begin(cluster, folders[1], "--on", "ray", "--workers", "1", file=longer, RAY_ADDRESS=cluster.direct),
    ]
    until(lambda: all(map(places, folders)))
    cluster.kill_all(HEAD)
    for folder, process in zip(folders, running, strict=True):
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130, errors
        assert "Traceback" not in errors
        kept = octavo.load_sweep(folder / "out")
        assert f"{kept.height} of 6 points are finished and kept" in " ".join(errors.split())
        assert "resumes" in errors
    again(folder)
    table = pl.read_parquet(folder / "out" / "points.parquet")
    assert table["status"].to_list() == ["ok"] * 6
    assert table.head(kept.height).equals(kept)
