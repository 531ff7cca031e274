"""`octavo validate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octavo.cli import options
from octavo.cli.complete import names
from octavo.cli.sink import Sink
from octavo.errors import ValidationError
from octavo.files import disk
from octavo.runs.slugs import slug
from octavo_studies import validate
from octavo_studies.engine import Answer, Asked, Command
from octavo_studies.validate import machines, reference
from octavo_studies.validate.machines import words
from octavo_studies.validate.programs import words as words_of_programs
from octavo_studies.validate.programs.sheet import sheet as sheet_of_programs
from octavo_studies.validate.sheet import sheet
from octavo_studies.validate.tables import check_markdown, check_marks, runs, summary, write_markdown
from octavo_studies.validate.uvmsmart import words as words_of_uvmsmart

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

EXAMPLES = (
    "octavo validate mgpusim",
    "octavo validate mgpusim --gpus 1 --only fir,bfs -o runs/check --json",
    "octavo validate mgpusim --strict --markdown docs/validation.md",
    "octavo validate mgpusim --only fir --rerun",
    "octavo validate mgpusim --set node.compute.vector_decoder=0 -o runs/without-decoder",
    "octavo validate mgpusim --point 'fir -length 5000 -taps 7' --gpus 1 -o runs/mine",
)

Gpus = Annotated[
    list[str] | None,
    typer.Option(
        "--gpus",
        "-g",
        metavar="NUMBERS",
        help="Numbers of GPUs, of 1 and 4, repeated or separated by commas; both if left out.",
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only", metavar="NAMES", help="Benchmarks by name, repeated or separated by commas; all if left out."
    ),
]
Points = Annotated[
    list[str] | None,
    typer.Option(
        "--point",
        metavar="TEXT",
        help="A point of your own, as 'fir -length 5000 -taps 7', in place of the cached ones; repeated for several. "
        "Runs MGPUSim and records the program first (needs Go, takes minutes).",
    ),
]
Reference = Annotated[
    Path | None,
    typer.Option("--reference", metavar="CSV", help="The reference's results; the cached ones if left out."),
]
Traces = Annotated[
    Path | None,
    typer.Option(
        "--traces",
        metavar="DIR",
        help="Folder of the recorded programs; validation/traces, where `make traces` records them, if left out.",
    ),
]
Rerun = Annotated[
    bool,
    typer.Option(
        "--rerun", help="Run MGPUSim itself again first (needs Go, takes minutes); its results go to the output folder."
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with status 1 if a goal is missed.")]
Markdown = Annotated[
    Path | None,
    typer.Option("--markdown", metavar="FILE", help="Put the tables between the marks of this document, too."),
]
Documents = Annotated[
    list[Path] | None,
    typer.Option(
        "--markdown",
        metavar="FILE",
        help="Put the summary between the marks of this document, too; repeated for several.",
    ),
]
Sheet = Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the result of each run as CSV, too.")]

app = typer.Typer(help="Compare with other simulators, and with real GPUs that were measured.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


def mgpusim(
    asked: Asked,
    gpus: Gpus = None,
    only: Only = None,
    point: Points = None,
    table: Reference = None,
    traces: Traces = None,
    rerun: Rerun = False,
    strict: Strict = False,
    markdown: Documents = None,
    csv: Sheet = None,
) -> Answer:
    """Compare kernel times and counts with MGPUSim v4.2.0, a cycle-level simulator.

    Simulates the recorded programs on the presets r9nano and r9nano-4, one configuration for all.

    docs/validation.md says what is compared with what, and what the model leaves out.

    Finished runs are kept: the same command resumes where it was stopped.
    """
    if point and asked.output is None:
        raise ValidationError("points of your own need a folder of their own", "name one with -o")
    root = asked.output or Path("runs") / _folder_name(options.listed(only), options.listed(gpus))
    for document in markdown or []:
        check_markdown(document, table)
    found = validate.mgpusim(
        root,
        gpus=_numbers(options.listed(gpus)),
        only=options.listed(only),
        points=point or [],
        table=table,
        traces=traces,
        rerun=rerun,
        overrides=asked.assignments or [],
        **asked.how,
    )
    for document in markdown or []:
        write_markdown(document, found)
    _write(csv, sheet(found))
    tables = (*runs(found), *summary(found))
    return Answer(root, found.to_dict(), [*tables, *_said(found)], status=int(strict and not found.goals_met))


MachineFile = Annotated[
    Path, typer.Argument(metavar="MACHINE", help="Machine file, with its samples beside it.", show_default=False)
]
Probes = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="NAMES", help="Probes by name, repeated or separated by commas; all if left out."),
]
_SHOWN = 20
"""Points beyond the limit that are printed; the tables have them all."""


def machine(
    asked: Asked,
    path: MachineFile,
    only: Probes = None,
    markdown: Markdown = None,
) -> Answer:
    """Compare what was measured on a real GPU with the same access patterns on its simulated node.

    The patterns are those of the probes' samples: streams, chases, line accesses to the host, faults, the roofline's
    grid. The node is the one that `octavo calibrate` derived from the measured values. Nothing is fitted to a pattern.

    Finished runs are kept: the same command resumes where it was stopped.
    """
    chosen = options.listed(only)
    root = asked.output or Path("runs") / "-".join(["validate", path.stem, *chosen])
    if markdown is not None:
        check_marks(markdown, words.MARKS)
    found = machines.machine(path, root, only=chosen, **asked.how)
    if markdown is not None:
        words.write_markdown(markdown, found)
    tables = [one for one in (words.shares(found), words.far(found, _SHOWN), words.left_out(found)) if one.rows]
    return Answer(root, found.to_dict(), [*tables, f"{found.near:.0%} of {found.rows.height} points are near."])


def programs(
    asked: Asked,
    path: Annotated[
        Path,
        typer.Argument(metavar="CSV", help="What validation/gpu/programs.cu printed.", show_default=False),
    ],
    node: Annotated[
        str,
        typer.Option(
            "--node",
            "-n",
            autocompletion=names("nodes"),
            help="Machine file of the measured GPU, or a node preset.",
            show_default=False,
        ),
    ],
    records: Annotated[
        Path | None,
        typer.Option(
            "--records",
            metavar="DIR",
            help="CUPTI's records of single runs, PROGRAM-SCALE-KIND-1.activity.bin: compare faults, moved bytes, too.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            help="Programs as NAME, NAME/SCALE or NAME/SCALE/KIND, repeated or separated by commas; all if left out.",
        ),
    ] = None,
    markdown: Documents = None,
    csv: Sheet = None,
) -> Answer:
    """Compare whole programs, measured on a real GPU by kind of memory and phase, with the same programs simulated.

    Shows how far kernel times, totals and phases are apart, and whether the kinds of memory come in the same order.
    Nothing is fitted to these programs.

    Finished runs are kept: the same command resumes where it was stopped.
    """
    chosen, name = options.listed(only), path.name.split(".")[0]
    root = asked.output or Path("runs") / slug("-".join(["validate", path.stem, *chosen]))
    for document in markdown or []:
        words_of_programs.check_markdown(document, name)
    found = validate.programs(
        path, root, node=node, recordings=records, only=chosen, overrides=asked.assignments or [], **asked.how
    )
    for document in markdown or []:
        words_of_programs.write_markdown(document, found, name)
    _write(csv, sheet_of_programs(found))
    tables = (*words_of_programs.runs(found), *words_of_programs.summary(found))
    return Answer(root, found.to_dict(), [*tables, words_of_programs.said(found)])


def correlate_(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="CSV",
            help="Columns run (a folder), measure (time, faults, …), value, and unit.",
            show_default=False,
        ),
    ],
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Put figures of your own, measured or simulated elsewhere, beside runs: errors, and rank correlation."""
    sink = Sink(as_json=as_json, quiet=quiet)
    found = validate.correlate(table)
    sink.document(found.to_dict())
    pairs = [
        (one.run, one.measure, f"{one.value:,g} {one.unit}", f"{one.found:,.6g} {one.unit}", f"{one.error:+.1%}")
        for one in found.pairs
    ]
    sink.table(str(table), ["run", "measure", "yours", "found", "error"], pairs)
    rows = [
        (
            row["measure"],
            str(row["count"]),
            f"{row['mean_error']:.1%}",
            f"{row['median_error']:.1%}",
            f"{row['within_10']:.0%}",
            "–" if row["rank"] is None else f"{row['rank']:.2f}",
        )
        for row in found.summary()
    ]
    columns = ["measure", "figures", "mean error", "median", "within 10%", "rank correlation"]
    sink.table("How far apart", columns, rows)


