"""Logs of allocators as programs: the same allocations and frees in order, used by a stated assumption."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.errors import ProfileError
from octavo.generators.profiles import FORMAT, USUAL_SPEED
from octavo.measurements.imports import program_file
from octavo.measurements.imports.allocation_moments import Timeline, shortened, timeline

if TYPE_CHECKING:
    from octavo.measurements.imports.allocators import Log

_MOST = 256
"""Moments and blocks of a program, each; chosen: at a thousandth of a GPU's memory, a block still is some pages."""


def import_log(log: Log, output: str | Path, *, force: bool = False) -> list[dict[str, Any]]:
    """Write what an allocator logged as a workload in Python, for each GPU a class.

    Args:
        log: what `rmm.read` or `torch.read` found.
        output: the Python file to write; the programs lie beside it, as `NAME.program.json`.
        force: replace files that are there.

    Returns:
        The program of each GPU: `buffers`, `kernels`, `assumed`, `notes`.

    Raises:
        ProfileError: nothing was allocated.
        OutputError: a file is there already, or cannot be written.

    """
    output = Path(output)
    program_file.check(output, force=force)
    notes = Counter(log.notes)
    found = [_program(log, gpu, each, notes.copy()) for gpu, each in timelines(log, notes).items()]
    program_file.write(output, found, ("allocations", "Allocated"), "", force=force)
    return found


def timelines(log: Log, notes: Counter[str]) -> dict[int, Timeline]:
    """All allocations of each GPU that has any, moment by moment.

    Raises:
        ProfileError: nothing was allocated.

    """
    begin, end = log.span
    found = {gpu: timeline(lives, begin, end) for gpu, lives in log.lives(notes).items()}
    some = {gpu: each for gpu, each in found.items() if each.blocks}
    if not some:
        raise ProfileError(f"{log.source['file']} has no allocation", code="missing", file=log.source["file"])
    return some


def _program(log: Log, gpu: int, whole: Timeline, notes: Counter[str]) -> dict[str, Any]:
    short = shortened(whole, _MOST, _MOST)
    notes["allocations that live only between two launches of the program, left out"] += short.left_out
    count = len(whole.blocks)
    together = len(short.blocks) < count - short.left_out
    if together:
        said = f"allocations, put together as {len(short.blocks)} buffers with the same peak"
        notes[said] += count - short.left_out
    return {
        "octavo_program": FORMAT,
        "gpu": gpu,
        "source": {**log.source, "program": None},
        "gigabytes_per_second": USUAL_SPEED,
        "recorded": "allocations and frees in order, with their sizes and times",
        "about": f"{count:,} allocations on gpu{gpu}, {whole.peak:,} bytes at most, in {len(short.began):,} launches.",
        "assumed": assumed(timed=log.timed),
        "notes": {said: times for said, times in notes.items() if times},
        "peak_bytes": whole.peak,
        "allocations": count,
        "buffers": [
            {"name": block.named, "bytes": block.bytes, "first": block.first, "end": block.end}
            for block in short.blocks
        ],
        "copies": [],
        "kernels": [list(pair) for pair in zip(short.names, short.nanoseconds, strict=True)],
    }


def assumed(*, timed: bool) -> list[str]:
    """What stands for what such logs do not tell."""
    clock = "takes as long as in the log" if timed else "takes 1 us for each event, as the log has no times"
    return [
        "no kernels are logged: a launch stands for the time from allocations at one time until the next ones, and "
        f"{clock}",
        "memory is written as a whole at its first launch, and read as a whole at its last one, or at the end of the "
        "log; --set workload.use=throughout: at each launch between them as well, as far as its time allows at "
        f"{USUAL_SPEED:,.0f} GB/s",
        "nothing is copied between host and GPU",
    ]
