"""Facts from events: how pages came in runs of the whole program, all of it managed or pinned, or in a profile."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from octavo.advice import verification
from octavo.advice.facts import BLOCK, Fact
from octavo.measurements.calibrate import quantities
from octavo.runs import events as kinds
from octavo.runs.execute import Point, execute
from octavo.scenarios.scenario import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from octavo.advice.facts import Buffer, Certainty, Placement
    from octavo.advice.model import System
    from octavo.advice.proposal import Order
    from octavo.advice.systems import SystemConstants
    from octavo.runs.execute import Progress
    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario

MANAGED = "managed"
"""The run with all of it managed, and its folder."""
_ON_DEMAND = ("managed", "system")
"""Kinds of programs whose runs tell how pages come on demand."""


@dataclass(frozen=True)
class Place:
    """Where a buffer lies, and when."""

    address: int
    bytes: int
    begin: float = -1.0
    """The time from which it is alive, in picoseconds."""
    end: float = float("inf")


def observed(
    buffers: Sequence[Buffer], places: Sequence[Place], events: pl.DataFrame, system: System, certainty: Certainty
) -> list[Buffer]:
    """Add σ, ρ, faults and their concurrency from a table of events to buffers that have any."""
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
        values["blocks"] = _blocks(asked)
        exact = {name: Fact.exact(value, certainty, where) for name, value in values.items()}
        counted = {"concurrency": _concurrency(asked, certainty), "groups": _groups_of(asked, certainty)}
        found.append(buffer.knowing({**exact, **counted}))
    return found


def _copies(rows: pl.DataFrame, faults: float, system: System) -> dict[str, float]:
    """From a buffer's events: copies by prefetcher and by faults, stale faults, bytes that came back, also by eviction.

    A page that the device touches first is placed. Pages placed beside it count as its faults, too, so the number of
    stale faults is a lower bound.
    """
    there = rows.filter(pl.col("to") > 0)
    moves = there.filter(pl.col("kind").is_in(["migration", "placed"]))
    back = rows.filter((pl.col("to") == 0) & pl.col("kind").is_in(["migration", "prefetch", "eviction"]))
    return {
        "prefetches": float(there.filter(pl.col("kind") == "prefetch").height),
        "stale_faults": max(faults - float(moves["pages"].sum()), 0.0),
        "fault_runs": float(moves.height),
        "returned": float(back["pages"].sum() * system.page),
        "return_faults": float(back.filter(pl.col("kind") == "migration").height),
        "return_prefetches": float(back.filter(pl.col("kind") == "prefetch").height),
    }


def grouped(events: pl.DataFrame, system: System) -> pl.DataFrame:
    """Faults of the GPU over time, each with its `block` and `group`, and `together`, the size of the group."""
    faults = events.filter(pl.col("kind").is_in(kinds.GPU_FAULTS)).sort("time_ps")
    faults = faults.with_columns(block=pl.col("address") // BLOCK)
    groups = _groups((faults["time_ps"].cast(pl.Float64) * 1e-12).to_list(), faults["block"].to_list(), system)
    return faults.with_columns(group=pl.Series(groups, dtype=pl.Int64)).with_columns(together=pl.len().over("group"))


def within(place: Place, page: int) -> pl.Expr:
    """Rows whose pages are a buffer's."""
    first = place.address // page * page
    here = (pl.col("address") < place.address + place.bytes) & (pl.col("address") + pl.col("pages") * page > first)
    return here & (pl.col("time_ps") >= place.begin) & (pl.col("time_ps") <= place.end)


def _pages(rows: pl.DataFrame, place: Place, page: int) -> tuple[int, int]:
    """The pages of a buffer that rows concern: with repetition, and distinct."""
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


def _groups_of(asked: pl.DataFrame, certainty: Certainty) -> Fact:
    """The groups that contain a fault of the buffer; at the least its share of them, if other buffers stay."""
    shared, alone = float((1 / asked["together"]).sum()), float(asked["group"].n_unique())
    return Fact.between(
        shared, alone, alone, certainty, "groups with faults of the buffer; its part of them at the least"
    )


def _blocks(asked: pl.DataFrame) -> float:
    """The number of blocks in which groups have a fault of a buffer, counted for each group."""
    return float(asked.select("group", "block").unique().height)


def _concurrency(asked: pl.DataFrame, certainty: Certainty) -> Fact:
    """The faults of all groups with a fault of the buffer; at the least only its own."""
    together = asked.height / float((1 / asked["together"]).sum())
    alone = asked.height / asked["group"].n_unique()
    return Fact.between(alone, together, together, certainty, "faults served together; the buffer's own at the least")


