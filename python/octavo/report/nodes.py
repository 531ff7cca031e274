"""Nodes of runs by their names, if these are enough: not by the many keys in which they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NODE = "node"
"""The key of a name, added to the keys of the node that it stands for."""
BELOW = f"{NODE}."
"""How those begin."""


def named(flat: Sequence[dict[str, str]], scenarios: Sequence[Mapping[str, Any] | None]) -> list[dict[str, str]]:
    """Flat scenarios with the names of their nodes, if these are different presets without changes.

    Args:
        flat: values by dotted key, of each run.
        scenarios: the same as tables; nothing of real programs, which have no node.

    """
    nodes = [None if each is None else each["node"] for each in scenarios]
    if all(node == nodes[0] for node in nodes):
        return list(flat)
    names = [_preset(node) for node in nodes]
    if None in names or len(set(names)) == 1:
        return list(flat)
    return [{NODE: str(name), **values} for name, values in zip(names, flat, strict=True)]


def told(keys: Sequence[str]) -> list[str]:
    """Keys that differ, without those that the name of the node stands for."""
    return [key for key in keys if not key.startswith(BELOW)] if NODE in keys else list(keys)


def _preset(node: Mapping[str, Any] | None) -> str | None:
    """The name of a node that is an unchanged preset, or a file with a name."""
    about = {} if node is None else node.get("about", {})
    return None if about.get("changed") else about.get("name")
