"""Facts from runs of the whole program about its buffers: all of them managed, all of them pinned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octavo.advice import activity, verify
from octavo.advice.facts import Fact
from octavo.measured.calibrate import quantities
from octavo.runs.execute import Point, execute
from octavo.scenarios.scenario import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from octavo.advice.facts import Buffer, Placement
    from octavo.advice.order import Order
    from octavo.advice.systems import SystemConstants
    from octavo.runs.execute import Progress
    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario

MANAGED = "managed"
"""The run with all of it managed, and its folder."""
_ON_DEMAND = ("managed", "system")
"""Kinds of programs whose runs tell how pages come on demand."""


def tells(run: RunResult) -> bool:
    """Whether a run had all of a whole program on demand, and recorded its events."""
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
    """Buffers, knowing what the whole program tells with all of them managed, and with all of them pinned.

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
    return Point(f"{scenario.label} {placement}", verify.placed(recorded, placements), root / placement)


def _crossed(buffers: Sequence[Buffer], run: RunResult, constants: SystemConstants) -> list[Buffer]:
    """Buffers, knowing which lines crossed when they were pinned."""
    rows = {row["allocation"]: row for row in run.table("allocations").to_dicts()}
    line = constants.system.line
    where = "remote lines of a run with pinned memory"
    lines = {name: Fact.exact(row["remote_lines"] * line, "simulated", where) for name, row in rows.items()}
    return [buffer.knowing({"lines": lines[buffer.name]}) for buffer in buffers]


def _observed(buffers: Sequence[Buffer], run: RunResult, constants: SystemConstants) -> list[Buffer]:
    """Buffers, knowing how their pages came when they were managed."""
    rows = {row["allocation"]: row for row in run.table("allocations").to_dicts()}
    places = [activity.Place(rows[buffer.name]["address"], buffer.size) for buffer in buffers]
    found = activity.observed(buffers, places, run.table("events"), constants.system, "simulated")
    return _held_up(found, run)


def _held_up(buffers: Sequence[Buffer], run: RunResult) -> list[Buffer]:
    """Divides the time that faults were held up among all buffers whose pages go back and forth."""
    thrashing = [buffer.name for buffer in buffers if buffer.write_shared or _goes_to_and_fro(buffer)]
    guard = run.scenario.values["memory"].get("guard") or {}
    if not thrashing or "nap" not in guard:
        return list(buffers)
    each = run.totals["manager"]["throttled_faults"] * quantities.number(guard["nap"], "s") / len(thrashing)
    fact = Fact.exact(each, "simulated", "faults that the guard against thrashing held up, a nap each")
    return [buffer.knowing({"thrashing": fact}) if buffer.name in thrashing else buffer for buffer in buffers]


def _goes_to_and_fro(buffer: Buffer) -> bool:
    """Whether its pages came to the device again after they had gone back to the host."""
    returned, rho = buffer.facts["returned"], buffer.facts["rho"]
    return returned.certainty == "simulated" and returned.value > 0 and rho.value > 1
