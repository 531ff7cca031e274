"""Quantities are read by one parser, wherever people write them."""

from __future__ import annotations

import pytest

import octavo
from octavo import quantities
from octavo.errors import OctavoError
from octavo.measurements.calibrate.quantities import number
from octavo.measurements.profile.every import nanoseconds
from octavo.sweeps.quantity import Quantity, quantity


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.25us", (1_250_000, "ps")),
        ("1µs", (1_000_000, "ps")),
        ("0.5 GB/s", (500_000_000, "B/s")),
        ("16KiB", (16_384, "B")),
        ("1410MHz", (1_410_000_000, "Hz")),
        ("100cycles", (100, "cycles")),
        ("66.9Top/s", (66_900_000_000_000, "op/s")),
    ],
)
def test_a_quantity_is_a_count_of_base_units(text, expected):
    assert quantities.base(text) == expected


@pytest.mark.parametrize("text", ["", "fast", None, 8, "8", "-1ns", "0.5ps", "3 parsecs"])
def test_what_is_no_quantity_is_refused(text):
    with pytest.raises(ValueError, match="expected a quantity"):
        quantities.base(text)


def test_quantities_of_another_kind_are_refused():
    with pytest.raises(ValueError, match="100cycles"):
        quantities.count("100cycles", "ps")
    assert quantities.split("1_250ns") == (1250, "ns")
    assert quantities.cycle("2GHz") == 500.0


def _known(text):
    found = quantity(text)
    if found is None:
        raise ValueError(text)
    return found


READERS = {
    "scenario": lambda text: octavo.scenario("fir", overrides={"record.interval": text}),
    "core": lambda text: quantities.count(text, "ps"),
    "machine file": lambda text: number(text, "s"),
    "sweep and report": _known,
    "profile": nanoseconds,
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", ["5000us", "5000µs", "5_000 us"])
def test_all_readers_read(reader, text):
    READERS[reader](text)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("text", ["1e9ns", "-5000us", "5000", "5000 parsecs"])
def test_all_readers_refuse(reader, text):
    if (reader, text) == ("sweep and report", "5000"):
        return  # A bare number is one there.
    with pytest.raises((ValueError, OctavoError)):
        READERS[reader](text)


def test_figures_have_the_units_of_times():
    assert [quantities.count(f"1{unit}", "ps") for unit in quantities.TIMES] == [1, 10**3, 10**6, 10**6, 10**9, 10**12]


def test_numbers_of_sweeps_keep_what_they_are():
    assert [quantity(value) for value in (8, "8", "0.5", "1e-3", "50%", "300GB/s", "0.5us")] == [
        Quantity(8),
        Quantity(8),
        Quantity(0.5),
        Quantity(0.001),
        Quantity(50, "%"),
        Quantity(300, "GB/s"),
        Quantity(0.5, "us"),
    ]
    assert [quantity(value) for value in (True, None, "nan", "inf", "fast", "1e3ns")] == [None] * 6
