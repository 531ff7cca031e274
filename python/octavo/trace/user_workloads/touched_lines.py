"""The lines that an instruction of a user's workload touches, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.arrays import np
from octavo.generators.parts import LINE_BYTES

if TYPE_CHECKING:
    from octavo.arrays import npt
    from octavo.generators.instructions import Instruction
    from octavo.generators.parts import Buffer
    from octavo.trace.user_workloads.user_code import Own

    Array = npt.NDArray[Any]

_NONE = -1
"""What stands for no line."""


@dataclass(frozen=True)
class TouchedLines:
    """Lines by wavefront."""

    lines: Array
    """(wavefronts, places)."""
    touched: Array
    """The same shape: whether there is a line, for the first time."""

    @property
    def lengths(self) -> Array:
        """How many lines each wavefront touches."""
        found: Array = self.touched.sum(axis=1, dtype=np.uint64)
        return found


def touched_lines(
    own: Own, what: str, instruction: Instruction, buffer: Buffer, shape: tuple[int, int]
) -> TouchedLines:
    """Lines of an instruction of (work-groups, wavefronts), each once.

    Raises:
        WorkloadError: they are no array of whole numbers of that shape, or not in the buffer.

    """
    lines = _shaped(own, what, instruction, shape)
    touched = lines != _NONE
    outside = touched & ((lines < 0) | (lines >= buffer.lines))
    if outside.any():
        wavefront, place = (int(found[0]) for found in np.nonzero(outside))
        found = int(lines[wavefront, place])
        expected = f"0 to {buffer.lines - 1}, or -1 for none"
        has = f"`{buffer.name}` has {buffer.bytes} bytes, lines of {LINE_BYTES}"
        message = f"{what}: line {found}, expected {expected}: {has}"
        raise own.refused(
            message, instruction.line, code="unexpected-value", key="lines", expected=expected, found=found
        )
    return TouchedLines(lines, touched & ~_repeated(lines))


def _shaped(own: Own, what: str, instruction: Instruction, shape: tuple[int, int]) -> Array:
    """An array of (wavefronts, places)."""

    def refused(expected: str, found: str) -> Exception:
        message = f"{what}: expected lines {expected}, found {found}"
        facts = {"code": "unexpected-value", "key": "lines", "expected": expected, "found": found}
        return own.refused(message, instruction.line, **facts)

    try:
        given = np.asarray(instruction.lines)
    except ValueError as error:  # Rows of different lengths.
        raise refused("as an array", str(error)) from None
    if given.dtype.kind not in "iu":
        raise refused("as whole numbers", f"an array of {given.dtype}")
    given = given.reshape(1) if given.ndim == 0 else given
    try:
        whole = np.broadcast_to(given, (*shape, given.shape[-1]))
    except ValueError:
        expected = (
            f"of a shape that broadcasts to ({shape[0]}, {shape[1]}, {given.shape[-1]}), work-groups, wavefronts, lines"
        )
        raise refused(expected, f"the shape {given.shape}") from None
    return whole.reshape(-1, given.shape[-1]).astype(np.int64, copy=False)


def _repeated(lines: Array) -> Array:
    """Whether a line stands before in the same row."""
    found = np.zeros(lines.shape, dtype=bool)
    if (lines[:, 1:] > lines[:, :-1]).all():  # Most instructions touch ascending lines.
        return found
    order = np.argsort(lines, axis=1, kind="stable")
    ascending = np.take_along_axis(lines, order, axis=1)
    again = np.zeros(lines.shape, dtype=bool)
    again[:, 1:] = ascending[:, 1:] == ascending[:, :-1]
    np.put_along_axis(found, order, again, axis=1)
    return found
