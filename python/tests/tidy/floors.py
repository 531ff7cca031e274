"""The floors of the Python packages: a file imports from its own floor and from those below."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidy.graph import Graph

FLOORS = (
    ("core", "_core addresses arrays checks errors extras files html plain quantities roofline tier verbs"),
    ("scenario", "arguments generators isolation policies scenarios workloads"),
    ("results and runs", "api comparisons runs sweeps trace variants"),
    ("answers", "advice explain gates measurements transform"),
    ("reports", "report"),
    ("command line and facade", "__init__ __main__ cli"),
)
"""From the ground up: what is on each floor, files and folders of the package."""
STUDIES = (
    ("engine", "engine publications"),
    ("studies", "grace_hopper grit harvest memmap mosaic validate"),
    ("commands", "__init__ reproduce"),
)
"""The same of the studies, which stand on the whole package; nothing stands on them."""


def upwards(graph: Graph, floors: tuple[tuple[str, str], ...]) -> list[str]:
    """Return the imports from a higher floor, as `file -> file`, and files that are on no floor."""
    floor_of = {name: number for number, (_, names) in enumerate(floors) for name in names.split()}
    homeless = [f"{file} is on no floor" for file in graph if room(file) not in floor_of]
    pairs = ((file, other) for file, others in sorted(graph.items()) for other in sorted(others))
    return homeless or [f"{file} -> {other}" for file, other in pairs if floor_of[room(other)] > floor_of[room(file)]]


def across(graph: Graph, rooms: str) -> list[str]:
    """Return the imports of one of these rooms from another, as `file -> file`."""
    apart = set(rooms.split())
    pairs = ((file, other) for file, others in sorted(graph.items()) for other in sorted(others))
    return [
        f"{file} -> {other}"
        for file, other in pairs
        if room(file) != room(other) and {room(file), room(other)} <= apart
    ]


def room(file: str) -> str:
    """Return the file or folder of the package that a file is, or is in."""
    return file.split("/")[1].partition(".")[0]
