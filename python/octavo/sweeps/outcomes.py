"""A sweep's results so far, read from its folder, while it runs or after it ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from octavo.errors import DamagedError, OutputError
from octavo.files import manifest, parquet
from octavo.sweeps import store

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

_AGAIN = "the command of the sweep, given again, writes it anew"


def load_sweep(folder: str | Path, *, machines: bool = False) -> pl.DataFrame:
    """Read the rows of a running, stopped or finished sweep, and check each by its hash.

    Args:
        folder: the sweep's `output`.
        machines: whether to add `machine` and `engine`: the machine of a cluster that ran the point, and its build of
            Octavo. They are empty for points that ran on the command's own machine.

    Returns:
        One row for each finished point, in order, with the columns of `octavo.sweep`.

    Raises:
        OutputError: the folder contains no sweep, or none with a finished point.
        DamagedError: a row is damaged; the message names its file, what was expected and what was found.

    Examples:
        >>> table = octavo.load_sweep("runs/service")
        >>> table["status"].to_list()
        ['ok', 'ok', 'failed']

    """
    root = Path(folder)
    files = store.rows(root) if (root / store.PLAN_FILE).is_file() else []
    if not files:
        raise OutputError(
            f"{root} holds no sweep with a point that is over",
            "a sweep has sweep.json and points/",
            file=root,
            code="no-result",
        )
    _check_format(root)
    _check_complete(root, {int(path.stem) for path in files})
    table = _joined(files, [_row(path) for path in files])
    return with_machines(root, table) if machines else table


def with_machines(root: Path, table: pl.DataFrame) -> pl.DataFrame:
    """A table of points with the columns `machine` and `engine`; errors as `load_sweep`."""
    known = store.read_places(root)
    found = [known.get(point) for point in table["point"]]
    machine = pl.Series("machine", [place and place.machine for place in found], pl.String)
    engine = pl.Series("engine", [place and place.engine for place in found], pl.String)
    return table.with_columns(machine, engine)


def _check_complete(root: Path, found: Set[int]) -> None:
    """Every point of the last collected table must have its row: points are never removed."""
    listed = manifest.read(root)
    path = root / store.TABLE_FILE
    if listed is None or listed.files.get(path.name) is None or not path.is_file():
        return
    manifest.verify(root, listed, [path.name])
    missing = sorted(set(parquet.read(path, _AGAIN, verified=True)["point"].to_list()) - found)
    if missing:
        place = store.row_file(root, missing[0])
        more = f", and {len(missing) - 1:,} more are" if len(missing) > 1 else ""
        raise DamagedError(
            f"{place} is missing{more}: expected a row for each point of {path}, found no file",
            _AGAIN,
            code="missing",
            file=place,
        )


def _check_format(root: Path) -> None:
    """Make sure that this Octavo can read the sweep: OutputError if it has another format, or is damaged."""
    path = root / store.PLAN_FILE
    store.check_plan(root)
    try:
        found = json.loads(path.read_text(encoding="utf-8")).get("format")
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise DamagedError(
            f"{path} is damaged: expected what `octavo sweep` writes, found: {error}", _AGAIN, file=path
        ) from None
    if found != store.FORMAT:
        raise OutputError(
            f"{path}: expected a sweep of format {store.FORMAT}, found format {found}",
            _AGAIN,
            code="other-format",
            file=path,
            expected=store.FORMAT,
            found=found,
        )


def _row(path: Path) -> pl.DataFrame:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise OutputError(f"cannot read {path}: {error.strerror}", code="unreadable", file=path) from error
    if problem := parquet.flaw(content):
        raise DamagedError(f"{path} is damaged: {problem}", _AGAIN, file=path)
    row = parquet.read(path, _AGAIN, verified=True)
    found = row["point"].to_list() if "point" in row.columns else []
    if found != [int(path.stem)]:
        raise DamagedError(
            f"{path} is damaged: expected the row of point {int(path.stem)}, found {found}",
            _AGAIN,
            file=path,
            found=found,
        )
    return row


def _joined(files: Sequence[Path], rows: Sequence[pl.DataFrame]) -> pl.DataFrame:
    for path, row in zip(files, rows, strict=True):
        if row.schema != rows[0].schema:
            raise DamagedError(
                f"{path} is damaged: expected the columns of {files[0].name}, found {', '.join(row.columns)}",
                _AGAIN,
                file=path,
            )
    return pl.concat(rows)
