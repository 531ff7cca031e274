"""`octavo calibrate` on a synthetic GPU: everything but the measuring itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest
from conftest import contents
from synthetic_gpu import SyntheticGpu

from octavo.cli import main
from octavo.errors import CalibrationError
from octavo.measurements.calibrate import engine, machine
from octavo.measurements.calibrate.probes import PROBES as REGISTRY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PROBES = list(REGISTRY)
Command = "Callable[..., Finished]"


class Finished:
    """What a command printed, and how it ended."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err


@pytest.fixture
def calibrate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., Finished]:
    """`octavo calibrate` in an empty folder, on a synthetic GPU."""
    monkeypatch.chdir(tmp_path)

    def run(gpu: SyntheticGpu, *arguments: str) -> Finished:
        monkeypatch.setattr(engine, "compiled", lambda: gpu)
        monkeypatch.setattr(sys, "argv", ["octavo", "calibrate", *arguments])
        status = 0
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
        return Finished(status, *capsys.readouterr())

    return run


def test_without_a_driver_it_says_so_and_writes_nothing(cli, tmp_path):
    done = cli("calibrate", "-o", "machine.toml")
    assert done.returncode == 2
    assert "libcuda.so.1" in done.stderr.splitlines()[0]
    assert contents(tmp_path) == {}


def test_all_probes_make_a_machine_file_that_reads_back(calibrate, tmp_path):
    done = calibrate(SyntheticGpu(gpus=2), "-o", "machine.toml")
    assert done.status == 0, done.err
    assert "Measuring GPU 0 of 2: Synthetic 1" in done.err
    assert f"[{len(PROBES)}/{len(PROBES)}] peers" in done.err
    found = machine.read(tmp_path / "machine.toml")
    assert found.about["driver"] == "595.45.04"
    assert found.about["effort"] == "full"
    assert found.skipped == {}
    one = found.measured["copy_bandwidth_h2d_pinned"]
    assert (one.unit, one.probe, one.repetitions) == ("B/s", "copies", 7)
    assert one.value == pytest.approx(55.2e9, rel=0.02)
    assert {path.name for path in (tmp_path / "machine.samples").iterdir()} == {
        *(f"{probe}.{suffix}" for probe in PROBES for suffix in ("json", "parquet")),
        "managed.activity.bin",
        "managed.events.parquet",
    }
    events = pl.read_parquet(tmp_path / "machine.samples" / "managed.events.parquet")
    assert events["kind"].cast(pl.String).to_list() == ["migration", "read_fault"]
    assert events["bytes"].to_list() == [65536, None]


def test_json_is_the_whole_result(calibrate):
    done = calibrate(SyntheticGpu(), "-o", "m.toml", "--quick", "--json")
    document = json.loads(done.out)
    assert document["machine"]["effort"] == "quick"
    assert document["measured"]["launch_stream"]["unit"] == "s"
    assert document["skipped"]["peers"] == "there is one GPU"
    assert document["failed"] == {}


def test_finished_probes_are_kept_and_give_the_same_file(calibrate, tmp_path):
    calibrate(SyntheticGpu(), "-o", "machine.toml", "--quick", "-q")
    before = contents(tmp_path)
    again = SyntheticGpu(seed=2)
    assert calibrate(again, "-o", "machine.toml", "--quick", "-q").status == 0
    assert again.measured == []
    assert contents(tmp_path) == before
    anew = SyntheticGpu(seed=2)
    assert calibrate(anew, "-o", "machine.toml", "--quick", "-q", "--force").status == 0
    assert anew.measured == [probe for probe in PROBES if probe != "peers"]
    assert contents(tmp_path) != before


