"""`octavo.fit`: from a program or a recording to a verdict, what it costs, and a plan of moves."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from octavo import _core, api, checks, extras
from octavo.advice import placement_file, programs, recording, subject, systems
from octavo.advice.fit import allocator_log, footprint, placement, program_story, recording_story, runs
from octavo.advice.fit.answer import NAMES, Fit, Way
from octavo.advice.fit.costs import Costs
from octavo.advice.fit.machine import Asked
from octavo.advice.fit.weigh import weigh
from octavo.arguments import spelled_out
from octavo.errors import AdviceError, ScenarioError, of_engine
from octavo.files import disk
from octavo.runs import room, unsourced_values
from octavo.runs.comparison import experiment_folder
from octavo.runs.content import holds_result, is_imported
from octavo.runs.pressure import pressure
from octavo.runs.progress import told as telling
from octavo.runs.result import RunResult
from octavo.scenarios.scenario import Recipe, Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Unpack

    from octavo.advice.fit.answer import Name
    from octavo.advice.fit.machine import Memory
    from octavo.advice.fit.sequence import Story
    from octavo.advice.fit.weigh import Weighed
    from octavo.advice.systems import SystemConstants
    from octavo.arguments import Arguments
    from octavo.runs.execute import Progress

    Watch = Callable[[Progress], None] | None

FIT_FILE = "fit.json"
PICTURE_FILE = "resident.png"
_FIRST_SCALE = 1 / 256
"""At which a program's size is looked at, unless a scale is given; chosen."""
_QUICK = 1 << 30
"""Bytes of a program that is built as a whole for its exact size: about two seconds; chosen."""
_MEMORIES = 4
"""Times the size of a larger one, the memory that tells how it shrinks: it is looked at closely up to eight; chosen."""
_SIMULATED = 16 << 20
"""Bytes of the programs that are simulated, unless a scale is given; chosen: seconds, and several blocks of 2 MiB."""


@dataclass(frozen=True)
class Order:
    """What is asked beside the program."""

    memory: int | str | None
    scale: float | None
    workers: int | None
    force: bool


@spelled_out
def fit(
    source: str | Path | Scenario | None = None,
    *,
    output: str | Path | None = None,
    workers: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | bool | None = None,
    **arguments: Unpack[Arguments],
) -> Fit:
    """Say whether a program fits into a GPU's memory, what it costs if not, and what to move when.

    Sizes are those of the whole program. Without `scale`, simulations are of a part of it of some 16 MiB, and times are
    taken to grow with it. A program that fits is not simulated. The node is `cuda-sm90` if none is named, and memory
    what it has.

    Args:
        source: a workload by name, a scenario (or its TOML file), the folder of a trace or of a run, a recording
            (`docs/runtime.md`), the folder of `octavo profile --buffers`, a memory snapshot of PyTorch, or a log of
            RMM.
        output: folder of the answer, its picture and its runs; a temporary one if left out.
        workers: runs side by side; as many as there are cores if left out.
        force: replace what `output` holds.
        watch: called about ten times a second with the progress of the runs; `True` shows it.
        **arguments: see `octavo.arguments.Arguments`.

    Raises:
        AdviceError: a profile tells too little, or an argument does not apply to this source.
        OctavoError: the source cannot be used or simulated, or the folder cannot be written.

    Examples:
        >>> octavo.fit("vectoradd", memory="24GB").verdict
        'fits'

    """
    memory, scale = arguments.pop("memory", None), arguments.get("scale")
    order = Order(memory, scale, checks.workers(workers), force)
    path = None if source is None or isinstance(source, Scenario) else recording.meant(checks.path("source", source))
    place = None if output is None else checks.path("output", output)
    if path is not None and recording.is_recording(path):
        return _recorded(path, arguments, order, place)
    if path is not None and allocator_log.is_log(path):
        return _logged(path, arguments, order, place)
    if path is not None and is_imported(path):
        raise AdviceError(
            f"{path}: expected a workload, a trace, a scenario, a run or a recording, found an imported profile, which "
            "says nothing of launches and what they use",
            "record the program: octavo record -- PROGRAM",
            code="unexpected-value",
            file=path,
        )
    return _simulated(source, arguments, order, place, watch)


