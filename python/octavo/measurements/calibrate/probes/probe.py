"""Everything about one probe: its series of samples, the values fitted to them, its part of a node, its pictures."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from octavo.measurements.calibrate.fits.estimate import Estimate
    from octavo.measurements.calibrate.measurement import Measured, Unit
    from octavo.measurements.calibrate.node.draft import Draft
    from octavo.measurements.calibrate.samples import Samples


@dataclass(frozen=True)
class Series:
    """One series of a probe: what its rows are, and what varies."""

    about: str
    parameters: tuple[str, ...]
    """Columns of every row in addition to those of all series; `octavo.measurements.calibrate.columns` lists them."""
    timed: bool = True
    """Whether every row has `seconds`."""
    brief: bool = False
    """Whether a time may be shorter than the clock's steps, and so 0."""


@dataclass(frozen=True)
class Value:
    """A value that is fitted to samples."""

    name: str
    """Key in the machine file; for a value of each pair of GPUs, without their numbers."""
    unit: Unit
    probe: str
    series: str
    about: str
    """What it measures, for the documentation."""
    how: str
    """How it is fitted, for the documentation and the machine file."""
    fit: Callable[..., Estimate]
    """From the rows of the series; raises `Unfit` if they do not determine the value."""
    where: Mapping[str, str | float] = field(default_factory=dict)
    """Parameters that select its rows."""
    told: str | None = None
    """The key of a value in the driver's description of the GPU that the fit also gets, under this name."""
    each_pair: bool = False
    """Whether there is one for each pair of GPUs, named `NAME_SOURCE_TARGET`."""

    def estimate(self, rows: pl.DataFrame, device: Mapping[str, Any]) -> Estimate:
        """Fit the value to selected rows of its series.

        Raises:
            Unfit: they do not give it.

        """
        return self.fit(rows, **({self.told: device.get(self.told)} if self.told else {}))


class Stage(IntEnum):
    """The order in which a node is derived: each stage builds on those before it."""

    COMPUTE = 0
    LAUNCH = 1
    MEMORY = 2
    LINKS = 3
    HOST = 4
    DRIVER = 5
    """Simulates with the values derived before."""


@dataclass(frozen=True)
class Probe:
    """A probe. Its kernels are in `crates/octavo-gpu/src/probes`, under the same name."""

    name: str
    series: Mapping[str, Series]
    values: Sequence[Value]
    draw: Callable[[Samples, Mapping[str, Measured], Path], list[Path]]
    """Pictures of its samples and of what was fitted, into a folder."""
    node: Mapping[Stage, Callable[[Draft], None]] = field(default_factory=dict)
    """How it changes a node: each step sets keys, with unit and source, or says why they stay unchanged."""
    gpus: int = 1
    """GPUs that it needs."""
