"""What a run says of the program's size and the GPUs' memory, at its scale and at scale 1."""

from __future__ import annotations

import json

import pytest

import octavo
from octavo import _core
from octavo.runs.pressure import Pressure, pressure
from octavo.scenarios.catalogue import names

GB = 10**9


@pytest.mark.parametrize(
    ("footprint", "whole", "capacity", "whole_capacity", "gpus", "fits", "whole_fits", "warns"),
    [
        (3 * GB, 192 * GB, 80 * GB, 80 * GB, 1, True, False, True),
        (3 * GB, 192 * GB, 80 * GB, 80 * GB, 4, True, True, False),
        (3 * GB, 192 * GB, 1.25 * GB, 80 * GB, 1, False, False, False),
        (3 * GB, 30 * GB, 2 * GB, 80 * GB, 1, False, True, True),
        (90 * GB, 90 * GB, 80 * GB, 80 * GB, 1, False, False, False),
        (3 * GB, 192 * GB, None, None, 1, None, None, False),
        (3 * GB, None, 80 * GB, 80 * GB, 1, True, None, False),
    ],
)
def test_whether_the_program_fits_at_both_scales(
    footprint, whole, capacity, whole_capacity, gpus, fits, whole_fits, warns
):
    found = Pressure(footprint, whole, capacity, whole_capacity, gpus, 1 / 64, follows=False)
    assert (found.fits, found.whole_fits, found.warning is not None) == (fits, whole_fits, warns)


SHRUNK = {"workload": "llm-decode", "node": "cuda-sm90"}
MODEL = {"workload.model": "llama-3-70b", "workload.steps": 2}


def test_memory_is_as_scarce_at_every_scale(tmp_path):
    """A model that does not fit does not at any scale, unless the scenario itself says how much memory there is."""
    found = [
        pressure(octavo.run(**SHRUNK, scale=scale, overrides=MODEL, output=tmp_path / str(place)))
        for place, scale in enumerate((1 / 256, 1 / 1024))
    ]
    for one in found:
        assert one.fits is one.whole_fits is False
        assert one.warning is None
        assert one.footprint / one.capacity == pytest.approx(one.whole / one.whole_capacity, rel=1e-3)
    assert found[0].whole == pytest.approx(found[1].whole, rel=0.01)
    exact = pressure(
        octavo.run(
            **SHRUNK, scale=1 / 1024, overrides={**MODEL, "node.capacity.bytes": "80GB"}, output=tmp_path / "exact"
        )
    )
    assert (exact.fits, exact.whole_fits) == (True, False)
    said = exact.warning.partition("--memory ")[2]
    scarce = pressure(octavo.run(**SHRUNK, scale=1 / 1024, overrides=MODEL, memory=said, output=tmp_path / "scarce"))
    assert scarce.capacity == pytest.approx(found[1].capacity, rel=0.01)


