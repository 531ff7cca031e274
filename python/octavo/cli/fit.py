"""`octavo fit`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo.advice import placement_file
from octavo.advice.fit import placement
from octavo.advice.fit.answer import NAMES
from octavo.cli import complete, options
from octavo.plain import amount, seconds
from octavo.runs.progress import watching

if TYPE_CHECKING:
    from octavo.advice.fit.answer import Fit, Way
    from octavo.cli.sink import Sink

EXAMPLES = options.examples(
    "octavo fit fir --memory 24GB",
    "octavo fit red --memory 40MB --node machines/h100.toml",
    "octavo fit pagerank --memory 60% --kind explicit -o runs/fit",
    "octavo fit torch.step --memory 24GB",
    "octavo fit snapshot.pickle --memory 24GB",
    "octavo fit profile.json --memory 24GB --node machine.toml --json",
)
_SHOWN = 12
"""Moves that are shown; all are in the JSON document."""

Program = Annotated[
    str,
    typer.Argument(
        metavar="PROGRAM",
        help="Workload, folder of a trace, scenario file, folder of a run, a recording, a step or a memory snapshot of "
        "PyTorch, or a log of RMM.",
        show_default=False,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Memory of the GPU for the whole program (24GB), or whole percent of what the program has at its most "
        "(60%); what the node has if left out.",
        show_default=False,
    ),
]
Kind = Annotated[
    options.KindName | None,
    typer.Option(
        "--kind",
        "-k",
        autocompletion=complete.choices("Kind"),
        help="Where all buffers lie: managed (for workloads), explicit, pinned, system.",
    ),
]


PlacementFile = Annotated[
    Path | None,
    typer.Option(
        "--placement-file",
        metavar="FILE",
        help="The plan of moves of a recording that does not fit, written for octavo apply.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Question:
    """What is to fit into what."""

    memory: Memory = None
    node: options.AdviceNode = None
    kind: Kind = None
    seed: options.Seed = None

    def arguments(self) -> dict[str, Any]:
        """The same as `octavo.fit` takes it."""
        return dict(vars(self))


_QUESTION = Question()


def fit(
    program: Program,
    question: Question = _QUESTION,
    changes: options.Changes = options.CHANGES,
    effort: options.Effort = options.EFFORT,
    kept: options.Kept = options.KEPT,
    said: options.Said = options.SAID,
    placements_to: PlacementFile = None,
) -> None:
    """Say whether a program fits into a GPU's memory: it fits, slows by how much, or fails; and what to move when.

    The whole program is meant. One that does not fit is simulated in part: where it fits, paging on demand, and cut
    into strips. A model adds moves before launches and streaming by hand; for a recording and a log it gives all
    answers. The exit status is 0 whatever the answer is.
    """
    from octavo.advice.fit import pipeline  # noqa: PLC0415 - slow to import
    from octavo.cli import step  # noqa: PLC0415 - slow to import

    sink = said.sink()
    options.check_once(
        changes.assignments, node=question.node, kind=question.kind, scale=changes.scale, seed=question.seed
    )
    others = {"kind": question.kind, "seed": question.seed, "scale": changes.scale, "file": placements_to}
    if step.is_meant(program, others, changes.assignments or ()):
        step.answer(
            sink,
            program,
            node=question.node,
            memory=question.memory,
            changes=changes.assignments or (),
            output=kept.output,
            force=kept.force,
            with_code=False,
        )
        return
    if placements_to is not None:
        placement_file.check(Path(program), placements_to, force=kept.force)
    with watching(quiet=said.quiet) as watch:
        found = pipeline.fit(
            program,
            **question.arguments(),
            output=kept.output,
            workers=effort.workers,
            force=kept.force,
            watch=watch,
            scale=changes.scale,
            overrides=changes.assignments,
        )
    sink.document(found.to_dict() if kept.output is None else {"folder": str(kept.output), **found.to_dict()})
    _show(sink, found)
    if placements_to is not None:
        _write_moves(sink, found, placements_to, force=kept.force)
    if kept.output is not None:
        sink.say(f"Answer, picture and runs: {kept.output}")


def _write_moves(sink: Sink, found: Fit, path: Path, *, force: bool) -> None:
    """The plan as a file, if there is one."""
    if found.weighed is None:
        sink.tell(f"Nothing is to be moved for room, so {path} is not written; octavo advise may move something.")
        return
    placement.write(found, path, force=force)
    sink.say(f"For octavo apply: {path}")


def _show(sink: Sink, found: Fit) -> None:
    for sentence in found.sentences:
        sink.tell(sentence)
    if found.ways:
        sink.table(
            "Ways to run it", ["way", "time", "between", "slowdown", "how"], [_way(found, way) for way in found.ways]
        )
    if found.weighed is not None:
        _show_moves(sink, found)
        _show_picture(sink, found)
    for note in (*found.notes, found.about.sentence):
        sink.tell(f"Note: {note}")


def _way(found: Fit, way: Way) -> list[str]:
    slower = found.slowdown(way)
    between = "–" if way.low == way.high else f"{seconds(way.low)} to {seconds(way.high)}"
    return [NAMES[way.name], seconds(way.seconds), between, "–" if slower is None else f"{slower:.2f}x", way.how]


def _show_moves(sink: Sink, found: Fit) -> None:
    """The first moves of the plan, beside those that every program makes at first."""
    moves = found.to_dict()["moves"]
    rows = [
        [
            f"{move['before']} {move['step']}",
            move["piece"],
            move["way"],
            amount(move["bytes"]),
            seconds(move["seconds"]),
        ]
        for move in moves[:_SHOWN]
    ]
    sink.table("Plan of moves", ["before launch", "buffer", "moves", "size", "takes"], rows)
    if len(moves) > _SHOWN:
        sink.tell(f"And {len(moves) - _SHOWN:,} more: --json has all.")


def _show_picture(sink: Sink, found: Fit) -> None:
    from octavo.advice.fit import picture  # noqa: PLC0415 - who asks for JSON does without

    rows = [list(row) for row in picture.text(found, unicode=sink.unicode)]
    sink.table("On the GPU, launch by launch", ["buffer", picture.key(unicode=sink.unicode)], rows)
