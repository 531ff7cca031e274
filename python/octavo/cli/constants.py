"""`octavo constants`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from octavo.cli import options
from octavo.cli.sink import Sink

EXAMPLES = options.examples(
    "octavo constants cuda-sm90",
    "octavo constants machine.toml -o constants.json",
    "OCTAVO_CONSTANTS=constants.json ./program",
)

Node = Annotated[
    str,
    typer.Argument(metavar="NODE", help="Node preset, or a machine file of `octavo calibrate`.", show_default=False),
]
File = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="File to write for the runtime library.", show_default=False),
]
Replace = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]


def constants(
    node: Node, output: File = None, force: Replace = False, as_json: options.Json = False, quiet: options.Quiet = False
) -> None:
    """Print what `octavo advise` knows about a machine, with sources; with -o, write a file for the runtime library."""
    from octavo.advice import systems  # noqa: PLC0415 - slow to import

    sink = Sink(as_json=as_json, quiet=quiet)
    found = systems.from_node(node)
    if output is not None:
        systems.write(node, output, force=force)
    sink.document(systems.document(found))
    rows = [
        [name, f"{value:.4g}", found.origins[constant].certainty, found.origins[constant].where]
        for constant, name, value in found.system.told()
    ]
    sink.table(f"Constants of {found.name} (bytes, seconds)", ["constant", "value", "how", "from"], rows)
    if output is not None:
        sink.say(f"For the runtime library: {output}")