@pytest.mark.parametrize("workload", ["gups", "histo", "cons", "cfd", "fir"])
@pytest.mark.parametrize("scale", [1 / 64, 1 / 4])
def test_what_fits_at_scale_1_fits_below(workload, scale):
    """Some programs have parts that do not shrink: memory keeps its ratio to what they have, not to the scale."""

    def capacity(scale, memory):
        scenario = octavo.scenario(
            workload=workload, node="cuda-sm90", kind="managed", scale=scale, overrides={}, memory=memory
        )
        return _core.gpu_memory(scenario.toml)

    def footprint(scale):
        scenario = octavo.scenario(workload=workload, node="cuda-sm90", kind="managed", scale=scale, memory="100%")
        return _core.gpu_memory(scenario.toml)

    whole, part = footprint(1), footprint(scale)
    assert capacity(1, whole) == whole
    assert capacity(scale, whole) == part
    assert capacity(scale, whole // 2) == pytest.approx(part / 2, abs=4096)


def test_memory_that_the_scenario_gives_is_exact():
    def said(**arguments):
        return octavo.scenario(workload="fir", scale=1 / 64, **arguments).values["node"]["capacity"]

    assert said(node="cuda-sm90")["shrinks"]
    assert not said(node="cuda-sm90", overrides={"node.capacity.bytes": "1GiB"}).get("shrinks")
    assert said(node="cuda-sm90", overrides={"node.capacity.bytes": "1GiB", "node.capacity.shrinks": True})["shrinks"]
    assert not said(node="grit-4gpu").get("shrinks")


def test_memory_is_a_share_of_the_footprint_or_bytes_at_scale_1():
    def of(memory, **arguments):
        node = octavo.scenario(workload="fir", node="cuda-sm90", memory=memory, **arguments).values["node"]
        return node["capacity"].get("bytes"), node["capacity"]["footprint_percent"]

    assert of("60%", scale=1 / 64) == (None, 60)
    assert of("1GiB", scale=1 / 64) == of("1GiB") == of(1 << 30) == ("1GiB", 0)
    for wrong in ("60", "lots", "6.5%", "0%", "٦٠%", "-1GB", "", 0, -5, True, 1.5e9, 10**30):
        with pytest.raises(octavo.ScenarioError):
            of(wrong)
    with pytest.raises(octavo.ScenarioError):
        octavo.scenario(workload="fir", memory="1GiB", overrides={"node.capacity.bytes": "1MB"})


def test_what_does_not_shrink_is_named(cli):
    """The whole of `stencil2d` is larger than the caches of this GPU, a sixteenth is not."""
    small = ("stencil2d", "-n", "cuda-sm60", "--kind", "managed", "--set", "workload.scale=0.0625")
    for command in (("run", *small), ("compare", *small)):
        said = " ".join(cli(*command, "-o", command[0]).stdout.split())
        assert "L2 cache" in said
    assert "L2 cache" not in cli("run", "stencil2d", "-n", "cuda-sm60", "--kind", "managed", "-o", "whole").stdout


def test_what_does_not_shrink_is_named_of_a_part_that_was_simulated():
    found = octavo.fit("fir", node="cuda-sm90", kind="managed", memory="100MB", scale=1 / 64)
    assert any("L2 cache" in note for note in found.notes)


def test_run_and_compare_state_it(cli):
    small = ("--scale", "1/256", "-n", "cuda-sm90")
    done = json.loads(cli("run", "fir", *small, "--json", "-o", "a").stdout)["pressure"]
    assert done["whole"] == pytest.approx(done["footprint"] * 256, rel=0.03), "but for whole pages"
    assert done["whole_fits"]
    for command in (("run", "fir"), ("compare", "fir", "-p", "on-touch")):
        said = cli(*command, *small, "-o", command[0]).stdout
        assert "footprint" in said
        assert "at scale 1" in said
        assert "80 GB" in said


def test_memory_of_the_whole_program_is_no_reason_to_warn(cli):
    small = ("--scale", "1/64", "-n", "cuda-sm90", "--memory", "4GB")
    done = cli("run", "fir", *small, "-o", "a")
    assert "4 GB at scale 1" in done.stdout
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


def test_jobs_of_different_scales_have_the_memory_as_it_is(cli, tmp_path):
    job = '[[job]]\nname = "{}"\nworkload = {{ name = "{}", scale = {} }}\ngpus = [{}]\n'
    text = (
        'node.preset = "cuda-sm90"\nnode.gpus = 2\n'
        + job.format("a", "fir", 0.005, 0)
        + job.format("b", "relu", 0.001, 1)
    )
    (tmp_path / "jobs.toml").write_text(text)
    found = json.loads(cli("run", "jobs.toml", "--json", "-o", "a").stdout)["pressure"]
    assert (found["whole"], found["capacity"]) == (None, 80 * GB)
    said = " ".join(cli("run", "jobs.toml", "-o", "a").stdout.split())
    assert "whole program not known, as jobs have different scales" in said
    assert cli("run", "jobs.toml", "--scale", "1/64", "-o", "b").returncode == 2, "it would be lost"
    assert cli("run", "jobs.toml", "--memory", "1GiB", "-o", "b").returncode == 2


def test_too_little_memory_is_refused_at_every_scale(cli):
    for scale in ("1", "1/256"):
        done = cli("run", "fir", "-n", "cuda-sm90", "--scale", scale, "--memory", "1KB", "-o", "a")
        assert done.returncode == 2, scale
        assert "Traceback" not in done.stderr
    assert cli("advise", "fir", "-n", "cuda-sm90", "--scale", "1/256", "--memory", "300KB").returncode == 2


@pytest.mark.parametrize("workload", [name for name in names("workloads") if name not in ("step", "trace")])
def test_the_scale_of_a_program_is_known_unless_an_option_gives_its_size(workload):
    of = {"workload": workload, "node": "cuda-sm90", "scale": 1 / 16}
    assert octavo.scenario(**of).scales == {1 / 16}
    if workload in ("hs", "srad"):
        assert octavo.scenario(**of, overrides={"workload.input": "grace-hopper"}).scales == {1 / 16}
        size = {"hs": "side", "srad": "rows"}[workload]
        assert octavo.scenario(**of, overrides={f"workload.{size}": 512}).scales == {1}


def test_scale_above_1_and_traces_say_what_they_have():
    found = pressure(octavo.run(workload="fir", node="gh200", scale=1 / 64, overrides={"workload.samples": 100_000}))
    assert found.whole == found.footprint
    assert found.warning is None
