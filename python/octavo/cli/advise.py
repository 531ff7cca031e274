"""`octavo advise`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from octavo.advice import placement_file
from octavo.advice.facts import PLACEMENTS
from octavo.advice.words import Library
from octavo.cli import complete, options
from octavo.runs.progress import watching

EXAMPLES = options.examples(
    "octavo advise fir --scale 1/64",
    "octavo advise spmv --scale 1/64 --runs 8",
    "octavo advise bfs-shoc --scale 1/64 --budget 60% --facts",
    "octavo advise pagerank.trace --node machine.toml --kind explicit -o runs/advice",
    "octavo advise runs/saxpy --node cuda-sm80 --json",
    "octavo advise red --scale 1/64 --node machines/h100.toml --memory 60%",
    "octavo advise torch.step --memory 24GB",
    "octavo advise profile.json --node cuda-sm80 --placement-file placement.json",
    "octavo advise vectoradd --scale 1/64 --exhaustive --placements device,managed",
    "octavo advise bfs-balanced --scale 0.001 --exhaustive --placements device,managed --on ray -o runs/search",
)


class Reading(Enum):
    """How the model's equations are read."""

    sound = "sound"
    published = "published"


Target = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="Workload, Python file, folder of a trace, scenario file, folder of a run or of an imported profile, "
        "a recording, or a step of PyTorch.",
        show_default=False,
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="SIZE",
        help="Device memory that may be used, for the program at scale 1 (40GB) or as whole percent of the footprint "
        "(60%); all if left out.",
        show_default=False,
    ),
]
Placements = Annotated[
    list[str] | None,
    typer.Option(
        "--placements",
        metavar="NAMES",
        help=f"What may be advised, separated by commas; {', '.join(PLACEMENTS)} if left out.",
    ),
]
Runs = Annotated[
    int | None,
    typer.Option(
        "--runs",
        metavar="N",
        min=0,
        help="Simulations that check the model's proposal; the fastest is the advice. 4 if left out, 0 for none.",
        show_default=False,
    ),
]
Exhaustive = Annotated[bool, typer.Option("--exhaustive", help="Also simulate every placement of every buffer.")]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        help="With --exhaustive: where runs execute: local, ray, or ray://host:port (both need octavo[ray]).",
        show_default=False,
    ),
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick", help="Simulate nothing that tells facts, and no check unless --runs or --exhaustive asks for it."
    ),
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
        help="Advice on a recording, written for `octavo apply`.",
        show_default=False,
    ),
]
Facts = Annotated[
    bool, typer.Option("--facts", help="Show what is known about each buffer, its source, and how certain it is.")
]


Kind = Annotated[
    options.KindName | None,
    typer.Option(
        "--kind",
        "-k",
        autocompletion=complete.choices("Kind"),
        help="Kind of memory of all buffers now: managed (for workloads), explicit, pinned, system.",
    ),
]


@dataclass(frozen=True)
class Question:
    """The question: about which program, on which node."""

    node: options.AdviceNode = None
    kind: Kind = None
    budget: Budget = None
    placements: Placements = None
    readings: Readings = Reading.sound
    runs: Runs = None
    exhaustive: Exhaustive = False
    on: On = None
    quick: Quick = False
    faults: Faults = None

    def arguments(self) -> dict[str, Any]:
        """The same in the form that `octavo.advise` takes."""
        placements = options.listed(self.placements) or PLACEMENTS
        return {**vars(self), "placements": placements, "readings": self.readings.value}


@dataclass(frozen=True)
class Wording:
    """How the answer is written."""

    library: For = Library.cuda
    facts: Facts = False
    placements_to: PlacementFile = None


_QUESTION, _WORDING = Question(), Wording()


def advise(
    target: Target,
    question: Question = _QUESTION,
    wording: Wording = _WORDING,
    changes: options.Changes = options.CHANGES,
    memory: options.Memory = None,
    seed: options.Seed = None,
    effort: options.Effort = options.EFFORT,
    kept: options.Kept = options.KEPT,
    said: options.Said = options.SAID,
) -> None:
    """Say where each buffer of a program should lie (device, managed, prefetched, pinned), what it gains, and why.

    A model of the node proposes, a few simulations of the whole program check it, and the fastest is the advice.
    """
    from octavo.advice import pipeline  # noqa: PLC0415 - slow to import
    from octavo.cli import advice_text, step  # noqa: PLC0415 - slow to import

    sink = said.sink()
    options.check_once(changes.assignments, node=question.node, kind=question.kind, scale=changes.scale, seed=seed)
    others = {**vars(question), "node": None, "readings": question.readings is not Reading.sound, "seed": seed}
    others |= {"scale": changes.scale, "file": wording.placements_to, "facts": wording.facts}
    if step.is_meant(target, others, changes.assignments or ()):
        step.answer(
            sink,
            target,
            node=question.node,
            memory=memory,
            changes=changes.assignments or (),
            output=kept.output,
            force=kept.force,
            with_code=True,
        )
        return
    if wording.placements_to is not None:
        placement_file.check(Path(target), wording.placements_to, force=kept.force)
    with watching(quiet=said.quiet) as watch:
        advice = pipeline.advise(
            target,
            **question.arguments(),
            output=kept.output,
            workers=effort.workers,
            force=kept.force,
            watch=watch,
            scale=changes.scale,
            memory=memory,
            seed=seed,
            overrides=changes.assignments,
        )
    sink.document(advice.to_dict() if kept.output is None else {"folder": str(kept.output), **advice.to_dict()})
    advice_text.show(sink, advice, wording.library, facts=wording.facts)
    if wording.placements_to is not None:
        placement_file.write(advice, wording.placements_to, force=kept.force)
        sink.say(f"For octavo apply: {wording.placements_to}")
    if kept.output is not None:
        sink.say(f"Advice, picture and runs: {kept.output}")
