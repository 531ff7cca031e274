"""`octavo validate machine` on samples that are known to agree, and known not to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from conftest import contents

from octavo.measurements.calibrate import folder as samples
from octavo.measurements.calibrate import machine, patterns
from octavo.measurements.calibrate.columns import COMMON
from octavo_studies import validate
from octavo_studies.validate.machines import words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MIB = 1 << 20
ABOUT = {"gpu": "A made-up GPU", "gpus": 1, "uuid": "GPU-0", "effort": "quick", "driver": "1", "date": "2026-11-21"}
NODE = '[node]\nextends = "cuda-sm70"\n'
Row = dict[str, Any]


def write(folder: Path, probe: str, rows: list[Row]) -> None:
    names = list(dict.fromkeys([*COMMON, *(name for row in rows for name in row)]))
    columns = {name: [row.get(name) for row in rows] for name in names}
    origin = samples.Origin("A made-up GPU", "GPU-0", "1", "quick", "digest", 1)
    table = samples.table_of(probe, columns, probe)
    samples.write(folder, samples.Samples(probe, table, origin, "2026-11-21"))


def repeated(row: Row, seconds: float) -> list[Row]:
    """Three repetitions whose median is `seconds`."""
    return [{**row, "repetition": n, "seconds": seconds * factor} for n, factor in enumerate((1.0, 1.5, 0.5))]


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> Path:
    """A machine whose samples are what its node simulates, times a factor for some of them."""
    path: Path = tmp_path_factory.mktemp("machine") / "machine.toml"
    path.write_text(machine.machine_text(machine.Machine(ABOUT, {}), NODE))
    node, folder = patterns.Node("cuda-sm70"), path.with_name("machine.samples")
    chase = {"series": "chase", "count": 1000}
    stream = {"series": "stream", "operation": "copy", "size": MIB, "bytes": 2 * MIB, "count": 1}
    memory = [
        *repeated({**chase, "footprint": 64 << 10, "stride": 128}, 1000 * patterns.chase(node, 64 << 10, 128).run()),
        *repeated({**chase, "footprint": MIB, "stride": 4096}, 1.1e3 * patterns.chase(node, MIB, 4096).run()),
        *repeated({**chase, "footprint": 3 * 4096, "stride": 4096}, 1.0),
        *repeated(stream, 2 * MIB / patterns.stream(node, MIB).run()),
        *repeated({**stream, "operation": "add"}, 1.0),
    ]
    write(folder, "memory", memory)
    access = {
        "series": "zero_copy",
        "operation": "read",
        "pattern": "sequential",
        "width": 16,
        "warps": 4,
        "stride": 16,
    }
    seconds = MIB / patterns.line_access(node, MIB // 16, 4, width=16, stride=16).run()
    write(folder, "zero_copy", repeated({**access, "bytes": MIB}, 2 * seconds))
    demand = {"series": "demand", "pattern": "strided", "stride": 2 * MIB, "blocks": 2, "pages": 4, "size": 8 * MIB}
    seconds = patterns.demand(node, 8 * MIB, 2 * MIB, 2).run()
    to_gpu, to_cpu = ({**demand, "direction": direction} for direction in ("to_gpu", "to_cpu"))
    first_touch = {"series": "first_touch", "by": "gpu", "size": MIB, "bytes": MIB}
    rows = [*repeated(to_gpu, seconds), *repeated(to_cpu, 1.0), *repeated(first_touch, 1.0)]
    write(folder, "managed", rows)
    grid = {"series": "roofline", "sigma": 0.25, "alpha": 4.0, "bytes": 4 * MIB, "count": 4 * MIB}
    host = {**grid, "placement": "host", "rho": 2, "copy_seconds": None}
    device = {**grid, "placement": "device", "rho": 1}
    rates = patterns.roofline(node, MIB, 0.25, 4.0, 2).run(), patterns.roofline(node, MIB, 0.25, 4.0).run()
    half = 4 * MIB / rates[1] / 2
    whole = [{**row, "copy_seconds": row["seconds"]} for row in repeated(device, half)]
    write(folder, "roofline", [*repeated(host, 4 * MIB / rates[0]), *whole])
    return path


@pytest.fixture(scope="module")
def found(measured, tmp_path_factory) -> validate.MachineValidation:
    return validate.machine(measured, tmp_path_factory.mktemp("validated") / "out")


def errors(found: validate.MachineValidation) -> dict[str, float]:
    return {f"{row['series']} {row['point']}": row["error"] for row in found.rows.to_dicts()}


def test_every_point_is_as_far_off_as_it_was_made(found):
    assert errors(found) == pytest.approx(
        {
            "chase stride 128, footprint 65536": 0.0,
            "chase stride 4096, footprint 1048576": 1 / 1.1 - 1,
            "stream operation copy, size 1048576": 0.0,
            "zero_copy operation read, pattern sequential, width 16, stride 16, warps 4": 1.0,
            "demand direction to_gpu, pattern strided, stride 2097152, blocks 2, size 8388608": 0.0,
            "roofline placement host, sigma 0.25, alpha 4.0, rho 2": 0.0,
            "roofline placement device, sigma 0.25, alpha 4.0, rho 1": 0.0,
        },
        abs=1e-6,
    )


def test_shares_and_what_is_left_out_are_counted(found):
    shares = {row["series"]: (row["points"], row["near"]) for row in found.shares.to_dicts()}
    assert shares == {
        "chase": (2, 1.0),
        "stream": (1, 1.0),
        "zero_copy": (1, 0.0),
        "demand": (1, 1.0),
        "roofline": (2, 1.0),
    }
    assert found.near == pytest.approx(6 / 7)
    assert found.far["series"].to_list() == ["zero_copy"]
    reasons = {series: (reason, count) for (series, reason), count in found.left_out.items()}
    assert reasons["managed.demand"] == ("the simulated patterns have no accesses by the CPU", 1)
    assert reasons["managed.first_touch"] == ("the simulated node has no such pattern", 1)
    assert reasons["memory.stream"] == ("patterns of three buffers are not simulated", 1)
    assert reasons["memory.chase"][1] == 1


def test_it_leaves_table_picture_and_report_and_goes_on_where_it_was(measured, found):
    names = {path.name for path in found.root.iterdir()}
    assert {"machine.parquet", "machine.csv", "machine.png", "report.json", "runs"} <= names
    report = json.loads((found.root / "report.json").read_text())
    assert report["near"] == found.near
    before = contents(found.root)
    again = validate.machine(measured, found.root)
    assert again.rows.equals(found.rows)
    assert contents(found.root) == before


def test_the_document_gets_the_comparison_between_its_marks(found, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{words.MARKS[0]}\nold\n{words.MARKS[1]}\n\nafter\n")
    words.write_markdown(page, found)
    text = page.read_text()
    assert "old" not in text
    assert text.startswith("before")
    assert text.endswith("after\n")
    assert "A made-up GPU, driver 1, measured on 2026-11-21: 86% of 7 points are within 20%." in text
    assert "| roofline.roofline | 2 |" in text


def test_the_command_prints_shares_and_the_points_that_are_off(cli, measured, tmp_path):
    done = cli("validate", "machine", str(measured), "--only", "zero_copy,memory", "-o", "out", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [row["series"] for row in document["series"]] == ["chase", "stream", "zero_copy"]
    human = cli("validate", "machine", str(measured), "--only", "zero_copy,memory", "-o", "out")
    assert "75% of 4 points are near" in human.stdout
    assert (tmp_path / "out" / "machine.png").is_file()


@pytest.mark.parametrize(
    ("command", "mark"),
    [("machine m.toml", words.MARKS[0]), ("mgpusim --only fir", "<!-- begin: octavo validate mgpusim --markdown -->")],
)
def test_a_document_is_looked_at_before_anything_runs(cli, measured, tmp_path, command, mark):
    (tmp_path / "m.toml").write_text(measured.read_text())
    (tmp_path / "empty.md").write_text("nothing\n")
    for page, words_of_it in {
        "none.md": "cannot read none.md",
        "empty.md": "empty.md has no place for the tables",
    }.items():
        done = cli("validate", *command.split(), "--markdown", page, "-o", "out")
        said = " ".join(done.stderr.split())
        assert done.returncode == 2
        assert words_of_it in said
        assert f"expected a document with `{mark}`" in said
        assert not (tmp_path / "out").exists()


def without_node(path: Path) -> None:
    path.write_text(machine.machine_text(machine.Machine(ABOUT, {})))


def without_samples(path: Path) -> None:
    path.write_text(machine.machine_text(machine.Machine(ABOUT, {}), NODE))


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (without_node, [], "m.toml has no [node]"),
        (without_samples, [], "no samples of m.toml can be compared"),
        (without_samples, ["--only", "memry"], "`memry` is no probe"),
        (lambda path: path.write_text("seed = 1\n"), [], "expected a machine file of format 1"),
        (lambda _: None, [], "cannot read machine file m.toml"),
    ],
)
def test_what_cannot_be_compared_is_said(cli, tmp_path, make: Callable[[Path], None], options, message):
    make(tmp_path / "m.toml")
    done = cli("validate", "machine", "m.toml", *options)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
