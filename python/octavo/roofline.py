"""The roofline with the interconnect bounds a kernel whose data lie on the host or on the device.

`docs/advise.md` explains the model, its symbols, and what follows from its publication (MemMap, PACT 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import octavo._core as _core
from octavo.arrays import np
from octavo.errors import AdviceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

_T = TypeVar("_T")


@dataclass(frozen=True)
class Ceilings:
    """Ceilings of points, as arrays with the common shape of `alpha`, `sigma` and `rho`."""

    canonical: NDArray[np.float64]
    """min(peak, α·βᵉ), operations a second: the data are on the device already."""
    host: NDArray[np.float64]
    """Host placement, operations a second (equations 1 and 4); it does not depend on `sigma`."""
    device: NDArray[np.float64]
    """Device placement with its copy, operations a second (equations 2 and 3); it does not depend on `rho`."""
    gamma: NDArray[np.float64]
    """γ: copy time over kernel time, without unit."""


@dataclass(frozen=True)
class Roofline:
    """A machine as the roofline sees it: effective values, that is measured ones, in units without multiples.

    Examples:
        >>> p100 = Roofline(peak=1256e9, device=362e9, on_demand=7.33e9, copy=11.69e9)
        >>> round(p100.crossing())
        64
        >>> p100.ceilings([1, 64, 256]).host / 1e9
        array([   7.33,  469.12, 1256.  ])

    """

    peak: float
    """Arithmetic peak, operations a second."""
    device: float
    """Bandwidth of device memory, bytes a second."""
    on_demand: float
    """Bandwidth of host-placed data over the interconnect, on demand, bytes a second."""
    copy: float
    """Bandwidth of the bulk copy before the kernel for device placement, bytes a second."""

    def ceilings(self, alpha: ArrayLike, sigma: ArrayLike = 1.0, rho: ArrayLike = 1.0) -> Ceilings:
        """Ceilings of every point.

        Args:
            alpha: operational intensity, operations for each byte touched; above 0.
            sigma: share of the data touched at least once; above 0, at most 1.
            rho: migrations over distinct pages requested; at least 1.

        Raises:
            AdviceError: a value is out of its range, or the shapes do not go together.

        """
        try:
            points = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in (alpha, sigma, rho)))
        except ValueError as error:
            raise AdviceError(f"alpha, sigma and rho do not go together: {error}", code="unexpected-value") from None
        lists = [each.ravel().tolist() for each in points]
        columns = self.columns(*lists)
        return Ceilings(*(np.array(column).reshape(points[0].shape) for column in columns))

    def columns(self, alpha: list[float], sigma: list[float], rho: list[float]) -> tuple[list[float], ...]:
        """Canonical, host and device ceilings and γ of several points; errors as `ceilings`. It needs no NumPy."""
        return _asked(lambda: _core.roofline_ceilings(self._machine, alpha, sigma, rho))

    def crossing(self, sigma: float = 1.0, rho: float = 1.0) -> float | None:
        """The intensity above which host placement has the higher ceiling, operations a byte.

        None if host placement has the higher one everywhere. Device placement has the higher one below the crossing,
        and never everywhere.

        Raises:
            AdviceError: a value is out of its range.

        """
        return _asked(lambda: _core.roofline_crossing(self._machine, sigma, rho))

    def zone_end(self, rho: float = 1.0) -> float | None:
        """Where the zone of interest ends, operations a byte: below it the interconnect bounds host placement.

        None if this never happens, because the interconnect is as fast as device memory.

        Raises:
            AdviceError: a value is out of its range.

        """
        return _asked(lambda: _core.roofline_zone_end(self._machine, rho))

    @property
    def _machine(self) -> tuple[float, int, int, int]:
        bandwidths = {"device": self.device, "on_demand": self.on_demand, "copy": self.copy}
        for name, value in bandwidths.items():
            if not 1 <= value < 2**63:
                raise AdviceError(
                    f"`{name}`: expected a bandwidth of at least 1 byte a second, found {value}",
                    code="unexpected-value",
                    key=name,
                    found=value,
                )
        device, on_demand, copy = map(round, bandwidths.values())
        return self.peak, device, on_demand, copy


def _asked(ask: Callable[[], _T]) -> _T:
    try:
        return ask()
    except ValueError as error:
        raise AdviceError(str(error), code="unexpected-value") from None
