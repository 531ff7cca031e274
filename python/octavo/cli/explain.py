"""`octavo explain`."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo.cli import footprint, options, trust
from octavo.errors import OctavoError, OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from octavo.cli.sink import Sink
    from octavo.explain import Difference
    from octavo.explain.waits import Wait
    from octavo.explain.what_if import Remedy
    from octavo.runs.result import RunResult

EXAMPLES = options.examples(
    "octavo explain runs/first",
    "octavo explain runs/first --what-if --picture why.png",
    "octavo explain runs/first --what-if --replicates 7",
    "octavo explain runs/on-touch runs/grit",
    "octavo explain runs/compare-fir-1a2b3c4d",
)

WAIT_COLUMNS = ["what for", "share of the wait", "p50", "p95", "p99"]

BUFFER_COLUMNS = ["buffer", "faults", "then", "pages moved", "then"]

Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN",
        help="Folder of a run, a comparison or a sweep; several runs of a workload are compared with the first.",
        show_default=False,
    ),
]
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
    replicates: options.Replicates = 1,
    effort: options.Effort = options.EFFORT,
    picture: Chart = None,
    said: options.Said = options.SAID,
) -> None:
    """Say what bound a run, which buffers cause it and what would help, or where runs differ from the first."""
    from octavo.explain import explain as explained  # noqa: PLC0415 - polars takes long to import
    from octavo.explain import targets  # noqa: PLC0415 - as above
    from octavo.explain.what_if import beside  # noqa: PLC0415 - as above
    from octavo.explain.words import against  # noqa: PLC0415 - as above
    from octavo.runs.progress import watching  # noqa: PLC0415 - as above

    sink = said.sink()
    _check_picture(picture)
    if not what_if and (output is not None or effort.workers is not None or replicates > 1):
        raise OutputError(
            "--output, --workers and --replicates apply only to the runs of --what-if",
            "leave them out, or add it",
            key="output",
        )
    with _without_force():
        found = targets.named(runs)
        if len(found) > 1:
            _check_several(found, what_if=what_if, picture=picture)
            _show_differences(sink, _differences(found), found.values(), picture)
            return
    with watching(quiet=said.quiet or not what_if) as watch, _without_force():
        result = next(iter(found.values()))
        folder = (output or beside(result.folder)) if what_if else None
        one = explained(result, what_if=folder, replicates=replicates, workers=effort.workers, watch=watch)
    sink.document({**one.to_dict(), **_beside([result])} if sink.as_json else {})
    for sentence in one.sentences:
        sink.tell(sentence)
    footprint.tell_all(sink, [result])
    trust.tell(sink, [result])
    if one.facts.waits:
        sink.table("what faults wait for", WAIT_COLUMNS, [_wait(each) for each in one.facts.waits])
    if one.remedies:
        rows = [(each.name, _time(each), against(each)) for each in one.remedies]
        sink.table("one change at a time", ["change", "time", "against the run"], rows)
        sink.say(f"Runs: {folder}")
    if picture is not None:
        one.plot().save(picture)
    if one.failure is not None:
        raise one.failure


def _check_picture(picture: Path | None) -> None:
    """Refuse a picture that cannot be written before anything is run."""
    from octavo.runs.pictures import check_target  # noqa: PLC0415 - polars takes long to import

    if picture is not None:
        check_target(picture)


def _wait(one: Wait) -> tuple[str, ...]:
    from octavo.explain.words import WAITED, duration  # noqa: PLC0415 - polars takes long to import

    return (WAITED[one.part], f"{one.share:.1%}", *map(duration, (one.p50_ps, one.p95_ps, one.p99_ps)))


def _differences(found: Mapping[str, RunResult]) -> list[Difference]:
    """The differences of each run from the first of its workload."""
    from octavo.explain import difference  # noqa: PLC0415 - polars takes long to import

    alike: dict[str, list[str]] = {}
    for name, result in found.items():
        alike.setdefault(result.scenario.label, []).append(name)
    pairs = [(first, other) for first, *others in alike.values() for other in others]
    if alone := [names[0] for names in alike.values() if len(names) == 1]:
        raise OutputError(f"nothing to compare {alone[0]} with: the only run of its workload", "leave it out")
    return [difference(found[first], found[other], (first, other)) for first, other in pairs]


def _check_several(runs: Mapping[str, RunResult], *, what_if: bool, picture: Path | None) -> None:
    """Refuse options that apply to one run, or to two."""
    if what_if:
        raise OutputError(
            f"--what-if: expected one run, found {len(runs)}",
            "name one run, or leave out --what-if",
            code="unexpected-value",
            key="what-if",
            found=len(runs),
        )
    if picture is not None and len(runs) > 2:
        raise OutputError(
            f"--picture: expected one run or two, found {len(runs)}",
            "a report shows more: octavo report RUN...",
            code="unexpected-value",
            key="picture",
            found=len(runs),
        )


def _show_differences(
    sink: Sink, found: Sequence[Difference], results: Iterable[RunResult], picture: Path | None
) -> None:
    """The differences of each run from the first; a table names the buffers that the sentences leave out."""
    from octavo.explain.words import MOST_BUFFERS  # noqa: PLC0415 - polars takes long to import

    told = found[0].to_dict() if len(found) == 1 else {"differences": [one.to_dict() for one in found]}
    sink.document({**told, **_beside(results)} if sink.as_json else {})
    for one in found:
        for sentence in one.sentences:
            sink.tell(sentence)
        rows = [(row["allocation"], *_both(row["faults"]), *_both(row["moved"])) for row in one.changed]
        if len(rows) > MOST_BUFFERS:
            sink.table(f"buffers: {one.names[0]} → {one.names[1]}", BUFFER_COLUMNS, rows)
    footprint.tell_all(sink, results)
    trust.tell(sink, results)
    if picture is not None:
        found[0].plot().save(picture)


def _beside(results: Iterable[RunResult]) -> dict[str, Any]:
    """What JSON says of the sizes and the nodes of results."""
    return {"pressure": footprint.documents(results), "nodes": trust.documents(results)}


def _both(counts: tuple[int, int]) -> tuple[str, str]:
    return f"{counts[0]:,}", f"{counts[1]:,}"


def _time(one: Remedy) -> str:
    """The time of a change, with the interval of its replicates."""
    from octavo.explain.words import milliseconds  # noqa: PLC0415 - polars takes long to import

    if one.replicates == 1:
        return milliseconds(one.time_ps)
    return f"{milliseconds(one.time_ps)} {one.interval.text}"


@contextmanager
def _without_force() -> Iterator[None]:
    """Say that `--force` is an option of the commands that make runs, not of this one."""
    try:
        yield
    except OctavoError as error:
        if "--force" in (error.hint or ""):
            error.hint = "make the run again: the command that made it has --force"
        raise