def uvmsmart_(
    asked: Asked,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="NAMES", help="Programs by name, repeated or separated by commas; all if left out."
        ),
    ] = None,
    oversubscription: Annotated[
        list[str] | None,
        typer.Option(
            "--oversubscription",
            metavar="NUMBERS",
            help="Footprints in percent of the memory, repeated or separated by commas; 110, 125 and 150 if left out.",
        ),
    ] = None,
) -> Answer:
    """Compare faults, migrated and evicted pages with a replay of UVMSmart's rules.

    The replay is small and obvious, written from what the simulator does with pages; it has no time. Octavo decides
    about the same accesses, without time, with UVMSmart's prefetchers and evictors. Nothing is fitted.

    Finished runs are kept: the same command resumes where it was stopped.
    """
    percents = _percents(options.listed(oversubscription))
    chosen = sorted(set(options.listed(only)))
    root = asked.output or Path("runs") / "-".join(["validate-uvmsmart", *chosen, *(f"{one}%" for one in percents)])
    found = validate.uvmsmart.study_in(
        root, only=chosen, oversubscriptions=percents or validate.uvmsmart.OVERSUBSCRIPTIONS, **asked.how
    )
    tables = (words_of_uvmsmart.rows(found), words_of_uvmsmart.summary(found))
    return Answer(root, found.to_dict(), [*tables, words_of_uvmsmart.said(found)])


