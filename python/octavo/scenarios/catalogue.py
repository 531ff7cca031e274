"""Lists of names to choose from."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import octavo._core as _core

if TYPE_CHECKING:
    from collections.abc import Iterator

_KINDS = (
    "nodes",
    "memories",
    "workloads",
    "placements",
    "prefetchers",
    "evictions",
    "demotions",
    "sharings",
    "guards",
    "allocators",
    "sizings",
)
_NO_SIZES = {
    *("all_reduce", "chunk_qubits", "cut", "initialised_by", "input", "iterations", "read_rows", "run", "source"),
    *("spacing", "stages", "step_ms", "steps", "stride", "touches", "turn"),
}
"""Options without a default of their own that leave the size to the scale."""


def listing() -> dict[str, list[dict[str, Any]]]:
    """Everything a scenario can name, by kind; strategies and workloads with their options and sources."""
    kinds: dict[str, list[dict[str, Any]]] = json.loads(_core.listing())
    return {kind: kinds[kind] for kind in _KINDS}


def names(kind: str) -> list[str]:
    """The names of one kind of thing, such as `workloads` or `placements`."""
    return [entry["name"] for entry in listing()[kind]]


@cache
def sized_by_scale() -> dict[str, set[str]]:
    """For each workload, the options without a default, as they follow from the scale."""
    return {
        entry["name"]: {option["name"] for option in entry["options"] if option["default"] is None} - _NO_SIZES
        for entry in listing()["workloads"]
    }


def schema() -> dict[str, Any]:
    """JSON schema of scenario files; parts that several places share are written once, below `$defs`."""
    schema: dict[str, Any] = json.loads(_core.schema())
    return schema


def schema_spelled_out() -> dict[str, Any]:
    """The same schema without references: every part is in its place."""
    schema: dict[str, Any] = json.loads(_core.schema_spelled_out())
    return schema


def settable() -> list[str]:
    """Dotted keys of scenarios that have a value, in the order of the schema; not those in lists of tables."""
    return list(dict.fromkeys(_keys("", schema_spelled_out())))


def _keys(prefix: str, part: dict[str, Any]) -> Iterator[str]:
    """The key itself if it can be more than a table, then the keys in it."""
    choices = [*part.get("oneOf", ()), *part.get("anyOf", ())]
    tables = [each for each in (part, *choices) if "properties" in each]
    listed = "items" in part or (part.get("type") == "object" and not tables)
    if prefix and not listed and (not tables or len(tables) < len(choices)):
        yield prefix
    for table in tables:
        for key, value in table["properties"].items():
            yield from _keys(f"{prefix}.{key}" if prefix else key, value)
