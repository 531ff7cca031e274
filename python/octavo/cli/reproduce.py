"""`octavo reproduce`."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo.cli import memmap, options
from octavo.cli.compare import show_speedups
from octavo.cli.sink import Sink
from octavo.errors import ScenarioError
from octavo.reproduce import characterise as partitions
from octavo.reproduce import fit as fits
from octavo.reproduce import grit as main_study
from octavo.reproduce import networks as split_networks
from octavo.reproduce import sensitivity as sweeps
from octavo.reproduce import walks as walked
from octavo.reproduce.grace_hopper import parts as grace_hopper_parts
from octavo.reproduce.grace_hopper import statements
from octavo.reproduce.grace_hopper import study as grace_hopper_study
from octavo.reproduce.harvest import sensitivity as varied_harvest
from octavo.reproduce.harvest import study as harvesting
from octavo.reproduce.harvest.cases import CASES, INTER_JOB
from octavo.reproduce.harvest.systems import WHOLE
from octavo.reproduce.mosaic import mixes, pages, sharing, varied
from octavo.reproduce.mosaic.study import Study as MosaicStudy
from octavo.reproduce.mosaic.systems import UNITS
from octavo.reproduce.published import published
from octavo.reproduce.study import Study
from octavo.runs import lending
from octavo.runs.progress import watching
from octavo.scenarios.scenario import DEFAULT_NODE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import polars as pl

    from octavo.reproduce.mosaic.study import Part

EXAMPLES = options.examples(
    "octavo reproduce grit --scale 0.0625",
    "octavo reproduce grit --sensitivity components --scale 0.0625",
    "octavo reproduce grit --fit --scale 0.0625 -o runs/fit",
    "octavo reproduce grit --networks --scale 0.001",
    "octavo reproduce grit --characterise --collapse-scale 0.0625",
)

app = typer.Typer(help="Run published studies again.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


Sweep = Enum("Sweep", {name: name for name in sweeps.SWEEPS}, type=str)  # type: ignore[misc]


@app.command(epilog=EXAMPLES)
def grit(
    fit: Annotated[
        bool, typer.Option("--fit", help="Run the grid of driver service time and remote lines in flight instead.")
    ] = False,
    sensitivity: Annotated[Sweep | None, typer.Option("--sensitivity", help="Vary one parameter instead.")] = None,
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
        typer.Option("--walks", help="Count under GRIT which schemes misses of the second-level TLB find instead."),
    ] = False,
    collapse_scale: Annotated[
        float | None,
        typer.Option("--collapse-scale", help="Scale of the runs of --characterise; that of its counts if left out."),
    ] = None,
    workload: Annotated[
        list[str] | None,
        typer.Option(
            "--workload", "-w", help="Kernels, by name or by the publication's abbreviation; all eight if left out."
        ),
    ] = None,
    node: Annotated[str, typer.Option("--node", "-n", help="Node preset.")] = DEFAULT_NODE,
    assignments: options.Set = None,
    scale: options.Scale = None,
    seed: options.Seed = None,
    workers: options.Workers = None,
    _memory_limit: options.MemoryLimit = None,
    _jobs: options.Jobs = None,
    output: options.Output = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """GRIT (HPCA 2024): eight kernels under eight placements, beside the published averages.

    What is finished is kept: the same command goes on where it was stopped.
    """
    if fit + networks + characterise + walks + (sensitivity is not None) > 1:
        message = "--fit, --networks, --characterise, --walks and --sensitivity are different studies"
        raise ScenarioError(message, "choose one of them")
    if collapse_scale is not None and not characterise:
        raise ScenarioError("--collapse-scale says nothing without --characterise")
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


PARTS: dict[str, Callable[[MosaicStudy], Part]] = {
    "page-sizes": pages.without_paging,
    "paging": pages.with_paging,
    "homogeneous": sharing.homogeneous,
    "heterogeneous": sharing.heterogeneous,
    "hit-rates": sharing.tlb_hits,
    "tlb-entries": varied.tlb_entries,
    "fragmentation": varied.fragmentation,
    "bloat": varied.bloat,
}
WITH_BOTH = ("page-sizes", "paging")
"""Parts that say themselves whether pages come over the bus."""
MosaicPart = Enum("MosaicPart", {name: name for name in PARTS}, type=str)  # type: ignore[misc]

MOSAIC_EXAMPLES = options.examples(
    "octavo reproduce mosaic --reduced",
    "octavo reproduce mosaic --part page-sizes --scale 0.25",
    "octavo reproduce mosaic --part homogeneous --workload spmv,hs --copies 1,2 -o runs/two",
)


@app.command(epilog=MOSAIC_EXAMPLES)
def mosaic(
    part: Annotated[
        list[MosaicPart] | None, typer.Option("--part", help="A part of the study; all of them if left out.")
    ] = None,
    reduced: Annotated[
        bool,
        typer.Option("--reduced", help="Five applications, up to two together, at a quarter of the footprint."),
    ] = False,
    workload: Annotated[
        list[str] | None,
        typer.Option(
            "--workload", "-w", help="Applications, by name or by the publication's abbreviation, instead of all."
        ),
    ] = None,
    copies: Annotated[
        str | None, typer.Option("--copies", help="Copies of an application together: 1,2,3,4,5 if left out.")
    ] = None,
    mixed: Annotated[
        str | None, typer.Option("--mixed", help="Different applications together: 2,3,4,5 if left out.")
    ] = None,
    draws: Annotated[
        int | None, typer.Option("--draws", min=1, help="Random mixes of each size; 25 if left out.")
    ] = None,
    paging: Annotated[
        bool,
        typer.Option("--paging/--no-paging", help="Bring pages over the bus, or have them resident from the start."),
    ] = True,
    assignments: options.Set = None,
    scale: options.Scale = None,
    seed: options.Seed = None,
    workers: options.Workers = None,
    _memory_limit: options.MemoryLimit = None,
    _jobs: options.Jobs = None,
    output: options.Output = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Mosaic (MICRO 2017): page sizes, and applications that share a GPU, beside the published averages.

    Parts share their runs. What is finished is kept: the same command goes on where it was stopped.
    """
    sink = Sink(as_json=as_json, quiet=quiet)
    asked = tuple(map(mixes.labelled, options.listed(workload)))
    names = asked or (mixes.REDUCED if reduced else mixes.APPLICATIONS)
    if reduced and scale is None:
        scale = mixes.REDUCED_SCALE
    default = MosaicStudy()
    parts = [name for name in PARTS if paging or name not in WITH_BOTH]
    chosen = [str(one.value) for one in part or []] or parts
    if not paging and (both := [name for name in chosen if name in WITH_BOTH]):
        raise ScenarioError(f"--no-paging says nothing about {', '.join(both)}", "these parts are about paging")
    documents: dict[str, Any] = {}
    with watching(quiet=quiet) as watch:
        study = MosaicStudy(
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
        )
        if "heterogeneous" in chosen:
            _check_drawn(study, mixed)
        for name in chosen:
            found = PARTS[name](study)
            _show_part(sink, found)
            documents[name] = found.to_dict()
    sink.document({"folder": str(study.root), **documents})
    sink.say(f"Results and pictures: {study.root}")


