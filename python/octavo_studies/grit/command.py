"""`octavo reproduce grit`."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import polars as pl
import typer

from octavo.cli import options
from octavo.cli.comparison_text import show_speedups
from octavo.errors import ScenarioError
from octavo.scenarios.scenario import DEFAULT_NODE
from octavo_studies.engine import Answer, Asked, Command, Table, counts, shares, values
from octavo_studies.engine.remarks import VERDICTS
from octavo_studies.grit import characterise as partitions
from octavo_studies.grit import ensemble as ensembles
from octavo_studies.grit import main
from octavo_studies.grit import networks as split_networks
from octavo_studies.grit import sensitivity as sweeps
from octavo_studies.grit import walks as walked
from octavo_studies.grit.dispatches import DISPATCHERS
from octavo_studies.grit.remarks import BUFFERS, MAIN, PARTITION, REMARKS, SWEPT, WALKS
from octavo_studies.grit.study import REDUCED_SCALE, Study, placement

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from octavo_studies.engine import Found
    from octavo_studies.grit.dispatches import Dispatcher

Sweep = Enum("Sweep", {name: name for name in sweeps.SWEEPS}, type=str)  # type: ignore[misc]

CollapseScale = Annotated[
    float | None,
    typer.Option(
        "--collapse-scale",
        metavar="NUMBER",
        parser=options.scale_of,
        help="With --characterise: scale of the runs; that of the counts if left out.",
    ),
]
Kernels = Annotated[
    list[str] | None,
    typer.Option(
        "--workload",
        "-w",
        metavar="NAMES",
        help="Kernels, by name or by the publication's abbreviation; all eight if left out.",
    ),
]


def grit(
    asked: Asked,
    reduced: Annotated[
        bool,
        typer.Option(
            "--reduced", help="All parts that remarks are judged by, at a sixteenth; with --ensemble, a smaller grid."
        ),
    ] = False,
    ensemble: Annotated[
        bool,
        typer.Option(
            "--ensemble", help="Run every combination of what the publication leaves open instead: averages as bands."
        ),
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
    collapse_scale: CollapseScale = None,
    workload: Kernels = None,
    node: options.NodePreset = DEFAULT_NODE,
) -> Answer:
    """GRIT (HPCA 2024): eight kernels under eight placements, beside the published averages.

    Finished runs are kept: the same command resumes where it was stopped.
    """
    others = networks + characterise + walks + (sensitivity is not None)
    if others + ensemble > 1:
        message = "--ensemble, --networks, --characterise, --walks and --sensitivity are different studies"
        raise ScenarioError(message, "choose one of them")
    if reduced and others:
        raise ScenarioError(
            "--reduced runs all parts that remarks are judged by", "leave out what chooses one", key="reduced"
        )
    if collapse_scale is not None and not characterise:
        raise ScenarioError("--collapse-scale needs --characterise", key="collapse-scale")
    overrides = asked.overrides(REDUCED_SCALE if reduced and asked.scale is None else asked.scale)
    study = Study(asked.output, overrides, tuple(options.listed(workload)), node, **asked.how)
    if ensemble:
        return _ensemble(study, ends=reduced)
    if networks:
        return _networks(study)
    if reduced:
        return _all(study)
    chosen = WALKS if walks else PARTITION if characterise else str(sensitivity.value) if sensitivity else MAIN
    return _judged(study, _parts(collapse_scale, DISPATCHERS)[chosen](study))


class _Part(NamedTuple):
    """A part that ran: what was found, its name, the rows that remarks are judged by, and what is printed."""

    found: Found
    name: str
    rows: dict[str, pl.DataFrame]
    tables: list[Any]


def _parts(collapse_scale: float | None, dispatchers: Sequence[Dispatcher]) -> dict[str, Callable[[Study], _Part]]:
    """What runs each part."""
    return {
        MAIN: _main,
        PARTITION: partial(_partition, collapse_scale=collapse_scale, dispatchers=dispatchers),
        WALKS: _walks,
        **{name: partial(_sensitivity, name=name) for name in sweeps.SWEEPS},
    }


def _all(study: Study) -> Answer:
    """Every part that remarks are judged by, below one folder."""
    digest = study.experiment([placement(name) for name in main.PLACEMENTS]).digest
    root = study.output or Path("runs") / f"{study.name}-reduced-{digest}"
    runs = _parts(None, DISPATCHERS[:1])
    parts = [runs[name](replace(study, output=root / name)) for name in (MAIN, PARTITION, WALKS, *SWEPT)]
    document = {part.name: part.found.to_dict() for part in parts}
    return _with_remarks(study, root, parts, document)


def _judged(study: Study, part: _Part) -> Answer:
    """One part."""
    return _with_remarks(study, part.found.root, [part], part.found.to_dict())


def _with_remarks(study: Study, root: Path, parts: Sequence[_Part], document: dict[str, Any]) -> Answer:
    """Parts, and the remarks that they can judge: those are about all eight kernels."""
    tables = [table for part in parts for table in part.tables]
    if study.workloads:
        return Answer(root, document, tables)
    judged = REMARKS.save(root, {name: rows for part in parts for name, rows in part.rows.items()})
    return Answer(root, {**document, "remarks": judged}, [*tables, *REMARKS.shown(judged)])


def _main(study: Study) -> _Part:
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
    return _Part(found, MAIN, {MAIN: found.points}, tables)


def _networks(study: Study) -> Answer:
    root, found = split_networks.reproduce(study)
    return Answer(root, found.to_dict(), [lambda sink: show_speedups(sink, "Speed-up over on-touch", found)])


def _ensemble(study: Study, *, ends: bool) -> Answer:
    found = ensembles.ensemble(study, ends=ends)
    bands = found.bands.with_columns(pl.col("published").cast(pl.String).fill_null("–"))
    rows = [[row["id"], row["remark"], *(f"{row[word]:.0%}" for word in VERDICTS[:3])] for row in found.remarks]
    held = Table("Remarks, by the share of all combinations", ["", "remark", *VERDICTS[:3]], rows)
    return Answer(found.root, found.to_dict(), [values(found.title, bands), held])


def _partition(study: Study, collapse_scale: float | None, dispatchers: Sequence[Dispatcher]) -> _Part:
    found = partitions.characterise(study, collapse_scale, dispatchers)
    tables = [
        shares(title, found.points.pivot(on="dispatch", index="kernel", values=measure, maintain_order=True))
        for measure, title in partitions.PICTURES.items()
    ]
    rows = [
        [row["kernel"], row["statement"], *(_share(value, of in row["holds"]) for of, value in row["found"].items())]
        for row in found.statements
    ]
    rows.append(["", f"hold, of {len(rows)}", *map(str, found.held.values())])
    title = "Published remarks and what is found; ✗: does not hold"
    tables.append(Table(title, ["kernel", "remark", *found.held], rows))
    here = {"dispatch": DISPATCHERS[0].label}
    judged = {
        PARTITION: found.points.filter(**here),
        BUFFERS: found.buffers.filter(kernel="gemm", **here),
    }
    return _Part(found, PARTITION, judged, tables)


def _walks(study: Study) -> _Part:
    found = walked.walks(study)
    return _Part(
        found, WALKS, {WALKS: found.points}, [shares(f"{found.title}, under GRIT", found.points.drop("walks"))]
    )


def _share(share: float | None, holds: bool) -> str:
    shown = "–" if share is None else f"{share:.0%}"
    return shown if holds else f"{shown} ✗"


def _sensitivity(study: Study, name: str) -> _Part:
    found = sweeps.sensitivity(name, study)
    table = found.geometric_mean_speedup
    rows = [[str(row[0]), *(f"{value:.2f}" for value in row[1:])] for row in table.iter_rows()]
    title = f"{found.title}; average speed-up over on-touch in each setting"
    return _Part(found, name, {name: table}, [Table(title, table.columns, rows)])


COMMAND = Command(
    "grit",
    grit,
    (
        "octavo reproduce grit --reduced",
        "octavo reproduce grit --sensitivity components --scale 0.0625",
        "octavo reproduce grit --ensemble --reduced -o runs/ensemble",
        "octavo reproduce grit --networks --scale 0.001",
        "octavo reproduce grit --characterise --collapse-scale 0.0625",
    ),
)
