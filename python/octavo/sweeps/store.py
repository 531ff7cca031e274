"""The folder of a sweep; a sweep can be killed at any time and resumes where it stopped.

- `sweep.json`: which sweep it is.
- `runs/`: a run folder for each point, which appears only when its run is complete.
- `points/`: for each point a Parquet file with one row, so one row group, which appears as soon as the point is done,
  sealed with a hash.
- `points/`, beside that: for each point that a machine of a cluster ran, a JSON file, sealed, too. No other file
  depends on which machine ran it.
- `points.parquet`: all points in one table, one row group for each, collected when the sweep ends or is stopped.

A Parquet file cannot be extended without rewriting its end, so a kill at the wrong moment would cost the whole file.
Therefore each point has a file of its own, which appears by renaming.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo._core import VERSION
from octavo.errors import OutputError, again
from octavo.files import atomic, disk, folder_locks, manifest, ours, parquet
from octavo.files.links import inside
from octavo.files.manifest import MANIFEST_FILE
from octavo.files.notes import note
from octavo.runs import folder
from octavo.runs.content import is_emptied, is_finished
from octavo.runs.pictures import FORMATS
from octavo.sweeps import places
from octavo.sweeps.table import row

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from octavo.runs.result import RunResult
    from octavo.sweeps.crew import Place
    from octavo.sweeps.plan import Point

PLAN_FILE = "sweep.json"
TABLE_FILE = "points.parquet"
PICTURE = "sweep"
PICTURE_FILES = tuple(f"{PICTURE}.{kind}" for kind in FORMATS)
MEDIANS_FILE = "medians.parquet"
FORMAT = 2
"""The `format` in `sweep.json`."""
_POINTS = "points"
RUNS = "runs"
_ROW = re.compile(r"[0-9]{5,}\.parquet")
"""Names of the files of single points."""
_PLACE = re.compile(rf"[0-9]{{5,}}{re.escape(places.SUFFIX)}")
"""Names of the files that say where these ran."""


@dataclass(frozen=True)
class Store:
    """The folder of one sweep and the columns of its table."""

    root: Path
    columns: dict[str, pl.DataType]

    def run_folder(self, point: Point) -> Path:
        """The folder for the result of a point."""
        return run_folder(self.root, point)

    def finished(self, point: Point, *, force: bool) -> RunResult | None:
        """The result of a point that is finished already.

        Raises:
            OutputError: the folder of its run holds something else, or a damaged result.

        """
        try:
            folder.mend(self.run_folder(point))
            return folder.finished(self.run_folder(point), point.scenario, force=force)
        except OutputError as error:
            hint = f"remove {self.run_folder(point)}: the same command then runs that point again"
            raise again(error, OutputError, hint=hint) from error

    def land(self, point: Point, found: RunResult | None, error: str | None) -> dict[str, Any]:
        """Write the row of a finished point; returns it."""
        landed = row(point, self.columns, found, error)
        _write_row(row_file(self.root, point.number), self._frame([landed]))
        return landed

    def tell_place(self, point: Point, place: Place | None) -> None:
        """Write which machine of a cluster ran a point, or remove what an earlier run wrote about it."""
        path = inside(self.root, _POINTS, f"{point.number:05d}{places.SUFFIX}")
        if place is not None:
            _replace(path, places.sealed(point.number, place))
        elif places.is_one(path):
            path.unlink()

    def collect(self, rows: list[dict[str, Any]]) -> pl.DataFrame:
        """Write the table of all rows, one row group for each; returns it."""
        table = self._frame(sorted(rows, key=lambda each: int(each["point"])))
        _write(self.root / TABLE_FILE, table)
        return table

    def write_medians(self, table: pl.DataFrame) -> None:
        """Write the table of medians of points that ran several times."""
        _write(self.root / MEDIANS_FILE, table)

    def _frame(self, rows: list[dict[str, Any]]) -> pl.DataFrame:
        return pl.DataFrame(rows, schema=self.columns)


def run_folder(root: Path, point: Point) -> Path:
    """Where the result of a point goes.

    Raises:
        OutputError: a symbolic link is on the way.

    """
    return inside(root, RUNS, point.folder)


@contextmanager
def opened(
    root: Path, plan: dict[str, Any], columns: dict[str, pl.DataType], *, force: bool, writes: Collection[str] = ()
) -> Iterator[Store]:
    """The folder of a sweep, for this process alone; `writes` are files of this sweep besides those of every sweep.

    Raises:
        OutputError: it cannot be written, another process is at it, it holds something else and `force` does not allow
            to replace it, or a file of somebody else is in the way. With `force`, results of any sweep are removed;
            other files never are.

    """
    disk.check_writable(root)
    plan = {"octavo": VERSION, "format": FORMAT, **plan}
    _check(root, plan, force=force)
    for name in (RUNS, _POINTS):
        inside(root, name)
    _check_rows(root)
    with folder_locks.opened(
        root, folder_locks.Shared("sweep", plan["sweep"], (PLAN_FILE, TABLE_FILE, *writes)), force=force
    ):
        if force:
            _remove_results(root)
        atomic.remove_leftovers(root / _POINTS)
        disk.write_json(root / PLAN_FILE, plan)
        yield Store(root, columns)


def _check(root: Path, plan: dict[str, Any], *, force: bool) -> None:
    """Make sure that the folder holds this sweep, or nothing."""
    path = root / PLAN_FILE
    if not path.is_file():
        begun = any((root / name).exists() for name in (MANIFEST_FILE, folder_locks.LOCK_FILE))
        if not begun and any(root.iterdir()):
            raise OutputError(
                f"{root} is not empty and holds no sweep", "choose another folder with -o", code="not-ours", file=root
            )
        return
    if force:
        return
    check_plan(root)
    found = _read_plan(path)
    if found.get("octavo") != plan["octavo"]:
        raise OutputError(
            f"{root} holds a sweep of another version of Octavo",
            "replace it with --force",
            code="other-format",
            file=root,
        )
    if found.get("sweep") != plan["sweep"]:
        raise OutputError(
            f"{root} already holds another sweep",
            "choose another folder with -o, or replace it with --force",
            code="other-result",
            file=root,
        )


def _check_rows(root: Path) -> None:
    """Make sure, before anything is removed or runs, that existing rows are Octavo's: that each has a hash."""
    doubtful = [path for path in rows(root) if not _is_row(path)]
    doubtful += [path for path in _places(root) if not places.is_one(path)]
    if doubtful:
        raise OutputError(
            f"cannot write results to {root}: nothing says that Octavo wrote {ours.listed(doubtful)} in {_POINTS}/",
            "remove these files if they are Octavo's, or choose another folder with -o",
            file=root,
            code="not-ours",
            found=doubtful,
        )


