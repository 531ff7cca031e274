"""Caches and TLBs that the simulated node can have: ways times a power of two of sets."""

from __future__ import annotations

MOST_WAYS = 32
"""The most ways of a cache; the search for more would take long."""


def nearest(entries: float, usual_ways: int) -> tuple[int, int]:
    """Entries and ways nearest to a number of entries; if equally near, with nearly the usual ways."""
    shapes = [(ways << sets, ways) for ways in range(1, MOST_WAYS + 1) for sets in range(40)]
    return min(shapes, key=lambda shape: (abs(shape[0] - entries), abs(shape[1] - usual_ways)))


def banks(lines_a_cycle: float, most: int = 4096) -> tuple[int, int]:
    """The number of banks, and the cycles of a line in one, for a rate of lines a cycle; within half a per cent.

    The fewest cycles that fit; the nearest ones if none do.
    """
    found = [(round(lines_a_cycle * cycles), cycles) for cycles in range(1, 65)]
    usable = [(count, cycles) for count, cycles in found if 1 <= count <= most]
    if not usable:
        return 1, 64
    errors = {shape: abs(shape[0] / shape[1] / lines_a_cycle - 1) for shape in usable}
    near = [shape for shape in usable if errors[shape] <= 0.005]
    return near[0] if near else min(usable, key=lambda shape: errors[shape])