def test_an_interrupted_suite_keeps_what_was_finished_and_goes_on(calibrate, tmp_path):
    def interrupt(probe: str, done: int) -> None:
        if (probe, done) == ("zero_copy", 1):
            raise KeyboardInterrupt

    done = calibrate(SyntheticGpu(on_step=interrupt), "-o", "machine.toml", "-q")
    assert done.status == 130
    assert "4 of 8 probes are finished and kept" in done.err
    assert not (tmp_path / "machine.toml").exists()
    rest = SyntheticGpu()
    assert calibrate(rest, "-o", "machine.toml", "-q").status == 0
    assert rest.measured == ["zero_copy", "managed", "system", "roofline"]
    interrupted = contents(tmp_path)
    calibrate(SyntheticGpu(), "-o", "machine.toml", "-q", "--force")
    assert contents(tmp_path) == interrupted


def test_a_failing_probe_is_reported_the_others_go_on_and_it_is_tried_again(calibrate, tmp_path):
    gpu = SyntheticGpu(broken={"memory": CalibrationError("cuMemAlloc: out of memory")})
    done = calibrate(gpu, "-o", "machine.toml", "-q")
    assert done.status == 1
    assert "1 probes failed" in done.err
    assert "memory: cuMemAlloc: out of memory" in done.err
    found = machine.read(tmp_path / "machine.toml")
    assert found.skipped["memory"] == "cuMemAlloc: out of memory"
    assert "peak_fp32" in found.measured
    assert "l2_latency" not in found.measured
    again = SyntheticGpu()
    assert calibrate(again, "-o", "machine.toml", "-q").status == 0
    assert again.measured == ["memory"]


@pytest.mark.parametrize(
    ("other", "arguments", "said"),
    [
        (SyntheticGpu(driver="600.1"), [], "driver `595.45.04`, not `600.1`"),
        (SyntheticGpu(), ["--quick"], "effort `full`, not `quick`"),
        (SyntheticGpu(gpus=2), [], "gpus `1`, not `2`"),
        (SyntheticGpu(gpus=2), ["--gpu", "1"], "uuid `GPU-0`, not `GPU-1`"),
    ],
    ids=["driver", "effort", "gpus", "gpu"],
)
def test_another_measurement_in_the_way_is_refused_unless_forced(other, arguments, said, calibrate, tmp_path):
    calibrate(SyntheticGpu(), "-o", "machine.toml", "-q")
    before = contents(tmp_path)
    done = calibrate(other, "-o", "machine.toml", "-q", *arguments)
    assert done.status == 2
    assert said in done.err
    assert "--force" in done.err
    assert contents(tmp_path) == before
    assert other.measured == []
    assert calibrate(other, "-o", "machine.toml", "-q", "--force", *arguments).status == 0


def test_samples_of_another_version_of_a_probe_are_refused(calibrate, monkeypatch):
    calibrate(SyntheticGpu(), "-o", "machine.toml", "-q")
    changed = SyntheticGpu()
    changed.probes = lambda: [probe | {"digest": "new"} for probe in SyntheticGpu().probes()]  # type: ignore[method-assign]
    done = calibrate(changed, "-o", "machine.toml", "-q")
    assert done.status == 2
    assert "from version of the probe" in done.err


def test_single_probes_are_measured_and_the_others_kept_or_named(calibrate, tmp_path):
    gpu = SyntheticGpu()
    assert calibrate(gpu, "-o", "machine.toml", "-q", "--probe", "copies,launches").status == 0
    assert gpu.measured == ["copies", "launches"]
    found = machine.read(tmp_path / "machine.toml")
    assert found.skipped["memory"] == "not asked for"
    gpu = SyntheticGpu(seed=3)
    assert calibrate(gpu, "-o", "machine.toml", "-q", "--probe", "launches", "--force").status == 0
    assert gpu.measured == ["launches"]
    assert "copy_issue_h2d" in machine.read(tmp_path / "machine.toml").measured


