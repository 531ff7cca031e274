"""What the samples report: the table of results, and the one per GPU and kind of unit."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import binaries
import process
from metrics import read_metrics, summarise
from points import UNIFIED
from tables import COLUMNS, UNIT_COLUMNS, Row, key_of, load, load_groups, store, store_groups

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from points import Key, Point

COMMON = ["-timing", "-disable-rtm", "-report-all"]

# What differs from run to run.
MEASURED = ("wall_s", "cpu_s", "peak_rss_mb")


@dataclass
class Results:
    """Both tables, as they are in their files."""

    path: Path
    rows: dict[Key, Row]
    units: dict[Key, list[Row]]

    @classmethod
    def load(cls, path: Path) -> Results:
        """Read what there is."""
        rows = {key_of(row): row for row in load(path, COLUMNS)}
        return cls(path, rows, load_groups(cls._units_path(path), UNIT_COLUMNS))

    @staticmethod
    def _units_path(path: Path) -> Path:
        return path.with_name(path.stem + "-units.csv.xz")

    def keep(self, point: Point, row: Row, units: list[Row]) -> None:
        """Enter a point and write both tables."""
        named = {"benchmark": point.benchmark, "parameters": point.parameters, "gpus": point.gpus}
        self.rows[point.key] = row | named
        self.units[point.key] = [unit | named for unit in units]
        store(self.path, COLUMNS, self.rows.values())
        store_groups(self._units_path(self.path), UNIT_COLUMNS, self.units)


def collect(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What the run in this folder has reported."""
    databases = list(folder.glob("akita_sim_*.sqlite3"))
    if len(databases) != 1:
        raise ValueError(f"no result: {len(databases)} result files")
    try:
        return summarise(read_metrics(databases[0]))
    except (ValueError, sqlite3.Error) as error:
        raise ValueError(f"no result: {error}") from error


def run_points(arguments: argparse.Namespace, todo: list[Point], results: Results) -> int:
    """Run points that are missing, or all of them again, and keep each as it finishes; returns how many failed."""
    folder = arguments.work / "bin"
    binaries.ready(folder, {point.benchmark for point in todo}, again=arguments.build)
    failed = changed = 0
    for number, point in enumerate(todo, 1):
        old = results.rows.get(point.key)
        if old and not arguments.rerun and not (arguments.retry_failed and old["error"]):
            continue
        print(f"[{number}/{len(todo)}] {point} ...", end="", flush=True)
        program = process.Program(
            folder / point.benchmark,
            [*COMMON, *UNIFIED[point.gpus], *point.parameters.split()],
            arguments.work,
            arguments.timeout,
        )
        row, collected = process.run(program, collect)
        sums, units = collected or ({}, [])
        row |= sums
        differ = differing(old, row)
        failed += bool(row["error"])
        changed += bool(differ)
        cost = f"{row['wall_s']} s, {row['cpu_s']} s of CPU, {row['peak_rss_mb']} MB"
        print(f" {outcome(row, differ)}  ({cost})", flush=True)
        results.keep(point, row, units)
    again = f"; changed: {changed}" if arguments.rerun else ""
    print(f"{len(results.rows)} points in {results.path}; failed in this call: {failed}{again}")
    return failed


def differing(old: Row | None, new: Row) -> list[str] | None:
    """Columns in which a point's results differ from those before; None if there is nothing to compare."""
    if not old or old["error"] or new["error"]:
        return None
    named = {"benchmark", "parameters", "gpus", *MEASURED}
    return [column for column in COLUMNS if column not in named and str(new.get(column, "")) != old[column]]


def outcome(row: Row, differ: list[str] | None) -> str:
    """What to tell of a run."""
    found = row["error"] or f"kernel {float(row['kernel_time_s']) * 1e6:.3f} us"
    if differ is None:
        return found
    return found + (f"; differs in {', '.join(differ)}" if differ else "; as before")
