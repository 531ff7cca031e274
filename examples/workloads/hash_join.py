"""A hash join of two tables, as a workload for Octavo: `octavo run examples/workloads/hash_join.py`.

The first kernel builds a hash table of the small relation, the second looks up every row of the large one. Between the
two the host reads how many rows there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from octavo.generators import Buffer, Generator, Launch, atomic, compute, load, option, reads, scalar, store, wait

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from octavo.generators import Exchange, Instruction

WAVEFRONTS = 4  # in each work-group, 64 lanes each
ROW = 8  # bytes of a row: a key and a value
LINES = 64 * ROW // 64  # that the lanes of a wavefront read at a time


class HashJoin(Generator):
    """Build and probe; each lane has one row."""

    build_rows: int = option(1 << 16, "rows of the small relation at scale 1", minimum=256)
    probe_rows: int = option(1 << 18, "rows of the large relation at scale 1", minimum=256)
    hits: float = option(0.5, "share of rows of the large relation that have a partner", minimum=0, maximum=1)

    def start(self) -> None:
        """Compute sizes: whole work-groups, and a table that is half full."""
        rows_of_group = 64 * WAVEFRONTS
        self.build_groups = self.scaled(self.build_rows / rows_of_group)
        self.probe_groups = self.scaled(self.probe_rows / rows_of_group)
        self.small = Buffer("small", self.build_groups * rows_of_group * ROW, input=True)
        self.large = Buffer("large", self.probe_groups * rows_of_group * ROW, input=True)
        self.table = Buffer("table", 2 * self.small.bytes, input=True)  # the host empties it
        self.count = Buffer("count", 64, input=True)
        self.joined = Buffer("joined", self.large.bytes, output=True)

    def buffers(self) -> Iterable[Buffer]:
        """All five."""
        return [self.small, self.large, self.table, self.count, self.joined]

    def launches(self) -> Iterable[Launch]:
        """Build, then probe."""
        return [
            Launch("build", groups=self.build_groups, wavefronts=WAVEFRONTS),
            Launch("probe", groups=self.probe_groups, wavefronts=WAVEFRONTS),
        ]

    def host(self) -> Iterable[Exchange]:
        """The host reads the count before it launches the second kernel."""
        return [reads(self.count, before=1)]

    def instructions(
        self, launch: Launch, group: NDArray[np.int64], wavefront: NDArray[np.int64]
    ) -> Iterator[Instruction]:
        """Rows in order, places in the table by their hash: a random line for each lane."""
        number = group * WAVEFRONTS + wavefront
        mine = number * LINES + np.arange(LINES)
        place = self.random(self.table.lines, launch.kernel == "probe", number, np.arange(64))
        yield load(self.small if launch.kernel == "build" else self.large, mine, bytes=ROW)
        yield wait()
        yield compute(vector_alu=12)  # the hash
        if launch.kernel == "build":
            yield atomic(self.table, place, bytes=ROW)
            yield atomic(self.count, 0, lanes=1)
            return
        yield scalar(self.count, 0, bytes=4)
        yield load(self.table, place, bytes=ROW)
        yield wait()
        # Wavefronts in which no row has a partner write nothing: -1 stands for no line.
        found = self.random(1000, 2, number, np.arange(LINES)) < 1000 * self.hits
        yield store(self.joined, np.where(found, mine, -1), bytes=ROW)
