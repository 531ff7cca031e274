"""A damaged result or trace is never taken for a whole one: what is read is what was written, or an error says so."""

from __future__ import annotations

import json
import random
import shutil

import polars as pl
import pytest
from conftest import SMALL, noted, refused

import octavo

LINE = ([{"name": "a", "base": 0, "bytes": 256}], [{"kernel": "copy", "grid": (64, 1, 1), "group": (64, 1, 1)}])
ROWS = {"kind": ["load", "end"], "bytes": [4, 0], "lanes": [64, 0], "lines": [[0, 1, 2, 3], []]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    octavo.run(workload="fir", scale=SMALL, output=folder / "result")
    octavo.trace.write(folder / "a.trace", ROWS, *LINE)
    return folder


def damaged_copy(folder, to, name, chance):
    """The folder with one file whose bits or length changed."""
    shutil.copytree(folder, to)
    content = bytearray((to / name).read_bytes())
    if chance.random() < 0.3:
        del content[chance.randrange(len(content)) :]
    else:
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    (to / name).write_bytes(content)
    return to


def everything(folder):
    result = octavo.RunResult.load(folder)
    return (
        result.scenario,
        result.summary,
        {name: result.table(name).to_dict(as_series=False) for name in result.tables},
    )


def trace_values(folder):
    trace = octavo.trace.open(folder)
    tables = (trace.instructions.collect(), trace.allocations, trace.launches)
    return trace.info, trace.head(), trace.validate(), [table.to_dict(as_series=False) for table in tables]


@pytest.mark.parametrize(("name", "read"), [("result", everything), ("a.trace", trace_values)])
def test_damage_in_any_file_is_named(name, read, whole, tmp_path):
    chance = random.Random(name)  # noqa: S311 - no secrets
    for file in sorted(path.name for path in (whole / name).iterdir()):
        for number in range(12):
            copy = damaged_copy(whole / name, tmp_path / f"{file}-{number}", file, chance)
            with refused("damaged", file=file):
                read(copy)


@pytest.mark.parametrize(("name", "read"), [("result", everything), ("a.trace", trace_values)])
def test_a_file_that_is_missing_is_named(name, read, whole, tmp_path):
    for file in sorted(path.name for path in (whole / name).iterdir() if path.name != "octavo-manifest.json"):
        shutil.copytree(whole / name, tmp_path / file)
        (tmp_path / file / file).unlink()
        with refused("missing", file=file):
            read(tmp_path / file)


def test_a_trace_without_a_manifest_is_read_with_a_note(whole, tmp_path):
    shutil.copytree(whole / "a.trace", tmp_path / "a.trace")
    (tmp_path / "a.trace" / "octavo-manifest.json").unlink()
    with noted(str(tmp_path / "a.trace")):
        assert trace_values(tmp_path / "a.trace") == trace_values(whole / "a.trace")


def test_a_result_without_a_manifest_is_none_of_octavos(whole, tmp_path):
    shutil.copytree(whole / "result", tmp_path / "result")
    result = octavo.RunResult.load(tmp_path / "result")
    (tmp_path / "result" / "octavo-manifest.json").unlink()
    with refused("missing", octavo.DamagedError, file="octavo-manifest.json"):
        result.check()
    with refused("no-result", octavo.OutputError, file="result"):
        octavo.RunResult.load(tmp_path / "result")
    with refused("not-ours", octavo.OutputError, file="result"):
        octavo.run(workload="fir", scale=SMALL, output=tmp_path / "result", force=True)


def test_a_damaged_result_is_not_kept(whole, tmp_path):
    """Asked for again, it is no finished result; --force makes it whole."""
    chance = random.Random(3)  # noqa: S311 - no secrets
    copy = damaged_copy(whole / "result", tmp_path / "result", "links.parquet", chance)
    with refused("damaged", octavo.OutputError, file="links.parquet") as raised:
        octavo.run(workload="fir", scale=SMALL, output=copy)
    assert "--force" in raised.value.hint
    octavo.run(workload="fir", scale=SMALL, output=copy, force=True)
    assert everything(copy) == everything(whole / "result")


def test_a_damaged_trace_is_not_run(whole, tmp_path):
    copy = shutil.copytree(whole / "a.trace", tmp_path / "a.trace")
    content = bytearray((copy / "instructions.parquet").read_bytes())
    content[content.index(b"\x28\xb5\x2f\xfd") + 9] ^= 4  # In the first compressed page.
    (copy / "instructions.parquet").write_bytes(content)
    with refused("damaged", octavo.TraceError, file="instructions.parquet"):
        octavo.run(workload=copy)


def test_a_damaged_run_of_a_comparison_is_named(cli, tmp_path):
    arguments = ("compare", "-w", "fir", "-p", "on-touch,grit", "-s", str(SMALL), "-o", "out", "-q")
    assert cli(*arguments).returncode == 0
    table = tmp_path / "out" / "runs" / "fir" / "grit" / "kernels.parquet"
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 1
    table.write_bytes(content)
    for command in (arguments, ("report", "out")):
        done = cli(*command)
        assert done.returncode == 2
        assert "grit/kernels.parquet is damaged" in "".join(done.stderr.split("\n"))
        assert "Traceback" not in done.stderr


GRID = {"scenario": {"workload": {"name": "fir", "scale": SMALL}}, "grid": {"memory.placement": ["on-touch", "grit"]}}


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("swept") / "s"
    return octavo.sweep(GRID, output=folder, workers=1), folder


def flipped(path, chance):
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def test_any_flipped_bit_in_the_row_of_a_point_is_found(swept, tmp_path):
    table, folder = swept
    shutil.copytree(folder, tmp_path / "s")
    row = tmp_path / "s" / "points" / "00001.parquet"
    whole, chance = row.read_bytes(), random.Random(3)  # noqa: S311 - no secrets
    assert octavo.load_sweep(tmp_path / "s").equals(table)
    for _ in range(400):
        flipped(row, chance)
        with refused("damaged", octavo.DamagedError, file="00001.parquet"):
            octavo.load_sweep(tmp_path / "s")
        row.write_bytes(whole)
    (row.parent / "00000.parquet").write_bytes(whole)
    with refused("damaged", octavo.DamagedError, file="00000.parquet"):
        octavo.load_sweep(tmp_path / "s")


def test_a_sweep_writes_damaged_rows_again_and_says_so(swept, tmp_path):
    table, folder = swept
    shutil.copytree(folder, tmp_path / "s")
    row = tmp_path / "s" / "points" / "00001.parquet"
    content = row.read_bytes()
    row.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])
    with noted("00001.parquet"):
        assert octavo.sweep(GRID, output=tmp_path / "s", workers=1).equals(table)
    assert row.read_bytes() == content


