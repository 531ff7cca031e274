"""Rows of a trace as columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.arrays import np
from octavo.generators.instructions import COUNTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from octavo.arrays import npt

    Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Columns:
    """One number of each row, and the lines of all."""

    kind: Array
    group: Array
    wavefront: Array
    sequence: Array
    counts: list[Array]
    bytes: Array
    lanes: Array
    waits: list[Array]
    lengths: Array
    """How many lines each row has."""
    lines: Array

    def packed(self, launch: int) -> tuple[Any, ...]:
        """As the engine's `TraceWriter` takes them."""
        launches = np.full(len(self.kind), launch, dtype="<u4")
        numbers = [launches, self.group, self.sequence, *self.counts, self.wavefront, self.bytes, self.kind, self.lanes]
        columns = [np.ascontiguousarray(each).tobytes() for each in (*numbers, *self.waits)]
        ends = np.cumsum(self.lengths, dtype="<u8").tobytes()
        return (columns, self.lines.tobytes(), ends, False, b"", bytes(8 * len(self.kind)), None)

    def named(self) -> Iterator[tuple[str, Array]]:
        """Each column under a name of its own that says what it has, without those that follow from the others."""
        yield "instructions", self.kind
        yield "lines", self.lines
        yield "numbers of lines", self.lengths
        yield "work-groups", self.group
        yield "wavefronts", self.wavefront
        yield from zip((f"counts ({name})" for name in COUNTS), self.counts, strict=True)
        yield "bytes", self.bytes
        yield "lanes", self.lanes
        yield from zip(("waits", "waits of the scalar unit"), self.waits, strict=True)
