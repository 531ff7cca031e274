"""The folder of a sweep, made so that a sweep can be killed at any time and goes on where it was.

- `sweep.json`: which sweep it is.
- `runs/`: a run folder a point, which appears only when it is whole. What is in it is finished.
- `points/`: a Parquet file a point with one row, so one row group, which appears as soon as the point is over.
- `points.parquet`: all points in one table, one row group a point, collected when the sweep ends or is stopped.

A Parquet file cannot be extended without rewriting its end, so that a kill at the wrong moment would cost the whole of
it: therefore the files of single points, each of which appears by renaming.
"""

from __future__ import annotations

import io
import json
import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import OutputError
from octavo.runs import folder
from octavo.sweeps.table import row

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from octavo.runs.result import RunResult
    from octavo.sweeps.plan import Point

PLAN_FILE = "sweep.json"
TABLE_FILE = "points.parquet"
PICTURE_FILE = "sweep.png"
_POINTS = "points"
_RUNS = "runs"


@dataclass(frozen=True)
class Store:
    """The folder of one sweep and the columns of its table."""

    root: Path
    columns: dict[str, pl.DataType]

    def run_folder(self, point: Point) -> Path:
        """Where the result of a point goes."""
        return self.root / _RUNS / point.folder

    def finished(self, point: Point, *, force: bool) -> RunResult | None:
        """The result of a point that is finished already.

        Raises:
            OutputError: the folder of its run holds something else, or a damaged result.

        """
        try:
            return folder.finished(self.run_folder(point), point.scenario, force=force)
        except OutputError as error:
            hint = f"remove {self.run_folder(point)}: the same command then runs that point again"
            raise OutputError(error.message, hint) from error

    def land(self, point: Point, found: RunResult | None, error: str | None) -> dict[str, Any]:
        """Write the row of a point that is over; returns it."""
        landed = row(point, self.columns, found, error)
        _write(self.root / _POINTS / f"{point.number:05d}.parquet", _parquet(self._frame([landed])))
        return landed

    def collect(self, rows: list[dict[str, Any]]) -> pl.DataFrame:
        """Write the table of all rows, one row group each; returns it."""
        table = self._frame(sorted(rows, key=lambda each: int(each["point"])))
        _write(self.root / TABLE_FILE, _parquet(table))
        return table

    def _frame(self, rows: list[dict[str, Any]]) -> pl.DataFrame:
        return pl.DataFrame(rows, schema=self.columns)


@contextmanager
def opened(root: Path, plan: dict[str, Any], columns: dict[str, pl.DataType], *, force: bool) -> Iterator[Store]:
    """The folder of a sweep, for this process alone.

    Raises:
        OutputError: it cannot be written, another process is at it, or it holds something else and `force` does not
            allow to replace it. With `force`, results of any sweep are removed; other files never are.

    """
    folder.check_writable(root)
    with _locked(root):
        plan = {"octavo": version("octavo"), **plan}
        _claim(root, plan, force=force)
        folder.write_json(root / PLAN_FILE, plan)
        yield Store(root, columns)


def _claim(root: Path, plan: dict[str, Any], *, force: bool) -> None:
    """Make sure that what is there is this sweep, or nothing."""
    path = root / PLAN_FILE
    if not path.is_file():
        if any(root.iterdir()):
            raise OutputError(f"{root} is not empty and holds no sweep", "choose another folder with -o")
        return
    if force:
        for name in (_RUNS, _POINTS):
            shutil.rmtree(root / name, ignore_errors=True)
        for name in (TABLE_FILE, PICTURE_FILE):
            (root / name).unlink(missing_ok=True)
        return
    found = _read_plan(path)
    if found.get("octavo") != plan["octavo"]:
        raise OutputError(f"{root} holds a sweep of another version of Octavo", "replace it with --force")
    if found.get("sweep") != plan["sweep"]:
        raise OutputError(
            f"{root} already holds another sweep", "choose another folder with -o, or replace it with --force"
        )
    _sweep_up(root)


def _read_plan(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot read {path}: {error}", "choose another folder with -o, or --force") from error
    return found if isinstance(found, dict) else {}


def _sweep_up(root: Path) -> None:
    """Remove what a killed sweep left half-written: names that begin with a dot, below our own folders."""
    for name in (_RUNS, _POINTS):
        for path in (root / name).glob(".*"):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Keep other processes out; the system lets go of the lock when this process ends in any way."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        yield
        return
    handle = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise OutputError(f"another process is running the sweep in {root}", "wait until it has ended") from None
    finally:
        os.close(handle)


def _parquet(table: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.write_parquet(buffer, compression="zstd", row_group_size=1)
    return buffer.getvalue()


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; one that has the content already is left alone."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.is_file() and path.read_bytes() == content:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OutputError(
            f"cannot write {path}: {error.strerror}", "what is finished is kept; the same command goes on from there"
        ) from error
