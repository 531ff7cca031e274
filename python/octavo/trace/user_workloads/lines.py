"""All lines of a user's workload, written as a trace; generated twice, to see that both are the same."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import octavo._core as _core
from octavo.arrays import np
from octavo.generators.parts import LINE_BYTES
from octavo.trace.engine import call
from octavo.trace.user_workloads.rows import Portion
from octavo.trace.user_workloads.touches import Touched

if TYPE_CHECKING:
    from collections.abc import Iterator

    from octavo.generators.parts import Launch
    from octavo.trace.user_workloads.columns import Columns
    from octavo.trace.user_workloads.user_code import Own

_LINES_AT_A_TIME = 1 << 20
"""Places for lines in a portion: 8 MiB, and a few times that while it is put together; chosen."""
_FIRST_GROUPS, _OTHER_FIRST_GROUPS = 64, 37
"""Work-groups of the first portion, which tells how many places there are in each; chosen."""


def generate(own: Own, folder: str) -> list[str]:
    """Write the trace; returns notes about what the workload says of its host.

    Raises:
        WorkloadError: its code raised, said what cannot be, or said something else when it was asked again.
        TraceError: the trace cannot be written.

    """
    writer = call(_core.TraceWriter, folder, own.generator.lanes, "octavo", own.shown, False)
    touched = Touched(own)
    try:
        for number, launch in enumerate(own.launches):
            written = _Digest()
            for columns in _portions(own, number, launch, touched, again=False):
                call(writer.push, *columns.packed(number))
                written.add(columns)
            _check_same(own, number, launch, written)
        call(writer.finish, _allocations(own), [_launch_row(launch, own.generator.lanes) for launch in own.launches])
    finally:
        writer.abandon()
    return touched.notes()


def _check_same(own: Own, number: int, launch: Launch, written: _Digest) -> None:
    """Generate a launch again, in other portions.

    Raises:
        WorkloadError: it is another one.

    """
    again = _Digest()
    for columns in _portions(own, number, launch, None, again=True):
        again.add(columns)
    differs = written.differs(again)
    if differs:
        raise own.refused(
            f"instructions() of launch {number} (`{launch.kernel}`) gave other {differs} when it was asked again, in "
            "other portions of its work-groups: expected the same",
            code="bad-workload",
            key="instructions",
            found=differs,
        )


def _portions(own: Own, number: int, launch: Launch, touched: Touched | None, *, again: bool) -> Iterator[Columns]:
    """The rows of a launch, some work-groups at a time."""
    first, groups = 0, _OTHER_FIRST_GROUPS if again else _FIRST_GROUPS
    while first < launch.groups:
        last = min(first + groups, launch.groups)
        portion = Portion(own, number, launch, range(first, last), touched)
        yield portion.columns()
        fitting = _LINES_AT_A_TIME // max(1, launch.wavefronts * portion.width)
        first, groups = last, max(1, fitting // 2 if again else fitting)


def _allocations(own: Own) -> list[tuple[str, int, int, int]]:
    bases = own.bases
    return [(buffer.name, bases[buffer.name] * LINE_BYTES, buffer.bytes, 0) for buffer in own.buffers]


def _launch_row(launch: Launch, lanes: int) -> tuple[Any, ...]:
    items = launch.wavefronts * lanes
    registers = (launch.vector_registers, launch.scalar_registers)
    sizes = ([items * launch.groups, 1, 1], [items, 1, 1], launch.wavefronts)
    return (launch.kernel, *sizes, *registers, launch.local_data_bytes, 0, False, [])


class _Digest:
    """What tells the rows of a launch apart from others, however they are cut into portions."""

    def __init__(self) -> None:
        self._sums: dict[str, Any] = {}

    def add(self, columns: Columns) -> None:
        """Go on with a portion."""
        for name, values in columns.named():
            self._sums.setdefault(name, hashlib.blake2b(digest_size=16)).update(np.ascontiguousarray(values).data)

    def differs(self, other: _Digest) -> str:
        """What is different, in words; nothing if nothing is."""
        return next((name for name, found in self._sums.items() if found.digest() != other._sums[name].digest()), "")
