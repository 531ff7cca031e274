"""A workload for Octavo: which buffers there are, which kernels run, and which lines of memory they touch.

Look at it, run it, compare placements, change its option:

    octavo workload inspect my_workload.py
    octavo run my_workload.py
    octavo compare my_workload.py --placement on-touch,first-touch,grit
    octavo run my_workload.py --kind explicit --scale 4 --set workload.rounds=3
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from octavo.generators import Buffer, Generator, Launch, compute, load, option, store, wait

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from octavo.generators import Instruction


class MyWorkload(Generator):
    """Each wavefront reads its part of an array, looks up some values in a table, and writes results."""

    # An option, set by `--set workload.rounds=3`, in a scenario file or from Python. Types: bool, int, float, str,
    # Literal of words. `self.scale` and `self.seed` are there, too.
    rounds: int = option(2, "how often the kernel runs", minimum=1)

    def start(self) -> None:
        """Called once, before anything else: the place to compute sizes. Memory is counted in lines of 64 bytes."""
        self.groups = self.scaled(512)  # 512 at scale 1, never less than one
        lines = self.groups * 4 * 4  # four wavefronts in each work-group, four lines in each wavefront
        self.values = Buffer("values", 64 * lines, input=True)  # the host writes it before the first launch
        self.table = Buffer("table", 64 * self.scaled(4096), input=True)
        self.results = Buffer("results", 64 * lines, output=True)  # the host reads it after the last launch

    def buffers(self) -> Iterable[Buffer]:
        """List the buffers, in the order in which they lie in memory."""
        return [self.values, self.table, self.results]

    def launches(self) -> Iterable[Launch]:
        """List the launches, which run one after another. `about` is for `instructions` below."""
        return [Launch("look_up", groups=self.groups, wavefronts=4, about=number) for number in range(self.rounds)]

    def instructions(
        self, launch: Launch, group: NDArray[np.int64], wavefront: NDArray[np.int64]
    ) -> Iterator[Instruction]:
        """Give the instructions of many wavefronts at once, as NumPy arrays of lines.

        `group` has the shape (groups, 1, 1) and `wavefront` (1, wavefronts, 1), so that what is computed from them has
        a place for each wavefront. The last axis holds the lines that it touches at a time.
        """
        # 64 lanes of 4 bytes are 4 lines. Lines are numbered from 0 in each buffer.
        mine = (group * launch.wavefronts + wavefront) * 4 + np.arange(4)
        yield load(self.values, mine)
        yield wait()  # until the values are there: without it, loads would not wait for one another
        # Eight random lines of the table. The same coordinates always give the same numbers: a generator that says
        # something else when it is asked again is refused. -1 would stand for no line.
        place = self.random(self.table.lines, launch.about, group, wavefront, np.arange(8))
        yield load(self.table, place)
        yield wait()
        yield compute(vector_alu=100)  # instructions that touch no memory
        yield store(self.results, mine)

    # What the host does between launches, for workloads that need it (import `reads` and `writes`):
    #
    #   def host(self):
    #       return [reads(self.results, before=1), writes(self.values, before=1, bytes=4096)]
