"""`octavo list`."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from octavo.cli import options
from octavo.cli.sink import Sink
from octavo.scenarios import catalogue

EXAMPLES = options.examples(
    "octavo list",
    "octavo list placements",
    "octavo list nodes --json",
)


class Kind(str, Enum):
    """What can be listed."""

    nodes = "nodes"
    memories = "memories"
    workloads = "workloads"
    placements = "placements"
    prefetchers = "prefetchers"
    evictions = "evictions"
    demotions = "demotions"
    sharings = "sharings"
    guards = "guards"
    allocators = "allocators"
    sizings = "sizings"


def list_(
    kind: Annotated[
        Kind | None,
        typer.Argument(
            metavar="KIND",
            help=f"What to list: {options.one_of(Kind.__members__)}. Everything if left out.",
            show_default=False,
            show_choices=False,
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List presets of nodes and memory systems, workloads and strategies; `octavo show` says more of one."""
    sink = Sink(as_json=as_json)
    kinds = catalogue.listing()
    chosen = kinds if kind is None else {kind.value: kinds[kind.value]}
    sink.document(chosen)
    for name, entries in chosen.items():
        sink.table(name, ["name", "summary"], [(entry["name"], entry["summary"]) for entry in entries])
    sink.say("octavo show NAME says more of one: options, defaults, source")
