"""`octavo apply`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo.cli import options
from octavo.cli.after_dashes import AfterDashes
from octavo.cli.terminal import Terminal
from octavo.plain import seconds, size

if TYPE_CHECKING:
    from octavo.cli.sink import Sink
    from octavo.measurements.interposer import Applied

EXAMPLES = options.examples(
    "octavo record -- ./program",
    "octavo advise profile.json --node machine.toml -o advice",
    "octavo apply advice -- ./program",
    "octavo apply placement.json --log applied.json -- ./program",
)
COMMAND = AfterDashes
"""Options of the program are not ours."""
_STANDARD_ERROR = 2

Placement = Annotated[
    Path, typer.Argument(metavar="ADVICE", help="Folder or placement file of octavo advise.", show_default=False)
]
Log = Annotated[
    Path | None,
    typer.Option(
        "--log",
        metavar="FILE",
        help="Where to write the log; beside the placement file if left out.",
        show_default=False,
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace the log that --log names, and logs of other processes beside it.")
]


def apply(
    placement: Placement,
    command: options.Program,
    log: Log = None,
    force: Force = False,
    said: options.Said = options.SAID,
) -> None:
    """Run a CUDA program with its buffers allocated, moved, and copied by the host, as `octavo advise` says.

    Moves and such copies are measured against the recording; what does not help is given up. The program follows `--`.
    Allocations that the file does not name, or that cannot be changed, stay as the program requests them. The exit
    status is the program's; before it runs, 2 if file, log or library cannot be used, and 126 or 127 if the program
    cannot be started. A summary of all its processes is printed on standard error. With --json, the program's own
    output goes there, and only the document to standard output.
    """
    from octavo.measurements.interposer import apply as run  # noqa: PLC0415 - as it is asked for alone

    found = run(placement, command, log=log, force=force, output=_STANDARD_ERROR if said.as_json else None)
    _show(said.sink(Terminal(errors=True)), found)
    raise typer.Exit(found.status)


def _show(sink: Sink, found: Applied) -> None:
    from octavo.measurements.interposer.logs import summed  # noqa: PLC0415 - slow to import

    sink.document({"status": found.status, "log": found.log, "others": [str(path) for path in found.others]})
    for path in found.others:
        sink.say(f"Log of a process that it started: {path}")
    logs = [log for log in (found.log, *found.logs_of_others) if log is not None]
    if not logs:
        sink.tell("Nothing was applied: the program called no CUDA function that the interposer sees, or was killed")
        return
    log = logs[0] if len(logs) == 1 else summed(logs)
    if log["refused"] is not None:
        sink.tell(f"Nothing was applied; the program ran unchanged: {log['refused']}")
        return
    _show_done(sink, log, len(logs))


def _show_done(sink: Sink, log: dict[str, Any], processes: int) -> None:
    rows = [
        [each["name"], size(each["bytes"]), each["placement"], *(str(each[key]) for key in _COUNTS), _trouble(each)]
        for each in log["buffers"]
    ]
    of = f", in {processes} processes" if processes > 1 else ""
    sink.table(f"What became of the buffers{of}", ["buffer", "size", "placement", *_COUNTS.values(), ""], rows)
    _show_moves(sink, log)
    for call, count in log["passed_on"].items():
        sink.tell(f"Passed on: {count['calls']:,} of {call} ({size(count['bytes'])}), whose memory is never redirected")
    unnamed = log["unnamed"]
    if unnamed["calls"]:
        sink.tell(f"Not named in the file: {unnamed['calls']:,} allocations ({size(unnamed['bytes'])})")


def _show_moves(sink: Sink, log: dict[str, Any]) -> None:
    """What was moved, and what that gained."""
    rows = [_measured(f"launches of {_kernel(each)}", each) for each in log["launches"]]
    rows += [
        _measured(f"{each['name']} back to the host", each["returns"]) for each in log["buffers"] if each["returns"]
    ]
    if log["copies"]:
        rows.append(_measured("copies that the host made itself", log["copies"]))
    moved = [each for each in log["buffers"] if any(each[key] for key in _MOVED)]
    if moved:
        rows_of_buffers = [[each["name"], *(f"{each[key]:,}" for key in _MOVED)] for each in moved]
        sink.table("What was moved", ["buffer", *_MOVED.values()], rows_of_buffers)
    if rows:
        title = "What moves brought, measured against the recording"
        sink.table(title, ["moves", "rounds", "recorded", "now", "gained", ""], rows)
        sink.tell(f"Gained: {seconds(log['gained_ns'] * 1e-9)} in what was measured")
    if log["moves_refused"]:
        sink.tell(f"Refused by the driver: {log['moves_refused']:,} moves")


def _kernel(each: dict[str, Any]) -> str:
    return f"{each['kernel'] or 'a kernel without a name'} by {each['blocks']:,} blocks"


def _measured(what: str, each: dict[str, Any]) -> list[str]:
    recorded, now = (each[key] * 1e-9 for key in ("recorded_ns", "ns"))
    withdrawn = "did not help: done no more" if each["withdrawn"] else ""
    return [what, f"{each['rounds']:,}", seconds(recorded), seconds(now), seconds(recorded - now), withdrawn]


_MOVED = {
    "to_device": "to the device",
    "to_host": "to the host",
    "discarded": "discarded",
    "stored": "copied by the host",
}
_COUNTS = {"matched": "matched", "redirected": "redirected", "as_it_is": "as it is", "failed": "failed"}
"""Columns by key of the log, as those above."""


def _trouble(each: dict[str, Any]) -> str:
    found = []
    if not each["matched"]:
        found.append("no allocation came from there")
    if each["status"] is not None:
        found.append(f"CUDA's error {each['status']}: allocated as the program asked")
    if each["hints_refused"]:
        found.append(f"{each['hints_refused']} hints refused")
    return "; ".join(found)
