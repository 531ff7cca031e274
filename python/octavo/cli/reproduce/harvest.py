"""`octavo reproduce harvest`."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from octavo.cli import options
from octavo.cli.reproduce import shown
from octavo.cli.sink import Sink
from octavo.errors import ScenarioError
from octavo.reproduce.harvest import sensitivity as varied
from octavo.reproduce.harvest import study as studies
from octavo.reproduce.harvest.cases import CASES, INTER_JOB
from octavo.reproduce.harvest.systems import WHOLE
from octavo.runs import lending
from octavo.runs.progress import watching

if TYPE_CHECKING:
    import polars as pl

EXAMPLES = options.examples(
    "octavo reproduce harvest --reduced",
    "octavo reproduce harvest --case 1 --scale 0.03 --fidelity page",
    "octavo reproduce harvest --case 1 --need 1.25 -o runs/less",
    "octavo reproduce harvest --case llm --scale 0.002 --node hgx-h100-8",
    "octavo reproduce harvest --sensitivity spare --scale 0.01",
)

Sweep = Enum("Sweep", {name: name for name in varied.SWEEPS}, type=str)  # type: ignore[misc]
Case = Enum("Case", {name: name for name in CASES}, type=str)  # type: ignore[misc]


def harvest(
    case: Annotated[
        list[Case] | None,
        typer.Option(
            "--case",
            metavar="NAME",
            help=f"A case: {options.one_of(CASES)}. May be repeated; the four published ones with several jobs if left "
            "out.",
        ),
    ] = None,
    node: options.NodePreset = studies.NODE,
    reduced: Annotated[
        bool, typer.Option("--reduced", help="Cases 1 and 2, graphs at a hundredth of their size.")
    ] = False,
    sensitivity: Annotated[
        Sweep | None,
        typer.Option(
            "--sensitivity",
            metavar="NAME",
            help=f"Vary one parameter instead, on the harvester of case 1: {options.one_of(varied.SWEEPS)}.",
        ),
    ] = None,
    need: Annotated[
        float,
        typer.Option(
            "--need",
            metavar="NUMBER",
            min=1.0,
            help="Bytes of a harvesting job on a GPU, relative to the GPU's memory.",
        ),
    ] = 1.5,
    fidelity: options.Fidelity = None,
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
    """Memory harvesting (USENIX ATC 2022): jobs that lack memory beside jobs that do not, technique by technique.

    Finished runs are kept: the same command resumes where it was stopped.
    """
    if sensitivity is not None and case:
        raise ScenarioError(
            "--sensitivity varies the harvester of case 1, and --case names cases", "choose one of them"
        )
    sink = Sink(as_json=as_json, quiet=quiet)
    if reduced and scale is None:
        scale = studies.REDUCED_SCALE
    every = studies.REDUCED_CASES if reduced else tuple(INTER_JOB)
    chosen = tuple(str(one.value) for one in case or []) or every
    with watching(quiet=quiet) as watch:
        study = studies.Study(
            output,
            tuple(options.overrides(assignments, scale, seed, fidelity=fidelity)),
            chosen,
            node,
            need,
            workers=workers,
            force=force,
            watch=watch,
        )
        if sensitivity is not None:
            name = str(sensitivity.value)
            _show_varied(sink, name, varied.vary(study, name))
            return
        found = studies.reproduce(study)
    show(sink, chosen, found)


def show(sink: Sink, chosen: tuple[str, ...], found: studies.Found) -> None:
    """Print each case, and averages beside the published ones."""
    for name in chosen:
        _show_case(sink, name, found)
    compared = [
        (row["what"], f"{row['found']:.2f}", "–" if row["published"] is None else f"{row['published']:.2f}")
        for row in found.compared()
    ]
    sink.table("Beside the publication", ["", "found", "published"], compared)
    sink.document({"folder": str(found.root), **found.to_dict()})
    sink.say(f"Results and pictures: {found.root}")


def _show_varied(sink: Sink, name: str, found: varied.Varied) -> None:
    sweep = varied.SWEEPS[name]
    rows = [
        [f"{row['value']} {sweep.unit}", row["system"], row["job"], row["role"], f"{row['speedup']:.2f}"]
        for row in found.points.to_dicts()
    ]
    sink.table(sweep.title, ["", "system", "job", "", "speed"], rows)
    sink.document({"folder": str(found.root), **found.to_dict()})
    sink.say(f"Results and pictures: {found.root}")


def _show_case(sink: Sink, name: str, found: studies.Found) -> None:
    rows = [
        [row["system"], row["job"], row["role"], f"{row['time_ps'] / 1e9:.3f} ms", f"{row['speedup']:.2f}"]
        for row in found.jobs.filter(case=name).to_dicts()
    ]
    sink.table(f"Case {name}", ["system", "job", "", "time", "speed"], rows)
    pages = found.pages.filter(case=name).drop("case")
    shown.counts(sink, f"Case {name}: pages", pages)
    shown.values(sink, f"Case {name}, {WHOLE}: where pages came from", found.sources.filter(case=name).drop("case"))
    lenders = [
        [lending.called(row["keeper"], row["owner"]), *(f"{row[key] / (1 << 20):.1f} MiB" for key in _LENT)]
        for row in found.lenders.filter(case=name).to_dicts()
    ]
    sink.table(f"Case {name}, {WHOLE}: who lends to whom", ["", "sent there", "kept on average", "at most"], lenders)
    if "case" in found.served.columns and not found.served.filter(case=name).is_empty():
        _show_served(sink, name, found.served.filter(case=name))


_LENT = ("sent", "mean", "most")


def _show_served(sink: Sink, name: str, found: pl.DataFrame) -> None:
    waits = ("first_p50_ms", "first_p99_ms", "next_p50_ms", "next_p99_ms")
    rows = [
        [
            row["system"],
            f"{row['tokens_per_s']:,.0f}",
            *("–" if row[key] is None else f"{row[key]:.3f} ms" for key in waits),
        ]
        for row in found.to_dicts()
    ]
    columns = ["system", "tokens/s", "first token, half", "99 of 100", "between tokens, half", "99 of 100"]
    sink.table(f"Case {name}: what users wait", columns, rows)
