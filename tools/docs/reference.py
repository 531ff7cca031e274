"""Pages of the reference, made from the package: the listing, the JSON schema and every `--help`."""

from __future__ import annotations

import os
from typing import Any

import remarks
import typer
from typer.testing import CliRunner

from octavo.cli.app import app
from octavo.measurements.calibrate.probes import VALUES
from octavo.scenarios import catalogue

STRATEGIES = {
    "placements": (
        "Placement",
        "memory.placement",
        "migrate, map remotely, duplicate or pin a page when it is touched",
    ),
    "prefetchers": ("Prefetch", "memory.prefetch", "which further pages to fetch with those that migrate"),
    "evictions": ("Eviction", "memory.eviction", "which pages leave a full memory"),
    "demotions": ("Demotion", "memory.demotion", "where evicted pages go, and which pages are evicted ahead of need"),
    "sharings": ("Sharing", "memory.sharing", "which memory one address space may take from another"),
    "guards": ("Guards", "memory.guard", "what happens when processors fight over a page"),
    "allocators": ("Frames", "memory.allocator", "which frame of a memory a page gets"),
    "sizings": ("Page sizes", "memory.sizing", "which sizes pages have"),
}
_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "a table",
}
"""Types of the schema in the words of error messages."""


def pages() -> dict[str, str]:
    """Markdown by path below docs/."""
    listing = catalogue.listing()
    return {
        "reference/command-line.md": _command_line(),
        "reference/measured.md": _measured(),
        "reference/remarks.md": remarks.page(),
        "reference/scenario.md": _scenario(catalogue.schema_spelled_out()),
        "reference/strategies.md": _strategies(listing),
        "reference/workloads.md": _workloads(listing["workloads"]),
        "reference/nodes.md": _presets(listing["nodes"], listing["memories"]),
    }


def _strategies(listing: dict[str, list[dict[str, Any]]]) -> str:
    parts = [
        "# Strategies",
        'A memory system is a composition of strategies, each chosen by name: `memory.placement = "grit"`, or with '
        'options: `memory.placement = { name = "grit", fault_threshold = 2 }`.',
        "[The memory systems](../systems.md) explains each of them and names its source. `octavo list` prints the same "
        "as this page.",
    ]
    for kind, (title, key, chooses) in STRATEGIES.items():
        parts += [f"## {title}", f"`{key}`: {chooses}."]
        parts += [_entry(entry) for entry in listing[kind]]
    return _joined(parts)


def _workloads(entries: list[dict[str, Any]]) -> str:
    intro = (
        "Kernels that `workload.name` (or `--workload`) takes, and their options; `workload.scale` is the footprint "
        "relative to the published one. [Their characteristics in numbers](../workloads.md)."
    )
    return _joined(["# Workloads", intro, *(_entry(entry) for entry in entries)])


def _entry(entry: dict[str, Any]) -> str:
    options = [
        (f"`{option['name']}`", f"`{_plain(option['default'])}`", _line(option["description"] or ""))
        for option in entry["options"]
    ]
    table = _table(("option", "default", "meaning"), options) if options else ""
    summary = entry["summary"][:1].upper() + entry["summary"][1:]
    return _joined([f"### `{entry['name']}`", f"{summary}.", f"Source: {entry['source']}.", table])


def _presets(nodes: list[dict[str, Any]], memories: list[dict[str, Any]]) -> str:
    parts = [
        "# Nodes and memories",
        "The presets, with the source of every number. [A node of your own](../nodes.md) may extend one.",
    ]
    for title, key, entries in (("Nodes", "node.preset", nodes), ("Memories", "memory.preset", memories)):
        parts += [f"## {title}", f"`{key}`"]
        parts += [f"### `{entry['name']}`\n\n{entry['summary']}\n\n```toml\n{entry['text']}\n```" for entry in entries]
    return _joined(parts)


