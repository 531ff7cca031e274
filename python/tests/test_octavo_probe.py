"""`octavo-probe` on the stand-in: `octavo calibrate --samples` makes of its samples what it makes of its own."""

from __future__ import annotations

import fcntl
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import contents

from octavo import _core
from octavo.measurements.calibrate import machine

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Environment

ROOT = Path(__file__).parents[2]
PROBES = [probe["name"] for probe in _core.gpu_probes()]
Run = "Callable[..., subprocess.CompletedProcess[str]]"


@pytest.fixture(scope="session")
def program() -> Path:
    """The binary, with the features of the whole workspace: what it needs is compiled for `cargo test --workspace`."""
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("no cargo")
    command = [cargo, "build", "--quiet", "--workspace", "--bin", "octavo-probe", "--message-format", "json"]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    made = [json.loads(line).get("executable") for line in built.stdout.splitlines()]
    return Path(next(path for path in made if path))


@pytest.fixture
def probe(program: Path, stand_in: Environment, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run it in an empty folder, with a driver beside it and no compiler of kernels."""
    driver = stand_in["LD_LIBRARY_PATH"].split(":")[0]

    def run(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
        names = {f"OCTAVO_STAND_IN_{name.upper()}": value for name, value in settings.items()}
        environment = {"PATH": "/nowhere", "LD_LIBRARY_PATH": driver, **names}
        return subprocess.run(
            [program, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    return run


def calibrate(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "octavo", "calibrate", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


def events(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_samples_of_every_probe_make_a_machine_file_elsewhere(probe: Run, tmp_path: Path) -> None:
    done = probe("run", "-o", "taken", "--quick", "--json", gpus="2", pageable="1")
    assert done.returncode == 0, done.stderr
    assert [event["probe"] for event in events(done) if event["event"] == "finished"] == PROBES
    # Evaluated where no driver is.
    made = calibrate(tmp_path, "--samples", "taken", "-o", "machine.toml", "--json")
    assert made.returncode == 0, made.stderr
    found = machine.read(tmp_path / "machine.toml")
    assert {"copy_bandwidth_h2d_pinned", "launch_wait_graph"} <= found.measured.keys()
    assert found.about["gpus"] == 2
    assert found.about["effort"] == "quick"
    assert found.about["nvrtc"] == "12.2"
    assert {"host", "kernel", "page_bytes", "processors"} <= found.about.keys()
    strange = ("no samples", "has no samples", "do not state", "needs 3", "expected a stride", "not measured")
    assert [reason for reason in found.skipped.values() if any(part in reason for part in strange)] == []
    # The samples lie beside it, so that it can be shown.
    beside = {path.name for path in (tmp_path / "machine.samples").iterdir()}
    assert {f"{name}.{ending}" for name in PROBES for ending in ("json", "parquet")} <= beside
    assert calibrate(tmp_path, "show", "machine.toml", "--quiet").returncode == 0


def test_what_is_finished_is_kept_and_the_rest_is_measured(probe: Run, tmp_path: Path) -> None:
    assert probe("run", "-o", "taken", "--quick", "--only", "launches").returncode == 0
    before = contents(tmp_path)
    again = probe("run", "-o", "taken", "--quick", "--only", "launches,copies", "--json")
    assert [(event["event"], event["probe"]) for event in events(again) if event["event"] in ("kept", "finished")] == [
        ("finished", "copies"),
        ("kept", "launches"),
    ]
    after = contents(tmp_path)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"taken/copies.json", "taken/copies.parquet"}


def test_samples_of_another_measurement_are_not_mixed(probe: Run, tmp_path: Path) -> None:
    assert probe("run", "-o", "taken", "--quick", "--only", "launches").returncode == 0
    before = contents(tmp_path)
    refused = probe("run", "-o", "taken", "--only", "launches")
    assert refused.returncode == 1
    assert "taken holds samples of `launches` from effort `quick`, not `full`" in refused.stderr
    assert contents(tmp_path) == before
    assert probe("run", "-o", "taken", "--quick", "--only", "launches", "--force").returncode == 0


def test_one_measurement_at_a_time_writes_a_folder(probe: Run, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    lock = tmp_path / "taken" / ".octavo-lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = probe("run", "-o", "taken", "--quick", "--only", "launches")
    assert refused.returncode == 1
    assert "taken: another process measures into this folder" in refused.stderr
    assert probe("run", "-o", "taken", "--quick", "--only", "launches").returncode == 0
    assert {path.name for path in (tmp_path / "taken").iterdir()} == {"launches.json", "launches.parquet"}


@pytest.mark.parametrize("name", ["launches.parquet", "launches.json"])
def test_files_that_are_no_samples_stay(probe: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / name).write_text("mine")
    refused = probe("run", "-o", "taken", "--quick", "--only", "launches", "--force")
    assert refused.returncode == 1
    assert f"taken/{name}: is " in refused.stderr
    assert contents(tmp_path) == {f"taken/{name}": b"mine"}


def test_samples_can_be_read_by_those_who_may_read_new_files(probe: Run, tmp_path: Path) -> None:
    assert probe("run", "-o", "taken", "--quick", "--only", "launches").returncode == 0
    (tmp_path / "new").touch()
    modes = {path.stat().st_mode for path in [*(tmp_path / "taken").iterdir(), tmp_path / "new"]}
    assert len(modes) == 1


@pytest.mark.parametrize("arguments", [("-o", "/proc/\x1b[31mx"), ("--only", "\x1b[31mx"), ("--gpu", "\x1b[31mx")])
def test_names_that_a_terminal_would_obey_are_text(probe: Run, arguments: tuple[str, ...]) -> None:
    refused = probe("run", *arguments)
    assert refused.returncode != 0
    assert "\x1b" not in refused.stderr


def test_a_probe_that_fails_does_not_stop_the_others(probe: Run, tmp_path: Path) -> None:
    done = probe("run", "-o", "taken", "--quick", "--only", "copies,launches", fail="cuMemcpyAsync")
    assert done.returncode == 1
    assert "copies: cuMemcpyAsync failed: CUDA_ERROR_UNKNOWN" in done.stderr
    assert {path.name for path in (tmp_path / "taken").iterdir()} == {"launches.json", "launches.parquet"}


def test_a_probe_that_takes_too_long_is_ended(probe: Run, tmp_path: Path) -> None:
    done = probe("run", "-o", "taken", "--only", "launches,managed", "--limit", "2ms")
    assert done.returncode == 1
    assert "managed: it took longer than 2ms, see --limit" in done.stderr
    assert contents(tmp_path) == {}


def test_without_a_driver_it_says_so(program: Path, tmp_path: Path) -> None:
    command = [program, "run", "-o", "taken"]
    done = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "libcuda.so.1" in done.stderr
    assert contents(tmp_path) == {}


def test_it_opens_the_driver_and_nothing_else_of_nvidia(probe: Run, program: Path, tmp_path: Path) -> None:
    needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    names = {line.split()[0].split("/")[-1] for line in needed.splitlines()}
    assert names <= {"linux-vdso.so.1", "libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}, names
    done = probe("run", "-o", "taken", "--quick", "--only", "managed", "--json")
    assert done.returncode == 0, done.stderr
    about = json.loads((tmp_path / "taken" / "managed.json").read_text())
    assert about["activity"] is None
    assert about["skipped"] == {}


def test_cupti_is_opened_where_it_is_asked_for(probe: Run, tmp_path: Path) -> None:
    done = probe("run", "-o", "taken", "--quick", "--only", "managed", "--cupti")
    assert done.returncode == 0, done.stderr
    about = json.loads((tmp_path / "taken" / "managed.json").read_text())
    assert "CUPTI was not found" in about["skipped"]["activity"]


def test_the_list_needs_no_driver(program: Path) -> None:
    listed = subprocess.run([program, "list", "--json"], env={}, capture_output=True, text=True, check=True)
    assert [entry["name"] for entry in json.loads(listed.stdout)] == PROBES


def test_samples_of_two_machines_are_refused(probe: Run, tmp_path: Path) -> None:
    assert probe("run", "-o", "taken", "--quick", "--only", "launches").returncode == 0
    assert probe("run", "-o", "taken", "--quick", "--only", "copies", "--gpu", "1", gpus="2").returncode == 0
    done = calibrate(tmp_path, "--samples", "taken", "-o", "machine.toml")
    assert done.returncode == 2
    assert "expected samples of one machine, found `launches` from GPU" in done.stderr
    assert not (tmp_path / "machine.toml").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--samples", "empty"), "expected a folder with samples of probes, found none in empty"),
        (("--samples", "empty", "--quick"), "--quick says how to measure"),
        (("--samples", "empty", "--probe", "copies"), "--probe says how to measure"),
    ],
)
def test_nothing_to_evaluate_is_said(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = calibrate(tmp_path, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert contents(tmp_path) == {}
