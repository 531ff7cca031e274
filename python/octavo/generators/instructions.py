"""Instructions of the wavefronts of a workload in Python."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.generators.parts import Buffer, name_of

if TYPE_CHECKING:
    from typing import TypeAlias

Counts: TypeAlias = "Any"
"""A number, or an array with one for each work-group and wavefront."""
COUNTS = ("vector_alu", "scalar_alu", "local_data", "branch")
"""Instructions that are counted alone."""


@dataclass(frozen=True, eq=False)
class Instruction:
    """An instruction of all wavefronts of a portion."""

    kind: str
    """`load`, `store`, `atomic`, `scalar`, `barrier`, `wait`, or `compute` for counts alone."""
    line: int
    """Where the user's file gave it."""
    buffer: str | None = None
    lines: Any = None
    """Lines of the buffer, an array that broadcasts to (groups, wavefronts, lines); -1 stands for none."""
    bytes: int = 0
    """Of a lane."""
    lanes: int | None = None
    """Active lanes; all if left out."""
    vector_wait: int | None = None
    scalar_wait: int | None = None
    counts: tuple[Counts, ...] = ()
    """Instructions before it, in the order of `COUNTS`."""


def load(buffer: Buffer | str, lines: Any, *, bytes: int = 4, lanes: int | None = None) -> Instruction:  # noqa: A002
    """Each wavefront loads lines of a buffer, which are numbered from 0; -1 stands for none.

    Args:
        buffer: which, or its name.
        lines: an array of whole numbers that broadcasts to (groups, wavefronts, lines). Of a line that stands twice,
            the second is dropped. A wavefront that touches none does not have the instruction.
        bytes: that each lane moves.
        lanes: that are active; all if left out.

    """
    return Instruction("load", _line(), name_of(buffer), lines, bytes, lanes)


def store(buffer: Buffer | str, lines: Any, *, bytes: int = 4, lanes: int | None = None) -> Instruction:  # noqa: A002
    """Each wavefront stores to lines of a buffer; arguments as for `load`.

    If its lanes have fewer bytes than its lines, no line is filled, and what it does not write stays.
    """
    return Instruction("store", _line(), name_of(buffer), lines, bytes, lanes)


def atomic(buffer: Buffer | str, lines: Any, *, bytes: int = 4, lanes: int | None = None) -> Instruction:  # noqa: A002
    """Each wavefront changes lines of a buffer by atomic operations; arguments as for `load`."""
    return Instruction("atomic", _line(), name_of(buffer), lines, bytes, lanes)


def scalar(buffer: Buffer | str, lines: Any, *, bytes: int = 64) -> Instruction:  # noqa: A002
    """The scalar unit of each wavefront loads `bytes` bytes; arguments as for `load`."""
    return Instruction("scalar", _line(), name_of(buffer), lines, bytes)


def wait(vector: int | None = 0, scalar: int | None = None) -> Instruction:
    """Wait until at most so many vector memory instructions, or scalar ones, are outstanding; None waits for none."""
    return Instruction("wait", _line(), vector_wait=vector, scalar_wait=scalar)


def barrier() -> Instruction:
    """Wait until all wavefronts of the work-group are here."""
    return Instruction("barrier", _line())


def compute(
    vector_alu: Counts = 0, *, scalar_alu: Counts = 0, local_data: Counts = 0, branch: Counts = 0
) -> Instruction:
    """Execute so many instructions that touch no memory.

    Args:
        vector_alu: of the vector unit; a number, or an array with one for each work-group and wavefront.
        scalar_alu: of the scalar unit.
        local_data: on the local data share (shared memory).
        branch: branches, taken or not.

    """
    return Instruction("compute", _line(), counts=(vector_alu, scalar_alu, local_data, branch))


def _line() -> int:
    """The line that calls the function that calls this."""
    return sys._getframe(2).f_lineno
