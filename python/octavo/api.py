"""The Python interface: it can do all that the command line can. `comparisons` runs several scenarios side by side."""

from __future__ import annotations

import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from octavo import checks
from octavo.arguments import spelled_out
from octavo.errors import ScenarioError
from octavo.files.disk import check_writable
from octavo.policies.names import strategy_name
from octavo.runs.execute import Point, Progress, execute
from octavo.runs.progress import told
from octavo.scenarios import capacity, conflicts
from octavo.scenarios.nodes import node_name
from octavo.scenarios.scenario import (
    DEFAULT_NODE,
    SIMULATED,
    Recipe,
    Scenario,
    is_scenario_file,
    overrides_of,
    trace_name,
)
from octavo.workloads import inspect_workload, quantum_volume, workload_program, workload_result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Unpack

    from octavo.arguments import Arguments
    from octavo.runs.result import RunResult

__all__ = [
    "folder_of",
    "inspect_workload",
    "quantum_volume",
    "recipe",
    "run",
    "scenario",
    "workload_program",
    "workload_result",
]


def recipe(source: str | Path | Scenario | None = None, **arguments: Unpack[Arguments]) -> Recipe:
    """A scenario file, or names, with changes; arguments as for `scenario`.

    Raises:
        ScenarioError: the file cannot be read, or neither a file nor a workload nor jobs are named.

    """
    memory = arguments.pop("memory", None)
    found = _recipe(source, arguments)
    if memory is None:
        return found
    changed = (key for change in overrides_of(arguments.get("overrides")) for key in conflicts.keys_of(change))
    said = next((key for key in changed if f"{key}.".startswith("node.capacity.")), None)
    if said is not None:
        raise ScenarioError(
            f"--memory: `{said}` says how much memory there is, too", "leave one of them out", key="memory"
        )
    return found.with_overrides([capacity.override(found, memory)])


def _recipe(source: str | Path | Scenario | None, arguments: Arguments) -> Recipe:
    kinds = ("placement", "prefetch", "eviction", "demotion", "sharing", "guard")
    strategies = {kind: arguments.get(kind) for kind in kinds}
    named = {
        f"memory.{kind}": None if value is None else strategy_name(value, kind) for kind, value in strategies.items()
    }
    others = {
        "workload.scale": checks.number("scale", arguments.get("scale")),
        "seed": arguments.get("seed"),
        "program.kind": arguments.get("kind"),
        "executor.kind": arguments.get("executor"),
        "node.fidelity": arguments.get("fidelity"),
    }
    # Options of a strategy follow its name, which holds after a preset, too. The other arguments win over `overrides`.
    overrides = overrides_of(arguments.get("overrides"))
    presets = 1 + max((place for place, one in enumerate(overrides) if one.startswith(_MEMORY_PRESET)), default=-1)
    changes = [*_given(named), *overrides[:presets], *_given(named), *overrides[presets:], *_given(others)]
    source, workload = _meant(source, workload_name(arguments.get("workload")))
    jobs = arguments.get("jobs")
    node = _node(arguments.get("node"))
    if jobs is not None:
        if source is not None or workload is not None:
            raise ScenarioError(
                "expected either `jobs`, or a scenario or a workload", "a job names its own workload", code="conflict"
            )
        return Recipe.from_jobs(checks.tables("jobs", jobs), node=node or DEFAULT_NODE).with_overrides(changes)
    if source is None:
        if workload is None:
            raise ScenarioError("no workload", "name a scenario file or a workload")
        return Recipe.from_names(workload, node=node or DEFAULT_NODE).with_overrides(changes)
    return _written(source).with_overrides([*_given({"workload.name": workload, "node.preset": node}), *changes])


def _meant(
    source: str | Path | Scenario | None, workload: str | None
) -> tuple[str | Path | Scenario | None, str | None]:
    """The scenario and the workload that were meant: a source that is no scenario file is a workload."""
    if not isinstance(source, (str, Path)) or is_scenario_file(source):
        return source, workload
    if workload is not None:
        raise ScenarioError(
            f"expected one of `{source}` and the workload `{workload}`, found both",
            code="unexpected-value",
            expected=source,
        )
    return None, workload_name(source, "source")