def _is_row(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and parquet.is_sealed(path.read_bytes())


def check_plan(root: Path) -> None:
    """Make sure that `sweep.json` is what was written, if a manifest says so.

    Raises:
        DamagedError: it is not.

    """
    listed = manifest.read(root)
    if listed is not None and listed.files.get(PLAN_FILE) is not None:
        manifest.verify(root, listed, [PLAN_FILE])


def _read_plan(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise OutputError(
            f"cannot read {path}: {error}", "choose another folder with -o, or --force", code="unreadable", file=path
        ) from error
    return found if isinstance(found, dict) else {}


def _remove_results(root: Path) -> None:
    """Remove what any sweep left, and list what is not Octavo's."""
    for name in (TABLE_FILE, MEDIANS_FILE, *PICTURE_FILES):
        folder_locks.remove(root / name)
    for run in sorted((root / RUNS).glob("*")):
        if run.is_dir() and not run.is_symlink() and (is_finished(run) or is_emptied(run)):
            ours.empty(run, ())
    for path in (*filter(_is_row, rows(root)), *filter(places.is_one, _places(root))):
        path.unlink()
    kept = [path for name in (RUNS, _POINTS) for path in sorted((root / name).glob("[!.]*"))]
    if kept:
        note(f"{root} keeps what Octavo did not write: {ours.listed(kept)}")


def row_file(root: Path, number: int) -> Path:
    """The file of a single point."""
    return inside(root, _POINTS, f"{number:05d}.parquet")


def rows(root: Path) -> list[Path]:
    """The files of single points, in the order of these."""
    found = (path for path in (root / _POINTS).glob("*.parquet") if _ROW.fullmatch(path.name))
    return sorted(found, key=lambda path: int(path.stem))


def read_places(root: Path) -> dict[int, Place]:
    """By number of the point, the machine that ran it, if it was one of a cluster.

    Raises:
        DamagedError: a file is not what was written.

    """
    return dict(map(places.read, _places(root)))


def _places(root: Path) -> list[Path]:
    return sorted(path for path in (root / _POINTS).glob(f"*{places.SUFFIX}") if _PLACE.fullmatch(path.name))


def _write_row(path: Path, table: pl.DataFrame) -> None:
    """Write the row of a point, sealed; an existing one stays."""
    content = parquet.sealed(table, row_group_size=1)
    if path.is_file():
        found = path.read_bytes()
        if found == content:
            return
        problem = parquet.flaw(found) if parquet.is_sealed(found) else None
        if problem is not None:
            note(f"{path} was damaged: {problem}; it is written again")
    _replace(path, content)


def _write(path: Path, table: pl.DataFrame) -> None:
    """Write a table, one row group for each row; an existing one stays."""
    content = parquet.encoded(table, row_group_size=1)
    if not path.is_file() or path.read_bytes() != content:
        _replace(path, content)


def _replace(path: Path, content: bytes) -> None:
    try:
        disk.write_bytes(path, content)
    except OutputError as error:
        raise again(error, OutputError, hint="finished parts are kept; the same command resumes") from error
