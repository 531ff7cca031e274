"""A point on another machine: whether that machine has the files that the point needs, and what comes back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import octavo._core as _core
from octavo.files.digest import entry
from octavo.isolation.errors import explained
from octavo.policies.find import find
from octavo.scenarios.scenario import Scenario
from octavo.trace.folder import FILES, check

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def needed(scenario: Scenario) -> dict[str, str]:
    """Size and hash of every recorded file that a scenario runs, by path.

    Nodes are spelled out in the scenario, and sources of policies are there with their digests.

    Raises:
        TraceError: a trace is not what was written.
        OSError: a file cannot be read.

    """
    found: dict[str, str] = {}
    for path in scenario.traces:
        check(path)
        files = [path / name for name in FILES if (path / name).is_file()] if path.is_dir() else [path]
        found |= {str(file): str(entry(file)) for file in files}
    return found


def run(scenario: str, files: Mapping[str, str], limits: tuple[int | None, int | None]) -> dict[str, Any]:
    """Run a resolved scenario here.

    Args:
        scenario: as TOML.
        files: what it needs, as `needed` says.
        limits: bytes of memory, and picoseconds of simulated time; any if there is none.

    Returns:
        `summary` and `tables` of the result; nothing at all if it was over time; or why there is no result: `unfit`
        what this machine lacks, which another one may have, and `error` what would go wrong anywhere.

    """
    try:
        lacking = _lacking(scenario, files)
        if lacking is not None:
            return {"unfit": lacking}
        summary, tables = _core.run(scenario, None, None, *limits)
    except _core.OverTime:
        return {}
    except BaseException as error:
        return {"error": explained(error)}
    return {"summary": summary, "tables": tables}


def _lacking(scenario: str, files: Mapping[str, str]) -> str | None:
    """The file or class that is not here as the scenario means it, if any."""
    for path, expected in files.items():
        try:
            found = str(entry(Path(path)))
        except OSError as error:
            return f"it cannot read {path}: {error.strerror or error}"
        if found != expected:
            return f"it has another {path}: expected {expected}, found {found}"
    try:
        for own in _classes(Scenario(scenario).values):
            find(*own)
    except _core.OptionError as error:
        return str(error.args[-1])
    return None


def _classes(values: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Kind, name and digest of every policy and workload written in Python: of the node, and of jobs' own."""
    for part in (values, *values.get("job", [])):
        workload = part.get("workload", {})
        own = {} if isinstance(workload.get("path"), str) else {"workload": workload}
        for kind, choice in (part.get("memory", {}) | own).items():
            if isinstance(choice, dict) and isinstance(choice.get("digest"), str):
                yield kind, choice["name"], choice["digest"]
