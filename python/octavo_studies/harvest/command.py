"""`octavo reproduce harvest`."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
import typer

from octavo.cli import options
from octavo.errors import ScenarioError
from octavo.explain.serving import shrunk
from octavo.runs import lending
from octavo_studies.engine import Answer, Asked, Command, Found, Table, beside, counts, values
from octavo_studies.harvest import sensitivity as varied
from octavo_studies.harvest import study as studies
from octavo_studies.harvest.cases import CASES, INTER_JOB
from octavo_studies.harvest.remarks import JOBS, REMARKS
from octavo_studies.harvest.systems import LINKS, WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator


Sweep = Enum("Sweep", {name: name for name in varied.SWEEPS}, type=str)  # type: ignore[misc]
Links = Enum("Links", {name: name for name in LINKS}, type=str)  # type: ignore[misc]
Case = Enum("Case", {name: name for name in CASES}, type=str)  # type: ignore[misc]


Cases = Annotated[
    list[Case] | None,
    typer.Option(
        "--case",
        metavar="NAME",
        help=f"A case: {options.one_of(CASES)}. May be repeated; the four published ones with several jobs if left "
        "out.",
    ),
]
Reduced = Annotated[
    bool,
    typer.Option(
        "--reduced",
        help=f"GPUs of {studies.CHUNKS} chunks at fidelity page, six systems or three, {studies.REDUCED_ROUNDS} rounds "
        f"of PageRank; cases {', '.join(studies.REDUCED_CASES)}, if none is named.",
    ),
]
Chunks = Annotated[
    int | None,
    typer.Option(
        "--chunks",
        metavar="NUMBER",
        min=2,
        help="Chunks of 2 MiB that a GPU has; each graph then has the scale at which its job needs --need times as "
        "much.",
    ),
]
Shared = Annotated[
    bool,
    typer.Option(
        "--shared",
        help="The GPUs of a graph program share its arrays in managed memory, instead of a process for each GPU with "
        "its part of the graph.",
    ),
]
Varied = Annotated[
    Sweep | None,
    typer.Option(
        "--sensitivity",
        metavar="NAME",
        help=f"Vary one parameter instead, on the harvester of case 1: {options.one_of(varied.SWEEPS)}.",
    ),
]
Need = Annotated[
    float,
    typer.Option(
        "--need",
        metavar="NUMBER",
        min=1.0,
        help="Bytes of a harvesting job on a GPU, relative to the GPU's memory.",
    ),
]
Wiring = Annotated[
    Links,
    typer.Option(
        "--links",
        metavar="NAME",
        help=f"How GPUs of {studies.NODE} are linked: {options.one_of(LINKS)}; the latter has the published throughput "
        "between any two, and to the host.",
    ),
]


def harvest(
    asked: Asked,
    case: Cases = None,
    node: options.NodePreset = studies.NODE,
    reduced: Reduced = False,
    chunks: Chunks = None,
    shared: Shared = False,
    sensitivity: Varied = None,
    need: Need = 1.5,
    links: Wiring = Links["board"],
) -> Answer:
    """Memory harvesting (USENIX ATC 2022): jobs that lack memory beside jobs that do not, technique by technique.

    Finished runs are kept: the same command resumes where it was stopped.
    """
    if sensitivity is not None and case:
        raise ScenarioError(
            "--sensitivity varies the harvester of case 1, and --case names cases",
            "choose one of them",
            key="sensitivity",
        )
    if chunks is not None and asked.scale is not None:
        raise ScenarioError(
            "--chunks says the scale of every graph, and --scale does as well", "choose one of them", key="chunks"
        )
    chosen = tuple(str(one.value) for one in case or []) or (studies.REDUCED_CASES if reduced else tuple(INTER_JOB))
    less = {"rounds": studies.REDUCED_ROUNDS, "few": True} if reduced else {}
    if reduced:
        asked = replace(asked, fidelity=asked.fidelity or "page")
        chunks = studies.CHUNKS if asked.scale is None and chunks is None else chunks
    own: dict[str, Any] = {"chunks": chunks, "shared": shared, "links": str(links.value), **less, **asked.how}
    study = studies.Study(asked.output, asked.overrides(asked.scale), chosen, node, need, **own)
    if sensitivity is not None:
        name = str(sensitivity.value)
        found = varied.vary(study, name)
        return Answer(found.root, found.to_dict(), [_varied(varied.SWEEPS[name], found)])
    found = studies.reproduce(study)
    judged = REMARKS.save(found.root, {JOBS: found.jobs})
    document = {**found.to_dict(), "remarks": judged}
    return Answer(found.root, document, [*shown(chosen, found), *REMARKS.shown(judged)])


def shown(chosen: tuple[str, ...], found: Found) -> Iterator[Table | str]:
    """Each case, and averages beside the published ones."""
    for name in chosen:
        yield from _case(name, found)
    yield values("GPUs of the harvesting jobs", found.sizes_of_gpus)
    small = found.sizes_of_gpus.filter(pl.col("chunks") < studies.CHUNKS)
    if not small.is_empty():
        yield (
            f"Note: GPUs of case {', '.join(small['case'])} have fewer than {studies.CHUNKS} chunks, of which reserve "
            "and prefetch take whole ones."
        )
    yield beside("Beside the publication", found.compared)


def _varied(sweep: varied.Sweep, found: Found) -> Table:
    rows = [
        [f"{row['value']} {sweep.unit}", row["system"], row["job"], row["role"], f"{row['speedup']:.2f}"]
        for row in found.points.to_dicts()
    ]
    return Table(sweep.title, ["", "system", "job", "", "speed"], rows)


def _case(name: str, found: Found) -> Iterator[Table | str]:
    rows = [
        [row["system"], row["job"], row["role"], f"{row['time_ps'] / 1e9:.3f} ms", f"{row['speedup']:.2f}"]
        for row in found.jobs.filter(case=name).to_dicts()
    ]
    yield Table(f"Case {name}", ["system", "job", "", "time", "speed"], rows)
    yield counts(f"Case {name}: pages", found.pages.filter(case=name).drop("case"))
    yield values(f"Case {name}, {WHOLE}: where pages came from", found.sources.filter(case=name).drop("case"))
    for row in found.bounds.filter(case=name).to_dicts():
        yield f"Case {name}, {row['system']}: {row['bound']}"
    lenders = [
        [lending.called(row["keeper"], row["owner"]), *(f"{row[key] / (1 << 20):.1f} MiB" for key in _LENT)]
        for row in found.lenders.filter(case=name).to_dicts()
    ]
    yield Table(f"Case {name}, {WHOLE}: who lends to whom", ["", "sent there", "kept on average", "at most"], lenders)
    if "case" in found.served.columns and not found.served.filter(case=name).is_empty():
        yield _served(name, found.served.filter(case=name))


_LENT = ("sent", "mean", "most")


def _served(name: str, found: pl.DataFrame) -> Table:
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
    return Table(f"Case {name}: what users wait{shrunk(found['scale'].unique())}", columns, rows)


COMMAND = Command(
    "harvest",
    harvest,
    (
        "octavo reproduce harvest --reduced",
        "octavo reproduce harvest --case 4 --chunks 64 --fidelity page",
        "octavo reproduce harvest --case 2 --reduced --shared -o runs/shared",
        "octavo reproduce harvest --case 1 --need 1.25 -o runs/less",
        "octavo reproduce harvest --case 1 --reduced --links all-pairs",
        "octavo reproduce harvest --case llm --reduced --node hgx-h100-8",
        "octavo reproduce harvest --sensitivity spare --reduced",
    ),
    without=(),
)