@pytest.mark.parametrize(
    ("gpu", "arguments", "said"),
    [
        (SyntheticGpu(), ["--probe", "copy"], "--probe: expected one of copies, launches, "),
        (SyntheticGpu(), ["--gpu", "3"], "--gpu: expected one of 0, found 3"),
        (SyntheticGpu(free=1 << 20), [], "expected a quarter of its memory to be free, found 0%"),
        (SyntheticGpu(nvrtc=None), [], "NVRTC, which compiles the probes' kernels, was not found"),
        (SyntheticGpu(), ["--quick", "probes"], "options before `probes`"),
    ],
    ids=["probe", "gpu", "memory", "compiler", "options"],
)
def test_what_cannot_be_done_is_said_before_anything_is_written(gpu, arguments, said, calibrate, tmp_path):
    done = calibrate(gpu, *arguments)
    assert done.status == 2
    assert said in done.err
    assert gpu.measured == []
    assert contents(tmp_path) == {}


def test_a_place_that_cannot_be_written_to_is_said_before_anything_is_measured(calibrate, tmp_path):
    (tmp_path / "file").write_text("")
    for output in ("file/machine.toml", "."):
        gpu = SyntheticGpu()
        done = calibrate(gpu, "-o", output)
        assert done.status == 2
        assert "cannot write" in done.err
        assert gpu.measured == []


def test_a_file_that_is_no_machine_file_is_never_replaced(calibrate, tmp_path):
    (tmp_path / "machine.toml").write_text("title = 'mine'\n")
    done = calibrate(SyntheticGpu(), "-o", "machine.toml", "--force")
    assert done.status == 2
    assert "key `format`: expected a machine file of format 1, found none" in done.err
    assert (tmp_path / "machine.toml").read_text() == "title = 'mine'\n"


def test_a_gpu_that_others_use_is_named(calibrate):
    done = calibrate(SyntheticGpu(free=24 << 30), "-o", "machine.toml", "--quick")
    assert "57,344 MiB of its memory are in use" in done.err


def test_the_pictures_show_every_probe(calibrate, tmp_path):
    calibrate(SyntheticGpu(gpus=2, noise=0.002), "-o", "machine.toml", "--quick", "-q")
    done = calibrate(SyntheticGpu(), "show", "machine.toml", "--json")
    assert done.status == 0, done.err
    document = json.loads(done.out)
    drawn = {path.name for path in (tmp_path / "machine.pictures").iterdir()}
    kinds = [f"{kind}_{name}" for kind in ("managed", "system") for name in UNIFIED_PICTURES]
    assert drawn == {f"{name}.png" for name in (*PICTURES, *kinds)}
    assert document["pictures"] == [f"machine.pictures/{name}" for name in map(_name, document["pictures"])]
    reached = {row["placement"]: row for row in document["roofline"]}
    assert reached["host"]["points"] == reached["device"]["points"] == 4 * 11 * 4
    assert reached["host"]["above"] == reached["device"]["above"] == 0
    assert reached["host"]["median"] == pytest.approx(1, abs=0.02)
    happened = {row["kind"]: row for row in document["events"]}
    assert happened["migration"] == {
        "probe": "managed",
        "kind": "migration",
        "cause": "coherence",
        "rows": 1,
        "faults": 0,
        "bytes": 65536,
        "duration_ps": 5e6,
    }
    for path in (tmp_path / "machine.pictures").iterdir():
        assert path.read_bytes().startswith(b"\x89PNG")


def _name(path: str) -> str:
    return path.rsplit("/", maxsplit=1)[-1]


PICTURES = (
    *("copies", "launches", "chase", "memory", "occupancy", "zero_copy", "roofline_device", "roofline_host"),
    *("peer_copy_bandwidth", "peer_copy_both", "peer_load_sequential", "peer_load_random"),
)
UNIFIED_PICTURES = ("demand", "faults", "steps", "sizes", "hints", "ping_pong")


def test_pictures_are_drawn_of_what_there_is_and_the_table_stands_without(calibrate, tmp_path):
    calibrate(SyntheticGpu(), "-o", "machine.toml", "--quick", "-q", "--probe", "launches,managed")
    done = calibrate(SyntheticGpu(), "show", "machine.toml", "-o", "drawn")
    assert done.status == 0, done.err
    assert "launch_stream" in done.out
    assert "Pictures: drawn" in done.out
    assert (tmp_path / "drawn" / "launches.png").is_file()
    (tmp_path / "machine.samples").rename(tmp_path / "elsewhere")
    alone = calibrate(SyntheticGpu(), "show", "machine.toml")
    assert "launch_stream" in alone.out
    assert "no pictures" in alone.out
    refused = calibrate(SyntheticGpu(), "show", "machine.toml", "-o", "again")
    assert refused.status == 2
    assert "nothing to draw" in refused.err


