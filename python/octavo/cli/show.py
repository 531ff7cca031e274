"""`octavo show`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from octavo import plain
from octavo._core import OptionError
from octavo.cli import complete, options
from octavo.cli.sink import Sink
from octavo.errors import ScenarioError
from octavo.scenarios import catalogue

EXAMPLES = options.examples(
    "octavo show stencil2d",
    "octavo show cuda-sm90",
    "octavo show grit --json",
    "octavo show my_workload.py",
)


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A workload, node, memory system or strategy by name; a workload in Python; a recorded program.",
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
    if not found and (own := _of_file(name, listing["workloads"])):
        found = [("workloads", own)]
    if not found:
        names = sorted({entry["name"] for entries in listing.values() for entry in entries})
        raise ScenarioError(f"nothing is called `{name}`", plain.near(name, names) or "`octavo list` has all names")
    sink.document(dict(found))
    for kind, entry in found:
        _show(sink, kind, entry)


def _of_file(name: str, workloads: list[dict[str, Any]]) -> dict[str, Any] | None:
    """A workload that is a file or folder, described as those of the catalogue are."""
    from octavo.trace.folder import is_trace  # noqa: PLC0415 - names of the catalogue do without

    if name.endswith(".py"):
        return _in_python(name)
    is_step = name.rstrip("/").endswith(".step") and Path(name).exists()
    if not is_step and not is_trace(Path(name)):
        return None
    kind, command = ("step", "workload inspect") if is_step else ("trace", "trace info")
    (entry,) = (each for each in workloads if each["name"] == kind)
    own = [each for each in entry["options"] if each["name"] != "path"]
    told = f"a recorded program; `octavo {command} {name}` says what it holds"
    return entry | {"name": name, "summary": told, "source": name, "options": own}


def _in_python(name: str) -> dict[str, Any]:
    from octavo.policies.description import described  # noqa: PLC0415 - as above

    try:
        found = described("workload", name)
    except OptionError as error:
        raise ScenarioError(str(error), file=name) from None
    declared = found.options.values()
    own = [{"name": each.name, "default": each.default, "description": each.meaning} for each in declared]
    told = f"a workload in Python; `octavo workload inspect {name}` says what it touches"
    return {"name": name, "summary": told, "source": found.file or found.name, "options": own}


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