def _write(path: Path | None, rows: pl.DataFrame) -> None:
    """Write the sheet that `--csv` asks for."""
    if path is not None:
        disk.write_text(path, rows.write_csv())


def _percents(values: list[str]) -> list[int]:
    for value in values:
        if not value.isdecimal() or int(value) < 100:
            raise ValidationError(
                f"--oversubscription: `{value}` is not a footprint in percent of the memory",
                "expected 100 or more",
                key="oversubscription",
            )
    return sorted({int(value) for value in values})


def _said(found: validate.Validation) -> Iterator[str]:
    if not found.rows["reliable"].all():
        yield f"(!) MGPUSim computes a wrong result of {', '.join(reference.UNRELIABLE)}; goals are judged without."
    if found.without_trace:
        yield f"No trace of {len(found.without_trace)} runs: {', '.join(found.without_trace)}"
    yield f"Goals: {'all met' if found.goals_met else 'not all met'}."


def _numbers(values: list[str]) -> list[int]:
    for value in values:
        if not value.isdecimal():
            raise ValidationError(f"--gpus: `{value}` is not a number of GPUs", "expected 1, 4 or 1,4", key="gpus")
    return [int(value) for value in values]


def _folder_name(only: list[str], gpus: list[str]) -> str:
    return "-".join(["validate-mgpusim", *only, *(f"{count}gpus" for count in gpus)])


_LEAVES = "Tables, picture and runs"
COMMANDS = (
    Command("mgpusim", mgpusim, EXAMPLES, ("fidelity", "scale", "seed"), _LEAVES),
    Command(
        "machine",
        machine,
        (
            "octavo validate machine machine.toml",
            "octavo validate machine machine.toml --only memory,zero_copy --json",
            "octavo validate machine machine.toml --markdown docs/validation-gpu.md",
        ),
        ("fidelity", "assignments", "scale", "seed"),
        _LEAVES,
    ),
    Command(
        "programs",
        programs,
        (
            "octavo validate programs measured.csv --node machine.toml",
            "octavo validate programs measured.csv --node machine.toml --only vectoradd,spmv/2 --json",
            "octavo validate programs measured.csv --node machine.toml --set memory.page_size=2MiB -o runs/large-pages",
        ),
        ("fidelity", "scale", "seed"),
        _LEAVES,
    ),
    Command(
        "uvmsmart",
        uvmsmart_,
        ("octavo validate uvmsmart", "octavo validate uvmsmart --only hotspot,nw --oversubscription 125 --json"),
        ("fidelity", "assignments", "scale", "seed", "_jobs"),
        "Table and picture",
    ),
)
for command in COMMANDS:
    command.add_to(app)
app.command(name="correlate", epilog=options.examples("octavo validate correlate mine.csv"))(correlate_)
