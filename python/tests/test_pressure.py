"""What a run says of the program's size and the GPUs' memory, at its scale and at scale 1."""

from __future__ import annotations

import json

import pytest

import octavo
from octavo.runs.pressure import Pressure, pressure

GB = 10**9


@pytest.mark.parametrize(
    ("footprint", "capacity", "gpus", "scale", "follows", "fits", "whole_fits", "warns"),
    [
        (3 * GB, 80 * GB, 1, 1 / 64, False, True, False, True),
        (3 * GB, 80 * GB, 4, 1 / 64, False, True, True, False),
        (3 * GB, 80 * GB, 1, 1.0, False, True, True, False),
        (90 * GB, 80 * GB, 1, 0.5, False, False, False, False),
        (3 * GB, 2 * GB, 1, 1 / 64, True, False, False, False),
        (3 * GB, None, 1, 1 / 64, False, None, None, False),
        (3 * GB, 80 * GB, 1, None, False, True, None, False),
    ],
)
def test_whether_the_program_fits_at_both_scales(footprint, capacity, gpus, scale, follows, fits, whole_fits, warns):
    found = Pressure(footprint, capacity, gpus, scale, follows)
    assert (found.fits, found.whole_fits, found.warning is not None) == (fits, whole_fits, warns)
    assert found.whole == (None if scale is None else round(footprint / scale))


def test_a_warning_names_memory_that_is_as_scarce(tmp_path):
    shrunk = {"workload": "llm-decode", "node": "cuda-sm90", "scale": 1 / 256}
    model = {"workload.model": "llama-3-70b", "workload.steps": 2}
    found = pressure(octavo.run(**shrunk, overrides=model, output=tmp_path / "roomy"))
    assert found.fits
    assert found.whole_fits is False
    said = found.warning.partition("--memory ")[2]
    result = octavo.run(**shrunk, overrides=model, memory=said, output=tmp_path / "scarce")
    scarce = pressure(result, scaled=True)
    assert scarce.footprint / scarce.capacity == pytest.approx(found.whole / found.capacity, rel=0.02)
    assert scarce.fits is scarce.whole_fits is False
    assert scarce.warning is None


def test_memory_is_a_share_of_the_footprint_or_bytes_at_scale_1(tmp_path):
    def of(memory, **arguments):
        node = octavo.scenario(workload="fir", node="cuda-sm90", memory=memory, **arguments).values["node"]
        return node["capacity"].get("bytes"), node["capacity"]["footprint_percent"]

    assert of("60%", scale=1 / 64) == (None, 60)
    assert of("1GiB", scale=1 / 64) == ("16MiB", 0)
    assert of("1GiB") == of(1 << 30) == ("1GiB", 0)
    for wrong in ("60", "lots", "6.5%", "0%", "٦٠%", "-1GB", "", 0, -5, True, 1.5e9, 10**30):
        with pytest.raises(octavo.ScenarioError):
            of(wrong)
    with pytest.raises(octavo.ScenarioError):
        octavo.scenario(workload="fir", memory="1GiB", overrides={"node.capacity.bytes": "1MB"})
    sized = {"workload.samples": 100_000}
    assert octavo.scenario(workload="fir", scale=1 / 64, overrides=sized).scales == {1.0}
    different = [
        {"name": "a", "workload": {"name": "fir", "scale": 0.01}},
        {"name": "b", "workload": {"name": "relu", "scale": 0.02}},
    ]
    with pytest.raises(octavo.ScenarioError):
        octavo.scenario(jobs=different, node="cuda-sm90", memory="1GiB")
    assert octavo.scenario(jobs=different, node="cuda-sm90", memory="50%").scales == {0.01, 0.02}


def test_run_and_compare_state_it(cli):
    small = ("--scale", "1/256", "-n", "cuda-sm90")
    done = json.loads(cli("run", "fir", *small, "--json", "-o", "a").stdout)["pressure"]
    assert done["whole"] == round(done["footprint"] * 256)
    assert done["whole_fits"]
    for command in (("run", "fir"), ("compare", "fir", "-p", "on-touch")):
        said = cli(*command, *small, "-o", command[0]).stdout
        assert "footprint" in said
        assert "at scale 1" in said
        assert "80 GB" in said


def test_memory_of_the_whole_program_is_no_reason_to_warn(cli):
    small = ("--scale", "1/64", "-n", "cuda-sm90", "--memory", "4GB")
    done = cli("run", "fir", *small, "-o", "a")
    assert "the part of 4 GB" in done.stdout
    assert "does not fit" not in done.stdout
    found = json.loads(cli("compare", "fir", "-p", "on-touch", *small, "--json", "-o", "b").stdout)["pressure"]["fir"]
    assert found["fits"] is found["whole_fits"] is True
    assert found["warning"] is None


def test_a_rate_of_a_shrunk_model_says_so(cli):
    model = ("llm-decode", "-n", "cuda-sm90", "--scale", "1/256", "--set", "workload.steps=2")
    assert cli("run", *model, "-q", "-o", "a").returncode == 0
    assert "at scale 0.00390625" in cli("workload", "served", "a").stdout
    assert cli("run", *model, "--executor", "instant", "-q", "-o", "b").returncode == 0
    done = cli("workload", "served", "b")
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
