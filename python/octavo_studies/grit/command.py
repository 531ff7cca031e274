"""`octavo reproduce grit`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import typer

from octavo.cli import options
from octavo.cli.compared import show_speedups
from octavo.errors import ScenarioError
from octavo.report.published import published
from octavo.scenarios.scenario import DEFAULT_NODE
from octavo_studies.engine import Answer, Asked, Command, Table, counts, shares
from octavo_studies.grit import characterise as partitions
from octavo_studies.grit import fit as fits
from octavo_studies.grit import main
from octavo_studies.grit import networks as split_networks
from octavo_studies.grit import sensitivity as sweeps
from octavo_studies.grit import walks as walked
from octavo_studies.grit.study import Study

Sweep = Enum("Sweep", {name: name for name in sweeps.SWEEPS}, type=str)  # type: ignore[misc]


def grit(
    asked: Asked,
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
) -> Answer:
    """GRIT (HPCA 2024): eight kernels under eight placements, beside the published averages.

    Finished runs are kept: the same command resumes where it was stopped.
    """
    if fit + networks + characterise + walks + (sensitivity is not None) > 1:
        message = "--fit, --networks, --characterise, --walks and --sensitivity are different studies"
        raise ScenarioError(message, "choose one of them")
    if collapse_scale is not None and not characterise:
        raise ScenarioError("--collapse-scale needs --characterise", key="collapse-scale")
    overrides = asked.overrides(asked.scale)
    study = Study(asked.output, overrides, tuple(options.listed(workload)), node, **asked.how)
    if networks:
        return _networks(study)
    if fit:
        return _fit(study)
    if characterise:
        return _partition(study, collapse_scale)
    if walks:
        return _walks(study)
    if sensitivity is not None:
        return _sensitivity(study, str(sensitivity.value))
    return _main(study)


def _main(study: Study) -> Answer:
    found, comparison = main.reproduce(study)
    best = [
        (row["kernel"], row["found"], row["published"] or "–", f"{row['grit_over_it']:.2f}")
        for row in found.best_uniform_scheme
    ]
    gains = [
        (row["over"], f"{row['found']:+.0%}", f"{row['published']:+.0%}", f"{row['difference'] * 100:+.0f} points")
        for row in found.gains_of_grit
    ]
    tables: list[Any] = [
        lambda sink: show_speedups(sink, "Speed-up over on-touch", comparison),
        counts("Faults", main.faults(found.points)),
        shares("Schemes of pages under GRIT", found.scheme_mix),
        Table("Fastest uniform scheme", ["kernel", "found", "published", "GRIT over the found one"], best),
        Table("GRIT's average gain", ["over", "found", "published", "difference"], gains),
    ]
    return Answer(found.root, found.to_dict(), tables)


def _networks(study: Study) -> Answer:
    root, found = split_networks.reproduce(study)
    return Answer(root, found.to_dict(), [lambda sink: show_speedups(sink, "Speed-up over on-touch", found)])


def _fit(study: Study) -> Answer:
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
    table = Table(found.title, ["service time", "lines in flight", *targets, "error"], rows)
    best = found.best
    nearest = (
        f"Nearest: service {best['service']}, {best['lines_in_flight']} lines in flight, error {best['error']:.3f}"
    )
    return Answer(found.root, found.to_dict(), [table, nearest])


def _partition(study: Study, collapse_scale: float | None) -> Answer:
    found = partitions.characterise(study, collapse_scale)
    tables = [
        shares(title, found.points.pivot(on="dispatch", index="kernel", values=measure, maintain_order=True))
        for measure, title in partitions.PICTURES.items()
    ]
    rows = [
        [row["kernel"], row["statement"], *(_judged(value, of in row["holds"]) for of, value in row["found"].items())]
        for row in found.statements
    ]
    rows.append(["", f"hold, of {len(rows)}", *map(str, found.held.values())])
    title = "Published remarks and what is found; ✗: does not hold"
    return Answer(found.root, found.to_dict(), [*tables, Table(title, ["kernel", "remark", *found.held], rows)])


def _walks(study: Study) -> Answer:
    found = walked.walks(study)
    return Answer(found.root, found.to_dict(), [shares(f"{found.title}, under GRIT", found.points.drop("walks"))])


def _judged(share: float | None, holds: bool) -> str:
    shown = "–" if share is None else f"{share:.0%}"
    return shown if holds else f"{shown} ✗"


def _sensitivity(study: Study, name: str) -> Answer:
    found = sweeps.sensitivity(name, study)
    table = found.geometric_mean_speedup
    rows = [[str(row[0]), *(f"{value:.2f}" for value in row[1:])] for row in table.iter_rows()]
    title = f"{found.title}; average speed-up over on-touch in each setting"
    return Answer(found.root, found.to_dict(), [Table(title, table.columns, rows)])


COMMAND = Command(
    "grit",
    grit,
    (
        "octavo reproduce grit --scale 0.0625",
        "octavo reproduce grit --sensitivity components --scale 0.0625",
        "octavo reproduce grit --fit --scale 0.0625 -o runs/fit",
        "octavo reproduce grit --networks --scale 0.001",
        "octavo reproduce grit --characterise --collapse-scale 0.0625",
    ),
)
