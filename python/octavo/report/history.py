"""The history of every page, and the state after each event, from the `events` table.

Pages are numbered along the footprint: allocations by address, one after another, without the gaps between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from octavo.errors import OutputError
from octavo.runs.events import GPU_REQUESTS, KINDS, MOVES, SCHEMES, WRITES, check
from octavo.runs.events import code as _code
from octavo.runs.sizes import size

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from octavo.runs.result import RunResult

    Bytes = npt.NDArray[np.uint8]
    Numbers = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

REPLICATED = 32
"""Holder of a page that several processors hold; others are processors, 0 is the host."""
PLANES = ("holder", "sharing", "access", "scheme")
"""A page's state: its holder, how many GPUs have asked for it so far, 1 if they only read it or 2 if one wrote it, and
the scheme (from 1 as in `SCHEMES`; 0 for none)."""

_NANOSECOND = 1000
_LARGEST_PAGE = 1 << 30


@dataclass(frozen=True)
class Footprint:
    """The pages of a run's allocations, numbered one after another."""

    page_bytes: int
    starts: Numbers
    """Page numbers in the address space at which runs of neighbouring pages start."""
    counts: Numbers
    allocations: list[dict[str, Any]]
    """`name`, `address`, `bytes`, and `first` and `pages` along the footprint. A page that two allocations share counts
    to the first."""

    @classmethod
    def of(cls, result: RunResult, page_size: str) -> Footprint:
        """The footprint of a run with pages of `page_size`, such as `4KiB`."""
        page_bytes = size(page_size)
        starts, counts, allocations = [], [], []
        end = first = 0
        for row in result.table("allocations").sort("address", maintain_order=True).to_dicts():
            start = max(row["address"] // page_bytes, end)
            end = max(-(-(row["address"] + row["bytes"]) // page_bytes), start)
            about = {"name": row["allocation"], "address": row["address"], "bytes": row["bytes"]}
            allocations.append({**about, "start": start, "first": first, "pages": end - start})
            starts.append(start)
            counts.append(end - start)
            first += end - start
        return cls(page_bytes, np.array(starts, np.int64), np.array(counts, np.int64), allocations)

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return int(self.counts.sum())

    def number(self, addresses: Numbers) -> Numbers:
        """Places of addresses along the footprint; -1 for those outside it."""
        pages = addresses // self.page_bytes
        at = np.searchsorted(self.starts, pages, side="right") - 1
        offset = pages - self.starts[at]
        inside = (at >= 0) & (offset < self.counts[at])
        firsts = np.concatenate([[0], np.cumsum(self.counts)[:-1]])
        return np.where(inside, firsts[at] + offset, -1)


@dataclass(frozen=True)
class History:
    """Every event of every page, page by page and in order of time, with the state after it."""

    pages: int
    processors: int
    span: int
    """Length of the run in units of `tick_ps`."""
    tick_ps: int
    ends: Numbers
    """For each page, one more than the index of its last event."""
    time: npt.NDArray[np.uint32]
    kind: Bytes
    source: Bytes
    target: Bytes
    planes: Mapping[str, Bytes]
    """State after each event, by name of `PLANES`."""

    @property
    def starts(self) -> Numbers:
        """For each page, the index of its first event."""
        return np.concatenate([[0], self.ends[:-1]])

    @property
    def counts(self) -> Numbers:
        """Events of each page."""
        return self.ends - self.starts


_MOST_PAGES = 1 << 24
_MOST_EVENTS = 1 << 26
"""Events of single pages that a map is made of, at most: each takes some 30 bytes of memory while it is made."""


def coarsened(result: RunResult, footprint: Footprint, events: pl.DataFrame) -> tuple[Footprint, pl.DataFrame]:
    """A profile's footprint and events in pages so large that there are few enough of both.

    Real programs reserve more memory than they use and run for longer than simulated ones.
    """
    page = footprint.page_bytes
    while True:
        first = pl.col("address") // page
        last = (pl.col("address") + pl.col("pages") * footprint.page_bytes - 1) // page
        coarse = events.with_columns(address=first * page, pages=last - first + 1)
        if footprint.pages * footprint.page_bytes <= page * _MOST_PAGES and coarse["pages"].sum() <= _MOST_EVENTS:
            return (footprint if page == footprint.page_bytes else Footprint.of(result, f"{page}B")), coarse
        if page >= _LARGEST_PAGE:
            raise OutputError(
                f"{result.folder} has more events than a page map can be made of",
                "profile a shorter part of the program",
            )
        page *= 2


def history(events: pl.DataFrame, footprint: Footprint, span_ps: int, processors: int) -> History:
    """Sort the events by page and follow every page through them.

    Args:
        events: the table of that name.
        footprint: the pages.
        span_ps: simulated time of the run; ticks are nanoseconds, or longer if 32 bits do not hold that many.
        processors: the host and the GPUs.

    Raises:
        OutputError: the table lacks a column, or has kinds of events that are not known.

    """
    check(events)
    tick = max(_NANOSECOND, -(-span_ps // ((1 << 32) - 1)))
    repeats = events["pages"].to_numpy().astype(np.int64)
    rows = np.repeat(np.arange(events.height), repeats)
    nth = np.arange(len(rows)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    address = events["address"].to_numpy().astype(np.int64)[rows] + nth * footprint.page_bytes
    page = footprint.number(address)
    order = np.argsort(page, kind="stable")
    order = order[np.searchsorted(page[order], 0) :]
    page, rows = page[order], rows[order]
    kind = events["kind"].cast(pl.String).cast(pl.Enum(KINDS)).to_physical().to_numpy().astype(np.uint8)[rows]
    source, target = (events[name].to_numpy().astype(np.uint8)[rows] for name in ("from", "to"))
    time = (events["time_ps"].to_numpy().astype(np.int64) // tick)[rows].astype(np.uint32)
    ends = np.cumsum(np.bincount(page, minlength=footprint.pages))
    starts = np.concatenate([[0], ends[:-1]])
    planes = _planes(starts[page], kind, source, target, processors)
    return History(footprint.pages, processors, max(span_ps // tick, 1), tick, ends, time, kind, source, target, planes)


def among(kind: Bytes, names: tuple[str, ...]) -> Flags:
    """Which events are of one of some kinds."""
    table = np.zeros(256, np.bool_)
    table[[_code(name) for name in names]] = True
    return table[kind]


def _planes(first: Numbers, kind: Bytes, source: Bytes, target: Bytes, processors: int) -> dict[str, Bytes]:
    """States after each event; `first` is the index of the first event of its page."""
    scheme = np.zeros(len(kind), np.uint8)
    for code, name in enumerate(SCHEMES, 1):
        scheme[kind == _code(name)] = code
    return {
        "holder": _holder(first, kind, source, target, processors),
        "sharing": _sharing(first, kind, source, processors),
        "access": _access(first, kind),
        "scheme": _last(first, scheme > 0, scheme, 0),
    }


def _holder(first: Numbers, kind: Bytes, source: Bytes, target: Bytes, processors: int) -> Bytes:
    """Who holds the page: copies add a holder, and take the source away unless a replica is made."""
    moves, copies = among(kind, MOVES), among(kind, (*MOVES, "duplication"))
    leaves = moves | (kind == _code("discard"))
    holders = np.zeros(len(kind), np.uint8)
    holder = np.zeros(len(kind), np.uint8)
    for processor in range(processors):
        gained = copies & (target == processor)
        lost = leaves & (source == processor) & ~gained
        held = _last(first, gained | lost, gained.astype(np.uint8), int(processor == 0))
        holders += held
        holder[held > 0] = processor
    return np.where(holders > 1, np.uint8(REPLICATED), holder)


def _sharing(first: Numbers, kind: Bytes, source: Bytes, processors: int) -> Bytes:
    """How many GPUs have asked for the page so far."""
    asks = among(kind, (*GPU_REQUESTS, "remote_map"))
    asked = np.zeros(len(kind), np.uint8)
    for processor in range(1, processors):
        own = asks & (source == processor)
        asked += _last(first, own, own.astype(np.uint8), 0)
    return asked


def _access(first: Numbers, kind: Bytes) -> Bytes:
    """1 once a read has asked for the page, 2 once a write has."""
    asked, written = among(kind, GPU_REQUESTS), among(kind, WRITES)
    either = _last(first, asked, asked.astype(np.uint8), 0)
    return either + _last(first, written, written.astype(np.uint8), 0)


def _last(first: Numbers, here: Flags, values: Bytes, before: int) -> Bytes:
    """For each event, the value at the last event of its page, up to itself, that is `here`; `before` if none is."""
    index = np.where(here, np.arange(len(here)), -1)
    np.maximum.accumulate(index, out=index)
    return np.where(index >= first, values[index], np.uint8(before))