def _recorded(path: Path, arguments: Arguments, order: Order, output: Path | None) -> Fit:
    """A recording: the model alone answers.

    Raises:
        AdviceError: the recording cannot be used, or an argument asks for more than it tells.
        OctavoError: the node cannot be used, or the folder cannot be written.

    """
    subject.refuse_changes(path, "recording", arguments)
    node = arguments.get("node") or systems.DEFAULT_NODE
    constants = systems.from_node(node)
    values = api.scenario(workload=_ANY_WORKLOAD, node=node).values
    asked = Asked.of(order.memory, values["node"])
    story, found = recording_story.story(path, constants)
    answer = _answer(story, constants, asked, values)
    told = (*answer.notes, *story.notes, *subject.assumed_node(arguments))
    answer = replace(answer, seconds=story.seconds, recording=found, as_recorded=True, notes=told)
    if answer.verdict != "fits" and story.steps and _leaves(values):
        weighed = weigh(story, answer.points, answer.room, answer.costs)
        answer = replace(answer, weighed=weighed, ways=_ways(answer, weighed, {}))
    return _kept(answer, order, output, str(path))


def _logged(path: Path, arguments: Arguments, order: Order, output: Path | None) -> Fit:
    """An allocator's log: the model alone answers, between two assumptions about the use of memory.

    Raises:
        OctavoError: the log or the node cannot be used, an argument asks for more than it tells, or the folder cannot
            be written.

    """
    subject.refuse_changes(path, "log of an allocator", arguments)
    node = arguments.get("node") or systems.DEFAULT_NODE
    constants = systems.from_node(node)
    values = api.scenario(workload=_ANY_WORKLOAD, node=node).values
    asked = Asked.of(order.memory, values["node"])
    told = allocator_log.read(path, constants)
    answer = _answer(told.story, constants, asked, values)
    answer = replace(
        answer,
        seconds=told.story.seconds,
        as_recorded=True,
        refused=told.refused(answer.room),
        holds=told.holds(answer.room),
        notes=(*answer.notes, *told.notes, *subject.assumed_node(arguments)),
    )
    if answer.verdict != "fits":
        answer = replace(answer, notes=(*told.about_times, *answer.notes))
    if answer.refused is not None and _leaves(values):
        weighed, most = (
            weigh(story, answer.points, answer.room, answer.costs).paged for story in (told.story, told.used_throughout)
        )
        ways = [
            replace(way, low=min(way.low, other.low), high=max(way.high, other.high))
            for way in _ways(answer, weighed, {})
            for other in _ways(answer, most, {})
            if way.name == other.name
        ]
        answer = replace(answer, weighed=weighed, ways=ways)
    return _kept(answer, order, output, str(path))


_ANY_WORKLOAD = "vectoradd"
"""A scenario has to name one; a node does not depend on which."""


def _simulated(
    source: str | Path | Scenario | None,
    arguments: Arguments,
    order: Order,
    output: Path | None,
    watch: Callable[[Progress], None] | bool | None,
) -> Fit:
    """A workload, a trace, a scenario or a run.

    Raises:
        OctavoError: it cannot be used or simulated, or the folder cannot be written.

    """
    base, constants = _scenario(source, arguments)
    programs.check(base)
    sized = _is_sized(base)
    small = base if order.scale is not None or not sized else _scaled(base, _FIRST_SCALE)
    asked = Asked.of(order.memory, base.values["node"])
    factor = _factor(small)
    answer = _sized(small, factor, constants, asked)
    if answer.verdict == "fits" or answer.beyond_host or not _leaves(base.values):
        return _kept(answer, order, output, small.toml)
    if order.scale is None and sized:
        small = _scaled(base, _scale_of(answer.peak.all))
        factor = _factor(small)
        answer = _sized(small, factor, constants, asked)
    root, keep = api.folder_of(output)
    with telling(watch) as tell, experiment_folder(root, _key(small.toml, answer), force=order.force):
        found = _weighed(answer, (small, factor), order, root, tell)
        if output is not None:
            _save(root, found)
    keep(found)
    return found


