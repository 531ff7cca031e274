"""`octavo import`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo.cli import options
from octavo.cli.requests import Group
from octavo.cli.terminal import Terminal
from octavo.errors import ProfileError
from octavo.plain import size, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.cli.sink import Sink
    from octavo.measurements.imports.allocators import Log
    from octavo.runs.result import RunResult

app = Group(help="Import profiles of real programs into the tables of simulated runs.", no_args_is_help=True)

Process = Annotated[
    int | None,
    typer.Option(
        "--process", metavar="N", min=0, help="Process to import, if several used unified memory.", show_default=False
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FOLDER", help="Result folder; runs/NAME if left out.", show_default=False),
]
Program = Annotated[
    Path | None,
    typer.Option(
        "--program",
        metavar="FILE.py",
        help="Write the program (memory, copies, kernels, as logged) as a workload in this Python file instead.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Kept(options.Kept):
    """Where imported results go."""

    output: Output = None

    def folder(self, source: Path) -> Path:
        """The folder for a file."""
        return self.output or Path("runs") / source.stem


_KEPT = Kept()

_MOST_ALLOCATIONS = 30
"""The most allocations in the printed table; the Parquet table has all."""
_STAYED = {"remote_map": "mapped", "thrashing": "fought over"}
"""Words for kinds of events that do not move bytes."""


@app.callback()
def _group() -> None:
    pass


@app.command(
    epilog=options.examples(
        "octavo import nsys report.sqlite -o runs/profile",
        "octavo import nsys report.sqlite --process 4711 --json",
        "octavo import nsys report.sqlite --program report.py",
    )
)
def nsys(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="What `nsys export --type sqlite` wrote.")],
    process: Process = None,
    program: Program = None,
    kept: Kept = _KEPT,
    said: options.Said = options.SAID,
) -> None:
    """Import an SQLite export of Nsight Systems: faults, migrations, allocations and kernels; or a whole program."""
    from octavo.measurements.imports import import_nsys  # noqa: PLC0415 - slow to import

    if program is not None:
        _program(said.sink(), source, program, kept, process=process)
        return
    with Terminal(errors=True).status("reading", quiet=said.quiet) as tell:

        def watch(share: float, table: str) -> None:
            tell(f"reading {visible(table)}: {share:.0%}")

        result = import_nsys(source, kept.folder(source), process=process, force=kept.force, watch=watch)
    show(said.sink(), result)


@app.command(
    epilog=options.examples(
        "octavo import nvprof profile.nvvp -o runs/profile", "octavo import nvprof profile.nvvp --program solver.py"
    )
)
def nvprof(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="What `nvprof -o` wrote.")],
    program: Program = None,
    kept: Kept = _KEPT,
    said: options.Said = options.SAID,
) -> None:
    """Import a database of nvprof: faults, migrations, allocations and kernels; or a whole program."""
    from octavo.measurements.imports import Nvprof, import_nvprof  # noqa: PLC0415 - slow to import

    if program is not None:
        _program(said.sink(), source, program, kept, kind=Nvprof)
    else:
        show(said.sink(), import_nvprof(source, kept.folder(source), force=kept.force))


def _program(sink: Sink, source: Path, file: Path, kept: Kept, **arguments: Any) -> None:
    """Write a workload."""
    from octavo.measurements.imports import import_program  # noqa: PLC0415 - slow to import

    if kept.output is not None:
        raise _both()
    _show_programs(sink, source.name, file, import_program(source, file, force=kept.force, **arguments))


def _log_program(sink: Sink, log: Log, file: Path, kept: Kept) -> None:
    """Write a workload of what an allocator logged."""
    from octavo.measurements.imports import import_log  # noqa: PLC0415 - slow to import

    if kept.output is not None:
        raise _both()
    _show_programs(sink, log.source["file"], file, import_log(log, file, force=kept.force))


def _both() -> ProfileError:
    return ProfileError("expected one of --output and --program, found both", code="conflict", key="program")


def _show_programs(sink: Sink, source: str, file: Path, found: list[dict[str, Any]]) -> None:
    """The programs that were written, one for each GPU."""
    sink.document(found[0] if len(found) == 1 else {"programs": found})
    for each in found:
        on = f" on gpu{each['gpu']}" if len(found) > 1 else ""
        sink.table(f"{source}: a program{on}", ["recorded", ""], _recorded(each))
        for text in each["assumed"] if each is found[-1] else ():
            sink.tell(f"Assumed: {text}")
    if len(found) == 1:
        sink.say(f"{file} is written; run it with: octavo run {file} --scale 0.01 --kind explicit")
        return
    names = " and ".join(f"{file}:{each['class']}" for each in found)
    sink.say(f"{file} is written, with a workload for each GPU: {names}. As jobs, they run side by side.")


def _recorded(found: dict[str, Any]) -> list[tuple[str, str]]:
    """What there is of a program."""
    buffers = found["buffers"]
    if "peak_bytes" in found:
        rows = [("allocations", f"{found['allocations']:,}"), ("most at once", _exact(found["peak_bytes"]))]
    else:
        rows = [
            ("ranges of device memory", f"{len(buffers):,}, {size(sum(each['bytes'] for each in buffers))}"),
            ("copies", f"{len(found['copies']):,}, {size(sum(each[4] for each in found['copies']))}"),
        ]
    kernels, what = found["kernels"], "launches that stand for it" if "peak_bytes" in found else "kernels"
    return [*rows, (what, f"{len(kernels):,}, {sum(each[1] for each in kernels) * 1e-6:,.3f} ms")]


@app.command(epilog=options.examples("octavo import cupti machine.samples/managed.activity.bin -o runs/managed"))
def cupti(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="Raw unified-memory records of CUPTI; may be packed with xz.")
    ],
    layout: Annotated[
        str | None,
        typer.Option("--layout", help="v2 or v3 (CUDA 12.8 and later); detected from the records if left out."),
    ] = None,
    kept: Kept = _KEPT,
    said: options.Said = options.SAID,
) -> None:
    """Import raw unified-memory records of CUPTI, such as those that octavo calibrate keeps beside its samples."""
    from octavo.measurements.imports import import_cupti  # noqa: PLC0415 - slow to import

    show(said.sink(), import_cupti(source, kept.folder(source), layout=layout, force=kept.force))


@app.command(
    epilog=options.examples(
        "octavo import rmm rmm_log.csv -o runs/rmm",
        "octavo import rmm log.dev0.csv log.dev1.csv -o runs/rmm",
        "octavo import rmm rmm_log.csv --program rmm.py",
    )
)
def rmm(
    source: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="CSV file of RMM's logging resource adaptor; one for each GPU."),
    ],
    program: Program = None,
    kept: Kept = _KEPT,
    said: options.Said = options.SAID,
) -> None:
    """Import an allocation log of RMM: memory in use over time, and when each allocation lived; or a whole program."""
    from octavo.measurements.imports import import_rmm, rmm  # noqa: PLC0415 - slow to import

    if program is not None:
        _log_program(said.sink(), rmm.read(source), program, kept)
    else:
        _show_allocator(said.sink(), import_rmm(source, kept.folder(source[0]), force=kept.force))


@app.command(
    epilog=options.examples(
        "octavo import torch snapshot.pickle -o runs/training",
        "octavo import torch snapshot.pickle.db -o runs/training",
        "octavo import torch snapshot.pickle --program training.py",
    )
)
def torch(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="What torch.cuda.memory._dump_snapshot wrote, or memsnapdump made of it."),
    ],
    program: Program = None,
    kept: Kept = _KEPT,
    said: options.Said = options.SAID,
) -> None:
    """Import a memory snapshot of PyTorch: memory in use over time, and when each allocation lived; or a program.

    The pickle is read without executing anything in it.
    """
    from octavo.measurements.imports import import_torch, torch  # noqa: PLC0415 - slow to import

    if program is not None:
        _log_program(said.sink(), torch.read(source), program, kept)
    else:
        _show_allocator(said.sink(), import_torch(source, kept.folder(source), force=kept.force))


@app.command(
    epilog=options.examples(
        "octavo import rocprof results.db -o runs/profile", "octavo import rocprof results.db --program solver.py"
    )
)
def rocprof(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="What `rocprofv3 --output-format rocpd` or `json` wrote."),
    ],
    program: Program = None,
    process: Process = None,
    kept: Kept = _KEPT,
    said: options.Said = options.SAID,
) -> None:
    """Import a database or JSON of rocprofv3: memory of AMD's GPUs over time and kernels; or a whole program."""
    from octavo.measurements.imports import Rocpd, import_rocprof  # noqa: PLC0415 - slow to import

    if program is not None:
        _program(said.sink(), source, program, kept, process=process, kind=Rocpd)
    else:
        _show_allocator(said.sink(), import_rocprof(source, kept.folder(source), force=kept.force))


