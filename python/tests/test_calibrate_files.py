"""Machine files, samples and quantities as text: what is written reads back, and what is wrong is named."""

from __future__ import annotations

import dataclasses
import json
import lzma
import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from conftest import refused
from synthetic_gpu import SyntheticGpu

from octavo.errors import CalibrationError, OutputError
from octavo.measurements.calibrate import folder as samples
from octavo.measurements.calibrate import machine, quantities
from octavo.measurements.calibrate.folder import table_of
from octavo.measurements.calibrate.measurement import Measured
from octavo.measurements.calibrate.probes import VALUES
from octavo.measurements.calibrate.samples import Activity, Samples
from octavo.measurements.calibrate.sidecar import Origin

if TYPE_CHECKING:
    from pathlib import Path

ABOUT = {"gpu": "Synthetic 1", "gpus": 2, "uuid": "GPU-0", "effort": "quick"}
UNITS = ("s", "B/s", "B", "op/s", "1")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (55.2e9, "B/s", "55.2GB/s"),
        (1.2e-6, "s", "1.2us"),
        (16384.0, "B", "16KiB"),
        (1.5 * 2**20, "B", "1.5MiB"),
        (16385.0, "B", "16385B"),
        (66.9e12, "op/s", "66.9Top/s"),
        (1.2e15, "op/s", "1.2Pop/s"),
        (1.23456789e-3, "s", "1.2346ms"),
        (0.0, "s", "0ps"),
        (0.95, "1", "0.95"),
        (64.0, "1", "64"),
    ],
)
def test_quantities_read_as_in_configuration_files(value, unit, text):
    assert quantities.text(value, unit) == text
    assert quantities.number(text, unit) == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize("unit", UNITS)
def test_every_value_reads_back_to_five_digits(unit):
    rng = np.random.default_rng(3)
    for value in 10 ** rng.uniform(-10 if unit == "s" else 0.1, 0 if unit == "s" else 15, 300):
        written = quantities.text(value, unit)
        again = quantities.number(written, unit)
        assert again == pytest.approx(value, rel=6e-5, abs=0.51 if unit in {"B", "B/s", "op/s"} else 0.51e-12)
        assert quantities.text(again, unit) == written


@pytest.mark.parametrize("text", ["", "5 parsecs", "GB/s", "5GB", "five GB/s", "5,5GB/s"])
def test_what_is_no_bandwidth_is_refused(text):
    with pytest.raises(ValueError, match="expected a bandwidth such as 300GB/s, found"):
        quantities.number(text, "B/s")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2**30, "B", "1GiB"),
        (55.25e9, "B/s", "55.2GB/s"),
        (999.96e-9, "s", "1us"),
        (0, "s", "0s"),
        (0, "1", "0"),
        (4096.0, "1", "4096"),
        (0.9333, "1", "0.933"),
    ],
)
def test_people_read_three_digits(value, unit, text):
    assert quantities.short(value, unit) == text


def measured() -> dict[str, Measured]:
    """One value of each kind, of every unit, and of a pair of GPUs."""
    numbers = {"s": 1.2e-6, "B/s": 55.2e9, "B": 65536.0, "op/s": 61.5e12, "1": 8.0}
    found = {}
    for value in VALUES:
        name = f"{value.name}_0_1" if value.each_pair else value.name
        middle = numbers[value.unit]
        low, high = (middle, middle) if value.unit == "B" else (middle * 0.5, middle * 2)
        found[name] = Measured(name, middle, value.unit, low, high, 7, value.probe, "a note")
    return found


def test_a_machine_file_reads_back_to_itself(tmp_path):
    written = machine.Machine(ABOUT, measured(), {"peers": "there is one GPU", "managed.advise": "refused"})
    path = tmp_path / "machine.toml"
    path.write_text(machine.machine_text(written, '[node]\nextends = "grit-4gpu" # a preset\n'))
    found = machine.read(path)
    assert found.about == ABOUT
    assert found.skipped == written.skipped
    assert found.measured == written.measured
    assert found.node == {"extends": "grit-4gpu"}
    assert path.read_text().endswith('[node]\nextends = "grit-4gpu" # a preset\n')


def test_every_value_in_the_file_says_what_it_is_and_how_it_was_fitted():
    text = machine.machine_text(machine.Machine(ABOUT, measured()))
    for value in VALUES:
        assert f"# {value.about}" in text
        assert f'fit = "{value.how}"' in text


