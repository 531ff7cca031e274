"""`octavo reproduce memmap`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path  # noqa: TC003 - typer reads it
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from octavo.cli import options
from octavo.cli.complete import names
from octavo_studies.engine import Answer, Asked, Command, Found, Table, beside
from octavo_studies.memmap import study
from octavo_studies.memmap.applications import APPLICATIONS
from octavo_studies.memmap.graphs import DRAWN
from octavo_studies.memmap.intervals import NAMES, PARTS
from octavo_studies.memmap.oversubscribed import SHARE
from octavo_studies.memmap.remarks import BY_APPLICATION, OVERSUBSCRIBED, REMARKS, ROOFLINE, STRUCTURES
from octavo_studies.memmap.systems import DEVICE, MANAGED, MODEL, OPTIMUM, SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Iterator


Application = Enum("Application", {name: name for name in APPLICATIONS}, type=str)  # type: ignore[misc]


def memmap(
    asked: Asked,
    application: Annotated[
        list[Application] | None,
        typer.Option(
            "--application",
            metavar="NAME",
            help=f"A program of the study: {options.one_of(APPLICATIONS)}. May be repeated; all if left out.",
        ),
    ] = None,
    reduced: Annotated[
        bool, typer.Option("--reduced", help="A sixteenth of the study's sizes, and two graphs of each graph program.")
    ] = False,
    graphs: Annotated[
        int | None,
        typer.Option(
            "--graphs",
            metavar="N",
            min=1,
            max=len(DRAWN),
            help="The first N of the graphs that are drawn for each graph program; all 20 if left out.",
        ),
    ] = None,
    graph: Annotated[
        list[Path] | None,
        typer.Option(
            "--graph",
            metavar="FILE",
            help="A graph of your own instead of those that are drawn (.mtx, .npz, .gr, .txt …). May be repeated.",
        ),
    ] = None,
    node: Annotated[
        str, typer.Option("--node", autocompletion=names("nodes"), help="A node preset or file; one GPU of it is used.")
    ] = (study.NODE),
) -> Answer:
    """Host or device for each data structure (MemMap, PACT 2020): every placement, the model's, and managed memory.

    Finished runs are kept: the same command resumes where it was stopped.
    """
    chosen = tuple(str(one.value) for one in application or []) or tuple(APPLICATIONS)
    least, few = (study.REDUCED_SCALE, study.REDUCED_GRAPHS) if reduced else (1.0, len(DRAWN))
    scale = least if asked.scale is None else asked.scale
    files = tuple(graph or ())
    found = study.reproduce(
        study.Study(asked.output, asked.overrides(None), chosen, node, scale, graphs or few, files, **asked.how)
    )
    frames = {BY_APPLICATION: found.systems, STRUCTURES: found.structures, ROOFLINE: found.roofline}
    if found.oversubscribed.height:
        frames[OVERSUBSCRIBED] = found.oversubscribed
    judged = REMARKS.save(found.root, frames)
    return Answer(found.root, {**found.to_dict(), "remarks": judged}, [*_shown(found), *REMARKS.shown(judged)])


def _shown(found: Found) -> Iterator[Table | str]:
    for name, words in SYSTEMS.items():
        yield f"{name}: {words}"
    rows = [
        [
            row["application"],
            row["pattern"],
            str(row["placements"]),
            f"{row['milliseconds']:.3f} ms",
            *(f"{row[name]:.2f}" for name in SYSTEMS),
            f"{row['model_over_optimum'] - 1:.1%}",
            f"{row['spread']:.2f}",
        ]
        for row in found.systems.to_dicts()
    ]
    rows.append(["mean", "", "", "", *(f"{value:.2f}" for value in found.means.values()), "", ""])
    columns = ["", "pattern", "placements", "time on the device", *SYSTEMS, "regret", "slowest / fastest"]
    yield Table("Speed over all on the device", columns, rows)
    yield from (table for table in (_intervals(found), _graphs(found), _oversubscribed(found)) if table.rows)
    yield _structures(found)
    share = (found.roofline["reached"] / found.roofline["ceiling"]).to_numpy()
    yield f"Roofline: {found.roofline.height} kernels reach {share.min():.0%} to {share.max():.0%} of their ceilings"
    counted, decided = (found.costs[name].to_numpy() for name in ("counted", "decided"))
    yield (
        f"The model, processor time here: {counted.sum():.1f} s to count all accesses, "
        f"{decided.max() * 1e3:.1f} ms at most to decide"
    )
    yield beside("Beside the publication", found.compared)


def _intervals(found: Found) -> Table:
    """Milliseconds of all on the device and of the optimum: a gain may be cheaper allocation and little else."""
    rows = [
        [row["application"], row["system"], *(f"{row[name]:.3f}" for name in (*NAMES, "whole"))]
        for row in found.intervals.filter(pl.col("system").is_in([DEVICE, MODEL, OPTIMUM])).to_dicts()
    ]
    return Table("Milliseconds by interval", ["", "", *NAMES, "whole"], rows)


def _graphs(found: Found) -> Table:
    rows = [
        [
            row["graph"],
            str(row["degree"] or ""),
            *(f"{row[name]:.2f}" for name in ("least_sigma", MODEL, OPTIMUM, "optimum_moved")),
        ]
        for row in found.graphs.to_dicts()
    ]
    return Table("Graphs, means over the programs", ["", "degree", "least σ", MODEL, OPTIMUM, PARTS["moved"]], rows)


def _oversubscribed(found: Found) -> Table:
    """Programs in strips, and what they gain if some of their structures lie on the host."""
    rows = [
        [
            row["application"],
            f"{row['strips_ms']:.3f} ms",
            *("too large" if row[name] is None else f"{row[name]:.2f}" for name in (MANAGED, MODEL, OPTIMUM)),
            row["placements"],
            f"{row['strips_launches']} → {row['launches']}",
        ]
        for row in found.oversubscribed.to_dicts()
    ]
    columns = ["", "in strips", MANAGED, MODEL, OPTIMUM, "placements", "launches"]
    return Table(f"Memory for {SHARE} % of the footprint: speed over all on the device, in strips", columns, rows)


def _structures(found: Found) -> Table:
    columns = [
        "",
        "structure",
        "model",
        "optimum",
        "σ by page",
        "estimated",
        "by line",
        "ρ",
        "estimated",
        "faults a page",
    ]
    rows = [
        [
            *(row[name] for name in ("application", "structure", "model", "optimum")),
            *(
                f"{row[name]:.2f}"
                for name in ("sigma", "sigma_estimated", "used", "rho", "rho_estimated", "faults_per_page")
            ),
        ]
        for row in found.structures.filter(seed=0).to_dicts()
    ]
    return Table("Data structures, on the first input", columns, rows)


COMMAND = Command(
    "memmap",
    memmap,
    (
        "octavo reproduce memmap --reduced",
        "octavo reproduce memmap --application FIR --application PR --scale 1/8 --graphs 3",
        "octavo reproduce memmap --application BFS --graph mine.mtx",
        "octavo reproduce memmap --reduced --node x86-p100-pcie3 -o runs/pcie",
    ),
    without=("fidelity", "seed"),
)
