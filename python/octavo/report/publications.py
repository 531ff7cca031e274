"""Published numbers of GRIT, from the one file that holds them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

KERNELS = {
    "bfs": "bfs-shoc",
    "bs": "bitonicsort",
    "c2d": "c2d",
    "fir": "fir",
    "gemm": "gemm",
    "mm": "matrixmultiplication",
    "sc": "simpleconvolution",
    "st": "stencil2d",
}
"""The kernels of the publication: the workloads by its abbreviations, which are the labels of its tables."""
LABELS = {workload: label for label, workload in KERNELS.items()}
"""The publication's abbreviations by workload."""


@dataclass(frozen=True)
class Published:
    """What the publication reports, as fractions and factors."""

    source: str
    gain_of_grit_over: dict[str, float]
    """Average gain of GRIT over each uniform scheme; 0.6 is 60 % faster."""
    best_uniform_scheme: dict[str, str]
    """The fastest uniform scheme by kernel, if the publication names one."""
    averages: dict[str, float]
    """Average speed of other uniform schemes over on-touch."""


@cache
def published() -> Published:
    """The published numbers."""
    text = files("octavo").joinpath("data", "grit_published.json").read_text(encoding="utf-8")
    values = json.loads(text)
    averages = {name: value for name, value in values["averages"].items() if name != "comment"}
    return Published(values["source"], values["gain_of_grit_over"], values["best_uniform_scheme"], averages)
