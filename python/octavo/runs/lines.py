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
_TIMED = ".csv"


def check(path: Path, scenario: Scenario, *, force: bool) -> None:
    """Make sure, before anything runs, that a run has such lines and that they can be written.

    Raises:
        ScenarioError: it has no time, follows no single lines, or is of several GPUs and the file could not tell them
            apart.
        OutputError: a file is there, or cannot be written.

    """
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
        hint = f"a table names the GPU of each line: --lines {path.stem}{_TIMED}"
        raise ScenarioError(message, hint, code="conflict", key="lines", expected=1, found=gpus)


def _packing(path: Path) -> str:
    ending = path.suffix.removeprefix(".")
    return ending if ending in _PACKINGS else ""


def _is_timed(path: Path) -> bool:
    return (path.with_suffix("") if _packing(path) else path).suffix == _TIMED


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
