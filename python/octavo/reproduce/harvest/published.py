"""Published numbers of memory harvesting, from the one file that holds them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Published:
    """What the publication reports."""

    source: str
    largest_speedup: float
    """Speed-up of a harvesting job over the stock driver, in any of its cases."""


@cache
def published() -> Published:
    """The published numbers."""
    values = json.loads(files("octavo").joinpath("data", "harvest_published.json").read_text(encoding="utf-8"))
    return Published(values["source"], values["largest_speedup"])
