"""`octavo reproduce mosaic`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from octavo.cli import options
from octavo.cli.complete import names
from octavo.errors import ScenarioError
from octavo_studies.engine import Answer, Asked, Command, Found, Table, beside
from octavo_studies.mosaic import at_launch, bloat, distribution, entries, fragmentation, machine, mixes, pages, sharing
from octavo_studies.mosaic import paging as over_the_bus
from octavo_studies.mosaic.remarks import REMARKS, frames
from octavo_studies.mosaic.study import Study
from octavo_studies.mosaic.systems import DATA, NODE, UNITS

PARTS = {
    part.name: part
    for part in (
        pages.without_paging,
        pages.with_paging,
        sharing.homogeneous,
        sharing.heterogeneous,
        sharing.tlb_hits,
        sharing.arrival,
        distribution.distribution,
        entries.tlb_entries,
        fragmentation.fragmentation,
        bloat.bloat,
        machine.machines,
        machine.inputs,
        over_the_bus.faults,
        over_the_bus.lengths,
        at_launch.at_launch,
    )
}
THEMSELVES = ("page-sizes", "paging", "faults", "lengths", "machines", "inputs", "at-launch", "arrival", "bloat")
"""Parts that say themselves when data arrive."""
NEEDS = {"inputs": frozenset(machine.SHIPPED), "lengths": frozenset(over_the_bus.REPEATED)}
"""Parts that only some applications have."""
PartName = Enum("PartName", {name: name for name in PARTS}, type=str)  # type: ignore[misc]
DataName = Enum("DataName", {name: name for name in DATA}, type=str)  # type: ignore[misc]
USUAL = DataName(Study.data)


def mosaic(
    asked: Asked,
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
    data: Annotated[
        DataName,
        typer.Option("--data", metavar="WHEN", help=f"When data arrive: {options.one_of(DATA)}."),
    ] = USUAL,
    node: Annotated[
        str, typer.Option("--node", "-n", autocompletion=names("nodes"), help="Node preset.", show_default=False)
    ] = NODE,
) -> Answer:
    """Mosaic (MICRO 2017): page sizes, and applications that share a GPU, beside the published averages.

    Runs on mosaic-30sm-published-simulator unless --node names another node. Parts share their runs. Finished runs are
    kept: the same command resumes where it was stopped.
    """
    labelled = tuple(map(mixes.labelled, options.listed(workload)))
    names = labelled or (mixes.REDUCED if reduced else mixes.APPLICATIONS)
    study = Study(
        asked.output,
        asked.overrides(mixes.REDUCED_SCALE if reduced and asked.scale is None else asked.scale),
        names,
        _counts("--copies", copies, (1, 2) if reduced else Study.copies),
        _counts("--mixed", mixed, (2,) if reduced else Study.mixed),
        draws or (3 if reduced else Study.draws),
        data.value,
        reduced,
        node,
        () if labelled else mixes.NAMED,
        **asked.how,
    )
    chosen = _chosen([str(one.value) for one in part or []], names, data=data.value)
    if "heterogeneous" in chosen:
        _check_drawn(study, mixed)
    found = {name: PARTS[name](study) for name in chosen}
    judged = REMARKS.save(study.root, frames(found))
    document = {"remarks": judged, **{name: one.to_dict() for name, one in found.items()}}
    tables = [table for one in found.values() for table in _shown(one)]
    return Answer(study.root, document, [*tables, *REMARKS.shown(judged)])


def _chosen(named: list[str], applications: tuple[str, ...], *, data: str) -> list[str]:
    """The parts that were named, or all that the applications have."""
    usual = data == USUAL.value
    parts = [name for name in PARTS if usual or name not in THEMSELVES]
    chosen = named or [name for name in parts if name not in NEEDS or NEEDS[name] & set(applications)]
    if not usual and (own := [name for name in chosen if name in THEMSELVES]):
        raise ScenarioError(
            f"--data {data} does not apply to {', '.join(own)}",
            "these parts say themselves when data arrive",
            key="data",
        )
    return chosen


def _counts(option: str, text: str | None, default: tuple[int, ...]) -> tuple[int, ...]:
    if text is None:
        return default
    try:
        counts = tuple(int(count) for count in text.split(","))
    except ValueError:
        raise ScenarioError(
            f"{option}: expected numbers separated by commas, found `{text}`", code="unexpected-value", found=text
        ) from None
    if not all(1 <= count <= UNITS for count in counts):
        raise ScenarioError(
            f"{option}: expected 1 to {UNITS} applications, one compute unit each, found {text}",
            code="unexpected-value",
            found=text,
        )
    return counts


def _check_drawn(study: Study, mixed: str | None) -> None:
    """Before anything runs: there are mixes, and every requested size is among them."""
    if study.heterogeneous and mixed is not None and max(study.mixed) > len(study.applications):
        raise ScenarioError(
            f"--mixed: expected at most the {len(study.applications)} applications, found {mixed}",
            code="unexpected-value",
            key="mixed",
            found=mixed,
        )


def _shown(part: Found) -> list[Table]:
    rows = [[f"{value:.3f}" if isinstance(value, float) else str(value) for value in row] for row in part.means.rows()]
    averages = [beside(f"{part.title}: averages", part.compared, "+.1%")] if part.compared else []
    return [Table(part.title, part.means.columns, rows), *averages]


COMMAND = Command(
    "mosaic",
    mosaic,
    (
        "octavo reproduce mosaic --reduced",
        "octavo reproduce mosaic --part page-sizes --scale 0.25",
        "octavo reproduce mosaic --part homogeneous --workload spmv,hs --copies 1,2 -o runs/two",
    ),
)
