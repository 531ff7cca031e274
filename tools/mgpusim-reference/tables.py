"""The CSV tables in validation/, and how they are read and replaced; those named NAME.xz are packed."""

from __future__ import annotations

import csv
import lzma
import sys
from typing import TYPE_CHECKING, Any

from metrics import LATENCIES, SUMS
from points import ORDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import TextIO

    from points import Key

POINT = ["benchmark", "parameters", "gpus"]
COLUMNS = [
    *POINT,
    *("error", "kernel_time_s", "gpu_time_max_s", "instructions", "vector_lines"),
    *(column for column in SUMS if column != "instructions"),
    *LATENCIES,
    *("wall_s", "cpu_s", "peak_rss_mb", "command"),
]
LAUNCH_COLUMNS = [
    *POINT,
    *("launch", "kernel", "grid", "group", "begin_cycle", "cycles"),
    *("flushes_before", "h2d_lines_before", "d2h_lines_before"),
]
UNIT_COLUMNS = [*POINT, "gpu", "unit", "metric", "units", "value"]

Row = dict[str, Any]


def key_of(row: Row) -> Key:
    """What names a row's point."""
    return (row["benchmark"], row["parameters"], str(row["gpus"]))


def opened(path: Path, mode: str, *, packed: bool) -> TextIO:
    """The text of a table."""
    if packed:
        preset = None if mode == "rt" else 9 | lzma.PRESET_EXTREME
        return lzma.open(path, mode, preset=preset, newline="", encoding="utf-8")
    return path.open(mode, newline="", encoding="utf-8")


def load(path: Path, columns: list[str]) -> list[Row]:
    """The rows of a table, none if there is no such file."""
    if not path.exists():
        return []
    with opened(path, "rt", packed=path.suffix == ".xz") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != columns:
            sys.exit(f"{path}: other columns than this script writes; move it away and run again")
        return list(reader)


def load_groups(path: Path, columns: list[str]) -> dict[Key, list[Row]]:
    """The rows of a table that has several for each point."""
    groups: dict[Key, list[Row]] = {}
    for row in load(path, columns):
        groups.setdefault(key_of(row), []).append(row)
    return groups


def store(path: Path, columns: list[str], rows: Iterable[Row]) -> None:
    """Replace a table, which is whole at every moment."""

    def order(row: Mapping[str, Any]) -> tuple[str, int, str, int]:
        place = ORDER.get((row["benchmark"], row["parameters"]), len(ORDER))
        return (row["benchmark"], place, row["parameters"], int(row["gpus"]))

    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    with opened(temporary, "wt", packed=path.suffix == ".xz") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n", restval="")
        writer.writeheader()
        writer.writerows(sorted(rows, key=order))
    temporary.replace(path)


def store_groups(path: Path, columns: list[str], groups: dict[Key, list[Row]]) -> None:
    """Replace a table that has several rows for each point."""
    store(path, columns, (row for group in groups.values() for row in group))