@app.command(
    "perf-mem",
    epilog=options.examples("octavo import perf-mem samples.txt -o runs/samples"),
)
def perf_mem(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Text of `perf mem report -D -x,` or `perf script -F pid,addr,data_src,weight`.",
        ),
    ],
    kept: Kept = _KEPT,
    said: options.Said = options.SAID,
) -> None:
    """Import samples of Linux' perf mem: which pages of a program on the host are hot."""
    from octavo.measurements.imports import import_perf_mem  # noqa: PLC0415 - slow to import

    _show_heat(said.sink(), import_perf_mem(source, kept.folder(source), force=kept.force))


@app.command(epilog=options.examples("octavo import damon damon.data -o runs/regions"))
def damon(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="What `damo record` wrote, or `damo report access --json --raw_number` printed."
        ),
    ],
    kept: Kept = _KEPT,
    said: options.Said = options.SAID,
) -> None:
    """Import what Linux' DAMON monitored: which regions of memory are hot."""
    from octavo.measurements.imports import import_damon  # noqa: PLC0415 - slow to import

    _show_heat(said.sink(), import_damon(source, kept.folder(source), force=kept.force))


def _show_heat(sink: Sink, result: RunResult) -> None:
    """Which ranges are hot."""
    from octavo.measurements.imports.heat import in_use  # noqa: PLC0415 - slow to import

    summary, table = result.totals, in_use(result.table("heat"))
    hottest = table.sort(table["samples"] / table["bytes"], descending=True).head(_MOST_ALLOCATIONS).to_dicts()
    sink.document({"folder": str(result.folder), "summary": summary, "hottest": hottest})
    total = summary["samples"]
    rows = [
        ("samples", f"{total:,.0f}"),
        ("memory in use", size(summary["footprint_bytes"])),
        *((f"memory with {share} % of the samples", size(found)) for share, found in summary["hot_bytes"].items()),
    ]
    sink.table(f"{summary['source']['file']}: hot memory", ["measure", "value"], rows)
    cells = [(f"{row['address']:#x}", size(row["bytes"]), f"{row['samples'] / total:.2%}") for row in hottest]
    sink.table("hottest ranges", ["address", "size", "samples"], cells)
    for text in summary["assumed"]:
        sink.tell(f"Assumed: {text}")
    for text in summary["missing"]:
        sink.tell(f"Not in the profile: {text}")
    _show_notes(sink, summary)
    sink.say(f"Results: {result.folder}")


