"""Counts for every allocation and for every 64 KiB of it, in pages.

Address spaces are large and profiles touch little of them, so pages are never listed one by one. Parts of allocations
are cut where any of them begins or ends; each piece between two cuts is counted as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from octavo.arrays import np
from octavo.measurements.activity.mapping import PAGE_BYTES, PICOSECONDS
from octavo.measurements.imports.allocations import ALWAYS, UNKNOWN
from octavo.runs import events as kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from octavo.measurements.imports.allocations import Allocation, Numbers, Parts, Places

    Bits = npt.NDArray[np.uint64]
    Flags = npt.NDArray[np.bool_]

COUNTED = (
    *kinds.GPU_FAULTS,
    "cpu_fault",
    "migration",
    "counter_migration",
    "eviction",
    "prefetch",
    "user_migration",
    "remote_map",
    "thrashing",
    "throttling",
)
"""Kinds that are counted in pages; a page counts once for each row that contains it."""
_GROUP_PAGES = (64 << 10) // PAGE_BYTES
"""Pages summed up in one row of `page_groups`."""
_MOST_GPUS = 64


@dataclass(frozen=True)
class _Rows:
    """For each part of a row of the `events` table, the values of the row."""

    kind: npt.NDArray[np.uint8]
    source: npt.NDArray[np.uint8]
    target: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, events: pl.DataFrame, parts: Parts) -> _Rows:
        columns = (events[name].to_physical().to_numpy().astype(np.uint8) for name in ("kind", "from", "to"))
        return cls(*(column[parts.row] for column in columns))

    def among(self, names: Sequence[str]) -> Flags:
        return np.isin(self.kind, [kinds.code(name) for name in names])

    @property
    def to_gpu(self) -> Flags:
        """Rows that bring pages to a GPU, for any reason."""
        return self.among(kinds.TRANSFERS) & (self.target > 0)


@dataclass(frozen=True)
class _Pieces:
    """Pages of allocations between two cuts: the same happens to all of them."""

    allocation: Numbers
    first: Numbers
    """First page, counted in the address space."""
    pages: Numbers
    low: Places
    """For each part of a row, the cut at which it begins."""
    high: Places
    here: Numbers
    """The positions of the pieces among all cuts."""
    cuts: int

    def count(self, rows: Flags) -> Numbers:
        """How many of the given rows contain each piece."""
        if not rows.any():
            return np.zeros(len(self.here), np.int64)
        return _depth(self.low[rows], self.high[rows], self.cuts)[self.here]


def tables(
    allocations: Sequence[Allocation], parts: Parts, events: pl.DataFrame, origin: int
) -> dict[str, pl.DataFrame]:
    """The tables `allocations` and `page_groups`.

    Args:
        allocations: in the order of their numbers.
        parts: with the rows of `events`.
        events: the table of that name.
        origin: the nanosecond that is time 0.

    Returns: `allocations` has a row for each; `rho` is how often a page was brought to a GPU, over the pages that were
    brought at all. `sigma` is the share of the pages that were brought to a GPU or faulted there. Both are null where
    they mean nothing. `page_groups` has a row for each 64 KiB in which anything happened.

    """
    pieces, rows = _pieces(allocations, parts), _Rows.of(events, parts)
    groups = _Groups.of(pieces)
    by_allocation: dict[str, pl.Series] = {}
    by_group: dict[str, pl.Series] = {}
    for name in COUNTED:
        pages = pieces.count(rows.among([name])) * pieces.pages
        by_allocation[name] = _unsigned(_sums(pieces.allocation, pages, len(allocations)))
        by_group[name] = _unsigned(_sums(groups.of_piece, pages, groups.count))
    gpus = _gpus(pieces, rows)
    by_allocation["gpus"] = _set_bits(pieces.allocation, gpus, len(allocations))
    by_group["gpus"] = _set_bits(groups.of_piece, gpus, groups.count)
    by_allocation |= _row_sums(parts, rows, events, len(allocations))
    by_allocation |= _ratios(allocations, pieces, rows)
    return {
        "allocations": pl.DataFrame({**_about(allocations, origin), **by_allocation}),
        "page_groups": pl.DataFrame(
            {
                "allocation": _names(allocations).gather(groups.allocation),
                "address": _unsigned(groups.number * _GROUP_PAGES * PAGE_BYTES),
                **by_group,
            }
        ),
    }


def _pieces(allocations: Sequence[Allocation], parts: Parts) -> _Pieces:
    """Cut parts where any of them begins or ends, and at the boundaries of page groups."""
    bases = np.array([one.first_page // _GROUP_PAGES * _GROUP_PAGES for one in allocations], np.int64)
    rooms = np.array([-(-one.pages // _GROUP_PAGES) + 1 for one in allocations], np.int64) * _GROUP_PAGES
    offsets = np.cumsum(rooms) - rooms - bases
    begins = parts.first + offsets[parts.allocation]
    ends = begins + parts.pages
    ends_of_parts, places = _ranked(np.concatenate([begins, ends]))
    low, high = places[: len(begins)], places[len(begins) :]
    covered = np.flatnonzero(_depth(low, high, len(ends_of_parts)))
    edges = _group_edges(ends_of_parts[covered], np.append(ends_of_parts, 0)[covered + 1])
    cuts = np.sort(np.concatenate([ends_of_parts, edges]))
    cuts = cuts[np.diff(cuts, prepend=-1) > 0]
    moved = np.searchsorted(cuts, ends_of_parts).astype(np.int32)
    low, high = moved[low], moved[high]
    here = np.flatnonzero(_depth(low, high, len(cuts)))
    owner = np.searchsorted(offsets + bases, cuts[here], side="right") - 1
    pages = np.diff(cuts, append=0)[here]
    return _Pieces(owner, cuts[here] - offsets[owner], pages, low, high, here, len(cuts))


def _ranked(values: Numbers) -> tuple[Numbers, Places]:
    """The distinct values in rising order, and the position of each value among them.

    Sorting takes a fraction of the time of `numpy.unique` for millions of values.
    """
    order = np.argsort(values, kind="stable")
    sorted_values = values[order]
    new = np.ones(len(values), np.bool_)
    new[1:] = sorted_values[1:] != sorted_values[:-1]
    places = np.empty(len(values), np.int32)
    places[order] = np.cumsum(new, dtype=np.int32) - 1
    return sorted_values[new], places


def _group_edges(begins: Numbers, ends: Numbers) -> Numbers:
    """The boundaries of page groups within ranges."""
    first = -(-begins // _GROUP_PAGES)
    count = np.maximum(-(-ends // _GROUP_PAGES) - first, 0)
    nth = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    edges: Numbers = (np.repeat(first, count) + nth) * _GROUP_PAGES
    return edges


def _depth(low: Places, high: Places, cuts: int) -> Numbers:
    """How many ranges, from one cut to another, cover the piece after each cut."""
    return np.cumsum(np.bincount(low, minlength=cuts) - np.bincount(high, minlength=cuts))


@dataclass(frozen=True)
class _Groups:
    """Groups of pages, by allocation and address."""

    allocation: Numbers
    number: Numbers
    """Address divided by the size of a group."""
    of_piece: Numbers

    @classmethod
    def of(cls, pieces: _Pieces) -> _Groups:
        """The groups of the pieces; pieces are in order of allocation and address."""
        number = pieces.first // _GROUP_PAGES
        new = np.ones(len(number), np.bool_)
        new[1:] = (np.diff(number) != 0) | (np.diff(pieces.allocation) != 0)
        return cls(pieces.allocation[new], number[new], np.cumsum(new) - 1)

    @property
    def count(self) -> int:
        return len(self.number)


def _gpus(pieces: _Pieces, rows: _Rows) -> Bits:
    """For each piece, a bit for each GPU that requested or received it."""
    found = np.zeros(len(pieces.first), np.uint64)
    processor = np.where(rows.among(kinds.TRANSFERS), rows.target, rows.source)
    for one in np.unique(processor[(processor > 0) & (processor <= _MOST_GPUS)]).tolist():
        found[pieces.count(processor == one) > 0] |= np.uint64(1 << (one - 1))
    return found


def _set_bits(groups: Numbers, bits: Bits, count: int) -> pl.Series:
    """How many different bits are set in each group."""
    found = np.zeros(count, np.uint64)
    np.bitwise_or.at(found, groups, bits)
    return pl.Series(found).bitwise_count_ones().cast(pl.UInt64)


def _about(allocations: Sequence[Allocation], origin: int) -> dict[str, pl.Series]:
    return {
        "allocation": _names(allocations),
        "address": pl.Series([one.address for one in allocations], dtype=pl.UInt64),
        "bytes": pl.Series([one.bytes for one in allocations], dtype=pl.UInt64),
        "memory": pl.Series([one.kind for one in allocations], dtype=pl.String),
        "allocated_ps": _times([one.begin for one in allocations], origin),
        "freed_ps": _times([one.end for one in allocations], origin),
    }


def _row_sums(parts: Parts, rows: _Rows, events: pl.DataFrame, count: int) -> dict[str, pl.Series]:
    """Counts of rows and bytes of each allocation, not of pages."""
    faults = events["faults"].fill_null(0).to_numpy()[parts.row].astype(np.int64)
    gpu, moved, from_gpu, to_gpu = (
        rows.among(kinds.GPU_FAULTS),
        rows.among(kinds.TRANSFERS),
        rows.source > 0,
        rows.target > 0,
    )
    chosen: dict[str, tuple[Flags, Numbers]] = {
        "gpu_faults": (gpu, faults),
        "fault_groups": (gpu, np.ones_like(faults)),
        "cpu_faults": (rows.among(["cpu_fault"]), faults),
        "h2d_bytes": (moved & ~from_gpu & to_gpu, parts.bytes),
        "d2h_bytes": (moved & from_gpu & ~to_gpu, parts.bytes),
        "d2d_bytes": (moved & from_gpu & to_gpu, parts.bytes),
    }
    return {
        name: _unsigned(_sums(parts.allocation[some], values[some], count)) for name, (some, values) in chosen.items()
    }


def _ratios(allocations: Sequence[Allocation], pieces: _Pieces, rows: _Rows) -> dict[str, pl.Series]:
    """Pages brought to GPUs, and the ratios that follow."""
    count = len(allocations)
    pages = np.array([one.pages for one in allocations], np.int64)
    known = np.array([one.kind != UNKNOWN for one in allocations], np.bool_)
    brought = pieces.count(rows.to_gpu)
    touched = brought + pieces.count(rows.among(kinds.GPU_FAULTS)) > 0
    to_gpu = _sums(pieces.allocation, brought * pieces.pages, count)
    distinct = _sums(pieces.allocation, (brought > 0) * pieces.pages, count)
    return {
        "pages": _unsigned(pages),
        "pages_to_gpu": _unsigned(to_gpu),
        "distinct_pages_to_gpu": _unsigned(distinct),
        "rho": _ratio(to_gpu, distinct, distinct > 0),
        "sigma": _ratio(_sums(pieces.allocation, touched * pieces.pages, count), pages, known),
    }


def _names(allocations: Sequence[Allocation]) -> pl.Series:
    return pl.Series([one.name for one in allocations], dtype=pl.String)


def _sums(groups: Numbers | Places, values: Numbers, count: int) -> Numbers:
    """Sums by group; exact, unlike weights of `bincount`, as they are 64-bit integers."""
    sums = np.zeros(count, np.int64)
    np.add.at(sums, groups, values)
    return sums


def _unsigned(values: Numbers) -> pl.Series:
    return pl.Series(values.astype(np.uint64))


def _times(nanoseconds: Sequence[int], origin: int) -> pl.Series:
    """Times, null for those before or after the recording."""
    known = [(time - origin) * PICOSECONDS if abs(time) != ALWAYS else None for time in nanoseconds]
    return pl.Series(known, dtype=pl.UInt64)


def _ratio(above: Numbers, below: Numbers, means: Flags) -> pl.Series:
    """Ratios; null where they have no meaning."""
    values = above / np.maximum(below, 1)
    return pl.select(pl.when(pl.Series(means, dtype=pl.Boolean)).then(pl.Series(values, dtype=pl.Float64))).to_series()