def _written(source: str | Path | Scenario) -> Recipe:
    if isinstance(source, Scenario):
        return Recipe(source.toml, "scenario")
    return Recipe.from_file(checks.path("source", source, "a scenario, or the path of a TOML file"))


def workload_name(workload: str | Path | None, argument: str = "workload") -> str | None:
    """The name of a workload as scenarios say it; a path is the folder of a trace."""
    if workload is None:
        return None
    name = checks.text(argument, workload, "the name of a workload, or the folder of a trace")
    return trace_name(name) if isinstance(name, Path) else name


def _node(node: str | Path | None) -> str | None:
    return None if node is None else node_name(checks.text("node", node, "the name of a preset, or a TOML file"))


def _given(values: Mapping[str, object]) -> list[str]:
    return [f"{key}={value}" for key, value in values.items() if value is not None]


_MEMORY_PRESET = "memory.preset="
"""The beginning of an override that replaces everything said about memory before."""


@spelled_out
def scenario(source: str | Path | Scenario | None = None, **arguments: Unpack[Arguments]) -> Scenario:
    """Resolve a scenario from a file or from names; arguments override the file.

    Args:
        source: a workload, the folder of a trace, a TOML file, or a scenario to change.
        **arguments: see `octavo.arguments.Arguments`.

    Raises:
        ScenarioError: a value is invalid.

    """
    if isinstance(source, Scenario) and not any(value is not None for value in arguments.values()):
        return source
    return recipe(source, **arguments).resolve()


@spelled_out
def run(
    source: str | Path | Scenario | None = None,
    *,
    output: str | Path | None = None,
    force: bool = False,
    perfetto: str | Path | None = None,
    lines: str | Path | None = None,
    watch: Callable[[Progress], None] | bool | None = None,
    **arguments: Unpack[Arguments],
) -> RunResult:
    """Run one scenario, unless its result exists already.

    Args:
        source: a workload, the folder of a trace, a TOML file or a scenario; or leave it out and name a `workload`.
        output: folder of the result; by default a temporary one, removed with the result object.
        force: replace an existing result in `output`.
        perfetto: file for the run's timeline, a native Perfetto trace; a finished result is run again for it.
        lines: file for the lines that memories of GPUs read and write for their caches: a load-store trace of Ramulator
            2, or a table with times if its name has `.csv`; packed if it ends in `.gz` or `.zst`. As for `perfetto`.
        watch: called about ten times a second with the progress of the run; `True` shows it.
        **arguments: see `octavo.arguments.Arguments`.

    Raises:
        OctavoError: the scenario cannot be used or simulated, or the folder cannot be written.

    Examples:
        >>> result = octavo.run(workload="fir", placement="grit", scale=0.01)
        >>> result.seconds < 1
        True

    """
    resolved = scenario(source, **arguments)
    folder, keep = folder_of(output)
    timeline = None if perfetto is None else checks.path("perfetto", perfetto)
    if timeline is not None and resolved.executor != SIMULATED:
        raise ScenarioError(
            f"no timeline without time: expected the executor {SIMULATED}, found {resolved.executor}",
            "leave out --perfetto or --executor",
            code="no-time",
            expected=SIMULATED,
            found=resolved.executor,
        )
    listed = None if lines is None else checks.path("lines", lines)
    label = f"{resolved.label} {resolved.system}"
    point = Point(label, resolved, folder / "result" if output is None else folder, timeline, listed)
    with told(watch) as tell:
        result = execute([point], workers=1, force=force, watch=tell)[0]
    keep(result)
    return result


def folder_of(output: str | Path | None) -> tuple[Path, Callable[[object], None]]:
    """The folder to fill, and a function that keeps a temporary one as long as a result lives."""
    if output is not None:
        folder = checks.path("output", output)
        check_writable(folder.parent)
        return folder, lambda _: None
    temporary = tempfile.TemporaryDirectory(prefix="octavo-")

    def keep(result: object) -> None:
        weakref.finalize(result, temporary.cleanup)

    return Path(temporary.name), keep
