"""`octavo sweep`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from octavo.cli import dry_run as dry
from octavo.cli import options
from octavo.runs.progress import watching
from octavo.runs.slugs import slug
from octavo.sweeps.search import DEFAULT_TRIALS

EXAMPLES = options.examples(
    "octavo new sweep sweep.toml",
    "octavo sweep sweep.toml -o runs/links",
    "octavo sweep sweep.toml --on ray://head:10001 --workers 64",
    "octavo sweep sweep.toml --best time_ps --trials 40 --seed 1",
    "octavo sweep sweep.toml --replicates 7 --pictures pdf --picture-width 3.5",
)

File = Annotated[Path, typer.Argument(metavar="SWEEP", help="Sweep file (TOML).", show_default=False)]
Best = Annotated[
    str | None,
    typer.Option(
        "--best",
        metavar="MEASURE",
        help="Search for the best value of a measure, such as time_ps or faults, instead of running every point "
        "(needs octavo[search]).",
    ),
]
Trials = Annotated[
    int | None,
    typer.Option(
        "--trials",
        metavar="N",
        min=1,
        help=f"Points that a search tries; random.points or {DEFAULT_TRIALS} if left out.",
    ),
]
Direction = Annotated[
    str | None,
    typer.Option("--direction", help="For a search: minimize (the default) or maximize.", show_default=False),
]
RandomSeed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", min=0, help="Seed of random axes and of a search; the file's if left out."),
]
On = Annotated[
    str,
    typer.Option(
        "--on",
        help="Where points run: local, ray (a cluster of its own, or the one at RAY_ADDRESS), or ray://host:port "
        "(both need octavo[ray]).",
    ),
]


@dataclass(frozen=True)
class Search:
    """Which points run: by default every point of the file."""

    best: Best = None
    trials: Trials = None
    direction: Direction = None
    seed: RandomSeed = None


_SEARCH = Search()


def sweep(
    file: File,
    search: Search = _SEARCH,
    changes: options.Changes = options.CHANGES,
    kind: options.Kind = None,
    fidelity: options.Fidelity = None,
    replicates: options.Replicates = 1,
    on: On = "local",
    effort: options.Effort = options.EFFORT,
    kept: options.Kept = options.KEPT,
    drawn: options.Drawn = options.DRAWN,
    dry_run: options.DryRun = False,
    said: options.Said = options.SAID,
) -> None:
    """Run a scenario under many values of some of its keys: a grid, lists that step together, random draws, a search.

    Every point is kept as soon as it is done: the same command resumes where it was stopped, and tries failed points
    again. A failed point does not stop the others. Results do not depend on where the points ran, or how many at a
    time.
    """
    from octavo.cli import sweep_text  # noqa: PLC0415 - slow to import
    from octavo.sweeps.api import asked, carry_out, prepare  # noqa: PLC0415 - slow to import

    sink = said.sink()
    overrides = options.overrides(changes.assignments, changes.scale, kind=kind, fidelity=fidelity)
    planned = prepare(file, search.best, search.trials, search.direction, search.seed, overrides, replicates)
    wanted = asked(planned, drawn.formats, drawn.picture_width)
    root = kept.output or Path("runs") / f"sweep-{slug(file.stem)}-{planned.digest[:8]}"
    if dry_run:
        dry.show(sink, planned.runs(root), effort.workers, force=kept.force)
        return
    with watching(quiet=said.quiet) as watch:
        table = carry_out(planned, root, workers=effort.workers, on=on, force=kept.force, watch=watch, wanted=wanted)
    sweep_text.show(sink, root, planned, table)
