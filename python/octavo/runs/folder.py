"""Result folders: written whole or not at all, never destroyed without being told to."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo.errors import OutputError
from octavo.runs.result import RESULT_FORMAT, SCENARIO_FILE, SUMMARY_FILE, RunResult, is_finished
from octavo.runs.tables import frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from octavo.scenarios.scenario import Scenario

_Tables = list[tuple[str, list[tuple[str, str, bytes | list[str], list[str]]]]]


def check_writable(folder: Path) -> None:
    """Make sure that `folder` can be filled, before anything is computed.

    Raises:
        OutputError: it is a file, or it cannot be created or written to.

    """
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"cannot write results to {folder}: it is not a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(
            f"cannot write results to {folder}: {error.strerror}", "choose another folder with -o"
        ) from error


def finished(folder: Path, scenario: Scenario, *, force: bool) -> RunResult | None:
    """The result of `scenario` in `folder`, if it is there already.

    Raises:
        OutputError: the folder holds something else, and `force` does not allow to replace it.

    """
    if not folder.exists():
        return None
    if not folder.is_dir():
        raise OutputError(f"cannot write results to {folder}: it is not a folder")
    if not any(folder.iterdir()):
        return None
    if not is_finished(folder):
        raise OutputError(f"{folder} is not empty and holds no Octavo result", "choose another folder with -o")
    if force:
        return None
    result = RunResult(folder)
    if result.summary.get("octavo") != version("octavo") or result.summary.get("format", 1) != RESULT_FORMAT:
        raise OutputError(f"{folder} holds a result of another version of Octavo", "replace it with --force")
    if result.scenario == scenario:
        return result
    raise OutputError(
        f"{folder} already holds the result of another scenario",
        "choose another folder with -o, or replace it with --force",
    )


def save(folder: Path, scenario: Scenario, summary: str, tables: _Tables) -> RunResult:
    """Write a result; `folder` appears, or replaces what was there, only when everything is written."""
    with replaced(folder) as temporary:
        (temporary / SCENARIO_FILE).write_text(scenario.toml, encoding="utf-8")
        for name, columns in tables:
            frame(columns).write_parquet(temporary / f"{name}.parquet", compression="zstd", statistics=True)
        write_json(
            temporary / SUMMARY_FILE, {"octavo": version("octavo"), "format": RESULT_FORMAT, **json.loads(summary)}
        )
    return RunResult(folder)


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """A temporary folder that takes the place of `folder` when the block ends without an error."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        temporary.chmod(0o777 & ~_umask())
        yield temporary
        if folder.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.old.", dir=folder.parent))
            folder.rename(old / folder.name)
            temporary.rename(folder)
            shutil.rmtree(old)
        else:
            temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_file(path: Path) -> None:
    """Make sure that a file can be written, before anything is computed.

    Raises:
        OutputError: it is a folder, or its own folder cannot be written to.

    """
    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder")
    check_writable(path.parent)


@contextmanager
def replaced_file(path: Path | None) -> Iterator[Path | None]:
    """A temporary file that takes the place of `path` when the block ends without an error; nothing for nothing."""
    if path is None:
        yield None
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        OutputError: it cannot be written; what was there before stays.

    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}", "choose another place with -o") from error


def write_json(path: Path, value: dict[str, Any] | Sequence[Any]) -> None:
    """Write a JSON file whole or not at all."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
