"""Programs that a profiler recorded, as workloads: allocations, copies and kernels are known, accesses are assumed."""

from __future__ import annotations

import hashlib
import inspect
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from octavo.arrays import np
from octavo.errors import WorkloadError
from octavo.generators.base import Generator
from octavo.generators.instructions import compute, load, store, wait
from octavo.generators.parts import LINE_BYTES, Buffer, Exchange, Launch
from octavo.policies.options import option

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from octavo.arrays import npt
    from octavo.generators.instructions import Instruction

FORMAT = 1
"""Version of the files of recorded programs."""
USUAL_SPEED = 1000.0
"""Gigabytes a second of a GPU that a profile does not describe; chosen."""
_WAVEFRONTS = 4
"""Of a work-group: one for each SIMD of a multiprocessor."""
_MOST_GROUPS = 256
"""Work-groups of a kernel: few enough to run at once, so that its measured time is that of each; chosen."""
_MOST_LINES = 1 << 28
"""Of all kernels: more takes minutes to generate; chosen."""
_MOST_NAME = 250
"""Characters that are kept of a kernel's name: those of templates can be longer than tables take."""
_CHUNK = 32
"""Lines that a wavefront touches at a time; chosen."""


@dataclass(frozen=True)
class Kernel:
    """A launch as it was recorded."""

    name: str
    nanoseconds: float
    number: int
    """From 0."""


@dataclass(frozen=True)
class Part:
    """Lines of a buffer that a kernel touches: so many, from the first one on, and from line 0 after the last."""

    buffer: Buffer
    first: int
    lines: int
    writes: bool