def test_a_row_that_is_missing_is_named_and_written_again(swept, tmp_path):
    table, folder = swept
    shutil.copytree(folder, tmp_path / "s")
    (tmp_path / "s" / "points" / "00001.parquet").unlink()
    with refused("missing", octavo.DamagedError, file="00001.parquet"):
        octavo.load_sweep(tmp_path / "s")
    assert octavo.sweep(GRID, output=tmp_path / "s", workers=1).equals(table)
    assert octavo.load_sweep(tmp_path / "s").equals(table)


def test_a_damaged_plan_is_not_taken_for_another_sweep(swept, tmp_path):
    shutil.copytree(swept[1], tmp_path / "s")
    path = tmp_path / "s" / "sweep.json"
    text = path.read_text()
    at = text.index(json.loads(text)["sweep"])
    path.write_text(text[:at] + ("1" if text[at] == "0" else "0") + text[at + 1 :])
    with refused("damaged", octavo.DamagedError, file="sweep.json"):
        octavo.sweep(GRID, output=tmp_path / "s", workers=1)


def test_a_row_without_a_hash_is_damage(swept, tmp_path):
    shutil.copytree(swept[1], tmp_path / "s")
    for path in (tmp_path / "s" / "points").iterdir():
        pl.read_parquet(path).write_parquet(path)
    with refused("damaged", octavo.DamagedError, file="00000.parquet"):
        octavo.load_sweep(tmp_path / "s")


def test_a_sweep_of_another_format_is_refused(swept, tmp_path):
    shutil.copytree(swept[1], tmp_path / "s")
    (tmp_path / "s" / "octavo-manifest.json").unlink()
    plan = json.loads((tmp_path / "s" / "sweep.json").read_text())
    (tmp_path / "s" / "sweep.json").write_text(json.dumps({**plan, "format": plan["format"] + 1}))
    with refused("other-format", octavo.OutputError, file="sweep.json", found=3, expected=2):
        octavo.load_sweep(tmp_path / "s")


def test_a_folder_without_a_sweep_says_so(tmp_path):
    with refused("no-result", octavo.OutputError):
        octavo.load_sweep(tmp_path)
