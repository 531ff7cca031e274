"""Logs of allocators, of RMM and PyTorch, as stories: what is allocated when is known, how it is used is assumed."""

from __future__ import annotations

import gzip
import zlib
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from octavo import _core
from octavo.advice.fit import footprint
from octavo.advice.fit.answer import Holds
from octavo.advice.fit.sequence import Change, Piece, Step, Story
from octavo.errors import AdviceError
from octavo.files import toml
from octavo.measurements.imports import rmm, torch
from octavo.measurements.imports.allocation_moments import shortened
from octavo.measurements.imports.allocator_program import timelines
from octavo.measurements.imports.nsys_export import is_database
from octavo.plain import amount

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from octavo.advice.fit.footprint import Refused
    from octavo.advice.systems import SystemConstants
    from octavo.measurements.imports.allocation_moments import Timeline
    from octavo.measurements.imports.allocators import Log

_MOMENTS, _BLOCKS = 64, 128
"""Launches and blocks of a story that plans are made for; chosen: a plan takes some seconds."""
_PICKLES = (".pickle", ".pkl")
"""Endings of the oldest pickles, which begin with anything."""
_GZIP, _PICKLE = b"\x1f\x8b", b"\x80"
_EXPECTED = "expected a workload, a scenario, a recording or a log of an allocator"
_NAMED = (".toml", ".py", ".step")
"""Endings that tell what a file is."""
_HEAD = 512
"""Bytes that tell what a file is."""


@dataclass(frozen=True)
class Told:
    """What the log of the GPU with most memory tells."""

    log: Log
    whole: Timeline
    short: Timeline
    """The same, put together as the stories have it."""
    story: Story
    """Memory is used when it is allocated and when it is freed."""
    used_throughout: Story
    """The same, but each launch uses all that is allocated, as far as its time allows."""
    notes: tuple[str, ...]
    about_times: tuple[str, ...]
    """What is to be said where it does not fit."""

    def refused(self, room: int) -> Refused | None:
        """The first allocation beyond this much memory."""
        story = replace(self.story, pieces=_pieces(self.whole), changes=tuple(_changes(self.whole)))
        found = footprint.refused(story, footprint.over_time(story), room)
        if found is None:
            return None
        at = self.whole.began[found.launch]
        return replace(found, launch=bisect_right(self.short.began, at) - 1)

    def holds(self, room: int) -> Holds | None:
        """What PyTorch's allocator needs; none of others, and of segments that grow.

        It fails where what is allocated has room, and segments have none.
        """
        if not self.log.has_segments:
            return None
        blocks = self.whole.blocks
        events = [-1 - change.piece if change.freed else change.piece for change in _changes(self.whole)]
        sizes = [block.bytes for block in blocks]
        _, held = _core.caching_allocator(sizes, events, None)
        found, _ = _core.caching_allocator(sizes, events, max(room, self.whole.peak))
        fits = room < self.whole.peak or len(found) == len(events)
        fails = None if fits else blocks[events[len(found)]]
        return Holds(max(held, default=0), None if fails is None else (fails.name, fails.bytes))


def is_log(path: Path) -> bool:
    """Whether a file is a snapshot of PyTorch or a log of RMM, by what it holds.

    Raises:
        AdviceError: it is a profile, which is to become a program before, or nothing that is known.

    """
    if not path.is_file() or path.suffix in _NAMED:
        return False
    if is_database(path):
        if torch.is_snapshot_database(path):
            return True
        raise AdviceError(
            f"{path}: {_EXPECTED}, found a database of a profiler",
            f"make a program of it: octavo import nsys {path} --program program.py (or nvprof, rocprof); then octavo "
            "fit program.py",
            code="unexpected-value",
            file=path,
        )
    head = _head(path)
    if head.startswith(_PICKLE) or path.suffix in _PICKLES or rmm.is_head(head):
        return True
    try:
        toml.read_toml(path)
    except (OSError, ValueError):
        raise AdviceError(
            f"{path}: {_EXPECTED}, found a file that is none of them",
            "snapshots of PyTorch are pickles, plain or packed with gzip; logs of RMM begin with the line "
            f"{','.join(rmm.COLUMNS)}",
            code="unexpected-value",
            file=path,
        ) from None
    return False


