"""Plateaus of latency over footprint, as a chain of dependent loads shows them: one for each level of memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octavo.arrays import np

if TYPE_CHECKING:
    from collections.abc import Sequence

MODEL = "plateaus of latency over footprint: points in a row within 6 % of their median, at least 15 % above the last"
_WITHIN = 1.06
"""How far a point may lie from the median of its plateau: wider than the noise of a median."""
_ABOVE = 1.15
"""The least distance of two plateaus; nearer ones are one plateau with a drift."""
_POINTS = 3
"""The least number of points on a plateau: two equal ones may be on a slope."""


@dataclass(frozen=True)
class Plateau:
    """A range of footprints with one latency."""

    first: float
    last: float
    """Smallest and largest footprint on it, in bytes."""
    latency: float
    """Median over the last third of its points, in seconds."""
    early: float
    """Median over the first third, in seconds."""
    next: float | None
    """The first footprint beyond it, if one was measured."""
    points: int
    """The number of footprints on it."""


def plateaus(footprints: Sequence[float], latencies: Sequence[float]) -> list[Plateau]:
    """All plateaus of a curve, from small to large footprints; points between them are on slopes and belong to none.

    Footprints are in rising order. Noise neither makes a level (points must agree) nor hides one (medians decide).
    """
    smooth = _smoothed(np.asarray(latencies, dtype=float))
    found: list[tuple[int, int]] = []
    start = 0
    while start + _POINTS <= len(smooth):
        end = _reach(smooth, start)
        if end - start >= _POINTS:
            found.append((start, end))
            start = end
        else:
            start += 1
    runs = _merged(found, smooth)
    return [_plateau(first, end, footprints, np.asarray(latencies, dtype=float)) for first, end in runs]


def _smoothed(values: np.ndarray) -> np.ndarray:
    """A median of three, which removes single outliers and leaves steps in place."""
    if len(values) < 3:
        return values
    inner = np.median(np.stack([values[:-2], values[1:-1], values[2:]]), axis=0)
    return np.concatenate([[values[0]], inner, [values[-1]]])


def _reach(values: np.ndarray, start: int) -> int:
    """The end of a plateau that begins at `start`: the first point that leaves the median of those before it."""
    end = start + 1
    while end < len(values):
        run = values[start : end + 1]
        middle = float(np.median(run))
        if run.max() > _WITHIN * middle or run.min() * _WITHIN < middle:
            break
        end += 1
    return end


def _merged(runs: list[tuple[int, int]], values: np.ndarray) -> list[tuple[int, int]]:
    """Neighbouring plateaus that are close together, joined."""
    merged: list[tuple[int, int]] = []
    for start, end in runs:
        if merged:
            before = float(np.median(values[slice(*merged[-1])]))
            if float(np.median(values[start:end])) < _ABOVE * before:
                merged[-1] = (merged[-1][0], end)
                continue
        merged.append((start, end))
    return merged


def _plateau(first: int, end: int, footprints: Sequence[float], latencies: np.ndarray) -> Plateau:
    # Unless it evicts the least recently used line, a cache still answers a share of what is a little too large for
    # it, so that a level shows itself best at its end.
    beyond = float(footprints[end]) if end < len(footprints) else None
    third = max(_POINTS, (end - first) // 3)
    settled, early = (
        float(np.median(part)) for part in (latencies[end - third : end], latencies[first : first + third])
    )
    return Plateau(float(footprints[first]), float(footprints[end - 1]), settled, early, beyond, end - first)
