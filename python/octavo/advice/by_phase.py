"""Placement by phase: prefetches of managed memory where a buffer changes its role between kernels and the host."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from octavo.advice import activity
from octavo.advice.plan import Range
from octavo.advice.verify import placed
from octavo.errors import AdviceError
from octavo.runs import events as kinds
from octavo.scenarios.scenario import Recipe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from octavo.advice.facts import Placement
    from octavo.advice.model import System
    from octavo.advice.plan import Advised, Plan
    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario

Side = Literal["device", "host"]
_SIDES: dict[str, Side] = {"kernel": "device", "host-initialisation": "host", "host-results": "host"}
"""Who touches memory in a phase of a run; copies and calls are between phases."""


@dataclass(frozen=True)
class Phase:
    """Launches, or parts of the host, with nothing of the other side between them."""

    side: Side
    name: str
    began: int
    ended: int
    """Picoseconds."""


@dataclass(frozen=True)
class Move:
    """A prefetch before a phase that brings more than it costs."""

    buffer: str
    phase: int
    """Number of the phase."""
    to: Side
    before: str
    """What the phase is."""
    gain: Range
    """Seconds: faults that are not served, less the call and pages that come for nothing."""
    action: str
    """What to write."""


@dataclass(frozen=True)
class ByPhase:
    """Placement by phase."""

    phases: list[Phase]
    moves: list[Move]
    placements: dict[str, Placement]
    """Placements as advised, but managed where that costs less with its prefetches."""

    def seconds_saved(self, buffer: str) -> float:
        """By all prefetches of a buffer."""
        return sum(move.gain.value for move in self.moves if move.buffer == buffer)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "phases": [asdict(phase) for phase in self.phases],
            "moves": [asdict(move) for move in self.moves],
            "placements": self.placements,
        }


def plan(run: RunResult, advised: Plan, system: System, placements: Sequence[Placement]) -> ByPhase:
    """Plan by what a run of the whole program with managed memory has recorded.

    Args:
        run: the run, with its events and phases.
        advised: one placement for each buffer.
        system: the machine.
        placements: those that may be advised.

    """
    rows = {row["allocation"]: row for row in run.table("allocations").to_dicts()}
    names = [each.buffer.name for each in advised.buffers]
    places = [activity.Place(rows[name]["address"], rows[name]["bytes"]) for name in names]
    return _planned(phases_of(run), run.table("events"), places, advised, system, placements)


def plan_of_profile(
    result: RunResult,
    places: Sequence[activity.Place],
    advised: Plan,
    system: System,
    placements: Sequence[Placement],
) -> ByPhase:
    """Plan by what an imported profile of a real program tells.

    Args:
        result: the profile.
        places: of each buffer, where it lay and when.
        advised: one placement for each buffer.
        system: the machine.
        placements: those that may be advised.

    Raises:
        AdviceError: it does not tell when kernels ran.

    """
    events = result.table("events").drop_nulls(["address", "time_ps"])
    phases = phases_of_profile(result, events)
    return _planned(phases, events, places, advised, system, placements)


def _planned(
    phases: list[Phase],
    events: pl.DataFrame,
    places: Sequence[activity.Place],
    advised: Plan,
    system: System,
    placements: Sequence[Placement],
) -> ByPhase:
    events = _grouped(events, system)
    found = [
        move
        for each, place in zip(advised.buffers, places, strict=True)
        for move in _moves(each, place, phases, events, system)
    ]
    found.sort(key=lambda move: move.phase)
    by_phase = ByPhase(phases, found, advised.placements)
    better = {
        each.buffer.name
        for each in advised.buffers
        if "managed" in placements and each.placement != "managed" and _costs_less(each, by_phase)
    }
    chosen: dict[str, Placement] = {
        name: "managed" if name in better else place for name, place in advised.placements.items()
    }
    return ByPhase(phases, [move for move in found if chosen[move.buffer] == "managed"], chosen)


def _costs_less(each: Advised, by_phase: ByPhase) -> bool:
    """Whether managed memory with its prefetches costs less than what is advised without."""
    if "managed" in each.ruled_out or "managed" not in each.costs:
        return False
    managed = each.costs["managed"].value - by_phase.seconds_saved(each.buffer.name)
    return managed < each.costs[each.placement].value


def phases_of(run: RunResult) -> list[Phase]:
    """Phases of a run in time; what one side does without the other between is one."""
    found: list[Phase] = []
    for row in run.table("phases").sort("began_ps", "action").to_dicts():
        side = _SIDES.get(row["phase"])
        if side is None:
            continue
        if found and found[-1].side == side:
            found[-1] = Phase(side, found[-1].name, found[-1].began, max(found[-1].ended, row["ended_ps"]))
        else:
            found.append(Phase(side, row["name"], row["began_ps"], row["ended_ps"]))
    return found


def phases_of_profile(result: RunResult, events: pl.DataFrame) -> list[Phase]:
    """Phases of a real program: kernels side by side or in a row, and what the host touches between them.

    A profile tells when kernels ran, when the host faulted and which pages came back. Touches of the host while a
    kernel runs are not a phase.

    Raises:
        AdviceError: it does not tell when kernels ran.

    """
    kernels = result.table("kernels").sort("began_ps", "ended_ps") if "kernels" in result.tables else pl.DataFrame()
    if not kernels.height:
        raise AdviceError(
            f"{result.folder}: --by-phase: expected kernels with their times, found none",
            "record them too (--trace=cuda), or leave out --by-phase",
        )
    of_host = events.filter(
        (pl.col("kind") == "cpu_fault") | (pl.col("kind").is_in(kinds.TRANSFERS) & (pl.col("to") == 0))
    )
    touched = [Phase("host", "the host touches it", time, time) for time in of_host["time_ps"].sort().to_list()]
    rows = kernels.select("kernel", "began_ps", "ended_ps").iter_rows()
    found: list[Phase] = []
    for each in sorted([*touched, *(Phase("device", *row) for row in rows)], key=lambda phase: phase.began):
        if found and each.side == "host" and found[-1].side == "device" and each.began <= found[-1].ended:
            continue
        if found and found[-1].side == each.side:
            found[-1] = Phase(each.side, found[-1].name, found[-1].began, max(found[-1].ended, each.ended))
        else:
            found.append(each)
    return found


def _grouped(events: pl.DataFrame, system: System) -> pl.DataFrame:
    """Events, each fault with the number of its group and how many it has."""
    faults = activity.grouped(events, system).select("time_ps", "kind", "address", "pages", "to", "group", "together")
    others = events.filter(~pl.col("kind").is_in(kinds.GPU_FAULTS))
    return pl.concat([faults, others], how="diagonal")


def _moves(
    each: Advised, place: activity.Place, phases: Sequence[Phase], events: pl.DataFrame, system: System
) -> Iterator[Move]:
    """Prefetches of one buffer that bring more than they cost."""
    pages = -(-each.buffer.size // system.page)
    own = events.filter(activity.within(place, system.page))
    resident = 0
    for number, phase in enumerate(phases):
        during = own.filter((pl.col("time_ps") >= phase.began) & (pl.col("time_ps") <= phase.ended))
        came = _pages(during, kinds.MOVES, pl.col("to") > 0)
        went = _pages(during, kinds.TRANSFERS, pl.col("to") == 0)
        if phase.side == "device":
            gain = _device_gain(during, max(pages - resident - came, 0), system)
        else:
            gain = _host_gain(during, max(resident - went, 0), system)
        if gain.value > 0:
            yield Move(each.buffer.name, number, phase.side, phase.name, gain, _action(each, phase))
        resident = min(max(resident + came - went, 0), pages)


def _pages(rows: pl.DataFrame, of: Sequence[str], where: pl.Expr) -> int:
    return int(rows.filter(pl.col("kind").is_in(of) & where)["pages"].sum())


def _device_gain(during: pl.DataFrame, more: int, system: System) -> Range:
    """Faults of a phase on the device that a prefetch saves, less the call and pages that would not have come.

    A group of faults that others share is saved in part; not at all if they are still served, all of it if they go too.
    """
    faults = during.filter(pl.col("kind").is_in(kinds.GPU_FAULTS))
    if not faults.height:
        return Range(0.0, 0.0, 0.0)
    served = float(faults["pages"].sum()) * system.fault
    share = float((1 / faults["together"]).sum()) * system.fault_group
    most = faults["group"].n_unique() * system.fault_group
    cost = system.copy_call + more * system.page / system.on_demand
    return Range(served - cost, served + share - cost, served + most - cost)


def _host_gain(during: pl.DataFrame, more: int, system: System) -> Range:
    """Faults of the host that a prefetch saves, less the call and pages that the host does not need."""
    asked = during.filter((pl.col("kind") == "migration") & (pl.col("to") == 0)).height
    if not asked:
        return Range(0.0, 0.0, 0.0)
    gain = asked * system.host_fault - system.copy_call - more * system.page / system.on_demand_back
    return Range(gain, gain, gain)


def _action(each: Advised, phase: Phase) -> str:
    target = "device" if phase.side == "device" else "cudaCpuDeviceId"
    return f"cudaMemPrefetchAsync({each.buffer.name}, {each.buffer.size}, {target}, stream);  // before {phase.name}"


def simulated(scenario: Scenario, found: ByPhase) -> Scenario:
    """The whole program with placements by phase, and prefetches to the device before the first launch or each."""
    first = next((number for number, phase in enumerate(found.phases) if phase.side == "device"), None)
    wanted: dict[str, list[int]] = {}
    for move in found.moves:
        if move.to == "device":
            wanted.setdefault(move.buffer, []).append(move.phase)
    return Recipe(placed(scenario, found.placements).toml, "scenario", _prefetches(wanted, first)).resolve()


def _prefetches(wanted: Mapping[str, Sequence[int]], first: int | None) -> tuple[str, ...]:
    said = []
    for buffer, numbers in wanted.items():
        key = f"program.buffers.{json.dumps(buffer)}"
        said.append(f"{key}.prefetch=gpu0")
        if list(numbers) != [first]:
            said.append(f"{key}.prefetch_before=each-launch")
    return tuple(said)