GOOD = """format = 1
[machine]
gpu = "Synthetic 1"
gpus = 1
uuid = "GPU-0"
effort = "full"
[measured.copy_issue_h2d]
value = "1.1us"
low = "1us"
high = "1.2us"
repetitions = 7
probe = "copies"
[measured.peer_copy_both_0_1]
value = "2GB/s"
low = "2GB/s"
high = "2GB/s"
repetitions = 3
probe = "peers"
"""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("format = 1", "format = 2"), "key `format`: expected a machine file of format 1, found 2"),
        (("format = 1", ""), "key `format`: expected a machine file of format 1, found none"),
        (("gpus = 1", 'gpus = "one"'), "key `machine.gpus`: expected a whole number, found 'one'"),
        (('uuid = "GPU-0"\n', ""), "key `machine.uuid`: expected a text, found nothing"),
        (("effort", "eford"), "key `machine.eford`: expected one of"),
        (('value = "1.1us"', 'value = "1.1GB/s"'), "`measured.copy_issue_h2d.value`: expected a time such as 1.25us"),
        (('value = "1.1us"', "value = 1.1"), "expected a time such as 1.25us, found 1.1"),
        (('low = "1us"', 'low = "3us"'), "expected a value between low and high, found 3us to 1.2us"),
        (('low = "1us"\n', ""), "key `measured.copy_issue_h2d.low`: expected a time such as 1.25us, found None"),
        (("repetitions = 7", "repetitions = 0"), "`measured.copy_issue_h2d.repetitions`: expected a number from 1"),
        (('probe = "copies"', 'probe = "memory"'), "expected `copies`, found 'memory'"),
        (("copy_issue_h2d", "copy_isue_h2d"), "key `measured.copy_isue_h2d`: expected a measured value"),
        (("peer_copy_both_0_1", "peer_copy_both"), "key `measured.peer_copy_both`: expected a measured value"),
        (("copy_issue_h2d", "copy_issue_h2d_0_1"), "key `measured.copy_issue_h2d_0_1`: expected a measured value"),
        (("probe =", "prob ="), "key `measured.copy_issue_h2d.prob`: expected one of"),
        (("[machine]", "[machine"), "expected TOML"),
        (("format = 1\n", "format = 1\nmeasured = 3\n"), "expected TOML"),
    ],
)
def test_what_is_wrong_in_a_machine_file_is_named_with_file_key_expected_and_found(change, said, tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(GOOD)
    machine.read(path)
    path.write_text(GOOD.replace(*change))
    with pytest.raises(CalibrationError) as raised:
        machine.read(path)
    assert str(path) in raised.value.message
    assert said in raised.value.message


def test_a_name_that_is_nearly_right_is_offered(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(GOOD.replace("copy_issue_h2d", "copy_isue_h2d"))
    with pytest.raises(CalibrationError) as raised:
        machine.read(path)
    assert raised.value.hint == "did you mean `copy_issue_h2d`?"


def test_a_machine_file_that_is_not_there_or_no_text_is_named(tmp_path):
    with refused("unreadable", CalibrationError, file="m.toml"):
        machine.read(tmp_path / "m.toml")
    (tmp_path / "m.toml").write_bytes(b"\xff\xfe")
    with refused("unreadable", CalibrationError, file="m.toml"):
        machine.read(tmp_path / "m.toml")


def launches(folder: Path) -> Samples:
    result = SyntheticGpu().measure("launches", 0, quick=True, progress=lambda *_: None)
    origin = Origin("Synthetic 1", "GPU-0", "595", "quick", "d1", 1)
    made = Samples("launches", table_of("launches", result["columns"], "here"), origin, "2026-01-02", {"l2_bytes": 3})
    samples.write(folder, made)
    return made


def test_samples_read_back(tmp_path):
    made = launches(tmp_path)
    found = samples.read(tmp_path, "launches")
    assert found.table.equals(made.table)
    assert (found.origin, found.date, found.device, found.activity) == (made.origin, made.date, made.device, None)
    assert not samples.is_finished(tmp_path, "copies")


def test_activity_lies_beside_the_samples(tmp_path):
    made = launches(tmp_path)
    activity = Activity(26, 3, "v3", b"records")
    with_activity = Samples("launches", made.table, made.origin, made.date, activity=activity)
    samples.write(tmp_path, with_activity)
    assert samples.read(tmp_path, "launches").activity == activity
    (tmp_path / "launches.activity.bin").unlink()
    with refused("missing", CalibrationError, file="launches.activity.bin"):
        samples.read(tmp_path, "launches")
    samples.write(tmp_path, made)
    assert samples.read(tmp_path, "launches").activity is None


def test_activity_may_lie_packed(tmp_path):
    """As it does in the repository."""
    activity = Activity(26, 3, "v3", b"records")
    with_activity = dataclasses.replace(launches(tmp_path), activity=activity)
    samples.write(tmp_path, with_activity)
    (tmp_path / "launches.activity.bin").unlink()
    packed = tmp_path / "launches.activity.bin.xz"
    packed.write_bytes(lzma.compress(b"records"))
    assert samples.read(tmp_path, "launches").activity == activity
    packed.write_bytes(lzma.compress(b"rekords"))
    with refused("damaged", CalibrationError, file="launches.activity.bin.xz"):
        samples.read(tmp_path, "launches")
    packed.write_bytes(lzma.compress(b"records")[:-9])
    with refused("unexpected-value", CalibrationError, file="launches.activity.bin.xz"):
        samples.read(tmp_path, "launches")
    samples.write(tmp_path, with_activity)
    assert not packed.exists(), "what is new is read"


@pytest.mark.parametrize("name", ["launches.json", "launches.parquet", "launches.activity.bin"])
@pytest.mark.parametrize("again", [launches, lambda folder: samples.discard(folder, "launches")])
def test_links_among_samples_are_not_followed_and_stay(tmp_path, name, again):
    launches(tmp_path / "s")
    (tmp_path / "own").write_text("mine")
    (tmp_path / "s" / name).unlink(missing_ok=True)
    (tmp_path / "s" / name).symlink_to(tmp_path / "own")
    with refused("link", OutputError, file=name):
        again(tmp_path / "s")
    assert (tmp_path / "s" / name).is_symlink()
    assert (tmp_path / "own").read_text() == "mine"


def vouch_for_nothing(directory: Path) -> None:
    """As samples of `octavo-probe` are."""
    path = directory / "launches.json"
    sidecar = json.loads(path.read_text())
    path.write_text(json.dumps({key: value for key, value in sidecar.items() if key not in {"files", "check"}}))


def test_samples_that_vouch_for_nothing_are_read(tmp_path):
    made = launches(tmp_path)
    vouch_for_nothing(tmp_path)
    assert samples.read(tmp_path, "launches").table.equals(made.table)


@pytest.mark.parametrize("name", ["launches.parquet", "launches.json"])
def test_no_flipped_bit_is_read_as_what_was_measured(name, tmp_path):
    made = launches(tmp_path)
    path = tmp_path / name
    whole = path.read_bytes()
    for number in range(60):
        content = bytearray(whole)
        content[number * len(whole) // 60] ^= 1 << number % 8
        path.write_bytes(content)
        with pytest.raises(CalibrationError) as raised:
            samples.read(tmp_path, "launches")
        assert str(path) in raised.value.message
    path.write_bytes(whole)
    assert samples.read(tmp_path, "launches").table.equals(made.table)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda table: table.drop("how"), "expected a column `how`, found the columns series, "),
        (lambda table: table.drop("seconds"), "expected a column `seconds`"),
        (lambda table: table.cast({"count": pl.String}), "column `count`: expected Int64, found String"),
        (
            lambda table: table.with_columns(how=pl.lit(None, dtype=pl.String)),
            "column `how`: expected a value in every",
        ),
        (lambda table: table.with_columns(seconds=-pl.col("seconds")), "expected times of 0 or more in series"),
    ],
    ids=["parameter", "seconds", "type", "null", "negative"],
)
def test_damaged_tables_are_named_with_file_column_expected_and_found(damage, said, tmp_path):
    made = launches(tmp_path)
    vouch_for_nothing(tmp_path)
    damage(made.table).write_parquet(tmp_path / "launches.parquet")
    with pytest.raises(CalibrationError) as raised:
        samples.read(tmp_path, "launches")
    assert str(tmp_path / "launches.parquet") in raised.value.message
    assert said in raised.value.message


