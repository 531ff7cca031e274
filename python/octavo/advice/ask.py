"""`octavo.advise`: from a program or a profile to advice."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from octavo import api
from octavo.advice import (
    activity,
    by_phase,
    exhaustive,
    joined,
    picture,
    placement_file,
    profiles,
    programs,
    recorded,
    systems,
    verify,
)
from octavo.advice.facts import PLACEMENTS, Fact
from octavo.advice.plan import Plan, plan
from octavo.advice.sizes import size_of
from octavo.arguments import spelled_out
from octavo.errors import AdviceError
from octavo.measured.calibrate import quantities
from octavo.runs import folder as files
from octavo.runs.comparison import experiment_folder
from octavo.runs.execute import Point, execute
from octavo.runs.progress import told
from octavo.runs.result import RunResult, holds_result, is_imported
from octavo.scenarios.scenario import Recipe, Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import Unpack

    from octavo.advice.by_phase import ByPhase
    from octavo.advice.exhaustive import Exhausted
    from octavo.advice.facts import Buffer, Placement
    from octavo.advice.model import System
    from octavo.advice.recorded import Recording
    from octavo.advice.systems import SystemConstants
    from octavo.advice.verify import Found
    from octavo.arguments import Arguments
    from octavo.runs.execute import Progress
    from octavo.runs.pictures import Picture

ADVICE_FILE = "advice.json"
BUFFERS_FILE = "buffers.parquet"
POINTS_FILE = "points.parquet"
PICTURE_FILE = "roofline.png"
PLACEMENT_FILE = "placement.json"
_DEFAULTS = ("memory.preset=stock-driver",)
"""What a workload by name runs on, beside the node: managed memory as the production driver has it."""
_NOTES = ("a profile of unified memory tells no accesses: pinned memory is not considered",)
"""What to know about advice on an imported profile."""
_MANAGED = ("managed", "system")
"""Kinds of programs whose runs tell how pages come on demand."""


@dataclass(frozen=True, repr=False)
class Advice:
    """What to allocate how."""

    name: str
    """The program or the profile."""
    plan: Plan
    constants: SystemConstants
    found: Found | None = None
    """What simulating present and advised placements found, if it was asked for."""
    exhausted: Exhausted | None = None
    """All placements, if they were asked for."""
    by_phase: ByPhase | None = None
    """Prefetches where buffers change their role, if they were asked for."""
    found_by_phase: float | None = None
    """Seconds of the whole program simulated with them, if that was asked for."""
    notes: tuple[str, ...] = ()
    """What to know about it."""
    recording: Recording | None = None
    """What it is about, if that is a recording."""

    @property
    def placements(self) -> dict[str, Placement]:
        """Where each buffer is to lie."""
        return self.plan.placements

    def table(self) -> pl.DataFrame:
        """One row for each buffer: sizes in bytes, times in seconds."""
        return pl.DataFrame(
            [
                {
                    "buffer": each.buffer.name,
                    "bytes": each.buffer.size,
                    "present": each.buffer.present,
                    "advised": each.placement,
                    "gain": each.gain.value,
                    "gain_low": each.gain.low,
                    "gain_high": each.gain.high,
                    **{name: each.buffer.facts[name].value for name in ("used", "sigma", "rho", "alpha")},
                    "why": each.why,
                }
                for each in self.plan.buffers
            ]
        )

    def plot(self) -> Picture:
        """The roofline with every buffer on it."""
        return picture.draw(self.plan, self.constants)

    def to_dict(self) -> dict[str, Any]:
        """For JSON: times in seconds, sizes in bytes."""
        origins = self.constants.origins
        return {
            "name": self.name,
            "node": self.constants.name,
            "budget": self.plan.budget,
            "exact": self.plan.exact,
            "gain": vars(self.plan.gain),
            "found": None if self.found is None else self.found.to_dict(),
            "exhaustive": None if self.exhausted is None else self.exhausted.to_dict(),
            "by_phase": None if self.by_phase is None else self.by_phase.to_dict(),
            "found_by_phase": self.found_by_phase,
            "notes": list(self.notes),
            "roofline": picture.curves(self.plan, self.constants),
            "buffers": [each.to_dict() for each in self.plan.buffers],
            "system": {
                name: {"value": value, "certainty": origins[name].certainty, "where": origins[name].where}
                for name, value in vars(self.constants.system).items()
            },
        }

    def __repr__(self) -> str:
        return f"Advice({self.name}: {', '.join(f'{name} {place}' for name, place in self.placements.items())})"


@spelled_out
def advise(  # noqa: PLR0913 - one for each thing that can be asked for
    source: str | Path | Scenario | None = None,
    *,
    budget: int | str | None = None,
    placements: Sequence[Placement] = PLACEMENTS,
    readings: Literal["sound", "published"] = "sound",
    verify: bool = False,
    exhaustive: bool = False,
    symmetry: bool = False,
    on: str | None = None,
    quick: bool = False,
    by_phase: bool = False,
    faults: str | Path | None = None,
    output: str | Path | None = None,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | bool | None = None,
    **arguments: Unpack[Arguments],
) -> Advice:
    """Advise where each buffer of a program is to lie.

    Args:
        source: a scenario (or its TOML file), the folder of a run or of an imported profile, a recording
            (`docs/runtime.md`), a workload by name, or the folder of a trace.
        budget: device memory that may be used, bytes or a size such as `40GB`; all that the node has if left out.
        placements: those that may be advised: `device`, `managed`, `pinned`.
        readings: of the model's equations: `sound`, or `published` as printed.
        verify: also simulate the present and the advised placement as whole programs.
        exhaustive: also simulate every placement of every buffer.
        symmetry: with `exhaustive`, run one of the placements that differ in which of several like buffers lies where.
        on: with `exhaustive`, where its runs are: `local`, `ray`, or the address of a cluster, as of `octavo.sweep`.
        quick: do without the runs with managed and with pinned memory that tell which pages and lines cross the link;
            not of profiles, which have told.
        by_phase: also advise on prefetches between phases of kernels and of the host, for managed memory.
        faults: of a recording, the folder of an imported profile of the same process: σ, ρ and faults by call site.
        output: folder of the advice, its picture and its runs; a temporary one if left out.
        workers: runs side by side; as many as there are cores if left out.
        force: replace what `output` holds.
        watch: called about ten times a second with how far the runs are; `True` shows it.
        **arguments: as for `octavo.scenario`; `node` may be a machine file. Without a scenario, the node is `cuda-sm90`
            and managed memory as the production driver has it.

    Raises:
        AdviceError: there is no answer: a profile without sizes, buffers that alias or for which no placement is left,
            a budget that is exceeded by those that may lie nowhere else; or an argument changes what has no scenario.
        OctavoError: the source cannot be used or simulated, or the folder cannot be written.

    Examples:
        >>> advice = octavo.advise("vectoradd", scale=1 / 256, quick=True)
        >>> set(advice.placements.values()) <= {"device", "managed", "pinned"}
        True

    """
    order = _Order(
        size_of(budget) if isinstance(budget, str) else budget,
        tuple(placements),
        readings,
        verify,
        exhaustive,
        symmetry,
        on,
        quick,
        by_phase,
        None if faults is None else Path(faults),
        workers,
        force,
    )
    if (symmetry or on is not None) and not exhaustive:
        raise AdviceError(f"{'--symmetry' if symmetry else '--on'}: expected --exhaustive, too, which it is about")
    if quick and by_phase:
        raise AdviceError("--by-phase: expected runs that tell when pages come, found --quick", "leave out --quick")
    path = None if source is None or isinstance(source, Scenario) else Path(source)
    if path is not None and recorded.is_recording(path):
        imported = None if faults is None else RunResult.load(faults)
        notes = recorded.NOTES if imported is None else recorded.NOTES[1:]
        return _of_profile(path, partial(_recording, path, imported), notes, arguments, order, output)
    if faults is not None:
        raise AdviceError(f"--faults: expected a recording to join it to, found {source}", "leave out --faults")
    if path is not None and is_imported(path):
        result = RunResult.load(path)
        return _of_profile(path, partial(profiles.buffers, result), _NOTES, arguments, order, output)
    run = RunResult.load(path) if path is not None and holds_result(path) else None
    if arguments.get("node") is not None and (run is not None or isinstance(source, Scenario)):
        raise AdviceError(
            f"expected no other node for {source if run is not None else 'a scenario'}, which has one of its own",
            "leave out --node, or advise on the workload by name",
        )
    scenario, constants = _scenario(run.scenario if run is not None else source, arguments)
    programs.check(scenario)
    root, keep = api.folder_of(output)
    with told(watch) as tell, experiment_folder(root, order.key(scenario.toml, constants), force=force):
        advice = _of_program(scenario, constants, run, order, root, tell)
        if output is not None:
            save(root, advice)
    keep(advice)
    return advice


@dataclass(frozen=True)
class _Order:
    """What was asked for."""

    budget: int | None
    placements: tuple[Placement, ...]
    readings: str
    verify: bool
    exhaustive: bool
    symmetry: bool
    on: str | None
    quick: bool
    by_phase: bool
    faults: Path | None
    workers: int | None
    force: bool

    def plan(self, buffers: Sequence[Buffer], constants: SystemConstants) -> Plan:
        return plan(buffers, constants, budget=self.budget, placements=self.placements, readings=self.readings)

    def key(self, about: str, constants: SystemConstants) -> str:
        """Eight hexadecimal digits that tell apart what leads to different plans."""
        asked = (about, vars(constants.system), self.budget, self.placements, self.readings, self.quick)
        beside = () if self.faults is None else (str(self.faults.resolve()),)
        return hashlib.sha256(repr((*asked, *beside)).encode()).hexdigest()[:8]


def _scenario(source: str | Path | Scenario | None, arguments: Arguments) -> tuple[Scenario, SystemConstants]:
    """What is advised on, and the machine that it runs on."""
    node = arguments.get("node")
    measured = systems.measured_of(node) if node is not None else None
    if isinstance(source, (str, Path)) and not str(source).endswith(".toml"):
        arguments["workload"], source = source, None
    if source is None:
        node = node or systems.DEFAULT_NODE
        arguments["node"] = node
        recipe = api.recipe(None, **arguments)
        scenario = Recipe(
            recipe.text, recipe.name, (*_DEFAULTS, *_without_placement(recipe.overrides, arguments))
        ).resolve()
    else:
        scenario = api.scenario(source, **arguments)
    name = str(node) if node is not None else "the scenario's node"
    return scenario, systems.from_scenario(scenario, name=name, measured=measured)


def _without_placement(overrides: Sequence[str], arguments: Arguments) -> list[str]:
    """A recipe from names chooses on-touch, which the preset has, too, unless another was named."""
    named = arguments.get("placement") is not None
    return [each for each in overrides if named or each != "memory.placement=on-touch"]


def _of_profile(
    profile: Path,
    known: Callable[[System], list[Buffer] | Recording],
    told: Sequence[str],
    arguments: Arguments,
    order: _Order,
    output: str | Path | None,
) -> Advice:
    if order.verify or order.exhaustive or order.by_phase:
        raise AdviceError(
            f"{profile}: a profile tells too little to simulate its program",
            "leave out --verify, --exhaustive and --by-phase, or record a trace",
        )
    _refuse_changes(profile, arguments)
    constants = systems.from_node(arguments.get("node") or systems.DEFAULT_NODE)
    told_by = known(constants.system)
    recording = None if isinstance(told_by, list) else told_by
    found = order.plan(told_by if isinstance(told_by, list) else told_by.buffers, constants)
    notes = [*told]
    if arguments.get("node") is None:
        notes.append(f"no --node given: taken to run on {systems.DEFAULT_NODE}")
    advice = Advice(f"profile {profile.name}", found, constants, notes=tuple(notes), recording=recording)
    key = order.key(f"profile {profile.resolve()}", constants)
    opened: AbstractContextManager[None] = nullcontext()
    if output is not None:
        opened = experiment_folder(Path(output), key, force=order.force)
    with opened:
        if output is not None:
            save(Path(output), advice)
    return advice


def _recording(path: Path, imported: RunResult | None, system: System) -> Recording:
    """A recording, with the faults of an imported profile of the same process if there is one."""
    found = recorded.recording(path, system)
    if imported is None:
        return found
    if not is_imported(imported.folder):
        raise AdviceError(f"--faults: expected the folder of an imported profile, found a run in {imported.folder}")
    return joined.with_faults(found, imported, profiles.buffers(imported, system))


def _refuse_changes(profile: Path, arguments: Arguments) -> None:
    """A profile has no scenario that could be changed; only its node is not in it."""
    named = [name for name, value in arguments.items() if name != "node" and value not in (None, [], (), {})]
    if named:
        options = ", ".join("--set" if name == "overrides" else f"--{name}" for name in named)
        raise AdviceError(f"{profile}: a profile has no scenario to change", f"leave out {options}")


def _of_program(
    scenario: Scenario,
    constants: SystemConstants,
    run: RunResult | None,
    order: _Order,
    root: Path,
    watch: Callable[[Progress], None] | None,
) -> Advice:
    buffers = programs.buffers(scenario, constants.system)
    notes = []
    told_by = run if run is not None and run.scenario == scenario and _tells(run) else None
    if order.quick:
        notes.append("nothing was run: faults, their concurrency and re-migration are estimates")
    else:
        buffers = _told(buffers, scenario, constants, told_by, order, root, watch)
    found = order.plan(buffers, constants)
    runs = root / "runs"
    verified = exhausted = None
    if order.exhaustive:
        exhausted = exhaustive.run(
            scenario,
            found,
            order.placements,
            runs,
            workers=order.workers,
            force=order.force,
            watch=watch,
            on=order.on,
            symmetry=order.symmetry,
        )
    if order.verify or order.exhaustive:
        both = [found.present, found.placements]
        anew = order.force and not order.exhaustive
        verified = verify.Found(*verify.seconds(scenario, both, runs, workers=order.workers, force=anew, watch=watch))
    phases, seconds = None, None
    if order.by_phase:
        phases = by_phase.plan(told_by or RunResult.load(root / "managed"), found, constants.system, order.placements)
        notes.append("prefetches to the host are not simulated")
        if order.verify:
            changed = Point(f"{scenario.label} by phase", by_phase.simulated(scenario, phases), root / "by-phase")
            (run_by_phase,) = execute([changed], workers=order.workers, force=order.force, watch=watch)
            seconds = run_by_phase.seconds
    return Advice(scenario.label, found, constants, verified, exhausted, phases, seconds, tuple(notes))


def _tells(run: RunResult) -> bool:
    """Whether a run had all of a whole program on demand, and recorded its events."""
    program = run.scenario.values.get("program", {})
    return run.scenario.kind in _MANAGED and not program.get("buffers") and "events" in run.tables and run.has_time


def _told(
    buffers: Sequence[Buffer],
    scenario: Scenario,
    constants: SystemConstants,
    managed: RunResult | None,
    order: _Order,
    root: Path,
    watch: Callable[[Progress], None] | None,
) -> list[Buffer]:
    """Buffers, knowing what the whole program tells with all of them managed, and with all of them pinned."""
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
    """Buffers that thrash share what the run's guard held up."""
    thrashing = [buffer.name for buffer in buffers if buffer.write_shared]
    guard = run.scenario.values["memory"].get("guard") or {}
    throttled = run.summary["manager"]["throttled_faults"]
    if not thrashing or "nap" not in guard:
        return list(buffers)
    each = throttled * quantities.number(guard["nap"], "s") / len(thrashing)
    fact = Fact.exact(each, "simulated", "faults that the guard against thrashing held up, a nap each")
    return [buffer.knowing({"thrashing": fact}) if buffer.name in thrashing else buffer for buffer in buffers]


def save(root: Path, advice: Advice) -> None:
    """Write advice, table and picture into an open folder; what an earlier search found does not stay."""
    from octavo.files import parquet, shared  # noqa: PLC0415 - as it is written alone

    files.write_json(root / ADVICE_FILE, advice.to_dict())
    files.write_bytes(root / BUFFERS_FILE, parquet.encoded(advice.table()))
    if advice.exhausted is not None:
        files.write_bytes(root / POINTS_FILE, parquet.encoded(advice.exhausted.points))
    else:
        shared.remove(root / POINTS_FILE)
    if advice.recording is not None:
        files.write_json(root / PLACEMENT_FILE, placement_file.document(advice))
    advice.plot().save(root / PICTURE_FILE)
