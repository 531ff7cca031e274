"""`octavo record`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octavo.advice import recording
from octavo.cli import options
from octavo.cli.terminal import Terminal
from octavo.errors import ProfileError
from octavo.plain import size

if TYPE_CHECKING:
    from octavo.cli.sink import Sink
    from octavo.measurements.interposer import Recorded

EXAMPLES = options.examples(
    "octavo record -- ./program --its-own-options",
    "octavo record -o profile.json -- python train.py",
    "octavo advise profile.json --node machine.toml -o advice",
    "octavo apply advice -- ./program --its-own-options",
)
SETTINGS = {"allow_interspersed_args": False}
"""Arguments after the program's name are the program's."""
_STANDARD_ERROR = 2

Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The recording; its name ends in .json.")]
Force = Annotated[
    bool, typer.Option("--force", help="Replace the recording, and recordings of other processes beside it.")
]


def record(
    command: options.Program,
    output: Output = Path("profile.json"),
    force: Force = False,
    said: options.Said = options.SAID,
) -> None:
    """Run a CUDA program and record what it allocates, copies and launches, for `octavo advise`.

    The program is not changed. The exit status is the program's. It is 2 if the recording or the library cannot be
    used, or if the program ended well and nothing was recorded. It is 126 or 127 if the program cannot be started. A
    summary is printed on standard error. With --json, the program's own output goes there, too, and standard output has
    the document alone.
    """
    from octavo.measurements.interposer import record as run  # noqa: PLC0415 - as it is asked for alone

    found = run(command, output, force=force, output=_STANDARD_ERROR if said.as_json else None)
    _show(said.sink(Terminal(errors=True)), found, output)
    raise typer.Exit(found.status)


def _show(sink: Sink, found: Recorded, output: Path) -> None:
    others = [str(path) for path in found.others]
    profile = found.profile
    if profile is None and not others and found.status == 0:
        raise ProfileError(
            "nothing was recorded: the program called no CUDA function that the interposer sees, or ended by _exit",
            "see docs/runtime.md for what is seen",
        )
    bytes_of: Counter[str] = Counter()
    for each in profile["allocations"] if profile else []:
        bytes_of[each["kind"]] += each["bytes"]
    calls = Counter(each["call"] for each in profile["allocations"]) if profile else Counter[str]()
    sink.document(
        {
            "recording": str(output) if profile else None,
            "others": others,
            "status": found.status,
            "allocations": dict(calls),
            "bytes": dict(bytes_of),
            "launches": profile["launches"] if profile else 0,
        }
    )
    if profile is not None:
        amounts = ", ".join(f"{size(count)} {kind}" for kind, count in sorted(bytes_of.items()))
        sink.say(f"{calls.total():,} allocations ({amounts or 'none'}), {profile['launches']:,} launches")
        for note in recording.unseen(profile):
            sink.tell(f"Not seen: {note}")
        sink.say(f"Recording: {output}; next: octavo advise {output} -o advice")
    for path in others:
        sink.say(f"Recording of a process that it started: {path}")