def _scenario(source: str | Path | Scenario | None, arguments: Arguments) -> tuple[Scenario, SystemConstants]:
    """What is to fit, and the machine."""
    if isinstance(source, (str, Path)) and holds_result(Path(source)):
        source = RunResult.load(Path(source)).scenario
    if arguments.get("node") is not None and isinstance(source, Scenario):
        raise AdviceError(
            "expected no other node for a scenario or a run, which has one of its own",
            "leave out --node, or name the workload",
            code="conflict",
            key="node",
        )
    return subject.of_program(source, arguments)


def _scaled(scenario: Scenario, scale: float) -> Scenario:
    return Recipe(scenario.toml, "scenario", (f"workload.scale={scale!r}",)).resolve()


def _is_sized(scenario: Scenario) -> bool:
    """Whether a scale makes it smaller: not of recorded traces, and of programs whose size an option gives."""
    return "scale" in scenario.values["workload"] and _scaled(scenario, _FIRST_SCALE).scales == {_FIRST_SCALE}


def _scale_of(size: int) -> float:
    """A half, a quarter and so on, at which a program of this size is simulated."""
    scale = 1.0
    while size * scale > _SIMULATED:
        scale /= 2
    return scale


def _factor(scenario: Scenario) -> float:
    """How many times larger the whole program is than as the scenario has it.

    Raises:
        ScenarioError: the workload cannot be built.

    """
    (scale,) = scenario.scales
    if scale >= 1:
        return 1.0
    size = _peak(scenario)
    if 0 < size / scale <= _QUICK:
        return _peak(_scaled(scenario, 1.0)) / size
    # Not all of it may shrink: memory does as the program does.
    memory = max(round(_MEMORIES * size / scale), 1)
    limited = Recipe(scenario.toml, "scenario", (runs.limit(memory),)).resolve()
    try:
        part = _core.gpu_memory(limited.toml)
    except _core.SimulationError as error:
        raise of_engine(error, ScenarioError) from None
    return memory / part if part else 1 / scale


def _peak(scenario: Scenario) -> int:
    return footprint.peak(footprint.over_time(program_story.story(scenario, 1.0))).all


def _sized(scenario: Scenario, factor: float, constants: SystemConstants, asked: Asked) -> Fit:
    """The answer as far as sizes tell it, for a whole program that is `factor` times as large."""
    (scale,) = scenario.scales
    story = program_story.story(scenario, factor)
    answer = _answer(story, constants, asked, scenario.values)
    return replace(answer, scale=scale, beside=room.beside(scenario, answer.peak.all, answer.memory))


def _leaves(values: Mapping[str, Any]) -> bool:
    """Whether anything can leave a GPU's memory: nothing where cores have the same."""
    return bool(values["memory"]["eviction"]["name"] != "none")


def _answer(story: Story, constants: SystemConstants, asked: Asked, values: Mapping[str, Any]) -> Fit:
    node, leaves = values["node"], _leaves(values)
    if not leaves:
        story = replace(story, pieces=tuple(replace(piece, kind="explicit") for piece in story.pieces))
    points = footprint.over_time(story)
    peak = footprint.peak(points)
    memory: Memory = asked.memory(peak.all, node)
    refused = footprint.refused(story, points, memory.room)
    most = max((point.managed - max(memory.room - point.explicit, 0) for point in points), default=0)
    beyond = 0 if memory.host is None else max(most - memory.host, 0)
    return Fit(
        story=story,
        node=constants.name,
        memory=memory.gpu,
        reserve=memory.reserve,
        points=points,
        peak=peak,
        refused=refused,
        beyond_host=beyond,
        about=constants.about,
        costs=Costs.of(constants),
        notes=() if leaves else ("nothing leaves this memory: all that is managed counts as explicit",),
    )


