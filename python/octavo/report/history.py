"""The history of every page, and the state after each event, from the `events` table.

Pages are numbered along the footprint: allocations by address, one after another, without the gaps between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import OutputError
from octavo.quantities import bytes_of
from octavo.runs.events import GPU_REQUESTS, KINDS, MOVES, SCHEMES, WRITES, check
from octavo.runs.events import code as _code

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octavo.runs.result import RunResult

REPLICATED = 255
"""The holder of a page that several processors hold; other values are processors, 0 is the host."""
PLANES = ("holder", "sharing", "access", "scheme")
"""The state of a page: its holder, and how many GPUs have requested it so far. `access` is 1 if these GPUs have only
read it, 2 if one has written it. `scheme` counts from 1 as in `SCHEMES`; 0 is none."""

_NANOSECOND = 1000
_LARGEST_PAGE = 1 << 30


@dataclass(frozen=True)
class Footprint:
    """The pages of a run's allocations, numbered one after another."""

    page_bytes: int
    allocations: list[dict[str, Any]]
    """By address: `name`, `address`, `bytes`; the page of the address space at which it starts (`start`); `first` and
    `pages` along the footprint. A page that two allocations share counts for the first one."""

    @classmethod
    def of(cls, result: RunResult, page_size: str) -> Footprint:
        """The footprint of a run with pages of `page_size`, such as `4KiB`."""
        page_bytes = bytes_of(page_size)
        allocations = []
        end = first = 0
        for row in result.table("allocations").sort("address", maintain_order=True).to_dicts():
            start = max(row["address"] // page_bytes, end)
            end = max(-(-(row["address"] + row["bytes"]) // page_bytes), start)
            about = {"name": row["allocation"], "address": row["address"], "bytes": row["bytes"]}
            allocations.append({**about, "start": start, "first": first, "pages": end - start})
            first += end - start
        return cls(page_bytes, allocations)

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return sum(one["pages"] for one in self.allocations)

    def number(self, addresses: pl.Series) -> pl.Series:
        """The positions of addresses along the footprint; addresses outside it are left out."""
        about = pl.DataFrame(self.allocations, schema=dict.fromkeys(("start", "first", "pages"), pl.Int64))
        # What lies before all of them is counted to an empty one.
        starts, firsts, counts = pl.concat([about.clear(1).fill_null(0), about]).get_columns()
        pages = addresses.cast(pl.Int64) // self.page_bytes
        at = starts[1:].search_sorted(pages, side="right")
        offset = pages - starts.gather(at)
        inside = offset < counts.gather(at)
        return pl.select(pl.when(inside).then(firsts.gather(at) + offset)).to_series()


@dataclass(frozen=True)
class History:
    """Every event of every page, page by page and in order of time, with the state after it."""

    pages: int
    processors: int
    span: int
    """Length of the run in units of `tick_ps`."""
    tick_ps: int
    counts: pl.Series
    """Events of each page."""
    events: pl.DataFrame
    """`page`, `time` in ticks, `kind`, `source`, `target`, and the state after each event, by name of `PLANES`."""

    @property
    def ends(self) -> pl.Series:
        """For each page, one more than the index of its last event."""
        return self.counts.cum_sum()

    @property
    def starts(self) -> pl.Series:
        """For each page, the index of its first event."""
        return self.ends - self.counts


_MOST_PAGES = 1 << 24
_MOST_EVENTS = 1 << 26
"""The most events of single pages in a map: each takes about 30 bytes of memory while the map is made."""


def coarsened(result: RunResult, footprint: Footprint, events: pl.DataFrame) -> tuple[Footprint, pl.DataFrame]:
    """A profile's footprint and events, with pages large enough that there are not too many of either.

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
                file=result.folder,
                code="too-large",
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
    rows = _of_single_pages(events, footprint, tick)
    first = pl.col("page") != pl.col("page").shift(1, fill_value=-1)
    states = rows.select("page", "time", "kind", "source", "target", **_planes(first, processors))
    return History(footprint.pages, processors, max(span_ps // tick, 1), tick, _counts(rows, footprint.pages), states)


def _of_single_pages(events: pl.DataFrame, footprint: Footprint, tick: int) -> pl.DataFrame:
    """Events with the number of their page, by page and time; events of several pages appear once for each."""
    rows = events.select(
        pl.col("address").cast(pl.Int64),
        (pl.col("time_ps") // tick).cast(pl.UInt32).alias("time"),
        pl.col("kind").cast(pl.String).cast(pl.Enum(KINDS)).to_physical().cast(pl.UInt8),
        pl.col("from").cast(pl.UInt8).alias("source"),
        pl.col("to").cast(pl.UInt8).alias("target"),
        pl.int_ranges(pl.col("pages")).alias("nth"),
    )
    rows = rows.explode("nth").drop_nulls("nth")
    page = footprint.number(rows["address"] + rows["nth"] * footprint.page_bytes)
    return rows.with_columns(page=page).drop_nulls("page").sort("page", maintain_order=True)


def _counts(rows: pl.DataFrame, pages: int) -> pl.Series:
    """Rows of each page."""
    every = pl.select(page=pl.int_range(pages, dtype=pl.Int64))
    found = rows.group_by("page").len("events")
    return every.join(found, on="page", how="left", maintain_order="left")["events"].fill_null(0).cast(pl.Int64)


def among(names: Iterable[str]) -> pl.Expr:
    """Which events are of one of some kinds."""
    return pl.col("kind").is_in([_code(name) for name in names])


def _planes(first: pl.Expr, processors: int) -> dict[str, pl.Expr]:
    """States after each event; `first` says which events are the first of their page."""
    scheme = pl.lit(None, pl.UInt8)
    for code, name in enumerate(SCHEMES, 1):
        scheme = pl.when(among([name])).then(code).otherwise(scheme)
    return {
        "holder": _holder(first, processors),
        "sharing": _sharing(first, processors),
        "access": _seen(first, among(GPU_REQUESTS)) + _seen(first, among(WRITES)),
        "scheme": _last(first, scheme, 0),
    }


def _holder(first: pl.Expr, processors: int) -> pl.Expr:
    """Who holds the page: copies add a holder, and remove the source unless they make a replica."""
    moves, copies = among(MOVES), among((*MOVES, "duplication"))
    leaves = moves | among(["discard"])
    held = []
    for processor in range(processors):
        gained = copies & (pl.col("target") == processor)
        lost = leaves & (pl.col("source") == processor)
        state = pl.when(gained).then(1).when(lost).then(0)
        held.append(_last(first, state, int(processor == 0)))
    last = pl.max_horizontal(each * processor for processor, each in enumerate(held))
    return pl.when(_sum(held) > 1).then(REPLICATED).otherwise(last).cast(pl.UInt8)


def _sharing(first: pl.Expr, processors: int) -> pl.Expr:
    """How many GPUs have requested the page so far."""
    asks = among((*GPU_REQUESTS, "remote_map"))
    return _sum([_seen(first, asks & (pl.col("source") == processor)) for processor in range(1, processors)])


def _sum(parts: Iterable[pl.Expr]) -> pl.Expr:
    return pl.sum_horizontal(pl.lit(0, pl.UInt8), *parts).cast(pl.UInt8)


def _seen(first: pl.Expr, here: pl.Expr) -> pl.Expr:
    """1 from the first event of a page that is `here`, 0 before it."""
    return _last(first, pl.when(here).then(1), 0)


def _last(first: pl.Expr, value: pl.Expr, before: int) -> pl.Expr:
    """For each event, the latest `value` of its page so far; `before` if there is none."""
    return pl.coalesce(value, pl.when(first).then(before)).cast(pl.UInt8).forward_fill()
