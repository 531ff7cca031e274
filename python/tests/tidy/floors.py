"""The floors of the Python package: a file imports from its own floor and from those below."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidy.graph import Graph

FLOORS = (
    ("core", "_core addresses arrays errors extras files given html plain quantities roofline verbs"),
    ("scenario", "apart arguments policies scenarios workloads"),
    ("results and runs", "api runs sweeps trace variants"),
    ("answers", "advice explain measured transform"),
    ("reports", "report"),
    ("studies", "reproduce validate"),
    ("command line and facade", "__init__ __main__ cli"),
)
"""From the ground up: what is on each floor, files and folders of the package."""
_FLOOR_OF = {name: number for number, (_, names) in enumerate(FLOORS) for name in names.split()}


def upwards(graph: Graph) -> list[str]:
    """Return the imports from a higher floor, as `file -> file`, and files that are on no floor."""
    homeless = [f"{file} is on no floor" for file in graph if room(file) not in _FLOOR_OF]
    pairs = ((file, other) for file, others in sorted(graph.items()) for other in sorted(others))
    return homeless or [f"{file} -> {other}" for file, other in pairs if floor(other) > floor(file)]


def room(file: str) -> str:
    """Return the file or folder of the package that a file is, or is in."""
    return file.split("/")[1].partition(".")[0]


def floor(file: str) -> int:
    """Return how high a file stands."""
    return _FLOOR_OF[room(file)]
