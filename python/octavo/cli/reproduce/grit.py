"""`octavo reproduce grit`."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo.cli import options
from octavo.cli.compared import show_speedups
from octavo.cli.reproduce import shown
from octavo.cli.sink import Sink
from octavo.errors import ScenarioError
from octavo.report.published import published
from octavo.reproduce import characterise as partitions
from octavo.reproduce import fit as fits
from octavo.reproduce import grit as main_study
from octavo.reproduce import networks as split_networks
from octavo.reproduce import sensitivity as sweeps
from octavo.reproduce import walks as walked
from octavo.reproduce.study import Study
from octavo.runs.progress import watching
from octavo.scenarios.scenario import DEFAULT_NODE

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = options.examples(
    "octavo reproduce grit --scale 0.0625",
    "octavo reproduce grit --sensitivity components --scale 0.0625",
    "octavo reproduce grit --fit --scale 0.0625 -o runs/fit",
    "octavo reproduce grit --networks --scale 0.001",
    "octavo reproduce grit --characterise --collapse-scale 0.0625",
)

Sweep = Enum("Sweep", {name: name for name in sweeps.SWEEPS}, type=str)  # type: ignore[misc]


def grit(
    fit: Annotated[
        bool, typer.Option("--fit", help="Run the grid of driver service time and remote lines in flight instead.")
    ] = False,
    sensitivity: Annotated[
        Sweep | None,
        typer.Option(
            "--sensitivity",
            metavar="NAME",
            help=f"Vary one parameter instead: {options.one_of(sweeps.SWEEPS)}.",
        ),
    ] = None,
    networks: Annotated[
        bool, typer.Option("--networks", help="Run VGG16 and ResNet18, split by layer over all GPUs, instead.")
    ] = False,
    characterise: Annotated[
        bool,
        typer.Option(
            "--characterise", help="Count who shares which pages under each dispatch instead, beside published remarks."
        ),
    ] = False,
    walks: Annotated[
        bool,
        typer.Option("--walks", help="Instead, count the scheme of each page that misses the L2 TLB, under GRIT."),
    ] = False,
    collapse_scale: Annotated[
        float | None,
        typer.Option(
            "--collapse-scale",
            metavar="NUMBER",
            parser=options.scale_of,
            help="With --characterise: scale of the runs; that of the counts if left out.",
        ),
    ] = None,
    workload: Annotated[
        list[str] | None,
        typer.Option(
            "--workload",
            "-w",
            metavar="NAMES",
            help="Kernels, by name or by the publication's abbreviation; all eight if left out.",
        ),
    ] = None,
    node: options.NodePreset = DEFAULT_NODE,
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
    """GRIT (HPCA 2024): eight kernels under eight placements, beside the published averages.

    Finished runs are kept: the same command resumes where it was stopped.
    """
    if fit + networks + characterise + walks + (sensitivity is not None) > 1:
        message = "--fit, --networks, --characterise, --walks and --sensitivity are different studies"
        raise ScenarioError(message, "choose one of them")
    if collapse_scale is not None and not characterise:
        raise ScenarioError("--collapse-scale needs --characterise")
    sink = Sink(as_json=as_json, quiet=quiet)
    overrides = tuple(options.overrides(assignments, scale, seed))
    with watching(quiet=quiet) as watch:
        study = Study(output, overrides, tuple(options.listed(workload)), node, workers, force, watch)
        if networks:
            root, document = _networks(sink, study)
        elif fit:
            root, document = _fit(sink, study)
        elif characterise:
            root, document = _partition(sink, study, collapse_scale)
        elif walks:
            root, document = _walks(sink, study)
        elif sensitivity is not None:
            root, document = _sensitivity(sink, study, str(sensitivity.value))
        else:
            root, document = _main(sink, study)
    sink.document({"folder": str(root), **document})
    sink.say(f"Results and pictures: {root}")


def _main(sink: Sink, study: Study) -> tuple[Path, dict[str, Any]]:
    found = main_study.reproduce(study)
    show_speedups(sink, "Speed-up over on-touch", found.comparison)
    shown.counts(sink, "Faults", found.faults())
    shown.shares(sink, "Schemes of pages under GRIT", found.scheme_mix())
    best = [
        (row["kernel"], row["found"], row["published"] or "–", f"{row['grit_over_it']:.2f}")
        for row in found.best_uniform()
    ]
    sink.table("Fastest uniform scheme", ["kernel", "found", "published", "GRIT over the found one"], best)
    gains = [
        (row["over"], f"{row['found']:+.0%}", f"{row['published']:+.0%}", f"{row['difference'] * 100:+.0f} points")
        for row in found.gains()
    ]
    sink.table("GRIT's average gain", ["over", "found", "published", "difference"], gains)
    return found.root, found.to_dict()


def _networks(sink: Sink, study: Study) -> tuple[Path, dict[str, Any]]:
    root, found = split_networks.reproduce(study)
    show_speedups(sink, "Speed-up over on-touch", found)
    return root, found.to_dict()


def _fit(sink: Sink, study: Study) -> tuple[Path, dict[str, Any]]:
    found = fits.fit(study)
    targets = [f"{name} ({published().fit_targets[name]:.2f})" for name in fits.FITTED]
    rows = [
        (
            row["service"],
            str(row["lines_in_flight"]),
            *(f"{row[name]:.2f}" for name in fits.FITTED),
            f"{row['error']:.3f}",
        )
        for row in found.grid.to_dicts()
    ]
    sink.table("Average speed over on-touch (published)", ["service time", "lines in flight", *targets, "error"], rows)
    best = found.best
    sink.tell(
        f"Nearest: service {best['service']}, {best['lines_in_flight']} lines in flight, error {best['error']:.3f}"
    )
    return found.root, found.to_dict()


def _partition(sink: Sink, study: Study, collapse_scale: float | None) -> tuple[Path, dict[str, Any]]:
    found = partitions.characterise(study, collapse_scale)
    for measure, title in partitions.PICTURES.items():
        table = found.points.pivot(on="dispatch", index="kernel", values=measure, maintain_order=True)
        shown.shares(sink, title, table)
    judged, held = found.judged(), found.held()
    rows = [
        [row["kernel"], row["statement"], *(_judged(value, of in row["holds"]) for of, value in row["found"].items())]
        for row in judged
    ]
    rows.append(["", f"hold, of {len(judged)}", *map(str, held.values())])
    sink.table("Published remarks and what is found; ✗: does not hold", ["kernel", "remark", *held], rows)
    return found.root, found.to_dict()


def _walks(sink: Sink, study: Study) -> tuple[Path, dict[str, Any]]:
    found = walked.walks(study)
    shown.shares(sink, "Schemes of the pages that miss the L2 TLB, under GRIT", found.points.drop("walks"))
    return found.root, found.to_dict()


def _judged(share: float | None, holds: bool) -> str:
    shown = "–" if share is None else f"{share:.0%}"
    return shown if holds else f"{shown} ✗"


def _sensitivity(sink: Sink, study: Study, name: str) -> tuple[Path, dict[str, Any]]:
    found = sweeps.sensitivity(name, study)
    rows = [[str(row[0]), *(f"{value:.2f}" for value in row[1:])] for row in found.table.iter_rows()]
    sink.table(
        f"Varied: {found.sweep.title}; average speed-up over on-touch in each setting", found.table.columns, rows
    )
    return found.root, found.to_dict()