def _exact(count: int) -> str:
    """A size, with all its digits."""
    return f"{size(count)}, {count:,} bytes"


def _show_allocator(sink: Sink, result: RunResult) -> None:
    """What an allocator logged."""
    summary = result.totals
    sink.document({"folder": str(result.folder), "summary": summary})
    rows = [
        ("time", f"{summary['time_ps'] * 1e-9:,.3f} ms"),
        *([("kernel launches", f"{summary['launches']:,}")] if summary["launches"] else []),
        ("allocations", f"{summary['allocations']:,}"),
        ("most at once", _exact(summary["footprint_bytes"])),
        ("never freed", _exact(summary["never_freed_bytes"])),
    ]
    sink.table(f"{summary['source']['file']}: memory of GPUs", ["measure", "value"], rows)
    for text in summary["missing"]:
        sink.tell(f"Not in the log: {text}")
    _show_notes(sink, summary)
    sink.say(f"Results: {result.folder}")


def show(sink: Sink, result: RunResult) -> None:
    """What was imported."""
    summary, allocations = result.totals, result.table("allocations").to_dicts()
    sink.document({"folder": str(result.folder), "summary": summary, "allocations": allocations})
    if not sink.human:
        return
    rows = [*_totals(summary), *_moved(summary["unified_memory"])]
    sink.table(f"{summary['source']['file']}: unified memory", ["measure", "value"], rows)
    _show_allocations(sink, allocations)
    for text in summary["missing"]:
        sink.tell(f"Not in the profile: {text}")
    _show_notes(sink, summary)
    sink.say(f"Results: {result.folder}")