HARVEST_EXAMPLES = options.examples(
    "octavo reproduce harvest --reduced",
    "octavo reproduce harvest --case 1 --scale 0.01",
    "octavo reproduce harvest --case 1 --need 1.25 -o runs/less",
    "octavo reproduce harvest --case llm --scale 0.002 --node hgx-h100-8",
    "octavo reproduce harvest --sensitivity spare --scale 0.01",
)

HarvestSweep = Enum("HarvestSweep", {name: name for name in varied_harvest.SWEEPS}, type=str)  # type: ignore[misc]
HarvestCase = Enum("HarvestCase", {name: name for name in CASES}, type=str)  # type: ignore[misc]


@app.command(epilog=HARVEST_EXAMPLES)
def harvest(
    case: Annotated[
        list[HarvestCase] | None,
        typer.Option("--case", help="A case; the four published ones with several jobs if left out."),
    ] = None,
    node: Annotated[str, typer.Option("--node", "-n", help="Node preset.")] = harvesting.NODE,
    reduced: Annotated[
        bool, typer.Option("--reduced", help="Cases 1 and 2, graphs at a hundredth of their size.")
    ] = False,
    sensitivity: Annotated[
        HarvestSweep | None,
        typer.Option("--sensitivity", help="Vary one parameter instead, on the harvester of case 1."),
    ] = None,
    need: Annotated[
        float, typer.Option("--need", min=1.0, help="Bytes of a harvesting job on a GPU, relative to the GPU's memory.")
    ] = 1.5,
    assignments: options.Set = None,
    scale: options.Scale = None,
    seed: options.Seed = None,
    workers: options.Workers = None,
    _memory_limit: options.MemoryLimit = None,
    _jobs: options.Jobs = None,
    output: options.Output = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Memory harvesting (USENIX ATC 2022): jobs that lack memory beside jobs that do not, technique by technique.

    What is finished is kept: the same command goes on where it was stopped.
    """
    if sensitivity is not None and case:
        raise ScenarioError(
            "--sensitivity varies the harvester of case 1, and --case names cases", "choose one of them"
        )
    sink = Sink(as_json=as_json, quiet=quiet)
    if reduced and scale is None:
        scale = harvesting.REDUCED_SCALE
    every = harvesting.REDUCED_CASES if reduced else tuple(INTER_JOB)
    chosen = tuple(str(one.value) for one in case or []) or every
    with watching(quiet=quiet) as watch:
        study = harvesting.Study(
            output,
            tuple(options.overrides(assignments, scale, seed)),
            chosen,
            node,
            need,
            workers=workers,
            force=force,
            watch=watch,
        )
        if sensitivity is not None:
            name = str(sensitivity.value)
            _show_varied(sink, name, varied_harvest.vary(study, name))
            return
        found = harvesting.reproduce(study)
    _show_harvest(sink, chosen, found)


def _show_harvest(sink: Sink, chosen: tuple[str, ...], found: harvesting.Found) -> None:
    for name in chosen:
        _show_case(sink, name, found)
    compared = [
        (row["what"], f"{row['found']:.2f}", "–" if row["published"] is None else f"{row['published']:.2f}")
        for row in found.compared()
    ]
    sink.table("Beside the publication", ["", "found", "published"], compared)
    sink.document({"folder": str(found.root), **found.to_dict()})
    sink.say(f"Results and pictures: {found.root}")


def _show_varied(sink: Sink, name: str, found: varied_harvest.Varied) -> None:
    sweep = varied_harvest.SWEEPS[name]
    rows = [
        [f"{row['value']} {sweep.unit}", row["system"], row["job"], row["role"], f"{row['speedup']:.2f}"]
        for row in found.points.to_dicts()
    ]
    sink.table(sweep.title, ["", "system", "job", "", "speed"], rows)
    sink.document({"folder": str(found.root), **found.to_dict()})
    sink.say(f"Results and pictures: {found.root}")


def _show_case(sink: Sink, name: str, found: harvesting.Found) -> None:
    rows = [
        [row["system"], row["job"], row["role"], f"{row['time_ps'] / 1e9:.3f} ms", f"{row['speedup']:.2f}"]
        for row in found.jobs.filter(case=name).to_dicts()
    ]
    sink.table(f"Case {name}", ["system", "job", "", "time", "speed"], rows)
    pages = found.pages.filter(case=name).drop("case")
    _show_counts(sink, f"Case {name}: pages", pages)
    _show_values(sink, f"Case {name}, {WHOLE}: where pages came from", found.sources.filter(case=name).drop("case"))
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


app.command(epilog=memmap.EXAMPLES)(memmap.memmap)

GraceHopperParts = Enum("GraceHopperParts", {name: name for name in grace_hopper_parts.PARTS}, type=str)  # type: ignore[misc]

GRACE_HOPPER_EXAMPLES = options.examples(
    "octavo reproduce grace-hopper --reduced",
    "octavo reproduce grace-hopper --part kinds --program hotspot,srad --scale 1/64",
    "octavo reproduce grace-hopper --part kinds --node cuda-sm90 -o runs/without-coherence",
)


@app.command(name="grace-hopper", epilog=GRACE_HOPPER_EXAMPLES)
def grace_hopper(
    part: Annotated[
        list[GraceHopperParts] | None,
        typer.Option("--part", help="A part of the study; all that have runs if left out."),
    ] = None,
    reduced: Annotated[
        bool, typer.Option("--reduced", help="Inputs at a 256th of their size, few values of each varied parameter.")
    ] = False,
    program: Annotated[
        list[str] | None, typer.Option("--program", help="Programs by the study's names; all six if left out.")
    ] = None,
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Kinds of memory; all three if left out.")] = None,
    node: Annotated[
        str,
        typer.Option(
            "--node", "-n", help="Node with its own memory system, or the stock driver's where it names none."
        ),
    ] = grace_hopper_study.NODE,
    assignments: options.Set = None,
    scale: options.Scale = None,
    seed: options.Seed = None,
    workers: options.Workers = None,
    _memory_limit: options.MemoryLimit = None,
    _jobs: options.Jobs = None,
    output: options.Output = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Integrated memory on Grace Hopper (ICPP 2024): six programs in system, managed and explicit memory.

    What is finished is kept: the same command goes on where it was stopped. Inputs are a sixteenth of the published
    ones, unless `--scale` says otherwise.
    """
    sink = Sink(as_json=as_json, quiet=quiet)
    default = grace_hopper_study.Study()
    documents: dict[str, Any] = {}
    frames: dict[str, pl.DataFrame] = {}
    with watching(quiet=quiet) as watch:
        study = grace_hopper_study.Study(
            output,
            tuple(options.overrides(assignments, None, seed)),
            tuple(options.listed(program)) or default.programs,
            tuple(options.listed(kind)) or default.kinds,
            node,
            scale if scale is not None else grace_hopper_study.REDUCED_SCALE if reduced else default.scale,
            reduced,
            workers,
            force,
            watch,
        )
        for name, described in grace_hopper_parts.chosen(study, [str(one.value) for one in part or []]).items():
            found = described(study)
            _show_values(sink, found.title, found.shown)
            frames[name] = found.points
            documents[name] = found.to_dict()
    judged = statements.judged(frames)
    for row in judged:
        sink.say(f"{row['holds']}: {row['statement']}\n    found: {row['found']}\n    why: {row['why']}")
    sink.document({"folder": str(study.root), "statements": judged, **documents})
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


def _check_drawn(study: MosaicStudy, mixed: str | None) -> None:
    """Before anything runs: there are mixes, and none of the sizes that were asked for is left out."""
    if study.heterogeneous and mixed is not None and max(study.mixed) > len(study.applications):
        raise ScenarioError(f"--mixed: expected at most the {len(study.applications)} applications, found {mixed}")


def _show_part(sink: Sink, part: Part) -> None:
    rows = [[f"{value:.3f}" if isinstance(value, float) else str(value) for value in row] for row in part.means.rows()]
    sink.table(part.title, part.means.columns, rows)
    compared = [(row["what"], f"{row['found']:+.1%}", f"{row['published']:+.1%}") for row in part.compared]
    if compared:
        sink.table(f"{part.title}: averages", ["", "found", "published"], compared)


def _main(sink: Sink, study: Study) -> tuple[Path, dict[str, Any]]:
    found = main_study.reproduce(study)
    show_speedups(sink, "Speed-up over on-touch", found.comparison)
    _show_counts(sink, "Faults", found.faults())
    _show_shares(sink, "Schemes of pages under GRIT", found.scheme_mix())
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
    sink.say(
        f"Nearest: service {best['service']}, {best['lines_in_flight']} lines in flight, error {best['error']:.3f}"
    )
    return found.root, found.to_dict()


def _partition(sink: Sink, study: Study, collapse_scale: float | None) -> tuple[Path, dict[str, Any]]:
    found = partitions.characterise(study, collapse_scale)
    for measure, title in partitions.PICTURES.items():
        table = found.points.pivot(on="dispatch", index="kernel", values=measure, maintain_order=True)
        _show_shares(sink, title, table)
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
    _show_shares(sink, "Schemes among misses of the second-level TLB, under GRIT", found.points.drop("walks"))
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


def _show_counts(sink: Sink, title: str, table: pl.DataFrame) -> None:
    rows = [[str(row[0]), *(f"{count:,}" for count in row[1:])] for row in table.iter_rows()]
    sink.table(title, table.columns, rows)


def _show_values(sink: Sink, title: str, table: pl.DataFrame) -> None:
    def text(value: object) -> str:
        return f"{value:.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)

    sink.table(
        title, [name.replace("_", " ") for name in table.columns], [list(map(text, row)) for row in table.rows()]
    )


def _show_shares(sink: Sink, title: str, table: pl.DataFrame) -> None:
    rows = [
        [str(row[0]), *("–" if share is None else f"{share:.0%}" for share in row[1:])] for row in table.iter_rows()
    ]
    sink.table(title, [name.replace("_", " ") for name in table.columns], rows)
