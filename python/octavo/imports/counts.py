"""What happened to every allocation and to every 64 KiB of it, in pages.

Address spaces are large and profiles touch little of them: pages are never listed one by one. Parts of allocations are
cut where any of them begins or ends, and every piece between two cuts is counted as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from octavo import events as kinds
from octavo.activity.mapping import PAGE_BYTES, PICOSECONDS
from octavo.imports.allocations import ALWAYS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from octavo.imports.allocations import Allocation, Numbers, Parts

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
"""Kinds that are counted in pages; a page counts once for each row that it is in."""
_TO_GPU = "to_gpu"
"""Rows that bring pages to a GPU, for whatever reason."""
_GROUP_PAGES = (64 << 10) // PAGE_BYTES
"""Pages summed up in one row of `page_groups`."""
_MOST_GPUS = 64


@dataclass(frozen=True)
class Pieces:
    """Pages of allocations between two cuts, and what happened to each page of them."""

    allocation: Numbers
    first: Numbers
    """First page, counted in the address space."""
    pages: Numbers
    counts: Mapping[str, Numbers]
    """Rows that each page is in, of each kind of `COUNTED`, and of those that bring pages to a GPU."""
    gpus: Bits
    """A bit for each GPU that asked for the pages or got them."""

    def sums(self, groups: Numbers, count: int) -> dict[str, pl.Series]:
        """Pages of each kind of `COUNTED`, by group."""
        return {name: _unsigned(_sums(groups, self.counts[name] * self.pages, count)) for name in COUNTED}

    def gpu_counts(self, groups: Numbers, count: int) -> pl.Series:
        """How many GPUs asked for pages of each group, or got them."""
        bits = np.zeros(count, np.uint64)
        np.bitwise_or.at(bits, groups, self.gpus)
        return pl.Series(bits).bitwise_count_ones().cast(pl.UInt64)


def pieces(allocations: Sequence[Allocation], parts: Parts, events: pl.DataFrame) -> Pieces:
    """Cut the parts of the rows of an `events` table into pieces, and count."""
    bases = np.array([one.first_page // _GROUP_PAGES * _GROUP_PAGES for one in allocations], np.int64)
    rooms = np.array([-(-one.pages // _GROUP_PAGES) + 1 for one in allocations], np.int64) * _GROUP_PAGES
    offsets = np.cumsum(rooms) - rooms - bases
    begins = parts.first + offsets[parts.allocation]
    ends = begins + parts.pages
    cuts = np.unique(np.concatenate([begins, ends, _group_edges(begins, ends)]))
    low, high = np.searchsorted(cuts, begins), np.searchsorted(cuts, ends)
    here = np.flatnonzero(_depth(low, high, len(cuts)))
    owner = np.searchsorted(offsets + bases, cuts[here], side="right") - 1
    kind, source, target = (_column(events, name)[parts.row] for name in ("kind", "from", "to"))
    moved = np.isin(kind, [kinds.code(name) for name in kinds.TRANSFERS])
    chosen = {name: kind == kinds.code(name) for name in COUNTED} | {_TO_GPU: moved & (target > 0)}
    counts = {name: _depth(low[rows], high[rows], len(cuts))[here] for name, rows in chosen.items()}
    gpus = _gpus(np.where(moved, target, source), low, high, len(cuts))[here]
    return Pieces(owner, cuts[here] - offsets[owner], np.diff(cuts, append=0)[here], counts, gpus)


def _column(events: pl.DataFrame, name: str) -> Numbers:
    return events[name].to_physical().to_numpy().astype(np.int64)


def _group_edges(begins: Numbers, ends: Numbers) -> Numbers:
    """Where groups of pages begin within ranges."""
    first = -(-begins // _GROUP_PAGES)
    count = np.maximum(-(-ends // _GROUP_PAGES) - first, 0)
    nth = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    edges: Numbers = (np.repeat(first, count) + nth) * _GROUP_PAGES
    return edges


def _depth(low: Numbers, high: Numbers, cuts: int) -> Numbers:
    """How many ranges, from one cut to another, lie over what follows each cut."""
    return np.cumsum(np.bincount(low, minlength=cuts) - np.bincount(high, minlength=cuts))


def _gpus(processor: Numbers, low: Numbers, high: Numbers, cuts: int) -> Bits:
    found = np.zeros(cuts, np.uint64)
    for one in np.unique(processor[(processor > 0) & (processor <= _MOST_GPUS)]):
        rows = processor == one
        found[_depth(low[rows], high[rows], cuts) > 0] |= np.uint64(1 << (int(one) - 1))
    return found


def allocation_table(
    allocations: Sequence[Allocation], found: Pieces, parts: Parts, events: pl.DataFrame, origin: int
) -> pl.DataFrame:
    """The `allocations` table: one row for each allocation, in the order of their numbers.

    `rho` is how often a page was brought to a GPU, of those that were at all; `sigma` is the share of the pages that
    were brought to a GPU or faulted there. Both are null where they mean nothing.
    """
    count, owner = len(allocations), found.allocation
    pages = np.array([one.pages for one in allocations], np.int64)
    known = np.array([one.kind != UNKNOWN for one in allocations], np.bool_)
    brought = found.counts[_TO_GPU]
    faulted = np.sum([found.counts[name] for name in kinds.GPU_FAULTS], axis=0)
    to_gpu, distinct = _sums(owner, brought * found.pages, count), _sums(owner, (brought > 0) * found.pages, count)
    touched = _sums(owner, (brought + faulted > 0) * found.pages, count)
    return pl.DataFrame(
        {
            "allocation": _names(allocations),
            "address": pl.Series([one.address for one in allocations], dtype=pl.UInt64),
            "bytes": pl.Series([one.bytes for one in allocations], dtype=pl.UInt64),
            "memory": pl.Series([one.kind for one in allocations], dtype=pl.String),
            "allocated_ps": _times([one.begin for one in allocations], origin),
            "freed_ps": _times([one.end for one in allocations], origin),
            **found.sums(owner, count),
            "gpus": found.gpu_counts(owner, count),
            **_row_sums(parts, events, count),
            "pages": _unsigned(pages),
            "pages_to_gpu": _unsigned(to_gpu),
            "distinct_pages_to_gpu": _unsigned(distinct),
            "rho": _ratio(to_gpu, distinct, distinct > 0),
            "sigma": _ratio(touched, pages, known),
        }
    )


def page_group_table(allocations: Sequence[Allocation], found: Pieces) -> pl.DataFrame:
    """The `page_groups` table: those in which anything happened."""
    pairs = np.stack([found.allocation, found.first // _GROUP_PAGES])
    keys, groups = np.unique(pairs, axis=1, return_inverse=True)
    groups, count = groups.ravel(), keys.shape[1]
    return pl.DataFrame(
        {
            "allocation": _names(allocations).gather(keys[0]),
            "address": _unsigned(keys[1] * _GROUP_PAGES * PAGE_BYTES),
            **found.sums(groups, count),
            "gpus": found.gpu_counts(groups, count),
        }
    )


def _row_sums(parts: Parts, events: pl.DataFrame, count: int) -> dict[str, pl.Series]:
    """Counts of rows and bytes of each allocation, not of pages."""
    kind, source, target = (_column(events, name)[parts.row] for name in ("kind", "from", "to"))
    faults = events["faults"].fill_null(0).to_numpy().astype(np.int64)[parts.row]
    gpu = np.isin(kind, [kinds.code(name) for name in kinds.GPU_FAULTS])
    moved = np.isin(kind, [kinds.code(name) for name in kinds.TRANSFERS])
    chosen: dict[str, tuple[Flags, Numbers]] = {
        "gpu_faults": (gpu, faults),
        "fault_groups": (gpu, np.ones(len(kind), np.int64)),
        "cpu_faults": (kind == kinds.code("cpu_fault"), faults),
        "h2d_bytes": (moved & (source == 0) & (target > 0), parts.bytes),
        "d2h_bytes": (moved & (source > 0) & (target == 0), parts.bytes),
        "d2d_bytes": (moved & (source > 0) & (target > 0), parts.bytes),
    }
    return {
        name: _unsigned(_sums(parts.allocation[rows], values[rows], count)) for name, (rows, values) in chosen.items()
    }


def _names(allocations: Sequence[Allocation]) -> pl.Series:
    return pl.Series([one.name for one in allocations], dtype=pl.String)


def _sums(groups: Numbers, values: Numbers, count: int) -> Numbers:
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
    """Quotients, null where they mean nothing."""
    values = above / np.maximum(below, 1)
    return pl.select(pl.when(pl.Series(means, dtype=pl.Boolean)).then(pl.Series(values, dtype=pl.Float64))).to_series()
