"""Which applications run together."""

from __future__ import annotations

import random

APPLICATIONS = (
    "trd", "red", "scan", "scp", "blk", "fwt", "cons", "hs", "3ds", "lps", "srad", "fft",
    "gups", "histo", "spmv", "nw", "bfs2", "nn", "bp", "lud", "lib", "sad", "cfd", "streamcluster", "mm",
)  # fmt: skip
"""The publication's applications (27) as far as there are kernel models of them (docs/workloads.md)."""
NAMES = {"bfs2": "bfs-rodinia", "nn": "nearestneighbor", "mm": "matrixmultiplication"}
"""Workloads that are called otherwise than the publication abbreviates them, which labels results."""
REDUCED = ("trd", "3ds", "spmv", "nn", "bp")
"""Streaming, stencil, sparse, records and layers: what runs in a few minutes."""
REDUCED_SCALE = 0.25
"""Footprints of the reduced set relative to the published ones; below that, buffers are smaller than large pages."""
NAMED = (("cons", "hs"), ("histo", "nw"))
"""The mixes of two applications that the publication calls sensitive to TLBs (figure 10)."""
SEED = 2017
"""Seed of the draws of heterogeneous mixes."""


def copies(applications: tuple[str, ...], count: int) -> list[tuple[str, ...]]:
    """`count` copies of each application."""
    return [(name,) * count for name in applications]


def draws(applications: tuple[str, ...], count: int, how_many: int, seed: int = SEED) -> list[tuple[str, ...]]:
    """Mixes of `count` different applications, drawn at random; no two mixes are the same."""
    drawn: dict[tuple[str, ...], None] = {}
    source = random.Random(f"{seed} {count}")  # noqa: S311  # a sample, not a secret
    attempts = 0
    while len(drawn) < how_many and attempts < 100 * how_many:
        attempts += 1
        drawn.setdefault(tuple(sorted(source.sample(applications, count))))
    return list(drawn)


def workload(mix: tuple[str, ...]) -> str:
    """A mix as the name of a workload."""
    return "+".join(NAMES.get(label, label) for label in mix)


def labelled(workload: str) -> str:
    """The publication's abbreviation of a workload, if it has one of its own; else the workload."""
    return next((label for label, name in NAMES.items() if name == workload), workload)


def label(mix: tuple[str, ...]) -> str:
    """A mix as results show it."""
    return "+".join(mix)
