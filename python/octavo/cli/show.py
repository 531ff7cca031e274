"""`octavo show`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from octavo import plain
from octavo.cli import complete, options
from octavo.cli.sink import Sink
from octavo.errors import ScenarioError
from octavo.scenarios import catalogue

EXAMPLES = options.examples(
    "octavo show stencil2d",
    "octavo show cuda-sm90",
    "octavo show grit --json",
)


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A workload, node, memory system or strategy by name.",
            autocompletion=complete.names(),
            show_default=False,
        ),
    ],
    as_json: options.Json = False,
) -> None:
    """Show one workload, node, memory system or strategy: what it is, its options and where it comes from."""
    sink = Sink(as_json=as_json)
    listing = catalogue.listing()
    found = [(kind, entry) for kind, entries in listing.items() for entry in entries if entry["name"] == name]
    if not found:
        names = sorted({entry["name"] for entries in listing.values() for entry in entries})
        raise ScenarioError(f"nothing is called `{name}`", plain.near(name, names) or "`octavo list` has all names")
    sink.document(dict(found))
    for kind, entry in found:
        _show(sink, kind, entry)


def _show(sink: Sink, kind: str, entry: dict[str, Any]) -> None:
    facts = [("listed among", kind), ("summary", entry["summary"])]
    if "source" in entry:
        facts.append(("source", entry["source"]))
    sink.table(entry["name"], ["", ""], facts)
    if "text" in entry:
        sink.say(entry["text"])
    rows = [(one["name"], _default(one["default"]), one["description"] or "") for one in entry.get("options", ())]
    if rows:
        sink.table(f"options of {entry['name']}", ["option", "default", "meaning"], rows)


def _default(value: object) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
