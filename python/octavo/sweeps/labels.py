"""Labels of runs, from the experiments that made them: variants of a comparison, points of a sweep."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import OutputError
from octavo.runs.comparison import POINTS_FILE, REPORT_FILE
from octavo.runs.experiment import RUNS
from octavo.runs.replicates import KEY
from octavo.runs.slugs import slugs
from octavo.sweeps.axes import short_names, shown
from octavo.sweeps.outcomes import load_sweep
from octavo.sweeps.store import PLAN_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_MOST_ABOVE = 4
"""The most folders from a run up to its experiment's: `runs/WORKLOAD/VARIANT` and one more."""
_NAMED = ("preset", "name", "placement", "workload", "node", "memory")
"""Last parts of keys whose values explain themselves."""


def of(folders: Iterable[Path]) -> dict[Path, str]:
    """The labels of the folders that belong to an experiment; other folders have none."""
    found: dict[Path, str] = {}
    for root in above(folders):
        found = {**_of_comparison(root), **_of_sweep(root), **found}
    return found


def above(folders: Iterable[Path]) -> list[Path]:
    """Folders that may belong to the experiments of these runs, the nearest first, each once."""
    return list(dict.fromkeys(root for folder in folders for root in folder.parents[:_MOST_ABOVE]))


def _of_comparison(root: Path) -> dict[Path, str]:
    """The variants of a comparison, by the folder of their runs."""
    if not (root / POINTS_FILE).is_file() or not (root / REPORT_FILE).is_file():
        return {}
    points = _points(root / REPORT_FILE)
    workloads, variants = (slugs(dict.fromkeys(point[key] for point in points)) for key in ("workload", "variant"))
    return {
        root / RUNS / workloads[point["workload"]] / variants[point["variant"]]: point["variant"] for point in points
    }


def _points(path: Path) -> list[dict[str, str]]:
    """The workload and the variant of each point; empty if the file is someone else's, or cannot be read."""
    try:
        points = json.loads(path.read_text(encoding="utf-8"))["points"]
        return [{key: str(point[key]) for key in ("workload", "variant")} for point in points]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []


def _of_sweep(root: Path) -> dict[Path, str]:
    """The values of each point of a sweep, by the folder of its run."""
    if not (root / PLAN_FILE).is_file():
        return {}
    try:
        table = load_sweep(root)
    except OutputError:  # Its runs may be whole.
        return {}
    keys = [name for name in table.columns if "." in name and name != KEY]
    short = short_names(keys)
    rows = table.filter(pl.col("run").is_not_null()).select("run", *keys).to_dicts()
    return {root / str(row["run"]): _text({short[key]: row[key] for key in keys}) for row in rows}


def _text(values: Mapping[str, Any]) -> str:
    parts = [
        shown(value) if key.rpartition(".")[2] in _NAMED else f"{key}={shown(value)}" for key, value in values.items()
    ]
    return ", ".join(parts)
