"""Result folders: written completely or not at all, never removed unless requested, used by one process at a time."""

from __future__ import annotations

import json
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

from octavo._core import VERSION, table_bytes
from octavo.errors import DamagedError, OutputError, again
from octavo.files import disk, links, ours, parquet, swap
from octavo.runs.content import (
    FILES,
    RESULT_FORMAT,
    RUN,
    SCENARIO_FILE,
    SUMMARY_FILE,
    holds_result,
    is_emptied,
    is_finished,
)
from octavo.runs.result import RunResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import polars as pl

    from octavo.scenarios.scenario import Scenario

_Columns = list[tuple[str, str, bytes | list[str], list[str]]]
_Tables = list[tuple[str, _Columns]]
_FORCE = "replace it with --force"


def finished(folder: Path, scenario: Scenario, *, force: bool) -> RunResult | None:
    """The result of `scenario` in `folder`, if it exists and is complete.

    Raises:
        OutputError: the folder holds something else, or a damaged result, and `force` does not allow to replace it.

    """
    if not _is_filled(folder) or is_emptied(folder):
        return None
    if force:
        _check_octavos(folder, known=is_finished(folder))
        return None
    if not is_finished(folder):
        raise _no_result(folder)
    result = RunResult(folder)
    try:
        result.check()
    except DamagedError as error:
        raise again(error, DamagedError, hint=_FORCE) from None
    if result.totals.get("octavo") != VERSION or result.totals.get("format") != RESULT_FORMAT:
        raise OutputError(
            f"{folder} holds a result of another version of Octavo", _FORCE, code="other-format", file=folder
        )
    if result.scenario == scenario:
        return result
    raise OutputError(
        f"{folder} already holds the result of another scenario",
        "choose another folder with -o, or replace it with --force",
        code="other-result",
        file=folder,
    )


def check_replaceable(folder: Path, *, force: bool) -> None:
    """Make sure that `folder` holds nothing, or a result that `force` permits to replace.

    Raises:
        OutputError: it does not.

    """
    if not _is_filled(folder) or is_emptied(folder):
        return
    _check_octavos(folder, known=holds_result(folder))
    if not force:
        raise OutputError(
            f"{folder} already holds a result",
            "choose another folder with -o, or replace it with --force",
            code="exists",
            file=folder,
        )


def _check_octavos(folder: Path, *, known: bool) -> None:
    """Make sure that it is certain which files of a folder Octavo wrote."""
    if not known:
        raise _no_result(folder)
    ours.check_vouched(folder, FILES)


def _no_result(folder: Path) -> OutputError:
    return OutputError(
        f"{folder} is not empty and holds no Octavo result",
        "choose another folder with -o",
        code="not-ours",
        file=folder,
    )


def _is_filled(folder: Path) -> bool:
    folder = links.followed(folder)
    if not folder.exists():
        return False
    if not folder.is_dir():
        raise OutputError(f"cannot write results to {folder}: it is not a folder", code="not-a-folder", file=folder)
    return any(folder.iterdir())


def mend(folder: Path) -> None:
    """Undo or complete what a killed process left of a result, if anything; errors as `locked`."""
    swap.mend(folder, ())


@contextmanager
def locked(folder: Path) -> Iterator[Path]:
    """The folder of a result, for this process alone; errors as `octavo.files.swap.locked`."""
    with swap.locked(folder, ()) as target:
        yield target


def save(folder: Path, scenario: Scenario, summary: str, tables: _Tables) -> RunResult:
    """Write a result; `folder`, which must be `locked`, appears or replaces what was there when everything is written.

    `tables` is empty afterwards.

    Raises:
        OutputError: it cannot be written; what was there before stays.

    """
    files = ((f"{name}.parquet", table_bytes(columns)) for name, columns in _popped(tables))
    own = {"octavo": VERSION, "format": RESULT_FORMAT, **json.loads(summary)}
    return _save(folder, RUN, files, own, scenario.toml)


def _popped(tables: _Tables) -> Iterator[tuple[str, _Columns]]:
    """One after another, each no longer than needed: the tables of a long run take most of its memory."""
    while tables:
        yield tables.pop(0)


def save_tables(
    folder: Path,
    kind: str,
    tables: Mapping[str, pl.DataFrame],
    summary: Mapping[str, Any],
    scenario: str | None = None,
    files: Mapping[str, bytes] | None = None,
) -> RunResult:
    """Write a result of some kind, and `files` by name beside its tables; like `save`."""
    encoded = ((f"{name}.parquet", parquet.encoded(table)) for name, table in tables.items())
    return _save(folder, kind, chain(encoded, (files or {}).items()), summary, scenario)


def _save(
    folder: Path,
    kind: str,
    files: Iterable[tuple[str, bytes]],
    summary: Mapping[str, Any],
    scenario: str | None,
) -> RunResult:
    with swap.replaced(folder, kind, ()) as temporary:
        if scenario is not None:
            (temporary / SCENARIO_FILE).write_text(scenario, encoding="utf-8")
        for name, content in files:
            (temporary / name).write_bytes(content)
        (temporary / SUMMARY_FILE).write_text(disk.json_text(summary), encoding="utf-8", errors="backslashreplace")
    return RunResult(folder)