def _weighed(answer: Fit, part: tuple[Scenario, float], order: Order, root: Path, tell: Watch) -> Fit:
    """The answer with what simulations of a part of the program and the model say of ways to run."""
    scenario, factor = part
    found = runs.runs(scenario, answer.room, runs.Run(root / "runs", order.workers, order.force, tell))
    places = program_story.places(found.fits.table("allocations").to_dicts())
    kernels = (found.in_place or found.fits).table("kernels").to_dicts()
    seconds = [(row["ended_ps"] - row["began_ps"]) * 1e-12 * factor for row in kernels]
    used = program_story.uses(scenario, places)
    story = program_story.with_uses(answer.story, used, places, seconds)
    chosen = unsourced_values.sentence(unsourced_values.decided(found.paging or found.fits))
    notes = (*answer.notes, *found.notes, *((chosen,) if chosen else ()))
    answer = replace(answer, story=story, seconds=found.fits.seconds * factor, notes=notes)
    results: dict[Name, RunResult | None] = {"paging": found.paging, "strips": found.strips}
    known = {name: run.seconds * factor for name, run in results.items() if run is not None}
    observed = known["paging"] - (answer.seconds or 0.0) if "paging" in known else None
    weighed = weigh(story, answer.points, answer.room, answer.costs, observed)
    if not found.can_be_cut:
        jumped = program_story.jumped_about(used)
        weighed = weighed.without(number for number, piece in enumerate(story.pieces) if piece.name in jumped)
    if factor > 1:
        (scale,) = scenario.scales
        told = f"simulated at scale 1/{1 / scale:.4g}; the whole program is taken to take {factor:,.3g} times as long"
        distorted = pressure(found.paging or found.fits).distorted
        told = f"{told}, but {'; '.join(distorted)}" if distorted else told
        answer = replace(answer, notes=(*answer.notes, told))
    ways = [way for way in _ways(answer, weighed, known) if way.name != "paging" or found.paging is not None]
    return replace(answer, weighed=weighed, ways=ways)


def _ways(answer: Fit, weighed: Weighed, known: Mapping[Name, float]) -> list[Way]:
    """Ways to run: as simulated, or by the model, which says how much longer they take than where it fits."""
    base, found = answer.seconds or 0.0, []
    extras = {"paging": weighed.paging, "moves": weighed.moves, "streaming": weighed.streaming, "strips": None}
    for name in NAMES:
        extra = extras[name]
        if name in known:
            found.append(Way(name, known[name], known[name], known[name], "simulated"))
        elif extra is not None:
            found.append(Way(name, base + extra.value, base + extra.low, base + extra.high, "modelled"))
    return found


def _key(about: str, answer: Fit) -> str:
    """Eight hexadecimal digits that tell apart what leads to different answers."""
    asked = (about, answer.memory, answer.reserve, answer.node, asdict(answer.costs))
    return hashlib.sha256(repr(asked).encode()).hexdigest()[:8]


def _kept(answer: Fit, order: Order, output: Path | None, about: str) -> Fit:
    """The answer, in its folder if one is named."""
    if output is not None:
        with experiment_folder(output, _key(about, answer), force=order.force):
            _save(output, answer)
    return answer


def _save(root: Path, answer: Fit) -> None:
    """Write the answer and its picture into an open folder."""
    disk.write_json(root / FIT_FILE, answer.to_dict())
    if answer.recording is not None and answer.weighed is not None:
        disk.write_json(root / placement_file.NAME, placement.document(answer))
    if extras.pictures():
        answer.plot().save(root / PICTURE_FILE)
