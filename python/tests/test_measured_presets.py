"""What was measured on a machine is what presets of its generation have, unless they say why not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tomllib

import octavo
from octavo.quantities import count, cycle
from octavo.scenarios.scenario import value_at

ROOT = Path(__file__).parents[2]
PRESETS = ROOT / "presets"
GENERATIONS = {"h100": ("cuda-sm90", "hgx-h100-8", "x86-h100-hmm"), "h200": ("h200-nvl",)}
"""Presets of a measured machine's GPU behind PCIe of an x86 host."""
ALIKE = 0.03
"""Two machines' medians of the same quantity are as near as this."""
SIZES = ("capacity.bytes", "gpus", "driver.release", "about", "extends", "clock")
"""What a machine file says of its own machine: how many GPUs, which driver, and memory that a data sheet rounds."""
OF_HOST = ("host.costs.zeroing", "host.costs.driver_fault", "host.costs.staging.to_gpu", "host.costs.staging.to_host")
"""Presets have one host for both measured ones, between what the two say: presets/hosts/x86-server.toml."""
SAME = {
    "remote.lines_in_flight": "no limit, as what was measured is what the link carries",
    "l1.ways": "with the size",
    "l2.ways": "with the size",
    "dram.banks": "with the rate of a bank",
    "dram.line_cycles": "with the banks",
}
"""Keys that may differ where what they amount to is the same."""


def leaves(table: dict[str, object], above: str = "") -> list[str]:
    """Keys of all values of a table."""
    found: list[str] = []
    for key, value in table.items():
        found += leaves(value, f"{above}{key}.") if isinstance(value, dict) else [f"{above}{key}"]
    return found


def measured(machine: str) -> list[str]:
    """Keys that a machine file has from measurements."""
    table = tomllib.loads((ROOT / "machines" / f"{machine}.toml").read_text())["node"]
    return [key for key in leaves(table) if not key.startswith(SIZES)]


def node(name: str) -> dict[str, object]:
    return octavo.scenario(workload="fir", node=name).values["node"]


def amount(values: dict[str, object], key: str) -> float:
    """A value as a number: times that belong to memory and driver in seconds, those of caches in cycles."""
    value = value_at(values, key)
    of_memory = key.startswith(("dram.latency", "host_link.latency", "compute.kernel_overhead"))
    text = str(value)
    if text.endswith("cycles"):
        return count(text, "cycles") * (cycle(values["clock"]) if of_memory else 1)
    found = re.fullmatch(r"([\d.]+)\s*([A-Za-z/]*)", text)
    assert found, (key, text)
    return float(found[1]) * UNITS[found[2]]


UNITS = {"": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "ps": 1, "ns": 1e3, "us": 1e6}
UNITS |= {"KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12}


@pytest.mark.parametrize(("machine", "preset"), [(one, each) for one, all_ in GENERATIONS.items() for each in all_])
def test_presets_have_what_was_measured(machine, preset):
    there, here = node(str(ROOT / "machines" / f"{machine}.toml")), node(preset)
    keys = [key for key in measured(machine) if key not in (*OF_HOST, *SAME)]
    assert len(keys) > 15
    apart = {key: (value_at(there, key), value_at(here, key)) for key in keys if not alike(there, here, key)}
    assert not apart


def alike(there: dict[str, object], here: dict[str, object], key: str) -> bool:
    one, other = amount(there, key), amount(here, key)
    return abs(one - other) <= ALIKE * max(one, other)


@pytest.mark.parametrize("key", OF_HOST)
def test_the_host_of_presets_is_between_the_measured_ones(key):
    low, high = sorted(amount(node(str(ROOT / "machines" / f"{name}.toml")), key) for name in GENERATIONS)
    assert (1 - ALIKE) * low <= amount(node("cuda-sm90"), key) <= (1 + ALIKE) * high


@pytest.mark.parametrize("preset", [each for all_ in GENERATIONS.values() for each in all_])
def test_memory_has_the_measured_rate(preset):
    machine = next(name for name, all_ in GENERATIONS.items() if preset in all_)
    there, here = node(str(ROOT / "machines" / f"{machine}.toml")), node(preset)
    one, other = (
        values["dram"]["banks"] / (count(values["dram"]["line_cycles"], "cycles") * cycle(values["clock"]))
        for values in (there, here)
    )
    # A card's lower clock rounds to other banks.
    assert other == pytest.approx(one, rel=ALIKE)


def told(path: Path) -> set[str]:
    """Tags that the comments of a preset, or of one that it extends, explain."""
    text = path.read_text()
    found = set(re.findall(r"\[([a-z][\w-]*)\]", "\n".join(re.findall(r"^#.*", text, re.MULTILINE))))
    below = re.search(r'^extends = "(.*)"', text, re.MULTILINE)
    return found | told(path.with_name(f"{below[1]}.toml")) if below else found


@pytest.mark.parametrize("path", sorted(PRESETS.glob("[hn]o*/*.toml")), ids=lambda path: path.stem)
def test_the_source_of_every_value_is_explained(path):
    used = set(re.findall(r"# \[([a-z][\w-]*)\]", path.read_text()))
    assert used <= told(path) | {"chosen", "derived"}
