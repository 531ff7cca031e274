"""TLB reach, page size and the cost of a miss, from pointer chases with strides that skip most of each page.

A cache is full after a number of lines: with twice the stride, its step comes at twice the footprint. A TLB is full
after a number of pages: its step stays at one footprint while strides are no larger than a page, and only then moves
with them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from octavo.measurements.calibrate import quantities
from octavo.measurements.calibrate.fits.estimate import Estimate, Unfit, spread
from octavo.measurements.calibrate.fits.hierarchy import curve
from octavo.measurements.calibrate.fits.levels import plateaus

if TYPE_CHECKING:
    import polars as pl

    from octavo.measurements.calibrate.fits.levels import Plateau

MODEL = "the step of latency that comes at one footprint whatever the stride"
PAGE_MODEL = "the largest stride at which that step has not moved yet"
_SPARSE = 4096
"""The smallest stride in bytes that is used: no page is smaller, so caches hold what exceeds the reach of a TLB."""
_SAME = 1.3
"""How far apart the steps of two strides may be to count as one."""


@dataclass(frozen=True)
class _Step:
    stride: int
    before: Plateau
    after: Plateau


@dataclass(frozen=True)
class Reach:
    """What one repetition says."""

    footprint: float
    """The largest footprint without misses, in bytes."""
    miss: float
    """Seconds that a miss adds to a load."""
    strides: list[int]
    """Strides that have their step at that footprint."""
    page: float | None
    """Bytes, if some measured strides move the step."""


def reach(table: pl.DataFrame) -> Estimate:
    """The reach of the TLB in bytes: the largest measured footprint that it still translates.

    Raises:
        Unfit: no step stays at one footprint.

    """
    found = _reaches(table)
    strides = ", ".join(quantities.short(float(stride), "B") for stride in found[0].strides)
    return spread([one.footprint for one in found], f"seen at strides of {strides}")


def miss(table: pl.DataFrame) -> Estimate:
    """Seconds that a TLB miss adds to a load.

    Raises:
        Unfit: no step stays at one footprint.

    """
    return spread([one.miss for one in _reaches(table)])


def page(table: pl.DataFrame) -> Estimate:
    """Bytes that an entry of the TLB covers.

    Raises:
        Unfit: no step stays at one footprint, or no stride moves it.

    """
    found = [one.page for one in _reaches(table) if one.page is not None]
    if not found:
        raise Unfit("no stride was measured that moves the TLB's step to a larger footprint", "no-step")
    return spread(found)


def _reaches(table: pl.DataFrame) -> list[Reach]:
    strides = sorted(stride for stride in table["stride"].unique().to_list() if stride >= _SPARSE)
    if len(strides) < 2:
        raise Unfit(f"a TLB is told from a cache by two strides of 4 KiB or more, found {len(strides)}")
    curves = {stride: curve(table, stride) for stride in strides}
    whole = min(len(one) for one in curves.values())
    found = [_one([_steps(stride, *curves[stride][number]) for stride in strides]) for number in range(whole)]
    certain = [one for one in found if one is not None]
    if 2 * len(certain) <= len(found):
        raise Unfit("no step of latency comes at one footprint at two strides or more", "no-step")
    return certain


def _steps(stride: int, footprints: list[float], latencies: list[float]) -> list[_Step]:
    found = plateaus(footprints, latencies)
    return [_Step(stride, one, other) for one, other in pairwise(found)]


def _one(by_stride: list[list[_Step]]) -> Reach | None:
    """The footprint at which most strides have a step; None if each stride has another one."""
    steps = [step for found in by_stride for step in found]
    groups = [[other for other in steps if _together(other, step)] for step in steps]
    group = max(groups, key=lambda one: (len({step.stride for step in one}), -one[0].before.last), default=[])
    strides = sorted({step.stride for step in group})
    if len(strides) < 2:
        return None
    middle = sorted(group, key=lambda step: step.before.last)[len(group) // 2]
    misses = sorted(step.after.early - step.before.latency for step in group)
    return Reach(middle.before.last, misses[len(misses) // 2], strides, _page(steps, strides, middle.before.last))


def _together(one: _Step, other: _Step) -> bool:
    return abs(math.log(one.before.last / other.before.last)) <= math.log(_SAME)


def _page(steps: list[_Step], strides: list[int], footprint: float) -> float | None:
    """The last stride before the step moves in proportion."""
    largest = strides[-1]
    moved = [
        step
        for step in steps
        if step.stride > largest
        and abs(math.log(step.before.last / footprint * largest / step.stride)) <= math.log(_SAME)
    ]
    return float(largest) if moved else None
