"""Errors about arguments of Python functions: one form, which names what was typed."""

from __future__ import annotations

import pytest

import octavo
from octavo.runs.replicates import MOST

FIR = {"workload": "fir", "scale": 0.01}
SWEEP = {"scenario": {"workload": {"name": "fir", "scale": 0.01}}, "grid": {"seed": [1, 2]}}

REFUSED = {
    "workers of compare": (
        lambda: octavo.compare(**FIR, workers=-4),
        "argument `workers`: expected a whole number of at ",
    ),
    "no workers": (
        lambda: octavo.compare(**FIR, workers=0),
        "argument `workers`: expected a whole number of at least 1",
    ),
    "workers of sweep": (lambda: octavo.sweep(SWEEP, workers=-3), "argument `workers`: expected a whole number of at "),
    "workers of advise": (
        lambda: octavo.advise("fir", quick=True, workers=1.5),
        "argument `workers`: expected a whole ",
    ),
    "placements": (
        lambda: octavo.compare(**FIR, placements=["nope"]),
        "argument `placements`: unknown placement `nope`",
    ),
    "no placements": (
        lambda: octavo.compare(**FIR, placements=[]),
        "argument `placements`: expected at least one name",
    ),
    "one number": (lambda: octavo.compare(**FIR, placements=3), "argument `placements`: expected a list of names"),
    "a number": (
        lambda: octavo.compare(**FIR, placements=[3]),
        "argument `placements`: expected the name of a strategy",
    ),
    "workloads": (lambda: octavo.compare(workloads=["firr"]), "argument `workloads`: unknown workload `firr`"),
    "number of workloads": (
        lambda: octavo.compare(workloads=[3]),
        "argument `workloads`: expected the name of a workload",
    ),
    "one workload": (lambda: octavo.compare(workload="firr"), "argument `workload`: unknown workload `firr`"),
    "kinds": (lambda: octavo.compare(**FIR, kinds=["nope"]), "argument `kinds`: expected one of launches, explicit"),
    "sharings": (lambda: octavo.compare(**FIR, sharings=["nope"]), "argument `sharings`: unknown sharing `nope`"),
    "workload": (lambda: octavo.run(workload=3), "argument `workload`: expected the name of a workload, or the folder"),
    "scale": (
        lambda: octavo.run(workload="fir", scale="1/64"),
        'argument `scale`: expected a number, found "1/64"\nwrite 1 / 64',
    ),
    "seed": (lambda: octavo.run(workload="fir", seed=-1), "argument `seed`: expected a whole number from 0, found -1"),
    "fidelity": (
        lambda: octavo.run(workload="fir", fidelity="paeg"),
        "argument `fidelity`: expected one of line, page",
    ),
    "key": (
        lambda: octavo.run(workload="fir", overrides={"node.fidelity": "paeg"}),
        'overrides["node.fidelity"]: expected one of line, page',
    ),
    "overrides": (
        lambda: octavo.run(workload="fir", overrides=3),
        "argument `overrides`: expected values by key, or a ",
    ),
    "jobs": (lambda: octavo.run(jobs=3), "argument `jobs`: expected a list of tables, found 3"),
    "a job": (
        lambda: octavo.run(jobs=[{"name": "a", "workload": "firr"}]),
        "argument `jobs[0].workload.name`: unknown workload `firr`",
    ),
    "output": (lambda: octavo.run(**FIR, output=3), "argument `output`: expected a path, found 3"),
    "source": (lambda: octavo.run(3), "argument `source`: expected a scenario, or the path of a TOML file, found 3"),
    "source of advice": (lambda: octavo.advise("firr"), "argument `source`: unknown workload `firr`"),
    "budget": (lambda: octavo.advise("fir", budget="lots"), "argument `budget`: expected a size such as 40GB"),
    "readings": (lambda: octavo.advise("fir", readings="x"), "argument `readings`: expected one of sound, published"),
    "inspected": (lambda: octavo.inspect_workload("firr"), "argument `source`: unknown workload `firr`"),
    "inspected number": (
        lambda: octavo.inspect_workload(3),
        "argument `source`: expected a scenario, a scenario file or",
    ),
    "kind of a program": (
        lambda: octavo.workload_program("fir", kind="x"),
        "argument `kind`: expected one of explicit, managed, system, pinned, recorded, found 'x'",
    ),
    "threads": (
        lambda: octavo.workload_program("fir", threads=0),
        "argument `threads`: expected a whole number of at ",
    ),
    "replicates": (
        lambda: octavo.compare(**FIR, replicates=10**8),
        "argument `replicates`: expected a whole number from 1 ",
    ),
    "text of replicates": (
        lambda: octavo.compare(**FIR, replicates="3"),
        "argument `replicates`: expected a whole number",
    ),
    "replicates of a sweep": (
        lambda: octavo.sweep(SWEEP, replicates=MOST + 1),
        "argument `replicates`: expected a whole ",
    ),
    "trials": (lambda: octavo.sweep(SWEEP, trials=0), "argument `trials`: expected a whole number of at least 1"),
    "best": (lambda: octavo.sweep(SWEEP, best="x"), "argument `best`: unknown measure `x`"),
    "seed of a sweep's scenario": (
        lambda: octavo.sweep(SWEEP | {"grid": {"node.gpus": [1]}}, overrides={"seed": -1}, seed=None),
        'overrides["seed"]: expected a whole number from 0, found -1',
    ),
    "pictures": (
        lambda: octavo.compare(**FIR, pictures="bmp", output="x"),
        "argument `pictures`: expected one of png, svg, pdf, found 'bmp'",
    ),
    "width of pictures": (
        lambda: octavo.sweep(SWEEP, picture_width=99, output="x"),
        "argument `picture_width`: expected inches between 1.5 and 40, found 99",
    ),
    "pictures of nothing kept": (
        lambda: octavo.compare(**FIR, pictures=["svg"]),
        "argument `pictures`: expected `output`, the folder that pictures go into, found none\nname one",
    ),
    "width of pictures of nothing kept": (
        lambda: octavo.sweep(SWEEP, picture_width=3.5),
        "argument `picture_width`: expected `output`, the folder that pictures go into, found none\nname one",
    ),
    "number of pictures": (
        lambda: octavo.compare(**FIR, pictures=3, output="x"),
        "argument `pictures`: expected a list of names, found 3",
    ),
    "numbers of pictures": (
        lambda: octavo.sweep(SWEEP, pictures=[3], output="x"),
        "argument `pictures`: expected one of png, svg, pdf, found 3",
    ),
    "text as a width": (
        lambda: octavo.compare(**FIR, picture_width="wide", output="x"),
        "argument `picture_width`: expected inches between 1.5 and 40, found 'wide'",
    ),
    "truth as a width": (
        lambda: octavo.sweep(SWEEP, picture_width=True, output="x"),
        "argument `picture_width`: expected inches between 1.5 and 40, found True",
    ),
    "no number as a width": (
        lambda: octavo.sweep(SWEEP, picture_width=float("nan"), output="x"),
        "argument `picture_width`: expected inches between 1.5 and 40, found nan",
    ),
    "width of a picture": (
        lambda: octavo.compare(**FIR, placements=["ideal"]).plot(width="3"),
        "argument `width`: expected inches between 1.5 and 40, found '3'",
    ),
    "pictures without time": (
        lambda: octavo.compare(**FIR, executor="instant", pictures="svg", output="x"),
        "argument `pictures`: the executor `instant` has no times, so no pictures\nleave it out, or executor",
    ),
    "pictures of three axes": (
        lambda: octavo.sweep(
            SWEEP | {"grid": {"seed": [1], "node.gpus": [2], "workload.scale": [0.01]}}, pictures="svg", output="x"
        ),
        "argument `pictures`: expected one axis, two that are listed, or a search, found 3 axes",
    ),
    "width of draws along two axes": (
        lambda: octavo.sweep(
            SWEEP | {"random": {"points": 2, "axes": {"node.gpus": [2, 4]}}}, picture_width=3.5, output="x"
        ),
        "argument `picture_width`: expected one axis, two that are listed, or a search, found 2 axes with draws at",
    ),
    "limit": (lambda: octavo.limit_memory("x"), "argument `limit`: expected an amount of memory such as 8GiB"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_name_the_argument_that_was_typed(name):
    wrong, said = REFUSED[name]
    with pytest.raises(octavo.OctavoError) as refused:
        wrong()
    assert str(refused.value).startswith(said)


def test_workloads_are_inspected_by_name_and_from_files(tmp_path):
    file = tmp_path / "fir.toml"
    file.write_text('workload = { name = "fir", scale = 0.01 }\nnode.preset = "grit-2gpu"\n')
    assert octavo.inspect_workload(file) == octavo.inspect_workload(octavo.scenario(file))
    assert octavo.inspect_workload("nw")["setting"]["gpus"] == 4


def test_the_command_line_refuses_too_many_replicates(cli):
    done = cli("compare", "--workload", "fir", "--replicates", "100000000")
    assert done.returncode == 2
    assert "--replicates: expected a whole number from 1 to 1,000, found 100,000,000" in done.stderr
