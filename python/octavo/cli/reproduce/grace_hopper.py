"""`octavo reproduce grace-hopper`."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo.cli import options
from octavo.cli.complete import names
from octavo.cli.reproduce import shown
from octavo.cli.sink import Sink
from octavo.reproduce.grace_hopper import parts, statements
from octavo.reproduce.grace_hopper import study as studies
from octavo.runs.progress import watching

if TYPE_CHECKING:
    import polars as pl

Parts = Enum("Parts", {name: name for name in parts.PARTS}, type=str)  # type: ignore[misc]

EXAMPLES = options.examples(
    "octavo reproduce grace-hopper --reduced",
    "octavo reproduce grace-hopper --part kinds --program hotspot,srad --scale 1/64",
    "octavo reproduce grace-hopper --part kinds --node cuda-sm90 -o runs/without-coherence",
)


def grace_hopper(
    part: Annotated[
        list[Parts] | None,
        typer.Option(
            "--part",
            metavar="NAME",
            help=f"A part of the study: {options.one_of(parts.PARTS)}. May be repeated; all that have runs if left "
            "out.",
        ),
    ] = None,
    reduced: Annotated[
        bool, typer.Option("--reduced", help="Inputs at a 256th of their size, few values of each varied parameter.")
    ] = False,
    program: Annotated[
        list[str] | None,
        typer.Option("--program", metavar="NAMES", help="Programs by the study's names; all six if left out."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="NAMES", help="Kinds of memory; all three if left out."),
    ] = None,
    node: Annotated[
        str,
        typer.Option(
            "--node",
            "-n",
            autocompletion=names("nodes"),
            help="Node with its own memory system, or the stock driver's where it names none.",
        ),
    ] = studies.NODE,
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
    """Integrated memory on Grace Hopper (ICPP 2024): six programs in system, managed and explicit memory.

    Finished runs are kept: the same command resumes where it was stopped. Inputs are a sixteenth of the published
    ones, unless `--scale` says otherwise.
    """
    sink = Sink(as_json=as_json, quiet=quiet)
    default = studies.Study()
    documents: dict[str, Any] = {}
    frames: dict[str, pl.DataFrame] = {}
    with watching(quiet=quiet) as watch:
        study = studies.Study(
            output,
            tuple(options.overrides(assignments, None, seed)),
            tuple(options.listed(program)) or default.programs,
            tuple(options.listed(kind)) or default.kinds,
            node,
            scale if scale is not None else studies.REDUCED_SCALE if reduced else default.scale,
            reduced,
            workers,
            force,
            watch,
        )
        for name, described in parts.chosen(study, [str(one.value) for one in part or []]).items():
            found = described(study)
            shown.values(sink, found.title, found.shown)
            frames[name] = found.points
            documents[name] = found.to_dict()
    judged = statements.judged(frames)
    for row in judged:
        sink.tell(f"{row['holds']}: {row['statement']}\n    found: {row['found']}\n    why: {row['why']}")
    sink.document({"folder": str(study.root), "statements": judged, **documents})
    sink.say(f"Results and pictures: {study.root}")