class Recorded(Generator):
    """What an import writes a subclass of, which may say more of accesses than the profile does."""

    file: ClassVar[str]
    """The recorded program beside the file of the class."""
    sha256: ClassVar[str]
    """Digest of the program's file: a changed file is another workload."""

    nanoseconds_per_instruction: float = option(
        2.02,
        "time of an arithmetic instruction on the node; 4 cycles of 1980 MHz, for two wavefronts of cuda-sm90",
        minimum=0.001,
    )
    gigabytes_per_second: float = option(
        0.0,
        "bytes that a kernel touches in its measured time, at most; 0: as much as the profile says of its GPU",
        minimum=0.0,
    )

    def start(self) -> None:
        """Read the file.

        Raises:
            WorkloadError: it is not there, or another one.

        """
        path = Path(inspect.getfile(type(self))).parent / self.file
        try:
            content = path.read_bytes()
        except OSError as error:
            raise WorkloadError(f"cannot read {path}: {error.strerror}", code="unreadable", file=path) from None
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            message = f"{path}: expected the recorded program {self.sha256}, found {found}"
            hint = "import the profile again"
            raise WorkloadError(message, hint, code="damaged", file=path, expected=self.sha256, found=found)
        self.recorded: dict[str, Any] = json.loads(content)
        if self.recorded["octavo_program"] != FORMAT:
            message = f"{path}: expected format {FORMAT}, found {self.recorded['octavo_program']}"
            raise WorkloadError(message, code="other-format", file=path, expected=FORMAT)

    @cached_property
    def own_buffers(self) -> list[Buffer]:
        """Device memory, each piece at this scale, from its first allocation to its last free."""
        last = len(self.recorded["kernels"])
        found = []
        for each in self.recorded["buffers"]:
            first = min(*(begin for begin, _ in each["alive"]), last - 1)
            end = max(first + 1, *(end for _, end in each["alive"]))
            size = self.scaled(each["bytes"], LINE_BYTES)
            found.append(Buffer(each["name"], size, first=first, end=None if end >= last else end))
        return found

    def buffers(self) -> Iterable[Buffer]:
        """Ranges of device memory."""
        return self.own_buffers

    @cached_property
    def kernels(self) -> list[Kernel]:
        """All launches in the order in which they began; durations at this scale."""
        found = enumerate(self.recorded["kernels"])
        return [
            Kernel(str(name)[:_MOST_NAME] or "kernel", nanoseconds * self.scale, number)
            for number, (name, nanoseconds) in found
        ]

    def launches(self) -> Iterable[Launch]:
        """As many work-groups as run at once, or as there are lines for.

        Raises:
            WorkloadError: there are too many lines to generate.

        """
        lines = sum(part.lines for parts in self.parts for part in parts)
        if lines > _MOST_LINES:
            message = f"{self.file}: expected at most {_MOST_LINES:,} lines that kernels touch, found {lines:,}"
            hint = f"choose a smaller scale, such as --scale {self.scale * _MOST_LINES / lines / 2:.1g}"
            raise WorkloadError(message, hint, code="too-large", key="scale", expected=_MOST_LINES, found=lines)
        for kernel, parts in zip(self.kernels, self.parts, strict=True):
            lines = sum(part.lines for part in parts)
            groups = min(max(-(-lines // (_WAVEFRONTS * _CHUNK)), 1), _MOST_GROUPS)
            yield Launch(kernel.name, groups, _WAVEFRONTS, about=kernel.number)

    def host(self) -> Iterable[Exchange]:
        """The copies: the host writes what is copied to the device before, and reads what is copied back after."""
        for before, buffer, writes, first, size in self.recorded["copies"]:
            whole = self.own_buffers[buffer]
            start = min(int(first * self.scale), whole.bytes - 1)
            yield Exchange(before, whole.name, bool(writes), start, min(self.scaled(size), whole.bytes - start))

    def alive(self, kernel: Kernel) -> list[int]:
        """Indices of the buffers of which any part is allocated while a kernel runs."""
        lives = enumerate(each["alive"] for each in self.recorded["buffers"])
        return [index for index, spans in lives if any(first <= kernel.number < end for first, end in spans)]

    def touched(self, kernel: Kernel) -> list[int]:
        """Indices of the buffers that a kernel touches: all that are allocated, unless a class knows better."""
        return self.alive(kernel)

    def written(self, kernel: Kernel, buffer: int) -> bool:
        """Whether a kernel stores to a buffer, and does not load it: one that is copied to the host later."""
        return self._last_read.get(buffer, -1) > kernel.number

    @cached_property
    def _last_read(self) -> dict[int, int]:
        """By buffer, the launch before which it was copied to the host last."""
        reads = [(buffer, before) for before, buffer, writes, *_ in self.recorded["copies"] if not writes]
        return {buffer: max(before for each, before in reads if each == buffer) for buffer, _ in reads}

    @cached_property
    def parts(self) -> list[list[Part]]:
        """What each kernel touches: all lines once, or the same share of each buffer where its time is too short.

        Kernels go on where the last one ended.
        """
        speed = self.gigabytes_per_second or self.recorded["gigabytes_per_second"]
        ends: dict[int, int] = {}
        found = []
        for kernel in self.kernels:
            buffers = self.touched(kernel)
            total = sum(self.own_buffers[index].bytes for index in buffers)
            share = min(kernel.nanoseconds * speed / total, 1.0) if total else 0.0
            parts = []
            for index in buffers:
                buffer, first = self.own_buffers[index], ends.get(index, 0)
                lines = max(round(buffer.lines * share), 1)
                parts.append(Part(buffer, first, lines, self.written(kernel, index)))
                ends[index] = (first + lines) % buffer.lines
            found.append(parts)
        return found

    def instructions(
        self, launch: Launch, group: npt.NDArray[Any], wavefront: npt.NDArray[Any]
    ) -> Iterator[Instruction]:
        """Each wavefront goes through its share of each part, and computes for the measured time meanwhile."""
        kernel, parts = self.kernels[launch.about], self.parts[launch.about]
        of, mine = launch.groups * launch.wavefronts, group * launch.wavefronts + wavefront
        chunks = [(part, at) for part in parts for at in range(0, -(-part.lines // of), _CHUNK)]
        left = max(round(kernel.nanoseconds / self.nanoseconds_per_instruction), 1)
        for number, (part, at) in enumerate(chunks):
            each = -(-part.lines // of)
            place = mine * each + at + np.arange(min(_CHUNK, each - at))
            lines = np.where(
                place < np.minimum(part.lines, (mine + 1) * each), (part.first + place) % part.buffer.lines, -1
            )
            yield (store if part.writes else load)(part.buffer, lines, bytes=LINE_BYTES)
            # While the next lines are on their way, the wavefront works on these.
            now = left // (len(chunks) - number)
            left -= now
            yield compute(now)
            yield wait(1)
        yield compute(left)
