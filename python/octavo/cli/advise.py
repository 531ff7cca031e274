"""`octavo advise`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo.advice import actions, ask, placement_file, words
from octavo.advice.facts import PLACEMENTS
from octavo.cli import former, options
from octavo.cli.sink import Sink
from octavo.runs.progress import watching

if TYPE_CHECKING:
    from octavo.advice.answer import Advice
    from octavo.advice.facts import Fact
    from octavo.advice.plan import Range

EXAMPLES = options.examples(
    "octavo advise fir --scale 1/64",
    "octavo advise spmv --scale 1/64 --verify",
    "octavo advise bfs-shoc --scale 1/64 --budget 1MiB --facts",
    "octavo advise pagerank.trace --node machine.toml --kind explicit -o runs/advice",
    "octavo advise runs/saxpy --node cuda-sm80 --json",
    "octavo advise fir --scale 1/64 --by-phase --verify",
    "octavo advise profile.json --node cuda-sm80 --placement-file placement.json",
    "octavo advise vectoradd --scale 1/64 --exhaustive --placements device,managed",
    "octavo advise bfs-balanced --scale 0.001 --exhaustive --symmetry --bounds --on ray -o runs/search",
)
_SHOWN = 10
"""Placements that are shown of an exhaustive search; all are in the folder."""


class Library(Enum):
    """For what actions are written."""

    cuda = "cuda"
    rmm = "rmm"
    pytorch = "pytorch"


class Reading(Enum):
    """How the model's equations are read."""

    sound = "sound"
    published = "published"


Target = Annotated[
    str,
    typer.Argument(
        help="Workload, folder of a trace, scenario file, folder of a run or of an imported profile, or a recording.",
        show_default=False,
        callback=former.read,
    ),
]
Budget = Annotated[
    str | None,
    typer.Option("--budget", metavar="SIZE", help="Device memory that may be used, such as 40GB; all if left out."),
]
Placements = Annotated[
    list[str] | None,
    typer.Option("--placements", help=f"What may be advised, separated by commas: {','.join(PLACEMENTS)}."),
]
Verify = Annotated[bool, typer.Option("--verify", help="Also simulate the present and the advised placement.")]
Exhaustive = Annotated[bool, typer.Option("--exhaustive", help="Also simulate every placement of every buffer.")]
Symmetry = Annotated[
    bool,
    typer.Option(
        "--symmetry",
        help="With --exhaustive: of placements that only swap like buffers, simulate one.",
    ),
]
Bounds = Annotated[
    bool,
    typer.Option(
        "--bounds",
        help="With --exhaustive: give up runs as soon as they are known to take longer than the fastest so far.",
    ),
]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        help="With --exhaustive: where runs execute: local, ray, or ray://host:port (both need octavo\\[ray]).",
        show_default=False,
    ),
]
Quick = Annotated[
    bool,
    typer.Option("--quick", help="Skip the runs with managed and pinned memory, which tell what crosses the link."),
]
Phases = Annotated[
    bool,
    typer.Option("--by-phase", help="Also advise on prefetches where a buffer goes from the host to kernels or back."),
]
Faults = Annotated[
    Path | None,
    typer.Option(
        "--faults",
        metavar="FOLDER",
        help="For a recording: an imported profile of the same process, whose faults are assigned to call sites.",
        show_default=False,
    ),
]
Readings = Annotated[
    Reading, typer.Option("--readings", help="The model's equations in consistent units, or as published.")
]
For = Annotated[Library, typer.Option("--for", help="Language or tool to write the actions for.")]
PlacementFile = Annotated[
    Path | None,
    typer.Option(
        "--placement-file",
        metavar="FILE",
        help="Advice on a recording, written for octavo apply.",
        show_default=False,
    ),
]
Facts = Annotated[
    bool, typer.Option("--facts", help="Show what is known about each buffer, its source, and how certain it is.")
]