def _groups(times: Sequence[float], blocks: Sequence[int], system: System) -> list[int]:
    """The number of the group that serves each fault, in order of time.

    A group takes what has come when it begins: as soon as the group before it is served, or, if the driver is idle, a
    moment after the first fault.
    """
    groups: list[int] = []
    free, number = -1.0, 0
    while (at := len(groups)) < len(times):
        begin = free if free >= times[at] else times[at] + system.fault_wait
        end = min(bisect_right(times, begin), at + system.most_faults)
        groups += [number] * (end - at)
        served = system.fault_group + len({*blocks[at:end]}) * system.fault_block + (end - at) * system.fault
        free = begin + served
        number += 1
    return groups


def tells(run: RunResult) -> bool:
    """Whether a run of a whole program had all its memory on demand, and recorded its events."""
    program = run.scenario.values.get("program", {})
    return run.scenario.kind in _ON_DEMAND and not program.get("buffers") and "events" in run.tables and run.has_time


def by_runs(
    buffers: Sequence[Buffer],
    scenario: Scenario,
    constants: SystemConstants,
    managed: RunResult | None,
    order: Order,
    root: Path,
    watch: Callable[[Progress], None] | None,
) -> list[Buffer]:
    """Add to buffers what the whole program shows with all of them managed, and with all of them pinned.

    Args:
        buffers: what is known without a run.
        scenario: the program.
        constants: the machine.
        managed: a run that has told the first already.
        order: what may be advised, and how runs are made.
        root: folder of the runs.
        watch: called with the progress of the runs.

    Raises:
        OctavoError: a run cannot be made.

    """
    names = [buffer.name for buffer in buffers]
    wanted: list[Placement] = [] if managed is not None else ["managed"]
    wanted += ["pinned"] if "pinned" in order.placements else []
    points = [_alike(scenario, dict.fromkeys(names, placement), root) for placement in wanted]
    found = execute(points, workers=order.workers, force=order.force, watch=watch)
    runs = dict(zip(wanted, found, strict=True))
    known = _observed(buffers, managed or runs["managed"], constants)
    return _crossed(known, runs["pinned"], constants) if "pinned" in runs else known


def _alike(scenario: Scenario, placements: dict[str, Placement], root: Path) -> Point:
    """The whole program with all buffers in one kind of memory, and its events."""
    placement = next(iter(placements.values()))
    recorded = Recipe(scenario.toml, "scenario", ("record.events=true", "record.interval=0ns")).resolve()
    return Point(f"{scenario.label} {placement}", verification.placed(recorded, placements), root / placement)


def _crossed(buffers: Sequence[Buffer], run: RunResult, constants: SystemConstants) -> list[Buffer]:
    """Add to buffers which lines crossed the link when they were pinned."""
    rows = {row["allocation"]: row for row in run.rows("allocations")}
    line = constants.system.line
    where = "remote lines of a run with pinned memory"
    lines = {name: Fact.exact(row["remote_lines"] * line, "simulated", where) for name, row in rows.items()}
    return [buffer.knowing({"lines": lines[buffer.name]}) for buffer in buffers]


def _observed(buffers: Sequence[Buffer], run: RunResult, constants: SystemConstants) -> list[Buffer]:
    """Add to buffers how their pages came when they were managed."""
    rows = {row["allocation"]: row for row in run.rows("allocations")}
    places = [Place(rows[buffer.name]["address"], buffer.size) for buffer in buffers]
    found = observed(buffers, places, run.table("events"), constants.system, "simulated")
    return _held_up(found, run)


def _held_up(buffers: Sequence[Buffer], run: RunResult) -> list[Buffer]:
    """Divide the time that faults were held up among all buffers whose pages go back and forth."""
    thrashing = [buffer.name for buffer in buffers if buffer.write_shared or _goes_to_and_fro(buffer)]
    guard = run.scenario.values["memory"].get("guard") or {}
    if not thrashing or "nap" not in guard:
        return list(buffers)
    held = run.totals["manager"]["throttled_faults"] * quantities.number(guard["nap"], "s")
    where = "faults that the guard against thrashing held up, a nap each, but no longer than the program ran"
    fact = Fact.exact(min(held, run.seconds) / len(thrashing), "simulated", where)
    return [buffer.knowing({"thrashing": fact}) if buffer.name in thrashing else buffer for buffer in buffers]


def _goes_to_and_fro(buffer: Buffer) -> bool:
    """Whether its pages came to the device again after they had gone back to the host."""
    returned, rho = buffer.facts["returned"], buffer.facts["rho"]
    return returned.certainty == "simulated" and returned.value > 0 and rho.value > 1
