"""`octavo reproduce mosaic`."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo.cli import options
from octavo.cli.complete import names
from octavo.cli.sink import Sink
from octavo.errors import ScenarioError
from octavo.reproduce.mosaic import at_launch, machine, mixes, pages, sharing, varied
from octavo.reproduce.mosaic import paging as over_the_bus
from octavo.reproduce.mosaic.study import Study
from octavo.reproduce.mosaic.systems import NODE, UNITS
from octavo.runs.progress import watching

if TYPE_CHECKING:
    from collections.abc import Callable

    from octavo.reproduce.mosaic.study import Part

PARTS: dict[str, Callable[[Study], Part]] = {
    "page-sizes": pages.without_paging,
    "paging": pages.with_paging,
    "homogeneous": sharing.homogeneous,
    "heterogeneous": sharing.heterogeneous,
    "hit-rates": sharing.tlb_hits,
    "tlb-entries": varied.tlb_entries,
    "fragmentation": varied.fragmentation,
    "bloat": varied.bloat,
    "machines": machine.machines,
    "inputs": machine.inputs,
    "faults": over_the_bus.faults,
    "lengths": over_the_bus.lengths,
    "at-launch": at_launch.at_launch,
}
WITH_BOTH = ("page-sizes", "paging", "faults", "lengths", "at-launch")
"""Parts that say themselves whether pages come over the bus."""
NEEDS = {"inputs": frozenset(machine.SHIPPED), "lengths": frozenset(over_the_bus.REPEATED)}
"""Parts that only some applications have."""
PartName = Enum("PartName", {name: name for name in PARTS}, type=str)  # type: ignore[misc]

EXAMPLES = options.examples(
    "octavo reproduce mosaic --reduced",
    "octavo reproduce mosaic --part page-sizes --scale 0.25",
    "octavo reproduce mosaic --part homogeneous --workload spmv,hs --copies 1,2 -o runs/two",
)


def mosaic(
    part: Annotated[
        list[PartName] | None,
        typer.Option(
            "--part",
            metavar="NAME",
            help=f"A part of the study: {options.one_of(PARTS)}. May be repeated; all of them if left out.",
        ),
    ] = None,
    reduced: Annotated[
        bool,
        typer.Option("--reduced", help="Five applications, up to two together, at a quarter of the footprint."),
    ] = False,
    workload: Annotated[
        list[str] | None,
        typer.Option(
            "--workload",
            "-w",
            metavar="NAMES",
            help="Applications, by name or by the publication's abbreviation, instead of all.",
        ),
    ] = None,
    copies: Annotated[
        str | None,
        typer.Option("--copies", metavar="NUMBERS", help="Copies of an application together: 1,2,3,4,5 if left out."),
    ] = None,
    mixed: Annotated[
        str | None,
        typer.Option("--mixed", metavar="NUMBERS", help="Different applications together: 2,3,4,5 if left out."),
    ] = None,
    draws: Annotated[
        int | None, typer.Option("--draws", metavar="N", min=1, help="Random mixes of each size; 25 if left out.")
    ] = None,
    paging: Annotated[
        bool,
        typer.Option("--paging/--no-paging", help="Bring pages over the bus, or have them resident from the start."),
    ] = True,
    node: Annotated[
        str, typer.Option("--node", "-n", autocompletion=names("nodes"), help="Node preset.", show_default=False)
    ] = NODE,
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
    """Mosaic (MICRO 2017): page sizes, and applications that share a GPU, beside the published averages.

    Runs on mosaic-30sm-published-simulator unless --node names another node. Parts share their runs. Finished runs are
    kept: the same command resumes where it was stopped.
    """
    sink = Sink(as_json=as_json, quiet=quiet)
    asked = tuple(map(mixes.labelled, options.listed(workload)))
    names = asked or (mixes.REDUCED if reduced else mixes.APPLICATIONS)
    if reduced and scale is None:
        scale = mixes.REDUCED_SCALE
    default = Study()
    parts = [name for name in PARTS if paging or name not in WITH_BOTH]
    parts = [name for name in parts if name not in NEEDS or NEEDS[name] & set(names)]
    chosen = [str(one.value) for one in part or []] or parts
    if not paging and (both := [name for name in chosen if name in WITH_BOTH]):
        raise ScenarioError(
            f"--no-paging does not apply to {', '.join(both)}",
            "these parts always run with paging, or with and without",
        )
    documents: dict[str, Any] = {}
    with watching(quiet=quiet) as watch:
        study = Study(
            output,
            tuple(options.overrides(assignments, scale, seed)),
            names,
            _counts("--copies", copies, (1, 2) if reduced else default.copies),
            _counts("--mixed", mixed, (2,) if reduced else default.mixed),
            draws or (3 if reduced else default.draws),
            paging,
            reduced,
            workers,
            force,
            watch,
            node,
        )
        if "heterogeneous" in chosen:
            _check_drawn(study, mixed)
        for name in chosen:
            found = PARTS[name](study)
            _show_part(sink, found)
            documents[name] = found.to_dict()
    sink.document({"folder": str(study.root), **documents})
    sink.say(f"Results and pictures: {study.root}")


def _counts(option: str, text: str | None, default: tuple[int, ...]) -> tuple[int, ...]:
    if text is None:
        return default
    try:
        counts = tuple(int(count) for count in text.split(","))
    except ValueError:
        raise ScenarioError(f"{option}: expected numbers separated by commas, found `{text}`") from None
    if not all(1 <= count <= UNITS for count in counts):
        raise ScenarioError(f"{option}: expected 1 to {UNITS} applications, one compute unit each, found {text}")
    return counts


def _check_drawn(study: Study, mixed: str | None) -> None:
    """Before anything runs: there are mixes, and every requested size is among them."""
    if study.heterogeneous and mixed is not None and max(study.mixed) > len(study.applications):
        raise ScenarioError(f"--mixed: expected at most the {len(study.applications)} applications, found {mixed}")


def _show_part(sink: Sink, part: Part) -> None:
    rows = [[f"{value:.3f}" if isinstance(value, float) else str(value) for value in row] for row in part.means.rows()]
    sink.table(part.title, part.means.columns, rows)
    compared = [(row["what"], f"{row['found']:+.1%}", f"{row['published']:+.1%}") for row in part.compared]
    if compared:
        sink.table(f"{part.title}: averages", ["", "found", "published"], compared)
