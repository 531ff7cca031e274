"""A program under the interposer, and the files that it leaves."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octavo.advice import placement_file, recording
from octavo.errors import OutputError, ProfileError
from octavo.files.replacement import check_free
from octavo.measurements.interposer import library
from octavo.measurements.profile.program import Program, check, status_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

LOG_FORMAT = 4
"""Version of logs; `crates/octavo-interpose/src/apply/log.rs` writes it."""
_OWN = ("OCTAVO_RECORD", "OCTAVO_APPLY", "OCTAVO_APPLY_LOG", "OCTAVO_FIRST", "OCTAVO_DISABLE")
"""Variables that the interposer reads; they are not inherited from the environment."""
_RECORDING, _LOG = "octavo_profile", "octavo_applied"
"""Keys that identify Octavo's own files; other files are never replaced."""
_LONG = 3600.0
"""Seconds between two checks of a program; our choice: a fallback, since its end is always reported."""


@dataclass(frozen=True)
class Recorded:
    """What a recorded program left."""

    status: int
    """Its exit status, in the numbering of shells."""
    profile: dict[str, Any] | None
    """The recording; None if the program called no CUDA function that the interposer sees, or was killed."""
    others: tuple[Path, ...]
    """Recordings of the processes that it started."""


@dataclass(frozen=True)
class Applied:
    """What a program left that ran under a placement file."""

    status: int
    """Its exit status, as shells have it."""
    log: dict[str, Any] | None
    """The log; None if the program called no CUDA function that the interposer sees, or was killed."""
    others: tuple[Path, ...]
    """Logs of the processes that it started."""
    logs_of_others: tuple[dict[str, Any], ...] = ()
    """What these say."""


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
        raise OutputError(
            f"{file}: expected a name that ends in .json, found `{file.name}`",
            file=file,
            found=file.name,
            code="unexpected-value",
        )
    there = _in_the_way(file, _RECORDING, force=force)
    environment = recording_to(file, command)
    _remove(there)
    status = _run(command, environment, output)
    return Recorded(status, recording.read(file) if file.is_file() else None, _others(file, _RECORDING))


def apply(
    placement: Path, command: Sequence[str], *, log: Path | None = None, force: bool = False, output: int | None = None
) -> Applied:
    """Run a program with its buffers allocated, and moved, as a placement file says.

    Args:
        placement: the file, or a folder of advice that has one.
        command: the program, by name or path, and its arguments.
        log: what was done, to be written; beside the placement file if left out, in place of an earlier one.
        force: replace the log that is named.
        output: the file descriptor that the program's standard output goes to instead of its own.

    Raises:
        AdviceError: the placement file is none, or of another format.
        ProfileError: the library is not there, or the program, or that cannot be executed.
        OutputError: the log cannot be written, or is there already.

    """
    placement = placement_file.meant(placement)
    placement_file.read(placement)
    target = log or placement.with_suffix(".applied.json")
    there = _in_the_way(target, _LOG, force=force or log is None)
    variables = {"OCTAVO_APPLY": str(placement.absolute()), "OCTAVO_APPLY_LOG": str(target.absolute())}
    environment = _environment(command, variables)
    _remove(there)
    status = _run(command, environment, output)
    others = _others(target, _LOG)
    return Applied(status, _log(target), others, tuple(filter(None, map(_log, others))))


def recording_to(file: Path, command: Sequence[str]) -> dict[str, str]:
    """The environment that makes a program write a recording to a file, and its children to files beside it.

    Raises:
        ProfileError: the library is not there, or the program, or that cannot be executed.

    """
    return _environment(command, {"OCTAVO_RECORD": str(file.absolute())})


def recordings(file: Path) -> list[Path]:
    """The files of a recorded program: its own, if it exists, and those of its children."""
    return [*([file] if file.is_file() else []), *_others(file, _RECORDING)]


def _environment(command: Sequence[str], variables: dict[str, str]) -> dict[str, str]:
    """The environment of this process, with the library preloaded and its settings; both files exist.

    Raises:
        ProfileError: one of them is not.

    """
    if not command:
        raise ProfileError("nothing to run", "name a program after --")
    found = library.find()
    check(command[0])
    kept = {name: value for name, value in os.environ.items() if name not in _OWN}
    preload = ":".join(filter(None, [str(found), os.environ.get("LD_PRELOAD")]))
    return {**kept, **variables, "LD_PRELOAD": preload}


def _in_the_way(file: Path, key: str, *, force: bool) -> list[Path]:
    """Files of a name, and of other processes, that may be replaced.

    Raises:
        OutputError: nothing can be written there, or something is there that may not be replaced.

    """
    if not file.parent.is_dir() or not os.access(file.parent, os.W_OK):
        raise OutputError(
            f"{file}: expected a folder that can be written, found none at {file.parent}", code="missing", file=file
        )
    there = [*([file] if file.exists() else []), *_others(file, key)]
    for each in there:
        check_free(each, force=force)
    if file.exists() and not _has(file, key):
        raise OutputError(
            f"{file}: expected a file with `{key}` to replace, found another",
            "choose another name",
            code="unexpected-value",
            file=file,
            key=key,
        )
    return there


def _remove(files: Sequence[Path]) -> None:
    for each in files:
        each.unlink()


def _others(file: Path, key: str) -> tuple[Path, ...]:
    """`profile.1234.json` beside `profile.json`, if Octavo wrote it."""
    name = re.compile(rf"{re.escape(file.stem)}\.\d+{re.escape(file.suffix)}")
    return tuple(each for each in sorted(file.parent.iterdir()) if name.fullmatch(each.name) and _has(each, key))


def _has(file: Path, key: str) -> bool:
    """Whether a file is JSON with a given key."""
    try:
        found = json.loads(file.read_text())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and key in found


def _run(command: Sequence[str], environment: dict[str, str], output: int | None) -> int:
    program = Program()
    try:
        with program.heeding():
            program.start(command, output=output, environment=environment)
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
            code="other-format",
            file=file,
            expected=LOG_FORMAT,
        )
    return dict(found)