def test_what_is_no_table_is_named(tmp_path):
    launches(tmp_path)
    vouch_for_nothing(tmp_path)
    (tmp_path / "launches.parquet").write_bytes(b"PAR1")
    with refused("damaged", CalibrationError, file="launches.parquet"):
        samples.read(tmp_path, "launches")
    (tmp_path / "launches.parquet").unlink()
    with refused("missing", CalibrationError, file="launches.parquet"):
        samples.read(tmp_path, "launches")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "expected format 1, found 2"),
        ({"origin": "here"}, "key `origin`: expected an object, found str"),
        ({"origin": {}}, "key `origin`: expected gpu, uuid, driver, effort, digest, gpus"),
        ({"skipped": None}, "key `skipped`: expected an object, found NoneType"),
        ({"activity": {}}, "expected CUPTI records"),
    ],
)
def test_damaged_sidecars_are_named_with_file_key_expected_and_found(change, said, tmp_path):
    launches(tmp_path)
    vouch_for_nothing(tmp_path)
    path = tmp_path / "launches.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(CalibrationError) as raised:
        samples.read(tmp_path, "launches")
    assert said in raised.value.message


@pytest.mark.parametrize("text", ["{", "[]"])
def test_sidecars_that_are_no_object_are_named(text, tmp_path):
    launches(tmp_path)
    (tmp_path / "launches.json").write_text(text)
    with refused("damaged", CalibrationError, file="launches.json"):
        samples.read(tmp_path, "launches")


def test_columns_of_an_engine_that_do_not_fit_are_refused():
    columns = SyntheticGpu().measure("launches", 0, quick=True, progress=lambda *_: None)["columns"]
    with refused("unexpected-value", CalibrationError, key="seconds", found="str"):
        table_of("launches", columns | {"seconds": ["slow"] * len(columns["series"])}, "probe")
    with refused("unexpected-value", CalibrationError):
        table_of("launches", columns | {"seconds": [1.0]}, "probe")
    assert math.isclose(table_of("launches", columns, "probe")["seconds"].sum(), sum(columns["seconds"]))
