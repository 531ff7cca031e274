"""Programs of which an allocator's log alone is known: what is allocated and freed when; all use of it is assumed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from octavo.generators.parts import LINE_BYTES, Buffer
from octavo.generators.profiles import Part, Recorded
from octavo.policies.options import option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octavo.generators.profiles import Kernel

Use = Literal["ends", "throughout"]


class Allocated(Recorded):
    """What an import of an allocator's log writes a subclass of.

    A launch stands for the time from allocations until the next ones. It stores to all of what was
    allocated before it, and loads all of what is freed after it, or never.
    """

    host_is_known = False
    use: Use = option(  # type: ignore[assignment]  # one of the words
        "ends",
        "what touches memory: its first and its last launch alone, or each between them as well, as far as its time "
        "allows",
    )

    @cached_property
    def own_buffers(self) -> list[Buffer]:
        """Each allocation at this scale, from the launch before which it is made until it is freed."""
        return [
            Buffer(each["name"], self.scaled(each["bytes"], LINE_BYTES), first=each["first"], end=each["end"])
            for each in self.recorded["buffers"]
        ]

    def buffers(self) -> Iterable[Buffer]:
        """Allocations in their order."""
        return self.own_buffers

    def alive(self, kernel: Kernel) -> list[int]:
        """Indices of the buffers that are allocated while a launch runs."""
        return [index for index, buffer in enumerate(self.own_buffers) if buffer.exists(kernel.number)]

    @cached_property
    def parts(self) -> list[list[Part]]:
        """What each launch touches: what it is the first or the last to have, and what it uses besides."""
        speed = self.gigabytes_per_second or self.recorded["gigabytes_per_second"]
        ends: dict[int, int] = {}
        return [self._parts(kernel, kernel.nanoseconds * speed, ends) for kernel in self.kernels]

    def _parts(self, kernel: Kernel, most: float, ends: dict[int, int]) -> list[Part]:
        """The same of one launch; the others that it touches have a share of `most` bytes, from where it ended."""
        alive = self.touched(kernel)
        last = len(self.kernels) - 1
        new = [index for index in alive if self.own_buffers[index].first == kernel.number]
        over = [index for index in alive if (self.own_buffers[index].end or last + 1) == kernel.number + 1]
        whole = [(index, True) for index in new] + [(index, False) for index in over]
        touched = [(self.own_buffers[index], writes) for index, writes in whole]
        found = [Part(buffer, 0, buffer.lines, writes) for buffer, writes in touched]
        others = [] if self.use == "ends" else sorted(set(alive).difference(new, over))
        total = sum(self.own_buffers[index].bytes for index in others)
        share = min(most / total, 1.0) if total else 0.0
        for index in others:
            buffer, first = self.own_buffers[index], ends.get(index, 0)
            lines = max(round(buffer.lines * share), 1)
            found.append(Part(buffer, first, lines, writes=False))
            ends[index] = (first + lines) % buffer.lines
        return found