def _head(path: Path) -> bytes:
    """The first bytes, unpacked."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
        if not head.startswith(_GZIP):
            return head
        file.seek(0)
        try:
            return gzip.GzipFile(fileobj=file).read(1)
        except (OSError, EOFError, zlib.error):
            return b""


def read(path: Path, constants: SystemConstants) -> Told:
    """What a log tells; of several GPUs the one with most.

    Raises:
        ProfileError: the log cannot be read, or nothing was allocated.

    """
    log = rmm.read(path) if rmm.is_head(_head(path)) else torch.read(path)
    notes = Counter(log.notes)
    found = timelines(log, notes)
    gpu = max(found, key=lambda number: found[number].peak)
    whole = found[gpu]
    short = shortened(whole, _MOMENTS, _BLOCKS)
    base = Story(
        path.name,
        _pieces(short),
        tuple(_changes(short)),
        (),
        sum(whole.nanoseconds) * 1e-9 if log.timed else None,
    )
    others = [f"gpu{number}: at most {amount(each.peak)}" for number, each in found.items() if number != gpu]
    said = [f"this is gpu{gpu}, the one with most; {', '.join(others)}"] if others else []
    said += [f"{text} ({count:,})" for text, count in sorted((+notes).items())]
    return Told(
        log,
        whole,
        short,
        replace(base, steps=tuple(_steps(short, None))),
        replace(base, steps=tuple(_steps(short, constants.system.device))),
        tuple(said),
        tuple(_assumed(whole, short, timed=log.timed)),
    )


def _assumed(whole: Timeline, short: Timeline, *, timed: bool) -> Iterator[str]:
    yield (
        f"such a log tells no use of memory. Times are from memory that is written when it is allocated and read when "
        f"it is freed, or at the end, to memory that is read at each of its launches, of {len(short.began):,} in all, "
        "as far as the GPU's memory delivers that in the time of the log"
    )
    if len(short.blocks) < len(whole.blocks):
        yield (
            f"{len(whole.blocks):,} allocations are put together as {len(short.blocks):,} with the same peak; "
            f"{short.left_out:,} of them live between two launches alone and are left out of times"
        )
    if not timed:
        yield "the log has no times: those below are of moving memory alone"


def _pieces(told: Timeline) -> tuple[Piece, ...]:
    return tuple(Piece(block.named, block.bytes, "explicit") for block in told.blocks)


def _changes(told: Timeline) -> Iterator[Change]:
    """Allocations and frees, moment by moment; who frees comes first."""
    born, gone = _by_moment(told)
    for moment, began in enumerate(told.began):
        yield from (Change(piece, True, moment, began * 1e-9) for piece in gone[moment])
        yield from (Change(piece, False, moment, told.blocks[piece].began * 1e-9) for piece in born[moment])


def _by_moment(told: Timeline) -> tuple[list[list[int]], list[list[int]]]:
    """Blocks that are allocated and freed before each moment."""
    born: list[list[int]] = [[] for _ in told.began]
    gone: list[list[int]] = [[] for _ in told.began]
    for piece, block in enumerate(told.blocks):
        born[block.first].append(piece)
        if block.end is not None:
            gone[block.end].append(piece)
    return born, gone


def _steps(told: Timeline, speed: float | None) -> Iterator[Step]:
    """A launch for each moment; at a speed in bytes a second it touches what else is there, too."""
    born, gone = _by_moment(told)
    alive = set[int]()
    for moment, (name, ns) in enumerate(zip(told.names, told.nanoseconds, strict=True)):
        alive = (alive - set(gone[moment])) | set(born[moment])
        ends = {piece for piece in alive if told.last(told.blocks[piece]) == moment} | set(born[moment])
        others = alive - ends if speed else set()
        total = sum(told.blocks[piece].bytes for piece in others)
        share = min(ns * 1e-9 * (speed or 0.0) / total, 1.0) if total else 0.0
        yield Step(
            name,
            on_device=True,
            uses=frozenset(ends | (others if share else set())),
            writes=frozenset(born[moment]),
            fills=frozenset(born[moment]),
            launch=moment,
            seconds=ns * 1e-9,
            share=dict.fromkeys(others, share) if 0 < share < 1 else {},
        )
