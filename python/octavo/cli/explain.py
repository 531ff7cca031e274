"""`octavo explain`."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octavo.cli import options
from octavo.cli.sink import Sink
from octavo.errors import OctavoError, OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from octavo.explain.waits import Wait

EXAMPLES = options.examples(
    "octavo explain runs/first",
    "octavo explain runs/first --what-if --picture why.png",
    "octavo explain runs/on-touch runs/grit",
)

WAIT_COLUMNS = ["what for", "share of the wait", "p50", "p95", "p99"]

Runs = Annotated[list[Path], typer.Argument(metavar="RUN", help="Folder of a run, or of two.", show_default=False)]
WhatIf = Annotated[
    bool, typer.Option("--what-if", help="Run the scenario again with one thing changed at a time; runs are kept.")
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="DIR", help="Folder of the runs of --what-if; RUN-what-if if left out."),
]
Chart = Annotated[
    Path | None,
    typer.Option(
        "--picture", metavar="FILE", help="Draw the explanation into a PNG, SVG or PDF file.", show_default=False
    ),
]


def explain(
    runs: Runs,
    what_if: WhatIf = False,
    output: Output = None,
    workers: options.Workers = None,
    _memory_limit: options.MemoryLimit = None,
    picture: Chart = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Say what bound a run, which buffers cause it and what would help, or where two runs differ."""
    from octavo.explain import difference  # noqa: PLC0415 - polars takes long to import
    from octavo.explain import explain as explained  # noqa: PLC0415 - as above
    from octavo.explain.words import change, milliseconds  # noqa: PLC0415 - as above
    from octavo.runs.progress import watching  # noqa: PLC0415 - as above
    from octavo.runs.result import RunResult  # noqa: PLC0415 - as above

    sink = Sink(as_json=as_json, quiet=quiet)
    _check_picture(picture)
    if not what_if and (output is not None or workers is not None):
        raise OutputError("--output and --workers apply only to the runs of --what-if", "leave them out, or add it")
    if len(runs) > 2 or (len(runs) == 2 and what_if):
        raise OutputError(
            f"expected one run, or two without --what-if, found {len(runs)}",
            "a report shows more: octavo report",
        )
    if len(runs) == 2:
        with _without_force():
            found = difference(*(RunResult.load(run) for run in runs))
        sink.document(found.to_dict())
        for sentence in found.sentences:
            sink.tell(sentence)
        if picture is not None:
            found.plot().save(picture)
        return
    with watching(quiet=quiet or not what_if) as watch, _without_force():
        result = RunResult.load(runs[0])
        folder = (output or _beside(runs[0])) if what_if else None
        one = explained(result, what_if=folder, workers=workers, watch=watch)
    sink.document(one.to_dict())
    for sentence in one.sentences:
        sink.tell(sentence)
    if one.facts.waits:
        sink.table("what faults wait for", WAIT_COLUMNS, [_wait(each) for each in one.facts.waits])
    if one.remedies:
        rows = [(each.label, milliseconds(each.time_ps), change(each.change)) for each in one.remedies]
        sink.table("one change at a time", ["change", "time", "against the run"], rows)
        sink.say(f"Runs: {folder}")
    if picture is not None:
        one.plot().save(picture)


def _check_picture(picture: Path | None) -> None:
    """Refuse a picture that cannot be written before anything is run."""
    from octavo.runs.pictures import check_target  # noqa: PLC0415 - polars takes long to import

    if picture is not None:
        check_target(picture)


def _wait(one: Wait) -> tuple[str, ...]:
    from octavo.explain.words import WAITED, duration  # noqa: PLC0415 - polars takes long to import

    return (WAITED[one.part], f"{one.share:.1%}", *map(duration, (one.p50_ps, one.p95_ps, one.p99_ps)))


def _beside(run: Path) -> Path:
    """RUN-what-if next to a run; `.` and `..` have no names that could be added to."""
    named = run.resolve() if run.name in ("", "..") else run
    return named.with_name(f"{named.name}-what-if")


@contextmanager
def _without_force() -> Iterator[None]:
    """Say whose option `--force` is: of the commands that make runs, and not of this one."""
    try:
        yield
    except OctavoError as error:
        if "--force" in (error.hint or ""):
            error.hint = "make the run again: the command that made it has --force"
        raise
