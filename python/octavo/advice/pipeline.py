"""`octavo.advise`: from a program or a profile to facts, to a proposal of the model, and to a check by simulation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from octavo import api, checks, extras
from octavo.advice import (
    activity,
    by_hand,
    exhaustive,
    placement_file,
    profiles,
    programs,
    proposal,
    recording,
    subject,
    systems,
    timeline,
    verification,
)
from octavo.advice.answer import ADVICE_FILE, Advice
from octavo.advice.facts import PLACEMENTS
from octavo.advice.proposal import Order
from octavo.arguments import spelled_out
from octavo.errors import AdviceError
from octavo.files import disk
from octavo.plain import shortened
from octavo.quantities import bytes_of
from octavo.runs import pressure
from octavo.runs.comparison import experiment_folder
from octavo.runs.content import holds_result, is_imported
from octavo.runs.progress import told as telling
from octavo.runs.result import RunResult
from octavo.runs.unsourced_values import decided
from octavo.scenarios import capacity
from octavo.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Unpack

    from octavo.advice.facts import Buffer, Placement
    from octavo.advice.model import System
    from octavo.advice.proposal import Plan
    from octavo.advice.recording import Recording
    from octavo.advice.systems import SystemConstants
    from octavo.advice.verification import Found
    from octavo.arguments import Arguments
    from octavo.runs.execute import Progress
    from octavo.runs.pressure import Pressure

    Watch = Callable[[Progress], None] | None

_RUNS = "runs"
_BUFFERS_FILE = "buffers.parquet"
_POINTS_FILE = "points.parquet"
_PICTURE_FILE = "roofline.png"
_IMPORTED = ("a profile of unified memory tells no accesses: pinned memory is not considered",)
"""A note about advice on an imported profile."""
_UNCHECKED = "a profile cannot be simulated: the gain is the model's alone, and no run has checked it"
"""What to know about advice on every profile and recording."""
_ONE_TARGET = "prefetched memory is not considered on several GPUs: a prefetch goes to one of them"
"""What to know about advice for several GPUs."""
Readings: TypeAlias = Literal["sound", "published"]


@spelled_out
def advise(  # noqa: PLR0913 - one for each thing that can be asked for
    source: str | Path | Scenario | None = None,
    *,
    budget: int | str | None = None,
    placements: Sequence[Placement] | Placement = PLACEMENTS,
    readings: Readings = "sound",
    runs: int | None = None,
    exhaustive: bool = False,
    on: str | None = None,
    quick: bool = False,
    faults: str | Path | None = None,
    output: str | Path | None = None,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | bool | None = None,
    **arguments: Unpack[Arguments],
) -> Advice:
    """Advise where each buffer of a program should lie.

    Without a scenario, the node is `cuda-sm90`, and the production driver's memory system manages memory.

    Args:
        source: a workload by name, a scenario (or its TOML file), the folder of a trace, of a run or of an imported
            profile, a recording (`docs/runtime.md`), or the folder of `octavo profile --buffers`.
        budget: device memory for the program at scale 1, bytes or `40GB`, or `60%` of its footprint; all if left out.
        placements: what may be advised: `device`, `managed`, `prefetched` (managed, and prefetched before the launches
            that use it), `pinned`.
        readings: how the model's equations are read: `sound`, or `published` as printed.
        runs: simulations that check what the model proposes: of the present placement, the proposal, and what is next
            best; 4 if left out, none with `quick`. The fastest of them is the advice; with 0, the proposal.
        exhaustive: also simulate every placement of every buffer.
        on: with `exhaustive`, where its runs are: `local`, `ray`, or the address of a cluster, as of `octavo.sweep`.
        quick: simulate nothing: skip the runs with managed and with pinned memory, too, which tell what crosses the
            link. Profiles and recordings cannot be simulated at all.
        faults: for a recording, the folder of an imported profile of the same process, whose faults are assigned to
            call sites.
        output: folder of the advice, its picture and its runs; a temporary one if left out.
        workers: runs side by side; as many as there are cores if left out.
        force: replace what `output` holds.
        watch: called about ten times a second with the progress of the runs; `True` shows it.
        **arguments: see `octavo.arguments.Arguments`.

    Raises:
        AdviceError: there is no answer: a profile has no sizes, buffers alias, no placement is left for a buffer, or
            buffers that may lie nowhere else exceed the budget. Or an argument does not apply to this source.
        OctavoError: the source cannot be used or simulated, or the folder cannot be written.

    Examples:
        >>> advice = octavo.advise("vectoradd", scale=1 / 256, quick=True)
        >>> set(advice.placements.values()) <= {"device", "managed", "pinned"}
        True

    """
    order = Order(
        budget=_bytes(budget),
        percent=capacity.percent(budget),
        placements=tuple(checks.names("placements", placements) or ()),
        readings=checks.choice("readings", readings, get_args(Readings)),
        runs=_runs(runs, quick=quick),
        exhaustive=exhaustive,
        on=on,
        quick=quick,
        faults=None if faults is None else checks.path("faults", faults),
        workers=checks.workers(workers),
        force=force,
    )
    path = None if source is None or isinstance(source, Scenario) else recording.meant(checks.path("source", source))
    order.check(source if path is None else path)
    place = None if output is None else checks.path("output", output)
    if path is not None and recording.is_recording(path):
        return _recorded(path, arguments, order, place)
    if path is not None and is_imported(path):
        return _imported(path, arguments, order, place)
    return _simulated(source, arguments, order, place, watch)


def _runs(runs: int | None, *, quick: bool) -> int:
    if runs is None:
        return 0 if quick else verification.RUNS
    return checks.whole("runs", runs, least=0)


def _bytes(budget: int | str | None) -> int | None:
    if not isinstance(budget, str):
        return None if budget is None else checks.whole("budget", budget, least=0)
    if capacity.percent(budget) is not None:
        return None
    try:
        return bytes_of(budget)
    except ValueError:
        raise AdviceError(
            f"--budget: expected a size such as 40GB or 512MiB, found {shortened(budget)}",
            code="unexpected-value",
            key="budget",
        ) from None


def _simulated(
    source: str | Path | Scenario | None,
    arguments: Arguments,
    order: Order,
    output: Path | None,
    watch: Callable[[Progress], None] | bool | None,
) -> Advice:
    """Advice on a workload, a trace, a scenario or a run.

    Raises:
        AdviceError: there is no answer, or a run has a node of its own.
        OctavoError: the source cannot be used or simulated, or the folder cannot be written.

    """
    named = isinstance(source, (str, Path)) and holds_result(Path(source))
    run = RunResult.load(Path(str(source))) if named else None
    if arguments.get("node") is not None and (run is not None or isinstance(source, Scenario)):
        raise AdviceError(
            f"expected no other node for {source if run is not None else 'a scenario'}, which has one of its own",
            "leave out --node, or advise on the workload by name",
            code="conflict",
            key="node",
        )
    scenario, constants = subject.of_program(run.scenario if run is not None else source, arguments)
    programs.check(scenario)
    order = order.on_gpus(constants.gpus)
    root, keep = api.folder_of(output)
    with telling(watch) as tell, experiment_folder(root, order.key(scenario.toml, constants), force=order.force):
        found = _on_program(scenario, constants, run, order, root, tell)
        if output is not None:
            _save(root, found)
    keep(found)
    return found


def _on_program(
    scenario: Scenario, constants: SystemConstants, run: RunResult | None, order: Order, root: Path, watch: Watch
) -> Advice:
    constants = systems.spread(systems.limited(constants, scenario), scenario)
    buffers = programs.buffers(scenario, constants.system)
    managed = run if run is not None and run.scenario == scenario and activity.tells(run) else None
    notes: tuple[str, ...] = ("nothing was run: faults, their concurrency and re-migration are estimates",)
    if not order.quick:
        buffers, notes = activity.by_runs(buffers, scenario, constants, managed, order, root, watch), ()
    size = _size(scenario, buffers)
    order = order.at_scale(size.footprint, size.whole)
    found = order.plan(buffers, constants)
    every = exhaustive.choices(found, order.placements) if order.exhaustive else []
    known = _exhausted(scenario, found, every, order, root, watch) if every else {}
    verified = _verified(scenario, found, known, order, root, watch) if order.runs or every else None
    if verified is not None:
        found = found.choosing(verified.choice, verified.present)
        notes = (*notes, *_fits(verified), *_instead(scenario))
    notes = (*notes, *_together(constants))
    exhausted = exhaustive.table(found, every, known) if every else None
    present = RunResult(root / _RUNS / verification.label(found.present))
    ran = holds_result(present.folder)
    told = tuple(decided(present)) if ran else ()
    size = pressure.pressure(present) if ran else size
    return Advice(scenario.label, found, constants, verified, exhausted, notes, told, pressure=size)


def _size(scenario: Scenario, buffers: Sequence[Buffer]) -> Pressure:
    """Footprint and memory of a program that did not run."""
    footprint = sum(buffer.size for buffer in buffers)
    return pressure.of(scenario, footprint, systems.memory(scenario), None)


def _verified(
    scenario: Scenario,
    found: Plan,
    known: Mapping[str, float | None],
    order: Order,
    root: Path,
    watch: Watch,
) -> Found:
    """The present and the proposed placement, and others if more runs are allowed."""
    every = verification.candidates(found, order.placements, order.runs or 2)
    names = [verification.label(choice) for choice in every]
    if not known:
        times = verification.seconds(
            scenario,
            every,
            root / _RUNS,
            exchanged=found.exchanged,
            workers=order.workers,
            force=order.force,
            watch=watch,
        )
        known = dict(zip(names, times, strict=True))
    simulated = {name: known[name] for name in names}
    if not order.runs:
        return verification.Found(verification.listed(found, order.placements, simulated), found.placements)
    return verification.chosen(found, order.placements, simulated)


def _fits(verified: Found) -> list[str]:
    """Notes where memory is too small for what was simulated."""
    if verified.advised is None:
        return ["none of the placements that were simulated fits into memory: the advice is the model's alone"]
    return ["the present placement does not fit into memory"] if verified.present is None else []


def _together(constants: SystemConstants) -> list[str]:
    """What to say where there are several GPUs."""
    gpus = constants.gpus
    said = f"the model takes {gpus} GPUs as one that has what all have; simulations have each by itself"
    return [said, _ONE_TARGET] if gpus > 1 else []


def _instead(scenario: Scenario) -> list[str]:
    """Notes where the simulation has another kind of memory than the program."""
    system = "the operating system's memory is priced and simulated as managed memory"
    return [system] if scenario.kind == "system" else []


def _exhausted(
    scenario: Scenario, found: Plan, every: Sequence[dict[str, Placement]], order: Order, root: Path, watch: Watch
) -> dict[str, float | None]:
    """Seconds of every placement."""
    return exhaustive.seconds(
        scenario,
        found,
        every,
        root / _RUNS,
        workers=order.workers,
        force=order.force,
        watch=watch,
        on=order.on,
    )


def _recorded(path: Path, arguments: Arguments, order: Order, output: Path | None) -> Advice:
    """Advice on a recording, which may be joined to a profile of the same process.

    Raises:
        AdviceError: there is no answer, or an argument asks for more than it tells.
        OctavoError: it cannot be used, or the folder cannot be written.

    """
    _check(path, arguments, order)
    constants = _constants(arguments)
    profile = None if order.faults is None else RunResult.load(order.faults)
    found = _joined(recording.recording(path, constants), profile, constants.system)
    advised = order.plan(found.buffers, constants, found.seconds)
    alone = order.plan(list(map(proposal.unknown, found.buffers)), constants, found.seconds)
    shared = by_hand.notes(advised, alone, found.copied_at)
    notes = _notes((*recording.notes(found, joined=profile is not None), *shared), arguments)
    return _kept(Advice(f"profile {path.name}", advised, constants, notes=notes, recording=found), path, order, output)


def _imported(path: Path, arguments: Arguments, order: Order, output: Path | None) -> Advice:
    """Advice on the folder of an imported profile.

    Raises:
        AdviceError: there is no answer, or an argument asks for more than it tells.
        OctavoError: it cannot be used, or the folder cannot be written.

    """
    _check(path, arguments, order)
    constants = _constants(arguments)
    result = RunResult.load(path)
    found = order.plan(profiles.buffers(result, constants.system), constants)
    notes = _notes((*_IMPORTED, *_of_import(result)), arguments)
    return _kept(Advice(f"profile {path.name}", found, constants, notes=notes), path, order, output)


def _check(profile: Path, arguments: Arguments, order: Order) -> None:
    """A profile has no scenario to simulate or to change; only the node is missing from it."""
    if order.exhaustive:
        raise AdviceError(
            f"{profile}: a profile tells too little to simulate its program",
            "leave out --exhaustive, or record a trace",
            code="missing",
        )
    subject.refuse_changes(profile, "profile", arguments)


def _constants(arguments: Arguments) -> SystemConstants:
    return systems.from_node(arguments.get("node") or systems.DEFAULT_NODE)


def _notes(told: Sequence[str], arguments: Arguments) -> tuple[str, ...]:
    return (*told, _UNCHECKED, *subject.assumed_node(arguments))


def _of_import(profile: RunResult) -> list[str]:
    """What the import assumed or left out, such as where an allocation ends."""
    return [f"import: {what} ({count:,})" for what, count in profile.totals.get("notes", {}).items()]


def _joined(found: Recording, profile: RunResult | None, system: System) -> Recording:
    """A recording, with the faults of an imported profile of the same process if there is one."""
    if profile is None:
        return found
    if not is_imported(profile.folder):
        raise AdviceError(
            f"--faults: expected the folder of an imported profile, found a run in {profile.folder}",
            code="unexpected-value",
            key="faults",
        )
    return profiles.with_faults(found, profile, profiles.buffers(profile, system))


def _kept(advice: Advice, path: Path, order: Order, output: Path | None) -> Advice:
    """The same, in its folder if it is to have one."""
    if output is not None:
        key = order.key(f"profile {path.resolve()}", advice.constants)
        with experiment_folder(output, key, force=order.force):
            _save(output, advice)
    return advice


def _save(root: Path, advice: Advice) -> None:
    """Write advice, table and picture into an open folder; files of an earlier search are removed."""
    from octavo.files import folder_locks, parquet  # noqa: PLC0415 - as it is written alone

    disk.write_json(root / ADVICE_FILE, advice.to_dict())
    disk.write_bytes(root / _BUFFERS_FILE, parquet.encoded(advice.table()))
    if advice.exhausted is not None:
        disk.write_bytes(root / _POINTS_FILE, parquet.encoded(advice.exhausted.points))
    else:
        folder_locks.remove(root / _POINTS_FILE)
    if advice.recording is not None:
        disk.write_json(root / placement_file.NAME, placement_file.document(advice))
    told = None if advice.recording is None else timeline.document(advice.recording, advice.plan)
    if told is not None:
        disk.write_json(root / timeline.FILE, told)
    else:
        folder_locks.remove(root / timeline.FILE)
    if extras.pictures():
        advice.plot().save(root / _PICTURE_FILE)
