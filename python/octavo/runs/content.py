"""What a folder contains: a finished run, the profile of a real program, or something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from octavo.errors import DamagedError, OutputError
from octavo.files import manifest, ours
from octavo.plain import near

if TYPE_CHECKING:
    from pathlib import Path

RUN = "run"
PROFILE = "profile"
"""The name of results in manifests."""
SCENARIO_FILE = "scenario.toml"
SUMMARY_FILE = "summary.json"
RESULT_FORMAT = 3
"""The `format` in `summary.json`; it grows with every change of the content or the meaning of results."""

ProfileTable: TypeAlias = Literal[
    "heat", "lifetimes", "mapping_intervals", "mappings", "process_intervals", "processes"
]
"""Tables that only profiles of real programs may contain."""

TABLES = (
    "accesses",
    "allocations",
    "capacity",
    "events",
    "fault_waits",
    "heat",
    "intervals",
    "jobs",
    "kernels",
    "lifetimes",
    "link_intervals",
    "links",
    "mapping_intervals",
    "mappings",
    "memory_intervals",
    "page_groups",
    "phases",
    "placement",
    "process_intervals",
    "processes",
    "stalls",
    "traffic",
    "traffic_intervals",
    "walks",
)
"""Names of all tables that results may contain."""
FILES = (SCENARIO_FILE, SUMMARY_FILE, *(f"{name}.parquet" for name in TABLES))
"""Names of all files that results may contain."""

_NAMED = 3
"""The most results that an error names."""


def check_is_folder(path: Path) -> None:
    """Raise OutputError if there is nothing, or a file, where a result folder is expected."""
    if not path.is_dir():
        there = path.exists()
        raise OutputError(
            f"{path}: expected the folder of a result, found {'a file' if there else 'nothing'}",
            None if there else _sibling(path),
            code="not-a-folder" if there else "nothing-there",
            file=path,
        )


def _sibling(path: Path) -> str | None:
    """The folder with the most similar name in the same place, if there is one."""
    try:
        names = sorted(each.name for each in path.parent.iterdir() if each.is_dir())
    except OSError:
        return None
    return near(path.name, names)


def instead(folder: Path) -> str:
    """Results below a folder that is not a result itself, such as an experiment or a sweep."""
    below = sorted(file.parent for file in folder.rglob(SUMMARY_FILE) if is_finished(file.parent))
    if not below:
        return f"a result has {manifest.MANIFEST_FILE}, which says what Octavo wrote"
    more = f" and {len(below) - _NAMED:,} more" if len(below) > _NAMED else ""
    return f"results below it: {', '.join(map(str, below[:_NAMED]))}{more}"


def is_finished(folder: Path) -> bool:
    """Whether a folder holds a finished run, perhaps a damaged one; without a manifest it is not Octavo's."""
    kind = _kind(folder)
    if kind is None and has_manifest(folder):  # A damaged one: reading says what is wrong with it.
        return (folder / SCENARIO_FILE).is_file() and (folder / SUMMARY_FILE).is_file()
    return kind == RUN


def is_emptied(folder: Path) -> bool:
    """Whether a folder held a result that a forced sweep removed, beside files of others that still exist."""
    return _kind(folder) == ours.EMPTIED


def is_imported(folder: Path) -> bool:
    """Whether a folder holds the profile of a real program that `octavo import` or `octavo profile` wrote."""
    kind = _kind(folder)
    if kind is None and has_manifest(folder):
        return not (folder / SCENARIO_FILE).exists() and (folder / SUMMARY_FILE).is_file()
    return kind == PROFILE


def holds_result(folder: Path) -> bool:
    """Whether a folder holds a finished run or an imported profile, perhaps a damaged one."""
    return is_finished(folder) or is_imported(folder)


def has_manifest(folder: Path) -> bool:
    """Whether a folder has a manifest, perhaps a damaged one."""
    return (folder / manifest.MANIFEST_FILE).is_file()


def _kind(folder: Path) -> str | None:
    """The manifest's name for a folder; None without a readable manifest."""
    try:
        found = manifest.read(folder)
    except DamagedError:
        return None
    return None if found is None else found.kind
