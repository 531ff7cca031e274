"""Files of the lines that memories of GPUs read and write in a run: for simulators of memory."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from octavo.errors import ScenarioError
from octavo.files import disk
from octavo.files.replacement import check_free
from octavo.scenarios.scenario import BY_LINE, SIMULATED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from octavo.scenarios.scenario import Scenario

_PACKINGS = ("gz", "zst")
_OTHER_PACKINGS = ("7z", "br", "bz2", "lz", "lz4", "lzma", "lzo", "xz", "z", "zip", "zstd")
"""Endings of packed files that would lie about what is written."""
_TIMED, _LISTED = ".csv", ".ldst"
"""Endings of a table with times, and of a load-store trace."""


def check(path: Path, scenario: Scenario, timeline: Path | None, *, force: bool) -> None:
    """Make sure, before anything runs, that a run has such lines and that they can be written.

    Args:
        path: the file.
        scenario: the run.
        timeline: the file of the run's timeline, if one is requested: another file.
        force: replace a file that is there.

    Raises:
        ScenarioError: the name asks for a packing that is not written, or is the timeline's; the run has no time,
            follows no single lines, or is of several GPUs and the file could not tell them apart.
        OutputError: a file is there, or cannot be written.

    """
    _check_name(path, timeline)
    disk.check_file(path)
    check_free(path, force=force)
    gpus = int(scenario.values["node"]["gpus"])
    if scenario.executor != SIMULATED:
        message = f"--lines: expected the executor {SIMULATED}, found {scenario.executor}"
        raise ScenarioError(message, code="no-time", key="lines", expected=SIMULATED, found=scenario.executor)
    if scenario.fidelity != BY_LINE:
        message = f"--lines: expected fidelity {BY_LINE}, found {scenario.fidelity}"
        raise ScenarioError(message, code="conflict", key="lines", expected=BY_LINE, found=scenario.fidelity)
    if gpus > 1 and not _is_timed(path):
        message = f"--lines {path}: expected a node of one GPU, found {gpus}"
        hint = f"a table names the GPU of each line: --lines {_as_table(path)}"
        raise ScenarioError(message, hint, code="conflict", key="lines", expected=1, found=gpus)


def _check_name(path: Path, timeline: Path | None) -> None:
    if _ending(path) in _OTHER_PACKINGS:
        message = f"--lines {path}: expected .gz or .zst, found {path.suffix}"
        hint = f"--lines {path.with_suffix('.zst')}"
        raise ScenarioError(message, hint, code="unexpected-value", key="lines", expected=_PACKINGS, found=path.suffix)
    if timeline is not None and path.resolve() == timeline.resolve():
        message = f"--lines, --perfetto: expected two files, found {path} for both"
        raise ScenarioError(message, code="conflict", key="lines", found=str(path))


def _ending(path: Path) -> str:
    return path.suffix.removeprefix(".").lower()


def _packing(path: Path) -> str:
    return ending if (ending := _ending(path)) in _PACKINGS else ""


def _unpacked(path: Path) -> Path:
    """Its name without the packing."""
    return path.with_suffix("") if _packing(path) else path


def _is_timed(path: Path) -> bool:
    return _unpacked(path).suffix.lower() == _TIMED


def _as_table(path: Path) -> Path:
    """The same name for a table with times, packed alike."""
    name = _unpacked(path)
    packed = path.suffix if name != path else ""
    return name.with_name((name.stem if name.suffix.lower() == _LISTED else name.name) + _TIMED + packed)


@contextmanager
def written(path: Path | None) -> Iterator[tuple[Path, bool, str] | None]:
    """A temporary file for the engine, whether it has times, and how it is packed; it takes its place at the end.

    Raises:
        OutputError: it cannot be written.

    """
    with disk.replaced_file(path) as temporary:
        if path is None or temporary is None:
            yield None
        else:
            yield temporary, _is_timed(path), _packing(path)
