"""`octavo run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from octavo import measures
from octavo.cli import options
from octavo.cli.progress import watching
from octavo.cli.sink import Sink
from octavo.errors import ScenarioError
from octavo.execute import Point, execute
from octavo.experiment import slug
from octavo.scenarios import DEFAULT_NODE, Recipe

if TYPE_CHECKING:
    from octavo.result import RunResult

EXAMPLES = options.examples(
    "octavo run --workload fir --placement grit --scale 0.0625",
    "octavo run --workload fir.trace --node grit-4gpu",
    "octavo run --workload fir --node machine.toml",
    "octavo run --workload mm --scale 0.015625 --perfetto mm.pftrace",
    "octavo run --workload st --placement my_policy.py --set memory.placement.moves=4",
    "octavo run scenario.toml --set node.gpu_link.bandwidth=600GB/s -o runs/fast-links",
)

Perfetto = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Also write the run's timeline, for ui.perfetto.dev; a finished result is run again."
    ),
]
Placement = Annotated[
    str | None, typer.Option("--placement", "-p", help="Placement strategy by name, or a Python file.")
]


def run(
    scenario: options.Source = None,
    workload: options.Workload = None,
    placement: Placement = None,
    prefetch: options.Prefetch = None,
    eviction: options.Eviction = None,
    node: options.Node = None,
    assignments: options.Set = None,
    scale: options.Scale = None,
    seed: options.Seed = None,
    output: options.Output = None,
    force: options.Force = False,
    perfetto: Perfetto = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run one scenario and leave its results in a folder: scenario, summary and Parquet tables."""
    sink = Sink(as_json=as_json, quiet=quiet)
    resolved = (
        recipe(scenario, workload, placement, node)
        .with_overrides(options.overrides(assignments, scale, seed, prefetch, eviction))
        .resolve()
    )
    name = slug(f"{resolved.label}-{resolved.placement}-{resolved.digest}")
    point = Point(f"{resolved.label} {resolved.placement}", resolved, output or Path("runs") / name, perfetto)
    with watching(quiet=quiet) as watch:
        result = execute([point], jobs=1, force=force, watch=watch)[0]
    _show(sink, result)
    if perfetto is not None:
        sink.say(f"Timeline: {perfetto}; open it in https://ui.perfetto.dev")


def recipe(scenario: Path | None, workload: str | None, placement: str | None, node: str | None) -> Recipe:
    """A scenario file changed by names, or names alone."""
    if scenario is None:
        if workload is None:
            raise ScenarioError(
                "nothing to run", "name a scenario file, or a workload with --workload (see `octavo list workloads`)"
            )
        return Recipe.from_names(workload, placement or "on-touch", node or DEFAULT_NODE)
    named = {"workload.name": workload, "memory.placement": placement, "node.preset": node}
    return Recipe.from_file(scenario).with_overrides(f"{key}={name}" for key, name in named.items() if name is not None)


def _show(sink: Sink, result: RunResult) -> None:
    sink.document({"folder": str(result.folder), "summary": result.summary})
    if not sink.human:
        return
    scenario = result.scenario
    point = measures.row(scenario.workload, scenario.placement, result)
    rows = [
        ("simulated time", milliseconds(point["time_ps"])),
        ("line accesses", f"{point['lines']:,}"),
        *((name.replace("_", " "), f"{point[name]:,}") for name in ("far_faults", "protection_faults", "migrations")),
        *((name, f"{count:,}") for name, count in _large_pages(result).items() if count),
        *(
            (f"time share: {cause.replace('_', ' ')}", f"{share:.1%}")
            for cause, share in measures.shares(point).items()
            if share
        ),
    ]
    sink.table(f"{scenario.label} under {scenario.placement}", ["measure", "value"], rows)
    _show_applications(sink, result)
    sink.say(f"Results: {result.folder}")


def _large_pages(result: RunResult) -> dict[str, int]:
    manager = result.summary["manager"]
    names = {
        "coalesced": "large pages made",
        "splintered": "large pages splintered",
        "pages_compacted": "pages compacted",
    }
    return {name: manager[key] for key, name in names.items()}


def _show_applications(sink: Sink, result: RunResult) -> None:
    if "applications" not in result.tables:
        return
    rows = [
        (row["application"], str(row["units"]), milliseconds(row["finished_ps"]), str(row["rounds"]))
        for row in result.table("applications").to_dicts()
    ]
    sink.table("Applications", ["application", "units", "first end", "ends"], rows)


def milliseconds(picoseconds: int) -> str:
    """Simulated time for tables."""
    return f"{picoseconds * 1e-9:.3f} ms"
