"""Straight lines: a fixed time, and the time that each byte or call adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from octavo.arrays import np
from octavo.measurements.calibrate import quantities
from octavo.measurements.calibrate.fits.estimate import Estimate, Unfit, positive, spread
from octavo.measurements.calibrate.fits.rows import whole_repetitions

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from octavo.measurements.calibrate.measurement import Unit

TRANSFER = "seconds = overhead + bytes / bandwidth, least squares of relative errors, for each repetition"
CALLS = "seconds = start + launches x each, least squares of relative errors, for each repetition"
_POINTS = 3
"""The least number of points that can show that a line does not fit."""
_LEAST = 1e-18
"""Seconds of a byte or call below which there is only rounding: an exabyte a second."""


@dataclass(frozen=True)
class Line:
    """The fitted line of each repetition."""

    starts: list[float]
    """Seconds at nothing."""
    slopes: list[float]
    """Seconds that each byte or call adds."""
    note: str

    @property
    def start(self) -> Estimate:
        """Seconds that each transfer takes in any case.

        Raises:
            Unfit: they are not above 0.

        """
        return positive(spread(self.starts, self.note), "time without any bytes or calls", "s")

    @property
    def slope(self) -> Estimate:
        """Seconds that each byte or call adds.

        Raises:
            Unfit: they are not above 0, or lost in rounding.

        """
        found = positive(spread(self.slopes, self.note), "time for each byte or call", "s")
        if found.value < _LEAST:
            raise Unfit("the samples show no time for each byte or call", "not-positive")
        return found


def overhead(table: pl.DataFrame) -> Estimate:
    """Fixed seconds of a transfer of any size."""
    return fitted(table, "size", "bytes").start


def bandwidth(table: pl.DataFrame) -> Estimate:
    """Bytes a second of large transfers."""
    line = fitted(table, "size", "bytes")
    _ = line.slope
    return spread([1 / slope if slope > 0 else float("inf") for slope in line.slopes], line.note)


def each_call(table: pl.DataFrame) -> Estimate:
    """Seconds that each further call takes."""
    return fitted(table, "count", "count").slope


def start_of_calls(table: pl.DataFrame) -> Estimate:
    """Seconds of the calls, whatever their number."""
    return fitted(table, "count", "count").start


def fitted(table: pl.DataFrame, key: str, amount: Literal["bytes", "count"]) -> Line:
    """Fit a line to `seconds` over `amount`; `key` distinguishes the points of a repetition.

    All points have the same weight: errors are relative to the measured seconds, which span six orders of magnitude.

    Raises:
        Unfit: there are too few points, or rows do not state the amount.

    """
    if (points := table[key].n_unique()) < _POINTS:
        raise Unfit(f"a line needs {_POINTS} points, found {points} of `{key}`")
    if table[amount].null_count():
        raise Unfit(f"rows do not state `{amount}`")
    repetitions = whole_repetitions(table, key)
    found = [_one(part["seconds"].to_numpy(), part[amount].to_numpy()) for part in repetitions]
    note = _worst([errors for *_, errors in found], repetitions[0][key].to_list(), amount)
    return Line([start for start, _, _ in found], [slope for _, slope, _ in found], note)


def _one(seconds: NDArray[np.float64], amounts: NDArray[np.int64]) -> tuple[float, float, NDArray[np.float64]]:
    start, slope = relative_least_squares(np.column_stack([np.ones(len(seconds)), amounts]), seconds)
    return start, slope, (start + slope * amounts) / seconds - 1


def relative_least_squares(design: NDArray[np.float64], seconds: NDArray[np.float64]) -> tuple[float, ...]:
    """Coefficients that bring the sum of the columns of `design` nearest to `seconds`, in relative terms."""
    weighted = design / seconds[:, np.newaxis]
    scale = np.linalg.norm(weighted, axis=0)
    found, *_ = np.linalg.lstsq(weighted / scale, np.ones(len(seconds)), rcond=None)
    return tuple(map(float, found / scale))


def _worst(errors: list[NDArray[np.float64]], keys: list[int], amount: str) -> str:
    unit: Unit = "B" if amount == "bytes" else "1"
    names = [quantities.short(float(key), unit) for key in keys]
    return f"{len(keys)} points from {names[0]} to {names[-1]}; {furthest(errors, names)}"


def furthest(errors: list[NDArray[np.float64]], names: list[str]) -> str:
    """The size with the largest median of relative errors over repetitions, in words."""
    middle = np.median(errors, axis=0)
    index = int(np.argmax(np.abs(middle)))
    return f"the fit is furthest off by {middle[index]:+.0%} at {names[index]}"
