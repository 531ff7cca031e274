"""The study's statements alone, from the one file that holds them.

Its numeric results are neither in the file nor used.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Published:
    """What the publication says."""

    source: str
    statements: dict[str, str]
    """By a name of ours."""


@cache
def published() -> Published:
    """What the publication says."""
    values = json.loads(files("octavo").joinpath("data", "grace_hopper_published.json").read_text(encoding="utf-8"))
    return Published(values["source"], values["statements"])
