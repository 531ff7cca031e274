"""Probes without a GPU: they compile for real ones, and run to their end on a stand-in whose numbers mean nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import octavo._core as _core

if TYPE_CHECKING:
    from conftest import Environment

PROBES = [probe["name"] for probe in _core.gpu_probes()]


def measure(environment: Environment, probe: str, gpu: int = 0, **settings: str) -> dict[str, Any]:
    names = {f"OCTAVO_STAND_IN_{name.upper()}": value for name, value in settings.items()}
    run = subprocess.run(
        [sys.executable, "-m", "gpu_stand_in.run", probe, str(gpu)],
        env={**os.environ, **environment, **names},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return {**json.loads(run.stdout), "refused": run.stderr}


@pytest.mark.parametrize("architecture", ["sm_70", "sm_80", "sm_90"])
@pytest.mark.parametrize("probe", PROBES)
def test_kernels_compile(probe: str, architecture: str, libraries: str) -> None:
    program = "import sys; from octavo import _core; sys.stdout.buffer.write(_core.gpu_compile(*sys.argv[1:]))"
    run = subprocess.run(
        [sys.executable, "-c", program, probe, architecture],
        env={**os.environ, "LD_LIBRARY_PATH": libraries},
        capture_output=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr.decode()
    assert run.stdout.startswith(b"\x7fELF")


@pytest.mark.parametrize("probe", PROBES)
def test_a_probe_runs_to_its_end(probe: str, stand_in: Environment) -> None:
    measured = measure(stand_in, probe, gpus="2", pageable="1")
    columns = measured["columns"]
    assert measured["refused"] == ""
    assert [series for series, _ in measured["skipped"] if series != "activity"] == []  # there is no CUPTI to record
    lengths = {len(values) for values in columns.values()}
    assert lengths != {0}
    assert len(lengths) == 1
    done = [step[0] for step in measured["steps"]]
    assert done == list(range(len(done)))
    assert all(of == len(done) for _, of, _ in measured["steps"])
    timed = [
        (series, seconds)
        for series, seconds in zip(columns["series"], columns["seconds"], strict=True)
        if series != "topology"
    ]
    assert all(seconds is not None and seconds >= 0 for _, seconds in timed)


@pytest.mark.parametrize("probe", PROBES)
def test_what_the_driver_refuses_is_said_with_the_name_of_the_call(probe: str, stand_in: Environment) -> None:
    measured = measure(
        stand_in, probe, fail="cuLaunchKernel" if probe != "copies" else "cuMemcpyAsync", gpus="2", pageable="1"
    )
    assert measured["error"].startswith(("cuLaunchKernel failed: CUDA_ERROR_UNKNOWN", "cuMemcpyAsync failed"))


def test_memory_that_the_gpu_cannot_share_is_skipped_with_the_reason(stand_in: Environment) -> None:
    for probe, setting, reason in (
        ("managed", {"concurrent": "0"}, "does not fault here"),
        ("system", {"pageable": "0"}, "cannot touch the system's memory"),
    ):
        measured = measure(stand_in, probe, 0, **setting)
        assert measured["columns"]["series"] == []
        assert {"first_touch", "demand", "step", "prefetch"} <= {series for series, _ in measured["skipped"]}
        assert all(reason in why for _, why in measured["skipped"])


def test_a_roofline_without_faults_is_measured_on_the_device_alone(stand_in: Environment) -> None:
    measured = measure(stand_in, "roofline", concurrent="0")
    assert set(measured["columns"]["placement"]) == {"device"}
    assert [series for series, _ in measured["skipped"]] == ["roofline", "roofline_scattered"]


@pytest.mark.parametrize(
    ("call", "lost"), [("cuMemAdvise", {"advise", "duplication"}), ("cuMemPrefetchAsync", {"prefetch"})]
)
def test_what_the_driver_refuses_for_system_memory_costs_only_its_series(
    call: str, lost: set[str], stand_in: Environment
) -> None:
    measured = measure(stand_in, "system", pageable="1", fail=f"{call}_v2")
    reasons = dict(measured["skipped"])
    assert set(reasons) == lost
    assert all(f"{call} failed: CUDA_ERROR_UNKNOWN" in why for why in reasons.values())
    columns = measured["columns"]
    hints = {hint for hint in columns.get("hint", []) if hint is not None}
    assert hints == ({"none"} if call == "cuMemAdvise" else hints)
    assert {"demand", "step", "ping_pong"} <= set(columns["series"])


def test_a_cupti_that_cannot_record_is_a_reason_and_no_error(stand_in: Environment) -> None:
    cupti = pytest.importorskip("nvidia.cuda_cupti", reason="CUPTI comes with octavo[gpu]")
    library = str(Path(cupti.__path__[0]) / "lib")
    measured = measure({**stand_in, "LD_LIBRARY_PATH": f"{stand_in['LD_LIBRARY_PATH']}:{library}"}, "managed")
    assert measured["activity"] is None
    ((series, reason),) = measured["skipped"]
    assert series == "activity"
    assert reason.startswith("cupti")
    assert "failed: " in reason


def test_touches_that_are_timed_one_by_one_come_with_their_pages(stand_in: Environment) -> None:
    columns = measure(stand_in, "managed")["columns"]
    first = [
        (series, page, order)
        for series, page, order, repetition in zip(
            columns["series"], columns["page"], columns["order"], columns["repetition"], strict=True
        )
        if repetition == 0
    ]
    stepped = [page for series, page, _ in first if series == "step"]
    assert stepped == list(range(1024))
    at_random = {order: page for series, page, order in first if series == "step_random"}
    assert list(at_random) == list(range(1024))
    assert list(at_random.values()) != stepped
    assert sorted(at_random.values()) == stepped


def test_links_of_a_lone_gpu_are_skipped_with_the_reason(stand_in: Environment) -> None:
    measured = measure(stand_in, "peers", gpus="1")
    assert measured["columns"]["series"] == []
    assert measured["skipped"] == [
        [series, "there is one GPU, or only one that can be used"] for series in ("peer_copy", "peer_load", "topology")
    ]


def test_a_driver_that_is_too_old_says_what_it_is_and_what_is_needed(stand_in: Environment) -> None:
    measured = measure(stand_in, "launches", cuda="11080")
    assert measured["error"] == "the driver knows CUDA 11.8, and 12.2 or newer is needed"


def test_a_driver_without_a_gpu_says_so(stand_in: Environment) -> None:
    assert measure(stand_in, "launches", gpus="0")["error"] == "the NVIDIA driver finds no GPU"


def test_a_gpu_that_is_not_there_is_refused(stand_in: Environment) -> None:
    assert measure(stand_in, "launches", gpu=3)["error"] == "no GPU 3: this machine has 1, counted from 0"


def test_what_events_time_is_put_into_the_stream_while_the_gpu_is_held_up(
    stand_in: Environment, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    measure(stand_in, "arithmetic", log=str(log))
    launches = [line.split()[-1] for line in log.read_text().splitlines() if line.startswith("kernel ")]
    timed = [index for index, name in enumerate(launches) if name == "one_chain"]
    assert timed
    assert all(launches[index - 1] == "hold" for index in timed)
