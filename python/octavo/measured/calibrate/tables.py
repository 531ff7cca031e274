"""Tables of the probes: series by probe, and the parameters of each.

Every row of every series also has `repetition` (from 0), `seconds`, `bytes` (useful bytes moved) and `count` (calls,
launches, accesses or operations); a parameter that a series does not have is null in its rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Series:
    """One series of a probe: what its rows are, and what is varied."""

    about: str
    parameters: tuple[str, ...]
    timed: bool = True
    """Whether `seconds` is there in every row."""
    brief: bool = False
    """Whether a time may be shorter than the clock's steps, and so 0."""


COMMON: Mapping[str, type[pl.DataType]] = {
    "series": pl.String,
    "repetition": pl.Int64,
    "seconds": pl.Float64,
    "bytes": pl.Int64,
    "count": pl.Int64,
}

_WORDS = ("direction", "memory", "what", "how", "operation", "type", "pattern", "by", "hint", "phase", "side")
_FRACTIONS = ("sigma", "alpha", "copy_seconds")
_NUMBERS = (
    *("size", "footprint", "stride", "width", "line", "warps", "blocks", "pages", "page", "order", "round", "rho"),
    *("source", "target", "both", "access", "rank", "atomics"),
)
PARAMETERS: Mapping[str, type[pl.DataType]] = {
    **dict.fromkeys((*_WORDS, "placement"), pl.String),
    **dict.fromkeys(_FRACTIONS, pl.Float64),
    **dict.fromkeys(_NUMBERS, pl.Int64),
}

_UNIFIED = {
    "first_touch": Series("first touch of fresh memory", ("by", "size")),
    "demand": Series("migration on demand", ("direction", "pattern", "stride", "blocks", "pages", "size")),
    "step": Series("one thread touches one page after another, a row a touch", ("page", "size"), brief=True),
    "step_random": Series("the same, in random order", ("page", "order", "size"), brief=True),
    "prefetch": Series("explicit prefetch", ("direction", "size")),
    "advise": Series("access after a hint", ("hint", "phase", "size")),
    "ping_pong": Series("CPU and GPU write the same pages in turn", ("side", "round", "pages", "size")),
    "duplication": Series("access to read-mostly memory", ("phase", "size")),
}

_GRID = ("placement", "sigma", "alpha", "rho")

TABLES: Mapping[str, Mapping[str, Series]] = {
    "copies": {
        "copy": Series("one synchronous copy", ("direction", "memory", "size")),
        "copy_issue": Series("an asynchronous copy until the call returns", ("direction", "size")),
        "copy_both": Series("copies in both directions at once", ("size",)),
        "copy_overlap": Series("a busy kernel and a copy, alone and together", ("what", "direction", "size")),
    },
    "launches": {
        "launch": Series("many empty launches, then one wait", ("how",)),
        "launch_wait": Series("one empty launch and its wait", ("how",)),
    },
    "memory": {
        "stream": Series("STREAM kernels", ("operation", "size")),
        "chase": Series("one thread's dependent loads", ("footprint", "stride")),
        "random_lines": Series("loads of random lines", ("footprint", "width", "line")),
    },
    "arithmetic": {
        "peak": Series("independent operations", ("type",)),
        "occupancy": Series("dependent operations or loads, by warps", ("what", "warps")),
    },
    "zero_copy": {
        "zero_copy": Series("accesses to pinned host memory", ("operation", "pattern", "width", "warps", "stride")),
    },
    "managed": _UNIFIED,
    "system": _UNIFIED,
    "roofline": {
        "roofline": Series("a kernel of given sparsity, intensity and re-migration", _GRID),
        "roofline_scattered": Series("the same, with what is touched in single pages", _GRID),
    },
    "peers": {
        "peer_copy": Series("a copy between two GPUs", ("source", "target", "size", "both")),
        "peer_load": Series("loads from another GPU's memory", ("source", "target", "pattern")),
        "topology": Series(
            "what the driver says of a pair", ("source", "target", "access", "rank", "atomics"), timed=False
        ),
    },
}
