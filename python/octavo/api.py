"""The Python interface: the same reach as the command line."""

from __future__ import annotations

import json
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from octavo import _core, pictures
from octavo.comparison import Comparison, check_report, save_report
from octavo.errors import ScenarioError
from octavo.execute import Point, Progress, execute
from octavo.experiment import Experiment, Variant
from octavo.folder import check_writable
from octavo.nodes import node_name
from octavo.policies.names import label, strategy_name
from octavo.scenarios import DEFAULT_NODE, Recipe, Scenario, overrides_of, trace_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from octavo.policies.names import Strategy
    from octavo.result import RunResult

DEFAULT_PLACEMENTS = ("on-touch", "access-counter", "duplication", "grit")


def recipe(  # noqa: PLR0913 - one for each thing that can be named
    source: str | Path | Scenario | None = None,
    *,
    workload: str | Path | None = None,
    placement: Strategy | None = None,
    prefetch: Strategy | None = None,
    eviction: Strategy | None = None,
    node: str | Path | None = None,
    scale: float | None = None,
    seed: int | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Recipe:
    """A scenario file, or names, with changes; arguments as for `scenario`.

    Raises:
        ScenarioError: the file cannot be read, or neither a file nor a workload is named.

    """
    strategies = {"memory.placement": placement, "memory.prefetch": prefetch, "memory.eviction": eviction}
    named = {key: strategy_name(value) for key, value in strategies.items() if value is not None}
    changes = overrides_of({**named, **(overrides or {})}, scale, seed)
    workload = trace_name(workload) if isinstance(workload, Path) else workload
    node = None if node is None else node_name(node)
    if source is None:
        if workload is None:
            raise ScenarioError("no workload", "name a scenario file or a workload")
        return Recipe.from_names(workload, node=node or DEFAULT_NODE).with_overrides(changes)
    presets = {"workload.name": workload, "node.preset": node}
    changes = [f"{key}={name}" for key, name in presets.items() if name is not None] + changes
    base = Recipe(source.toml, "scenario") if isinstance(source, Scenario) else Recipe.from_file(source)
    return base.with_overrides(changes)


def scenario(source: str | Path | Scenario | None = None, **arguments: Any) -> Scenario:
    """Resolve a scenario from a file, or from names; arguments win over the file.

    Args:
        source: a TOML file, or a scenario to change.
        **arguments: `workload`: by name, or the folder of a trace; `node`: a preset, or a TOML file with a `[node]`,
            such as a machine file; `placement`, `prefetch`, `eviction`: strategies by name, as a Python file, or as a
            class of `octavo.policies`; `scale`: footprint relative to the published one; `seed`: seed of everything
            random; `overrides`: further values by dotted key, such as `{"node.gpu_link.bandwidth": "600GB/s"}`.

    Raises:
        ScenarioError: something in it cannot be used.

    """
    return recipe(source, **arguments).resolve()


def run(
    source: str | Path | Scenario | None = None,
    *,
    output: str | Path | None = None,
    force: bool = False,
    perfetto: str | Path | None = None,
    watch: Callable[[Progress], None] | None = None,
    **arguments: Any,
) -> RunResult:
    """Run one scenario; a result that is there already is not computed again.

    Args:
        source: a TOML file or a scenario; or leave it out and name at least a `workload`.
        output: folder of the result; a temporary one, removed with the result object, if left out.
        force: replace what `output` holds.
        perfetto: also write the run's timeline there, as a native Perfetto trace; a finished result is run again.
        watch: called about ten times a second with how far the run is.
        **arguments: as for `octavo.scenario`.

    Raises:
        OctavoError: the scenario cannot be used or simulated, or the folder cannot be written.

    Examples:
        >>> result = octavo.run(workload="fir", placement="grit", scale=0.01)
        >>> result.seconds < 1
        True

    """
    resolved = scenario(source, **arguments)
    folder, keep = _folder(output)
    timeline = None if perfetto is None else Path(perfetto)
    point = Point(resolved.label, resolved, folder / "result" if output is None else folder, timeline)
    result = execute([point], jobs=1, force=force, watch=watch)[0]
    keep(result)
    return result


def compare(
    source: str | Path | Scenario | None = None,
    *,
    workloads: Sequence[str] | None = None,
    placements: Sequence[Strategy] = DEFAULT_PLACEMENTS,
    baseline: str | None = None,
    output: str | Path | None = None,
    jobs: int | None = None,
    force: bool = False,
    watch: Callable[[Progress], None] | None = None,
    **arguments: Any,
) -> Comparison:
    """Run placements side by side.

    Args:
        source: a TOML file or a scenario; or leave it out and name `workloads`.
        workloads: names of workloads; the scenario's own if left out.
        placements: placement strategies by name, as Python files, or as classes of `octavo.policies`, which their own
            names stand for.
        baseline: the placement that speed-ups are relative to; the first if left out.
        output: folder of results, tables and pictures; a temporary one, removed with the comparison, if left out.
        jobs: runs side by side; as many as there are cores if left out. Results do not depend on it.
        force: replace what `output` holds.
        watch: called about ten times a second with how far the runs are.
        **arguments: as for `octavo.scenario`.

    Raises:
        OctavoError: a scenario cannot be used or simulated, or the folder cannot be written.

    """
    workloads = [arguments.pop("workload")] if workloads is None and "workload" in arguments else workloads
    base = recipe(source, workload=workloads[0] if workloads else None, **arguments)
    workloads = workloads or [base.resolve().workload]
    variants = [
        Variant(label(placement), (f"memory.placement={strategy_name(placement)}",)) for placement in placements
    ]
    experiment = Experiment(base, workloads, variants)
    if baseline is not None and baseline not in (labels := [variant.label for variant in variants]):
        raise ScenarioError(f"baseline `{baseline}` is none of {', '.join(labels)}")
    root, keep = _folder(output)
    check_report(root, experiment.digest, force=force)
    comparison = Comparison.of(experiment.run(root, jobs=jobs, force=force, watch=watch), baseline)
    if output is not None:
        save_comparison(root, experiment.digest, comparison)
    keep(comparison)
    return comparison


def save_comparison(root: Path, key: str, comparison: Comparison) -> None:
    """Write the table and the pictures of a comparison."""
    save_report(root, key, comparison.points, comparison.to_dict())
    title = f"Speed-up over {comparison.baseline}"
    table = comparison.speedups() if len(comparison.workloads) > 1 else comparison.speedups().head(1)
    pictures.grouped_bars(root / "speedup.png", table, ylabel="speed-up", title=title, line_at=1.0)
    pictures.breakdown(root / "breakdown.png", comparison.points, title="Run time by cause")


def inspect_workload(source: Scenario) -> dict[str, Any]:
    """What a scenario's workload touches, reads, writes and shares between its GPUs.

    Raises:
        ScenarioError: the workload cannot be built.

    """
    try:
        characteristics: dict[str, Any] = json.loads(_core.inspect_workload(source.toml))
    except _core.SimulationError as error:
        raise ScenarioError(error.args[0]) from None
    return characteristics


def _folder(output: str | Path | None) -> tuple[Path, Callable[[object], None]]:
    """The folder to fill, and what ties a temporary one to the life of a result."""
    if output is not None:
        check_writable(Path(output).parent)
        return Path(output), lambda _: None
    temporary = tempfile.TemporaryDirectory(prefix="octavo-")

    def keep(result: object) -> None:
        weakref.finalize(result, temporary.cleanup)

    return Path(temporary.name), keep
