"""A node during derivation: the preset below, the measured values, and the values derived so far."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from octavo.measurements.calibrate import quantities
from octavo.scenarios.scenario import Recipe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.measurements.calibrate.measurement import Measured, Unit

LINE = 64
"""Bytes of a line of the simulated node."""
LANES = 64
"""Threads of a wavefront: two warps."""


@dataclass(frozen=True)
class Derived:
    """One value of the node."""

    key: str
    """Dotted key below `node`."""
    value: int | str
    source: str
    """The values that it comes from, and how, if that is not obvious."""


@dataclass
class Draft:
    """The node that derivations read and write."""

    preset: str
    gpu: Mapping[str, Any]
    """The GPU as its driver describes it."""
    measured: Mapping[str, Measured]
    values: dict[str, Derived] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)
    """Keys that stay as in the preset although something could provide them, each with the reason."""

    def put(self, key: str, value: int | str, source: str) -> None:
        """Set a value."""
        self.values[key] = Derived(key, value, source)

    def put_cycles(self, key: str, cycles: int, source: str) -> None:
        """Set a number of cycles."""
        self.put(key, f"{cycles}cycles", source)

    def put_rest(self, key: str, measured: float, own: float, named: str) -> None:
        """Set a time in seconds to the measured one, minus what the node adds to it; never below 0."""
        beside = quantities.text(own, "s")
        if measured < own:
            self.put(key, "0ns", f"measured {named}, less than the {beside} that the node takes beside it")
        else:
            picoseconds = round((measured - own) * 1e12)
            self.put(key, f"{picoseconds}ps", f"measured {named}, less {beside} that the node takes")

    def keep(self, key: str, reason: str) -> None:
        """Leave a value as it is in the preset."""
        self.kept[key] = reason

    def number(self, name: str, *keys: str) -> float | None:
        """A measured value; if there is none, the keys that depend on it stay unchanged."""
        found = self.measured.get(name)
        if found is not None and found.value > 0:
            return found.value
        for key in keys:
            self.keep(key, f"{name} was not measured")
        return None

    def described(self, name: str, *keys: str) -> int | None:
        """A value that the driver reports. Without such a value, the keys that depend on it stay unchanged."""
        found = self.gpu.get(name)
        if isinstance(found, int) and found > 0:
            return found
        for key in keys:
            self.keep(key, f"the driver does not say {name}")
        return None

    def named(self, name: str) -> str:
        """A measured value for a comment."""
        found = self.measured[name]
        return f"{name} {quantities.text(found.value, found.unit)}"

    def value(self, key: str) -> int | str:
        """The value at a dotted key: the derived one, or the preset's."""
        if key in self.values:
            return self.values[key].value
        found: Any = self._base
        for part in key.split("."):
            found = found[part]
        return found if isinstance(found, int) else str(found)

    def count(self, key: str) -> int:
        """A whole number, or cycles."""
        match = re.match(r"[0-9_]+", str(self.value(key)))
        return int(match[0]) if match else 0

    def amount(self, key: str, unit: Unit) -> float:
        """A quantity in its unit without multiples."""
        return quantities.number(str(self.value(key)), unit)

    @property
    def cycle(self) -> float:
        """Seconds of a cycle, which the simulator rounds to whole picoseconds."""
        hertz = {"Hz": 1, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9}
        match = re.fullmatch(r"([0-9.]+)([kMG]?Hz)", str(self.value("clock")))
        assert match is not None  # noqa: S101 - a frequency, as the preset or a derivation wrote it
        return round(1e12 / (float(match[1]) * hertz[match[2]])) * 1e-12

    def cycles(self, seconds: float) -> int:
        """Seconds as the nearest number of cycles."""
        return round(seconds / self.cycle)

    @cached_property
    def _base(self) -> Mapping[str, Any]:
        node: Mapping[str, Any] = Recipe.from_names("touch", node=self.preset).resolve().values["node"]
        return node

    @property
    def changes(self) -> dict[str, int | str]:
        """The values derived so far, by dotted key."""
        return {key: derived.value for key, derived in self.values.items()}