def _measured() -> str:
    intro = (
        "Keys of `[measured]` in a machine file, by probe. Units: seconds, bytes a second, bytes, operations a second "
        "(op/s), plain numbers (1). [How they are measured and fitted](../calibrate.md)."
    )
    pairs = "Each pair of GPUs has its own value, named after both: `peer_copy_bandwidth_0_1`."
    parts = ["# Measured values", intro]
    for probe in dict.fromkeys(value.probe for value in VALUES):
        values = [value for value in VALUES if value.probe == probe]
        rows = [(f"`{one.name}`", one.unit, one.about, f"`{one.series}`", one.how) for one in values]
        parts += [f"## `{probe}`", pairs if values[0].each_pair else ""]
        parts.append(_table(("value", "unit", "what it is", "series", "fit"), rows))
    return _joined(parts)


def _scenario(schema: dict[str, Any]) -> str:
    intro = (
        "Every key of a scenario file by its dotted name, as in `--set` and in the axes of sweeps. Presets supply keys "
        "that you leave out. `octavo schema` prints the JSON schema from which this page is generated."
    )
    parts = ["# Scenario files", intro]
    for name, part in schema["properties"].items():
        rows = _rows(name, part)
        parts += [f"## `{name}`", _line(part.get("description", "")), _table(("key", "expects", "meaning"), rows)]
    return _joined(parts)


def _rows(key: str, schema: dict[str, Any]) -> list[tuple[str, str, str]]:
    """A row for every value below a key; variants with names of their own stand on their own pages."""
    if "properties" in schema:
        return [row for name, part in schema["properties"].items() for row in _rows(f"{key}.{name}", part)]
    if isinstance(each := schema.get("additionalProperties"), dict):
        return _rows(f"{key}.NAME", each)
    if "properties" in (each := schema.get("items") or {}):
        return _rows(f"{key}[]", each)
    if "name" in _variants(schema):
        return [(f"`{key}`", "a name, or a table with `name` and options", _line(schema.get("description", "")))]
    tables = [part for part in schema.get("oneOf", schema.get("anyOf", [])) if "properties" in part]
    own = (f"`{key}`", _expected(schema), _line(schema.get("description", "")))
    return [own, *(row for part in tables for row in _rows(key, part))]


def _variants(schema: dict[str, Any]) -> set[str]:
    return {name for part in schema.get("oneOf", []) for name in part.get("properties", {})}


def _expected(schema: dict[str, Any]) -> str:
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    for several in ("oneOf", "anyOf"):
        if several in schema:
            return ", ".join(dict.fromkeys(_expected(part) for part in schema[several]))
    if "pattern" in schema:
        return _quantity(schema["pattern"])
    kinds = schema.get("type", "a value")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return " or ".join(_KINDS.get(kind, kind) for kind in kinds if kind != "null")


def _quantity(pattern: str) -> str:
    """The kind of a quantity by the unit its pattern asks for."""
    kinds = {"Hz": "a frequency", "B/s": "a bandwidth", "cycles": "a count of cycles", "ps|": "a time", "i?B": "a size"}
    return next((kind for mark, kind in kinds.items() if mark in pattern), f"text like {_code(pattern)}")


def _command_line() -> str:
    runner = CliRunner()
    os.environ |= {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    parts = ["# Command line", "The output of every `--help`."]
    parts.append(_help(runner, []))
    for path in _commands(typer.main.get_command(app), []):
        parts += [f"## `octavo {' '.join(path)}`", _help(runner, path)]
    return _joined(parts)


def _commands(command: Any, path: list[str]) -> list[list[str]]:
    """Every command that does something, by the words that call it; so may one that has others below it."""
    below = getattr(command, "commands", None)
    if not below:
        return [path]
    own = [path] if getattr(command, "invoke_without_command", False) and path else []
    return own + [found for name in below for found in _commands(below[name], [*path, name])]


def _help(runner: CliRunner, path: list[str]) -> str:
    done = runner.invoke(app, [*path, "--help"])
    if done.exit_code != 0:
        raise RuntimeError(done.output)
    return f"```text\n{done.output.rstrip()}\n```"


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)


def _line(text: str) -> str:
    return " ".join(text.split())


def _plain(value: object) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _code(text: str) -> str:
    return f"`{text}`"


def _joined(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"
