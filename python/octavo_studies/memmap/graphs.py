"""The graphs of the study's graph programs: twenty that are drawn, or files.

The publication's twenty graphs of the Koblenz collection are not named, and cannot be shipped. What a search reaches of
a graph, and how many edges a vertex has, decide how much of each data structure is touched; so these two are given, and
every combination of them is drawn.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TypeAlias

REACHED = (1 / 4, 1.0, 1 / 2, 1 / 16)
"""Shares of vertices in the part in which a search begins. Our choice: from a sixteenth to all."""
DEGREES = (8, 2, 32, 4, 16)
"""Neighbours of a vertex, on average. Our choice, by powers of two: from road networks to social networks."""
PARTS = 16
"""Parts of a graph that is not all one. Our choice: as many as the smallest share needs."""
EDGES = 4 << 20
"""Edges at scale 1, each of which leads both ways: 32 MB of neighbours, as much as other applications have."""


@dataclass(frozen=True)
class Drawn:
    """A graph of one part, or of several without an edge between them, each an R-MAT graph of Graph500's skew."""

    reached: float
    degree: int

    @property
    def parts(self) -> int:
        """How many."""
        return 1 if self.reached == 1 else PARTS

    @property
    def label(self) -> str:
        """In words."""
        return "one part" if self.parts == 1 else f"{self.parts} parts, the largest {self.reached:.0%}"

    def option(self, scale: float) -> str:
        """The workload's `graph`."""
        edges = max(round(EDGES * scale), 1)
        table = f"vertices = {max(2 * edges // self.degree, 2 * PARTS)}, edges = {max(edges, PARTS)}"
        largest = "" if self.parts == 1 else f", largest = {self.reached}"
        return f"{{{table}, parts = {self.parts}{largest}}}"


@dataclass(frozen=True)
class Read:
    """A graph of a file, the same at any scale."""

    file: Path
    degree = None
    parts = None

    @property
    def label(self) -> str:
        """The file."""
        return self.file.name

    def option(self, scale: float) -> str:
        """The workload's `graph`."""
        return json.dumps(str(self.file if self.file.parent.name else Path.cwd() / self.file))


Graph: TypeAlias = Drawn | Read

DRAWN = tuple(Drawn(reached, degree) for degree, reached in product(DEGREES, REACHED))
"""As many as published; any first two have one part and several."""