def _show_notes(sink: Sink, summary: dict[str, Any]) -> None:
    """What the import lost or had to guess."""
    if summary["notes"]:
        notes = [(f"{count:,}", note) for note, count in summary["notes"].items()]
        sink.table("lost or guessed", ["times", "what"], notes)


def _totals(summary: dict[str, Any]) -> list[tuple[str, str]]:
    found, where = summary["unified_memory"], summary["attribution"]
    gpus = ", ".join(f"{one['gpu']}: {one['name'] or 'name not recorded'}" for one in summary["gpus"])
    launches = f"{summary['launches']:,}" if summary["launches"] else "none recorded"
    share = where["rows_outside"] / where["rows"] if where["rows"] else 0.0
    return [
        ("GPUs", gpus or "none"),
        ("time", f"{summary['time_ps'] * 1e-9:,.3f} ms"),
        ("kernel launches", launches),
        ("GPU faults", f"{found['gpu_faults']:,} in {found['fault_groups']:,} groups"),
        ("CPU faults", f"{found['cpu_faults']:,}"),
        ("to GPUs", size(found["h2d_bytes"])),
        ("to the host", size(found["d2h_bytes"])),
        ("between GPUs", size(found["d2d_bytes"])),
        ("in no known allocation", f"{where['rows_outside']:,} of {where['rows']:,} rows ({share:.1%})"),
    ]


def _moved(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (f"{_STAYED.get(kind, 'moved')}: {kind.replace('_', ' ')}", size(count))
        for kind, count in found["bytes_by_kind"].items()
    ]


def _show_allocations(sink: Sink, allocations: Sequence[dict[str, Any]]) -> None:
    """Allocations with any event, those with most bytes and faults first."""
    used = sorted((row for row in allocations if _use(row) > (0, 0)), key=_use, reverse=True)
    shown = used[:_MOST_ALLOCATIONS]
    between = ["d2d_bytes"] if any(row["d2d_bytes"] for row in shown) else []
    rows = [
        (
            row["allocation"],
            size(row["bytes"]),
            *(f"{row[name]:,}" for name in ("gpu_faults", "fault_groups", "cpu_faults")),
            *(size(row[name]) for name in ("h2d_bytes", "d2h_bytes", *between)),
            _number(row["rho"], ".2f"),
            _number(row["sigma"], ".3f"),
        )
        for row in shown
    ]
    columns = ["allocation", "size", "faults", "groups", "CPU", "to GPU", "to host"]
    columns += [*(["between"] if between else []), "ρ", "σ"]
    sink.table(f"{len(shown):,} of {len(allocations):,} allocations", columns, rows)
    sink.tell("faults: by GPUs, which the driver merges into groups. CPU: faults by the CPU.")
    sink.tell(
        "ρ: how often a page came to a GPU, of those that did. σ: share of pages that came to one or faulted there."
    )


def _use(row: dict[str, Any]) -> tuple[int, int]:
    return row["h2d_bytes"] + row["d2h_bytes"] + row["d2d_bytes"], row["gpu_faults"] + row["cpu_faults"]


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)