@pytest.mark.parametrize("lost", ["step", "demand", "advise", "prefetch", "ping_pong"])
def test_a_probe_that_lacks_a_series_is_drawn_without_it(lost, calibrate, tmp_path):
    calibrate(SyntheticGpu(), "-o", "machine.toml", "--quick", "-q", "--probe", "managed")
    path = tmp_path / "machine.samples" / "managed.parquet"
    pl.read_parquet(path).filter(pl.col("series") != lost).write_parquet(path)
    about = json.loads(path.with_suffix(".json").read_text())
    whole = {key: value for key, value in about.items() if key not in {"files", "check"}}
    path.with_suffix(".json").write_text(json.dumps(whole))
    done = calibrate(SyntheticGpu(), "show", "machine.toml", "-q")
    assert done.status == 0, done.err


def test_samples_stay_until_new_ones_take_their_place(calibrate, tmp_path):
    calibrate(SyntheticGpu(), "-o", "machine.toml", "--quick", "-q", "--probe", "launches")
    before = contents(tmp_path / "machine.samples")
    broken = {"launches": CalibrationError("cuLaunchKernel failed")}
    failed = calibrate(SyntheticGpu(broken=broken), "-o", "machine.toml", "--quick", "-q", "--force")
    assert failed.status == 1
    assert {name: one for name, one in contents(tmp_path / "machine.samples").items() if name in before} == before
    other = SyntheticGpu(broken=broken, driver="600.1")
    assert calibrate(other, "-o", "machine.toml", "--quick", "-q", "--force").status == 1
    again = SyntheticGpu(driver="600.1")
    assert calibrate(again, "-o", "machine.toml", "--quick", "-q").status == 0
    assert again.measured == ["launches"]


def test_records_that_nobody_understands_leave_out_the_events_alone(calibrate, tmp_path):
    gpu = SyntheticGpu()
    measure = gpu.measure

    def strange(probe, *arguments, **options):
        found = measure(probe, *arguments, **options)
        return found | {"activity": found["activity"] and found["activity"] | {"records": b"\1" * 104, "dropped": 2}}

    gpu.measure = strange
    assert calibrate(gpu, "-o", "machine.toml", "--quick", "-q").status == 0
    found = machine.read(tmp_path / "machine.toml")
    assert "expected activity kind 25" in found.skipped["managed.activity"]
    assert "managed_fetch_1" in found.measured
    assert not (tmp_path / "machine.samples" / "managed.events.parquet").exists()


def test_the_compiler_that_the_engine_knows_is_found_where_a_newer_one_is_installed_too():
    """What does the search, which loads one version alone, stands for one that has found the newer."""
    pytest.importorskip("cuda.pathfinder")
    pytest.importorskip("nvidia.cuda_nvrtc")
    program = (
        "from cuda import pathfinder; pathfinder.load_nvidia_dynamic_lib = lambda name: None; "
        "from octavo import _core; from octavo.measurements.calibrate import libraries; libraries.load(); "
        "print(_core.gpu_compile('launches', 'sm_90')[:4])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert "ELF" in run.stdout, run.stderr


def test_installed_libraries_are_found_by_name():
    """In a process of its own, in which nothing else has loaded them."""
    pytest.importorskip("cuda.pathfinder")
    pytest.importorskip("nvidia.cuda_nvrtc")
    program = (
        "from octavo import _core; from octavo.measurements.calibrate import libraries; libraries.load(); "
        "print(_core.gpu_compile('launches', 'sm_90')[:4])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert "ELF" in run.stdout, run.stderr
