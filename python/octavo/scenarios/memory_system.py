"""The name of a memory system: the preset with the same strategies, and what differs from it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from octavo.files.toml import parsed
from octavo.scenarios import catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping

_USUAL = {
    "placement": "on-touch",
    "prefetch": "none",
    "eviction": "lru-page",
    "demotion": "none",
    "guard": "none",
    "allocator": "free-list",
    "sizing": "base",
}
"""The strategies of a scenario that names none."""
_NAMELESS = "plain"
"""The preset that consists only of a placement, and is called after it."""
_MOST_CHANGES = 2
"""Strategies of a preset that may differ before the memory system loses its name; our choice."""


def name(memory: Mapping[str, Any]) -> str:
    """Return `stock-driver` for that preset, `stock-driver with grit` for changes, `grit` for a placement alone.

    Args:
        memory: the table `memory` of a scenario that is spelled out.

    """
    changes = {preset: _changes(memory, choices) for preset, choices in _presets().items()}
    nearest = min(changes, key=lambda preset: (len(changes[preset]), preset != _NAMELESS))
    if nearest == _NAMELESS or len(changes[nearest]) > _MOST_CHANGES:
        placement = str(memory["placement"]["name"])
        nearest, others = placement, [change for change in changes[_NAMELESS] if change != placement]
    else:
        others = changes[nearest]
    return f"{nearest} with {', '.join(others)}" if others else nearest


def _changes(memory: Mapping[str, Any], preset: Mapping[str, dict[str, Any]]) -> list[str]:
    """The strategies that differ from a preset's, or have other options."""
    found = []
    for kind in _USUAL:
        own = memory.get(kind, {"name": "none"})
        if own["name"] != preset[kind]["name"]:
            found.append(f"{kind} none" if own["name"] == "none" else own["name"])
        elif any(own.get(option) != value for option, value in preset[kind].items()):
            found.append(f"other {own['name']}")
    return found


@cache
def _presets() -> dict[str, dict[str, dict[str, Any]]]:
    """The strategies of each preset, each a table with its name."""
    texts = {entry["name"]: parsed(entry["text"]) for entry in catalogue.listing()["memories"]}
    return {
        preset: {kind: _table(memory.get(kind, usual)) for kind, usual in _USUAL.items()}
        for preset, memory in texts.items()
    }


def _table(choice: str | dict[str, Any]) -> dict[str, Any]:
    return {"name": choice} if isinstance(choice, str) else choice
