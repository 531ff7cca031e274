"""A program run under the interposer, and what that has left."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.advice import placement_file, recorded
from octavo.errors import OutputError, ProfileError
from octavo.measured.interposed import library
from octavo.measured.profile.program import Program, status_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LOG_FORMAT = 1
"""Of logs; `crates/octavo-interpose/src/apply/log.rs` writes it."""
_OWN = ("OCTAVO_RECORD", "OCTAVO_APPLY", "OCTAVO_APPLY_LOG", "OCTAVO_FIRST", "OCTAVO_DISABLE")
"""What the interposer reads; nothing of it is taken from outside."""
_LONG = 3600.0
"""Seconds between two looks at a program that nobody tells of its end; chosen: it always is told."""


@dataclass(frozen=True)
class Recorded:
    """What a recorded program has left."""

    status: int
    """Its exit status, as shells have it."""
    profile: dict[str, Any] | None
    """The recording; none if the program used nothing of CUDA's that can be seen, or was killed."""
    others: tuple[Path, ...]
    """Recordings of the processes that it started."""


@dataclass(frozen=True)
class Applied:
    """What a program under a placement file has left."""

    status: int
    """Its exit status, as shells have it."""
    log: dict[str, Any] | None
    """What was done; none if the program used nothing of CUDA's that can be seen, or was killed."""
    others: tuple[Path, ...]
    """Logs of the processes that it started."""


def record(command: Sequence[str], file: Path, *, force: bool = False, output: int | None = None) -> Recorded:
    """Run a program and write what it allocates, copies and launches.

    Args:
        command: the program, by name or path, and its arguments.
        file: the recording to write, whose name ends in `.json`.
        force: replace what is there.
        output: the file descriptor that the program's standard output goes to instead of its own.

    Raises:
        ProfileError: the library is not there, or the program, or that cannot be executed.
        OutputError: the file cannot be written, or is there already.

    """
    if file.suffix != ".json":
        raise OutputError(f"{file}: expected a name that ends in .json, found `{file.name}`")
    _make_room(file, force=force)
    status = _run(command, {"OCTAVO_RECORD": str(file.absolute())}, output)
    return Recorded(status, recorded.read(file) if file.is_file() else None, _others(file))


def apply(
    placement: Path, command: Sequence[str], *, log: Path | None = None, force: bool = False, output: int | None = None
) -> Applied:
    """Run a program with its buffers allocated as a placement file says.

    Args:
        placement: the file.
        command: the program, by name or path, and its arguments.
        log: what was done, to be written; beside the placement file if left out, in place of an earlier one.
        force: replace the log that is named.
        output: the file descriptor that the program's standard output goes to instead of its own.

    Raises:
        AdviceError: the placement file is none, or of another format.
        ProfileError: the library is not there, or the program, or that cannot be executed.
        OutputError: the log cannot be written, or is there already.

    """
    placement_file.read(placement)
    target = log or placement.with_suffix(".applied.json")
    _make_room(target, force=force or log is None)
    variables = {"OCTAVO_APPLY": str(placement.absolute()), "OCTAVO_APPLY_LOG": str(target.absolute())}
    status = _run(command, variables, output)
    return Applied(status, _log(target), _others(target))


def _make_room(file: Path, *, force: bool) -> None:
    """Nothing is there under a name, nor under those of other processes, and a file can be written."""
    if not file.parent.is_dir() or not os.access(file.parent, os.W_OK):
        raise OutputError(f"{file}: expected a folder that can be written, found none at {file.parent}")
    there = [*([file] if file.exists() else []), *_others(file)]
    if there and not force:
        raise OutputError(f"{there[0]} exists already", "choose another name, or replace it with --force")
    for each in there:
        each.unlink()


def _others(file: Path) -> tuple[Path, ...]:
    """`profile.1234.json` beside `profile.json`."""
    beside = sorted(file.parent.glob(f"{file.stem}.*{file.suffix}"))
    return tuple(each for each in beside if each.name[len(file.stem) + 1 : -len(file.suffix)].isdigit())


def _run(command: Sequence[str], variables: dict[str, str], output: int | None) -> int:
    if not command:
        raise ProfileError("nothing to run", "name a program after --")
    kept = {name: value for name, value in os.environ.items() if name not in _OWN}
    before = kept.get("LD_PRELOAD")
    preload = ":".join(filter(None, [str(library.find()), before]))
    program = Program()
    try:
        with program.heeding():
            program.start(command, output=output, environment={**kept, **variables, "LD_PRELOAD": preload})
            while program.ended is None:
                program.wait(_LONG)
        code, _ = program.reap()
    finally:
        program.close()
    return status_of(code)


def _log(file: Path) -> dict[str, Any] | None:
    if not file.is_file():
        return None
    found = json.loads(file.read_text())
    if found.get("octavo_applied") != LOG_FORMAT:
        raise ProfileError(
            f"{file}: expected a log of format {LOG_FORMAT}, found {found.get('octavo_applied')}",
            f"use the {library.NAME} of this version of Octavo",
        )
    return dict(found)
