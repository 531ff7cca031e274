"""Facts that the events of a run or of a profile tell: who came how often, and which faults were served together."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from octavo.advice.facts import Fact
from octavo.runs import events as kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.advice.facts import Buffer, Certainty
    from octavo.advice.model import System


@dataclass(frozen=True)
class Place:
    """Where a buffer lies, and when."""

    address: int
    bytes: int
    begin: float = -1.0
    """Picoseconds from which on it is alive."""
    end: float = float("inf")


def observed(
    buffers: Sequence[Buffer], places: Sequence[Place], events: pl.DataFrame, system: System, certainty: Certainty
) -> list[Buffer]:
    """Buffers, knowing σ, ρ, faults and their concurrency from a table of events; those without events stay."""
    where = "events of a run with managed memory" if certainty == "simulated" else "events of the profile"
    arrivals = events.filter(pl.col("kind").is_in(kinds.MOVES), pl.col("to") > 0)
    faults = grouped(events, system)
    found = []
    for buffer, place in zip(buffers, places, strict=True):
        came = arrivals.filter(within(place, system.page))
        asked = faults.filter(within(place, system.page))
        if not came.height or not asked.height:
            found.append(buffer)
            continue
        arrived, distinct = _pages(came, place, system.page)
        pages = -(-place.bytes // system.page)
        values = {
            "sigma": distinct / pages,
            "rho": arrived / distinct,
            "faults": float(asked["pages"].sum()),
            "migrations": float(arrived),
        }
        if certainty == "simulated":
            values |= _copies(events.filter(within(place, system.page)), values["faults"], system)
        exact = {name: Fact.exact(value, certainty, where) for name, value in values.items()}
        found.append(buffer.knowing({**exact, "concurrency": _concurrency(asked, certainty)}))
    return found


def _copies(rows: pl.DataFrame, faults: float, system: System) -> dict[str, float]:
    """Of a buffer's events, copies of the prefetcher and for faults, faults that moved nothing, and what came back.

    A page that the device touches first is placed. Pages placed beside it count as its faults, too, so the number of
    stale faults is a lower bound.
    """
    there = rows.filter(pl.col("to") > 0)
    moves = there.filter(pl.col("kind").is_in(["migration", "placed"]))
    back = rows.filter((pl.col("to") == 0) & pl.col("kind").is_in(["migration", "prefetch"]))
    return {
        "prefetches": float(there.filter(pl.col("kind") == "prefetch").height),
        "stale_faults": max(faults - float(moves["pages"].sum()), 0.0),
        "fault_runs": float(moves.height),
        "returned": float(back["pages"].sum() * system.page),
        "return_faults": float(back.filter(pl.col("kind") == "migration").height),
        "return_prefetches": float(back.filter(pl.col("kind") == "prefetch").height),
    }


def grouped(events: pl.DataFrame, system: System) -> pl.DataFrame:
    """Faults of the GPU in time, each with its `group` and how many are served `together` in that."""
    faults = events.filter(pl.col("kind").is_in(kinds.GPU_FAULTS)).sort("time_ps")
    groups = _groups((faults["time_ps"].cast(pl.Float64) * 1e-12).to_list(), system)
    return faults.with_columns(group=pl.Series(groups, dtype=pl.Int64)).with_columns(together=pl.len().over("group"))


def within(place: Place, page: int) -> pl.Expr:
    """Rows whose pages are a buffer's."""
    first = place.address // page * page
    here = (pl.col("address") < place.address + place.bytes) & (pl.col("address") + pl.col("pages") * page > first)
    return here & (pl.col("time_ps") >= place.begin) & (pl.col("time_ps") <= place.end)


def _pages(rows: pl.DataFrame, place: Place, page: int) -> tuple[int, int]:
    """Pages of a buffer that rows are about, each time and once."""
    base = place.address // page
    count = (place.address + place.bytes - 1) // page - base + 1
    begin = pl.col("address").cast(pl.Int64) // page - base
    first, last = begin.clip(0, count), (begin + pl.col("pages").cast(pl.Int64)).clip(0, count)
    runs = rows.select(first=first, last=last).sort("first")
    # Of each run, the part behind all runs before it: runs can be long, so their pages are not listed.
    before = pl.col("last").cum_max().shift(1, fill_value=0)
    fresh = (pl.col("last") - pl.max_horizontal("first", before)).clip(0)
    times, once = runs.select((pl.col("last") - pl.col("first")).sum(), once=fresh.sum()).row(0)
    return times, once


def _concurrency(asked: pl.DataFrame, certainty: Certainty) -> Fact:
    """Faults of the groups that a buffer's faults are in: all of them, and its own alone if the others go elsewhere."""
    together = asked.height / float((1 / asked["together"]).sum())
    alone = asked.height / asked["group"].n_unique()
    return Fact.between(alone, together, together, certainty, "faults served together; the buffer's own at the least")


def _groups(times: Sequence[float], system: System) -> list[int]:
    """Of each fault, in order of time, the number of the group that it is served in.

    A group takes what has come when it begins: with the first fault, or as soon as the group before it is served.
    """
    groups: list[int] = []
    free, number = -1.0, 0
    while (at := len(groups)) < len(times):
        begin = max(times[at], free)
        end = min(bisect_right(times, begin), at + system.most_faults)
        groups += [number] * (end - at)
        free = begin + system.fault_group + (end - at) * system.fault
        number += 1
    return groups
