"""Instructions of some work-groups as rows of a trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.arrays import np
from octavo.generators.instructions import COUNTS, Instruction
from octavo.trace.chunks import KINDS
from octavo.trace.user_workloads.columns import Columns
from octavo.trace.user_workloads.touched_lines import TouchedLines, touched_lines

if TYPE_CHECKING:
    from octavo.arrays import npt
    from octavo.generators.parts import Launch
    from octavo.trace.user_workloads.touches import Touched
    from octavo.trace.user_workloads.user_code import Own

    Array = npt.NDArray[Any]

_MOST_BYTES = (1 << 16) - 1
_MOST_WAIT = (1 << 8) - 1
_MOST_COUNT = (1 << 32) - 1


@dataclass(frozen=True)
class _Row:
    """A row of each wavefront that has it."""

    kind: str
    there: Array | None = None
    """Which wavefronts have it; all if nothing is said."""
    bytes: int = 0
    lanes: int = 0
    waits: tuple[int | None, int | None] = (None, None)
    counts: Array | None = None
    """(counts, wavefronts)."""
    lines: TouchedLines | None = None
    base: int = 0
    """First line of its buffer."""


class Portion:
    """The rows of some work-groups of a launch."""

    def __init__(self, own: Own, number: int, launch: Launch, groups: range, touched: Touched | None) -> None:
        self._own, self._launch, self._groups = own, launch, groups
        self._number, self._touched = number, touched
        self._shape = (len(groups), launch.wavefronts)
        self._wavefronts = len(groups) * launch.wavefronts
        self._rows: list[_Row] = []
        self._pending: Array | None = None
        group, wavefront = np.arange(groups.start, groups.stop), np.arange(launch.wavefronts)
        places = (launch, group.reshape(-1, 1, 1), wavefront.reshape(1, -1, 1))
        for instruction in own.each("instructions", lambda: own.generator.instructions(*places)):
            self._take(instruction)
        self._rows.append(_Row("end", counts=self._pending))

    @property
    def width(self) -> int:
        """Places for rows and lines of each wavefront."""
        return len(self._rows) + sum(int(row.lines.lines.shape[1]) for row in self._rows if row.lines is not None)

    def _take(self, given: object) -> None:
        if not isinstance(given, Instruction):
            message = f"instructions() gives {given!r}: expected an Instruction such as load(...)"
            facts: dict[str, Any] = {"key": "instructions", "expected": "Instruction", "found": repr(given)}
            raise self._own.refused(message, code="unexpected-value", **facts)
        if given.kind == "compute":
            self._count(given)
        elif given.buffer is None:
            waits = (self._wait(given, given.vector_wait), self._wait(given, given.scalar_wait))
            self._rows.append(_Row(given.kind, waits=waits, counts=self._taken(None)))
        else:
            self._memory(given, given.buffer)

    def _what(self, given: Instruction) -> str:
        of = "" if given.buffer is None else f" of `{given.buffer}`"
        return f"launch {self._number} (`{self._launch.kernel}`), {given.kind}{of}"

    def _wait(self, given: Instruction, value: int | None) -> int | None:
        return value if value is None else self._own.number(self._what(given), value, 0, _MOST_WAIT, given.line)

    def _memory(self, given: Instruction, name: str) -> None:
        own, what, all_lanes = self._own, self._what(given), self._own.generator.lanes
        buffer = own.buffer(name, what, given.line)
        if not buffer.exists(self._number):
            end = "" if buffer.end is None else f" and before launch {buffer.end}"
            expected = f"a launch from {buffer.first} on{end}, as it does not exist at others"
            message = f"{what}: expected {expected}, found launch {self._number}"
            facts = {"key": name, "expected": expected, "found": self._number}
            raise own.refused(message, given.line, code="unexpected-value", **facts)
        size = own.number(f"{what}: bytes", given.bytes, 1, _MOST_BYTES, given.line)
        lanes = 0
        if given.kind != "scalar":
            lanes = own.number(
                f"{what}: lanes", all_lanes if given.lanes is None else given.lanes, 1, all_lanes, given.line
            )
        lines = touched_lines(own, what, given, buffer, self._shape)
        lengths = lines.lengths
        most = max(1, lanes) * (-(-size // 64) + 1)
        if lengths.max(initial=0) > most:
            expected = f"at most {most} lines, which {max(1, lanes)} lanes of {size} bytes touch"
            message = f"{what}: expected {expected}, found {lengths.max()}"
            facts = {"key": "lines", "expected": expected, "found": int(lengths.max())}
            raise own.refused(message, given.line, code="unexpected-value", **facts)
        there = lengths > 0
        if self._touched is not None and there.any():
            self._touched.see(given.kind, name, self._number, self._launch)
        everywhere = bool(there.all())
        counts = self._taken(None if everywhere else there)
        there_or_all = None if everywhere else there
        self._rows.append(_Row(given.kind, there_or_all, size, lanes, counts=counts, lines=lines, base=own.bases[name]))

    def _count(self, given: Instruction) -> None:
        """Instructions that the next row counts."""
        if self._pending is None:
            self._pending = np.zeros((len(COUNTS), self._wavefronts), dtype=np.int64)
        for place, (name, value) in enumerate(zip(COUNTS, given.counts, strict=True)):
            self._pending[place] += self._by_wavefront(given, name, value)
        if self._pending.max() > _MOST_COUNT:
            message = f"{self._what(given)}: expected at most {_MOST_COUNT} instructions, found {self._pending.max()}"
            raise self._own.refused(message, given.line, code="unexpected-value", expected=_MOST_COUNT)

    def _by_wavefront(self, given: Instruction, name: str, value: object) -> Array:
        """A number for each wavefront."""
        found = np.asarray(value)
        placed = found[..., 0] if found.ndim == 3 and found.shape[-1] == 1 else found
        spread = _broadcast(placed, self._shape)
        if spread is not None and placed.dtype.kind in "iu" and (placed >= 0).all():
            return spread.reshape(-1)
        expected = f"whole numbers from 0, one or of the shape {self._shape}, work-groups and wavefronts"
        message = f"{self._what(given)}: {name}: expected {expected}, found {found.dtype} of the shape {found.shape}"
        facts = {"key": name, "expected": expected, "found": str(found.shape)}
        raise self._own.refused(message, given.line, code="unexpected-value", **facts)

    def _taken(self, there: Array | None) -> Array | None:
        """The instructions that were counted so far, by those wavefronts that have a row."""
        counted = self._pending
        if counted is None or there is None:
            self._pending = None
            return counted
        self._pending = np.where(there, 0, counted)
        return np.where(there, counted, 0)

    def columns(self) -> Columns:
        """All rows, by work-group, wavefront and order."""
        rows = self._rows
        there = np.ones((self._wavefronts, len(rows)), dtype=bool)
        counts = np.zeros((len(COUNTS), self._wavefronts, len(rows)), dtype="<u4")
        lengths = np.zeros((self._wavefronts, len(rows)), dtype="<u8")
        for place, row in enumerate(rows):
            if row.there is not None:
                there[:, place] = row.there
            if row.counts is not None:
                counts[:, :, place] = row.counts
            if row.lines is not None:
                lengths[:, place] = row.lines.lengths
        flat = there.reshape(-1)

        def kept(values: Array) -> Array:
            return values.reshape(-1)[flat]

        def constant(values: list[int], dtype: str) -> Array:
            return kept(np.broadcast_to(np.array(values, dtype=dtype), there.shape))

        wavefront = np.arange(self._wavefronts).reshape(-1, 1)
        group = self._groups.start + wavefront // self._launch.wavefronts
        waits = [[-1 if row.waits[each] is None else row.waits[each] for row in rows] for each in (0, 1)]
        return Columns(
            kind=constant([KINDS.index(row.kind) for row in rows], "u1"),
            group=kept(np.broadcast_to(group.astype("<u4"), there.shape)),
            wavefront=kept(np.broadcast_to((wavefront % self._launch.wavefronts).astype("<u2"), there.shape)),
            sequence=kept((there.cumsum(axis=1, dtype="<u4") - 1).astype("<u4")),
            counts=[kept(each) for each in counts],
            bytes=constant([row.bytes for row in rows], "<u2"),
            lanes=constant([row.lanes for row in rows], "u1"),
            waits=[constant(each, "<i2") for each in waits],  # type: ignore[arg-type]  # no None is left
            lengths=kept(lengths),
            lines=self._lines(),
        )

    def _lines(self) -> Array:
        """Lines of all rows, numbered through all buffers."""
        found = [(row.lines, row.base) for row in self._rows if row.lines is not None]
        if not found:
            return np.zeros(0, dtype="<u8")
        lines = np.concatenate([each.lines + base for each, base in found], axis=1)
        touched = np.concatenate([each.touched for each, _ in found], axis=1)
        chosen: Array = lines[touched].astype("<u8", copy=False)
        return chosen


def _broadcast(values: Array, shape: tuple[int, int]) -> Array | None:
    try:
        return np.broadcast_to(values, shape)
    except ValueError:
        return None
