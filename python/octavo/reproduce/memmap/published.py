"""Published numbers of MemMap, from the one file that holds them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Published:
    """What the publication reports."""

    source: str
    average_speedup: float
    """Average speed-up of its placements over all data on the device."""
    largest_speedup: float
    """Largest speed-up of any of its applications."""
    placements: dict[str, int]
    """Placements that it explored, by application."""


@cache
def published() -> Published:
    """The published numbers."""
    values = json.loads(files("octavo").joinpath("data", "memmap_published.json").read_text(encoding="utf-8"))
    return Published(values["source"], values["average_speedup"], values["largest_speedup"], dict(values["placements"]))
