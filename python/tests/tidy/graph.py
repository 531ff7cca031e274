"""Graphs of imports: which files import each other in a circle."""

from __future__ import annotations

Graph = dict[str, set[str]]
"""For each file, the files that it imports."""


def circles(graph: Graph) -> list[set[str]]:
    """Return the groups of two files or more that import each other, directly or through others."""
    onwards = {file: reachable(graph, file) for file in graph}
    groups: list[set[str]] = []
    for file, reached in onwards.items():
        if file in reached and not any(file in group for group in groups):
            groups.append({other for other in reached if file in onwards.get(other, ())})
    return groups


def reachable(graph: Graph, start: str) -> set[str]:
    """Return the files that `start` imports, directly or through others; itself only if it is one of them."""
    found: set[str] = set()
    todo = [start]
    while todo:
        new = graph.get(todo.pop(), set()) - found
        found |= new
        todo.extend(new)
    return found
