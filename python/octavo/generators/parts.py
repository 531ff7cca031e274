"""What a workload in Python has: buffers, launches, and what the host does between these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

LINE_BYTES: Final = 64
"""Bytes of a line."""


@dataclass(frozen=True)
class Buffer:
    """An allocation."""

    name: str
    bytes: int
    input: bool = False
    """The host writes all of it before the first launch."""
    output: bool = False
    """The host reads all of it after the last launch."""
    first: int = 0
    """The launch before which it is allocated, from 0."""
    end: int | None = None
    """The launch before which it is freed; after the last one if left out."""

    def exists(self, launch: int) -> bool:
        """Whether it is there while a launch runs."""
        return self.first <= launch and (self.end is None or launch < self.end)

    @property
    def lines(self) -> int:
        """Its lines, numbered from 0; the last may not be whole."""
        return -(-self.bytes // LINE_BYTES)


@dataclass(frozen=True)
class Launch:
    """A kernel that runs once. Launches run one after another."""

    kernel: str
    groups: int
    """Work-groups (thread blocks)."""
    wavefronts: int = 4
    """Wavefronts (warps) in each."""
    vector_registers: int = 0
    """Of a lane; 0 if unknown, as the next two."""
    scalar_registers: int = 0
    local_data_bytes: int = 0
    """Local data share (shared memory) of a work-group."""
    about: Any = None
    """Whatever `instructions` wants to know of it, such as the number of a round."""


@dataclass(frozen=True)
class Exchange:
    """What the host reads or writes just before a launch; the number of launches stands for after the last one."""

    before: int
    buffer: str
    writes: bool
    first: int = 0
    """First byte."""
    bytes: int | None = None
    """How many; all to the end if left out."""


def reads(buffer: Buffer | str, before: int, first: int = 0, bytes: int | None = None) -> Exchange:  # noqa: A002
    """The host reads bytes of a buffer just before a launch."""
    return Exchange(before, name_of(buffer), False, first, bytes)


def writes(buffer: Buffer | str, before: int, first: int = 0, bytes: int | None = None) -> Exchange:  # noqa: A002
    """The host writes bytes of a buffer just before a launch."""
    return Exchange(before, name_of(buffer), True, first, bytes)


def name_of(buffer: Buffer | str) -> str:
    """A buffer's name, where it is given by name or as it is."""
    return buffer.name if isinstance(buffer, Buffer) else str(buffer)