def advise(
    target: Target,
    node: Annotated[
        str | None,
        typer.Option(
            "--node", "-n", "--machine", help="Node preset, or a machine file; cuda-sm90 for workloads and profiles."
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind", "-k", help="Where all buffers lie now: managed (for workloads), explicit, pinned, system."
        ),
    ] = None,
    budget: Budget = None,
    placements: Placements = None,
    readings: Readings = Reading.sound,
    verify: Verify = False,
    exhaustive: Exhaustive = False,
    symmetry: Symmetry = False,
    bounds: Bounds = False,
    on: On = None,
    quick: Quick = False,
    phases: Phases = False,
    faults: Faults = None,
    library: For = Library.cuda,
    facts: Facts = False,
    placements_to: PlacementFile = None,
    assignments: options.Set = None,
    scale: options.Scale = None,
    seed: options.Seed = None,
    workers: options.Workers = None,
    _memory_limit: options.MemoryLimit = None,
    output: options.Output = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Say where each buffer of a program should lie (device, managed, pinned), what that gains, and why.

    Costs come from a model of the node, facts about buffers from the workload's accesses and a run, or from a profile.
    """
    sink = Sink(as_json=as_json, quiet=quiet)
    if placements_to is not None:
        placement_file.check(Path(target), placements_to, force=force)
    with watching(quiet=quiet) as watch:
        advice = ask.advise(
            target,
            budget=budget,
            placements=options.listed(placements) or PLACEMENTS,  # type: ignore[arg-type]  # checked there
            readings=readings.value,
            verify=verify,
            exhaustive=exhaustive,
            symmetry=symmetry,
            bounds=bounds,
            on=on,
            quick=quick,
            by_phase=phases,
            faults=faults,
            output=output,
            workers=workers,
            force=force,
            watch=watch,
            node=node,
            kind=kind,
            scale=scale,
            seed=seed,
            overrides=assignments,
        )
    sink.document(advice.to_dict() if output is None else {"folder": str(output), **advice.to_dict()})
    _show(sink, advice, library)
    if facts:
        _show_facts(sink, advice)
    if placements_to is not None:
        placement_file.write(advice, placements_to, force=force)
        sink.say(f"For octavo apply: {placements_to}")
    if output is not None:
        sink.say(f"Advice, picture and runs: {output}")


def _show(sink: Sink, advice: Advice, library: Library) -> None:
    rows = [
        [
            each.buffer.name,
            words.size(each.buffer.size),
            each.buffer.present,
            each.placement,
            words.seconds(each.gain.value),
            _range(each.gain),
            each.why,
        ]
        for each in advice.plan.buffers
    ]
    title = f"{advice.name} on {advice.constants.name}"
    sink.table(title, ["buffer", "size", "now", "advised", "gain", "between", "why"], rows)
    for note in advice.notes:
        sink.say(f"Note: {note}")
    if not advice.plan.exact:
        sink.say("Note: there are too many buffers to be sure that no other choice fits the budget better")
    sink.say(f"Predicted gain: {words.seconds(advice.plan.gain.value)} ({_range(advice.plan.gain)})")
    if advice.found is not None:
        found = advice.found
        times = f"{words.seconds(found.present)} now, {words.seconds(found.advised)} as advised"
        sink.say(
            f"Found by simulating both: {words.seconds(found.gain)} ({times}, {found.present / found.advised:.2f}x)"
        )
    _show_by_line(sink, advice)
    _show_phases(sink, advice)
    _show_all(sink, advice)
    _show_actions(sink, advice, library)


def _range(gain: Range) -> str:
    return f"{words.seconds(gain.low)} to {words.seconds(gain.high)}" if gain.low != gain.high else "–"


def _show_by_line(sink: Sink, advice: Advice) -> None:
    """What a joined profile tells of the allocations of each line of the program."""
    known = [each.buffer for each in advice.plan.buffers if each.buffer.facts["sigma"].certainty == "recorded"]
    if advice.recording is None or not known:
        return
    page = advice.constants.system.page
    rows = []
    for buffer in known:
        told = {name: fact.value for name, fact in buffer.facts.items()}
        pages = -(-buffer.size // page)
        counts = f"{told['faults']:,.0f}", f"{told['faults'] / pages:.2f}", f"{told.get('migrations', 0.0):,.0f}"
        shares = f"{told['sigma']:.2f}", f"{told['rho']:.2f}"
        rows.append([buffer.name, words.size(buffer.size), *counts, words.size(round(told["returned"])), *shares])
    columns = ["allocated at", "size", "faults", "a page", "pages migrated", "came back", "sigma", "rho"]
    sink.table("What the profile tells by the line that allocated", columns, rows)


def _show_phases(sink: Sink, advice: Advice) -> None:
    found = advice.by_phase
    if found is None:
        return
    rows = [
        [str(move.phase), move.before, move.buffer, move.to, words.seconds(move.gain.value), _range(move.gain)]
        for move in found.moves
    ]
    sink.table(
        f"Prefetches of managed memory, before {len(found.phases)} phases of kernels and of the host",
        ["phase", "before", "buffer", "to", "gain", "between"],
        rows,
    )
    changed = [name for name, place in found.placements.items() if place != advice.placements[name]]
    if changed:
        sink.say(f"With them, managed memory is the better place of {', '.join(changed)}")
    if advice.found is not None and advice.found_by_phase is not None:
        gain = words.seconds(advice.found.advised - advice.found_by_phase)
        sink.say(f"Found by simulating them: {words.seconds(advice.found_by_phase)}, {gain} less than as advised")
    for move in found.moves:
        sink.say(f"  {move.action}")


def _show_all(sink: Sink, advice: Advice) -> None:
    if advice.exhausted is None:
        return
    points = advice.exhausted.points
    shown = points.with_row_index("rank", 1)
    shown = shown.filter((shown["rank"] <= _SHOWN) | shown["is_advice"] | shown["is_present"])
    rows = [
        [
            str(row["rank"]),
            row["placements"],
            _time(row),
            "–" if row["regret"] is None else f"{row['regret']:.3f}",
            words.size(row["device_bytes"]),
            " and ".join([name for name in ("advice", "present") if row[f"is_{name}"]]),
        ]
        for row in shown.to_dicts()
    ]
    title = f"{points.height} placements that fit (d device, m managed, p pinned, in the order of the buffers)"
    sink.table(title, ["rank", "placements", "time", "regret", "device", ""], rows)
    given_up = points["seconds"].null_count()
    if given_up:
        sink.say(f"Given up, as they take longer than the fastest: {given_up}")
    sink.say(f"Regret of the advice: {advice.exhausted.regret:.1%}")


def _time(row: dict[str, Any]) -> str:
    """Seconds, or more than what is known of a run that was given up."""
    return f"> {words.seconds(row['at_least'])}" if row["seconds"] is None else words.seconds(row["seconds"])


def _show_actions(sink: Sink, advice: Advice, library: Library) -> None:
    changed = [each for each in advice.plan.buffers if each.placement != each.buffer.present]
    sink.say("What to write:" if changed else "Nothing needs to change.")
    for each in changed:
        for line in actions.of(each.buffer, each.placement)[library.value]:
            sink.say(f"  {line}")


def _between(fact: Fact) -> str:
    return f"{fact.low:.4g} to {fact.high:.4g}" if fact.low != fact.high else "–"


def _show_facts(sink: Sink, advice: Advice) -> None:
    rows = [
        [each.buffer.name, name, f"{fact.value:.4g}", _between(fact), fact.certainty, fact.where]
        for each in advice.plan.buffers
        for name, fact in each.buffer.facts.items()
    ]
    sink.table("What is known of the buffers", ["buffer", "fact", "value", "between", "how", "from"], rows)
    system, origins = advice.constants.system, advice.constants.origins
    constants = [
        [name, f"{value:.4g}", origins[name].certainty, origins[name].where] for name, value in vars(system).items()
    ]
    sink.table("What is known of the machine", ["constant", "value", "how", "from"], constants)
