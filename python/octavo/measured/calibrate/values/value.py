"""One value that can be measured: what it is, which samples it comes from, how it is fitted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from octavo.measured.calibrate.fits.estimate import Estimate
    from octavo.measured.calibrate.measured import Unit


@dataclass(frozen=True)
class Value:
    """An entry of the registry."""

    name: str
    """Key in the machine file; of a value for each pair of GPUs, without their numbers."""
    unit: Unit
    probe: str
    series: str
    about: str
    """What it is, for the documentation."""
    how: str
    """How it is fitted, for documentation and machine file."""
    fit: Callable[..., Estimate]
    """From the rows of the series; raises `Unfit` where they do not give the value."""
    where: Mapping[str, str | float] = field(default_factory=dict)
    """Parameters that choose its rows."""
    told: str | None = None
    """A key of the driver's description of the GPU that the fit is told, too, under this name."""
    each_pair: bool = False
    """Whether there is one for each pair of GPUs, named `NAME_SOURCE_TARGET`."""

    def estimate(self, rows: pl.DataFrame, device: Mapping[str, Any]) -> Estimate:
        """Fit the value to rows of its series that were chosen.

        Raises:
            Unfit: they do not give it.

        """
        return self.fit(rows, **({self.told: device.get(self.told)} if self.told else {}))
