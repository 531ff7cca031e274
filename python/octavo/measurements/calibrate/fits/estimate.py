"""A fitted value with its spread, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.arrays import np

if TYPE_CHECKING:
    from collections.abc import Sequence


class Unfit(Exception):  # noqa: N818 - what the samples are
    """Samples that do not determine the value; the message says why.

    `code` is the kind of reason, whatever the words: `too-few` samples, a result that is `not-finite` or
    `not-positive`, a rate that is `not-saturated`, causes that are `inseparable`, or `no-step` where one was expected.
    """

    def __init__(self, message: str, code: str = "too-few") -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Estimate:
    """Median and quartiles of a value over repetitions, in SI units without multiples."""

    value: float
    low: float
    high: float
    repetitions: int
    note: str = ""


def spread(values: Sequence[float], note: str = "") -> Estimate:
    """Median and quartiles of one value a repetition.

    Raises:
        Unfit: there are none, or one is no number.

    """
    if not values:
        raise Unfit("there are no samples")
    if not all(math.isfinite(value) for value in values):
        raise Unfit("a repetition gives no finite number", "not-finite")
    low, middle, high = (float(value) for value in np.quantile(np.asarray(values, dtype=float), (0.25, 0.5, 0.75)))
    return Estimate(middle, low, high, len(values), note)


def positive(estimate: Estimate, what: str, unit: str) -> Estimate:
    """The same estimate, for values that must be above 0.

    Raises:
        Unfit: it is not above 0.

    """
    if estimate.value <= 0:
        raise Unfit(
            f"the fit gives a {what} of {estimate.value:.3g} {unit}, where only one above 0 means anything",
            "not-positive",
        )
    return estimate
