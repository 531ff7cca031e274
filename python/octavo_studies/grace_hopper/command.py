"""`octavo reproduce grace-hopper`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from octavo.cli import options
from octavo.cli.complete import names
from octavo_studies.engine import Answer, Asked, Command, values
from octavo_studies.grace_hopper import parts
from octavo_studies.grace_hopper.remarks import REMARKS
from octavo_studies.grace_hopper.study import KINDS, NODE, REDUCED_SCALE, SCALE, Study

Parts = Enum("Parts", {name: name for name in parts.PARTS}, type=str)  # type: ignore[misc]


def grace_hopper(
    asked: Asked,
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
            help="Node, with its own memory system.",
        ),
    ] = NODE,
) -> Answer:
    """Integrated memory on Grace Hopper (ICPP 2024): six programs in system, managed and explicit memory.

    Finished runs are kept: the same command resumes where it was stopped. Inputs are a sixteenth of the published
    ones, unless `--scale` says otherwise.
    """
    study = Study(
        asked.output,
        asked.overrides(None),
        tuple(options.listed(program)) or Study.programs,
        tuple(options.listed(kind)) or KINDS,
        node,
        asked.scale if asked.scale is not None else REDUCED_SCALE if reduced else SCALE,
        reduced,
        **asked.how,
    )
    chosen = parts.chosen(study, [str(one.value) for one in part or []])
    found = {name: run(study) for name, run in chosen.items()}
    judged = REMARKS.save(study.root, {name: one.points for name, one in found.items()})
    document = {"remarks": judged, **{name: one.to_dict() for name, one in found.items()}}
    tables = [values(one.title, one.shown) for one in found.values()]
    return Answer(study.root, document, [*tables, *REMARKS.shown(judged)])


COMMAND = Command(
    "grace-hopper",
    grace_hopper,
    (
        "octavo reproduce grace-hopper --reduced",
        "octavo reproduce grace-hopper --part kinds --program hotspot,srad --scale 1/64",
        "octavo reproduce grace-hopper --part kinds --node cuda-sm90 -o runs/without-coherence",
    ),
)
