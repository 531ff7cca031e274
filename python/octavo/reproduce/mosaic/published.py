"""Published numbers of Mosaic, from the one file that holds them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Published:
    """What the publication reports, as fractions."""

    source: str
    loss_without_paging: dict[str, float]
    """Average loss against the ideal TLB, by page size; 0.48 is 48 % slower."""
    homogeneous_gain: float
    """Average gain in weighted speed-up of Mosaic over GPU-MMU with copies of one application."""
    homogeneous_gap_to_ideal: float
    """How far Mosaic stays below the ideal TLB there."""


@cache
def published() -> Published:
    """The published numbers."""
    values = json.loads(files("octavo").joinpath("data", "mosaic_published.json").read_text(encoding="utf-8"))
    return Published(
        values["source"],
        values["loss_without_paging"],
        values["homogeneous_gain"],
        values["homogeneous_gap_to_ideal"],
    )
