"""Run a program, sample it until it ends, and write the observations as a result."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from octavo._core import VERSION
from octavo.errors import ProfileError
from octavo.files import disk
from octavo.measurements.profile import nvml, proc, tables
from octavo.measurements.profile.ending import Ending
from octavo.measurements.profile.every import nanoseconds
from octavo.measurements.profile.family import Family, adopting
from octavo.measurements.profile.memories import memories
from octavo.measurements.profile.program import Program, status_of
from octavo.measurements.profile.record import Record
from octavo.measurements.profile.sampler import Sampler, Sights
from octavo.runs import folder as folders
from octavo.runs.content import PROFILE, RESULT_FORMAT
from octavo.runs.result import RunResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl


def profile(  # noqa: PLR0913 - one for each thing that can be asked for
    command: Sequence[str],
    folder: str | Path,
    *,
    every: str = "100ms",
    name: str | None = None,
    force: bool = False,
    output: int | None = None,
    environment: Mapping[str, str] | None = None,
    beside: Callable[[], Mapping[str, bytes]] | None = None,
    watch: Callable[[str], None] | None = None,
) -> RunResult:
    """Run a program and sample its memory; the folder appears once everything is written, or not at all.

    It returns once the program, its children and processes that they left behind have ended. The exit status is in
    `summary["exit"]["status"]`, in the numbering of shells: 128 plus the number of a signal.

    Args:
        command: the program, by name or path, and its arguments.
        folder: the result folder to write.
        every: time between samples, 1ms to 3600s.
        name: what reports call it; the program's file name if left out.
        force: replace a result that is there.
        output: the file descriptor for the program's standard output; the program's own if left out.
        environment: the program's environment instead of this process's.
        beside: called when the program has ended; gives the contents of further files to keep in the folder, by name.
        watch: called with a line of text when processes are left behind.

    Raises:
        ProfileError: the program does not exist or cannot be executed, `every` is not a time, or this is not Linux.
        OutputError: the folder cannot be written, or holds something.

    """
    interval, folder = nanoseconds(every), Path(folder)
    if not command:
        raise ProfileError("nothing to profile", "name a program: octavo profile -- PROGRAM ARGS...")
    if not sys.platform.startswith("linux"):
        raise ProfileError(
            f"profiles are made from Linux's /proc: expected linux, found {sys.platform}",
            code="unexpected-value",
            found=sys.platform,
        )
    disk.check_writable(folder.parent)
    with folders.locked(folder) as target:
        folders.check_replaceable(target, force=force)
        program = partial(Program.start, command=command, output=output, environment=environment)
        found, about = _watched(program, interval, watch or (lambda _: None))
        source = {"tool": "octavo profile", "file": name or Path(command[0]).name, "command": list(command)}
        summary = {"octavo": VERSION, "format": RESULT_FORMAT, "source": source, **about}
        folders.save_tables(target, PROFILE, found, summary, files=beside() if beside else {})
    return RunResult(folder)


def _watched(
    start: Callable[[Program], None], interval: int, watch: Callable[[str], None]
) -> tuple[dict[str, pl.DataFrame], dict[str, object]]:
    gpus = nvml.opened()
    missing = [gpus] if isinstance(gpus, str) else []
    known = None if isinstance(gpus, str) else gpus
    nodes = {gpu.node: gpu.number for gpu in (known.about if known else []) if gpu.node is not None}
    sights, record, before = Sights(memories(nodes), known), Record(), os.times()
    others, program = set(proc.children(os.getpid())), Program()
    with adopting(), closing(program), program.heeding() as signals:
        start(program)
        sampler = Sampler(Family(program.pid, others), sights, record, program.began, interval)
        ending = _follow(program, sampler, signals, watch)
    after = os.times()
    taken = {
        "every_ps": interval * tables.PICOSECONDS,
        "taken": sampler.taken,
        "looks": sampler.looks,
        "longest_gap_ps": sampler.longest_gap * tables.PICOSECONDS,
        "cpu_ps": int((after.user + after.system - before.user - before.system) * 1e12),
    }
    return tables.tables(record), tables.summary(record, sights, ending, taken, missing)


def _follow(program: Program, sampler: Sampler, signals: Sequence[int], watch: Callable[[str], None]) -> Ending:
    """Sample until the program has ended, and then what it left behind, unless a signal ends that early."""
    while program.ended is None:
        sampler.sample()
        program.wait(sampler.due)
    alive = sampler.sample()
    code, used = program.reap()
    asked = len(signals)
    if alive:
        watch(_left(status_of(code), len(alive)))
    while alive and len(signals) == asked:
        program.wait(sampler.due)
        alive = sampler.sample()
    return Ending(code, used, sampler.last - program.began, signals)


def _left(status: int, count: int) -> str:
    rest = "1 process that it left behind" if count == 1 else f"{count} processes that it left behind"
    return f"the program has ended with status {status}; following {rest} (Ctrl-C ends that)"
