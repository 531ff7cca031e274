"""`octavo profile`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo.cli import options
from octavo.cli.terminal import Terminal
from octavo.files.notes import note
from octavo.plain import size

if TYPE_CHECKING:
    from octavo.cli.sink import Sink
    from octavo.runs.result import RunResult

EXAMPLES = options.examples(
    "octavo profile -- ./program --its-own-options",
    "octavo profile --every 20ms -o runs/measured -- python train.py",
    "octavo profile --buffers -o runs/measured -- ./program",
    "octavo report runs/simulated runs/measured -o both.html",
)
SETTINGS = {"allow_interspersed_args": False}
"""Arguments after the program's name are the program's."""

_MOST_MAPPINGS = 12
"""The most mappings in the printed table; the Parquet table has all."""
_STANDARD_ERROR = 2

Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FOLDER", help="Result folder; runs/PROGRAM if left out.", show_default=False
    ),
]
Every = Annotated[str, typer.Option("--every", metavar="TIME", help="Time between samples, 1ms to 3600s.")]
Buffers = Annotated[
    bool,
    typer.Option("--buffers", help="Also record CUDA allocations for octavo advise, as octavo record does."),
]
Name = Annotated[str | None, typer.Option("--name", help="Name in reports; the program's file name if left out.")]


def profile(
    command: options.Program,
    output: Output = None,
    every: Every = "100ms",
    name: Name = None,
    buffers: Buffers = False,
    force: options.Force = False,
    said: options.Said = options.SAID,
) -> None:
    """Run any program and sample its memory by NUMA node and mapping, its page faults, and GPU memory.

    The exit status is the program's. Tables are printed on standard error; with --json the program's own output goes
    there, and the document alone to standard output.
    """
    from octavo.measurements.interposer import profile_with_buffers  # noqa: PLC0415 - polars takes long to import
    from octavo.measurements.profile import profile as watched  # noqa: PLC0415 - as above

    result = (profile_with_buffers if buffers else watched)(
        command,
        output or Path("runs") / Path(command[0]).name,
        every=every,
        name=name,
        force=force,
        output=_STANDARD_ERROR if said.as_json else None,
        watch=None if said.quiet else note,
    )
    sink = said.sink(Terminal(errors=True))
    show(sink, result)
    if buffers:
        _show_recordings(sink, result)
    raise typer.Exit(result.totals["exit"]["status"])


def show(sink: Sink, result: RunResult) -> None:
    """What was sampled."""
    summary, mappings = result.totals, result.table("mappings")
    largest = mappings.sort("resident_bytes", descending=True, maintain_order=True).head(_MOST_MAPPINGS).to_dicts()
    processes = result.table("processes").to_dicts()
    sink.document({"folder": str(result.folder), "summary": summary, "processes": processes, "mappings": largest})
    if not sink.human:
        return
    sink.table(f"{summary['source']['file']}: memory in use", ["measure", "value"], _totals(summary))
    rows = [
        (
            _short(row["mapping"]),
            str(row["process"]),
            *(size(row[f"{name}_bytes"]) for name in ("resident", "huge", "swap")),
        )
        for row in largest
    ]
    title = f"{len(rows):,} of {mappings.height:,} mappings, most resident first"
    sink.table(title, ["mapping", "process", "resident", "huge pages", "swap"], rows)
    for text in summary["missing"]:
        sink.tell(f"Not in the profile: {text}")
    for text, count in summary["notes"].items():
        sink.tell(f"{count:,} {text}")
    sink.say(f"Results: {result.folder}")


def _show_recordings(sink: Sink, result: RunResult) -> None:
    from octavo.advice import recording  # noqa: PLC0415 - as it is asked for alone

    if recording.in_folder(result.folder):
        sink.say(f"What to allocate how: octavo advise {result.folder}")
    else:
        sink.tell("The profile has no buffers: the program made no CUDA call that Octavo can see")


def _totals(summary: dict[str, Any]) -> list[tuple[str, str]]:
    samples, faults, ended = summary["samples"], summary["faults"], summary["exit"]
    gap = samples["longest_gap_ps"] * 1e-9
    return [
        ("exit status", f"{ended['status']} ({ended['signal']})" if ended["signal"] else str(ended["status"])),
        ("time", f"{summary['time_ps'] * 1e-9:,.1f} ms"),
        ("processes", f"{summary['processes']:,}"),
        ("most at once", size(summary["footprint_bytes"])),
        *((f"most in {one['memory']}", _of(one)) for one in summary["memories"]),
        ("page faults", f"{faults['minor']:,} minor, {faults['major']:,} major"),
        ("samples", f"{samples['taken']:,}, {samples['looks']:,} of them by page, {gap:,.1f} ms apart at most"),
        ("processor time of sampling", f"{samples['cpu_ps'] / max(summary['time_ps'], 1):.2%} of one core"),
    ]


def _short(mapping: str) -> str:
    """A file without the folders that it lies in."""
    return Path(mapping).name if mapping.startswith("/") else mapping


def _of(memory: dict[str, Any]) -> str:
    return f"{size(memory['most_bytes'])} of {size(memory['capacity_bytes'])}"
