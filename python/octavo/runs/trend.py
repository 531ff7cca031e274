"""Whether the conclusions of a comparison below scale 1 hold for the whole program."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from octavo.runs.comparison import Comparison

PARTS = (1 / 4, 1 / 2, 1.0)
"""The scales of a trend, as fractions of the requested one: two halvings show a slope."""
_ALIKE = 0.02
"""Two variants that differ by no more than this share are neither faster nor slower; our choice."""

Verdict: TypeAlias = Literal["holds", "turns", "may turn"]


@dataclass(frozen=True)
class Course:
    """How a variant compares with the baseline at each scale."""

    workload: str
    variant: str
    speedups: tuple[float, ...]
    """Speed-ups over the baseline, in the order of the scales."""
    at_full_size: float
    """The speed-up at scale 1 if it keeps changing by the same amount with each doubling."""

    @property
    def verdict(self) -> Verdict:
        """Whether the variant is on the same side of the baseline at all scales, and is expected to be at scale 1."""
        last = _side(self.speedups[-1])
        if any(_side(one) != last for one in self.speedups):
            return "turns"
        return "holds" if _side(self.at_full_size) == last else "may turn"


@dataclass(frozen=True)
class Trend:
    """One comparison at several scales."""

    scales: tuple[float, ...]
    """From the smallest on."""
    courses: tuple[Course, ...]
    """The trend of each workload and variant, except the baseline."""

    @classmethod
    def of(cls, comparisons: Mapping[float, Comparison]) -> Trend:
        """Follow every variant that has a speed-up at each of these scales."""
        scales = tuple(sorted(comparisons))
        speedups = [_speedups(comparisons[scale]) for scale in scales]
        common = [key for key in speedups[-1] if all(key in one for one in speedups)]
        baseline = comparisons[scales[-1]].baseline
        courses = tuple(
            _course(scales, key, tuple(one[key] for one in speedups)) for key in common if key[1] != baseline
        )
        return cls(scales, courses)

    def to_dict(self) -> dict[str, Any]:
        """The document for JSON: the scales, and for each workload and variant its speed-ups and the verdict."""
        courses = [
            {
                "workload": course.workload,
                "variant": course.variant,
                "speedups": list(course.speedups),
                "at_full_size": course.at_full_size,
                "verdict": course.verdict,
            }
            for course in self.courses
        ]
        return {"scales": list(self.scales), "variants": courses}


def _speedups(comparison: Comparison) -> dict[tuple[str, str], float]:
    rows = comparison.points.select("workload", "variant", "speedup").iter_rows()
    return {(workload, variant): speedup for workload, variant, speedup in rows}


def _course(scales: tuple[float, ...], key: tuple[str, str], speedups: tuple[float, ...]) -> Course:
    first, last = log2(speedups[0]), log2(speedups[-1])
    slope = (last - first) / log2(scales[-1] / scales[0])
    return Course(*key, speedups, 2 ** (last + slope * max(-log2(scales[-1]), 0.0)))


def _side(speedup: float) -> int:
    """1 for faster than the baseline, -1 for slower, 0 for neither."""
    return (speedup > 1 + _ALIKE) - (speedup < 1 - _ALIKE)
