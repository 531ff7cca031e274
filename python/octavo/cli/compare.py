"""`octavo compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo import api
from octavo.cli import options
from octavo.cli.progress import watching
from octavo.cli.run import milliseconds
from octavo.cli.sink import Sink
from octavo.runs import measures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.runs.comparison import Comparison

EXAMPLES = options.examples(
    "octavo compare --workload fir --scale 0.0625",
    "octavo compare -w bfs -w st -p on-touch,grit,ideal --node grit-8gpu -o runs/eight",
    "octavo compare scenario.toml -p duplication,grit --baseline duplication --json",
    "octavo compare --workload st -p on-touch,my_policy.py,other.py:Mine --scale 0.0625",
)

Workloads = Annotated[
    list[str] | None, typer.Option("--workload", "-w", help="Workloads by name, repeated or separated by commas.")
]
Placements = Annotated[
    list[str] | None,
    typer.Option(
        "--placement",
        "-p",
        help="Placements by name, or Python files, repeated or separated by commas; "
        f"{','.join(api.DEFAULT_PLACEMENTS)} if left out.",
    ),
]
Baseline = Annotated[
    str | None, typer.Option("--baseline", help="What speed-ups are relative to; the first placement if left out.")
]


def compare(
    scenario: options.Source = None,
    workload: Workloads = None,
    placement: Placements = None,
    baseline: Baseline = None,
    prefetch: options.Prefetch = None,
    eviction: options.Eviction = None,
    node: options.Node = None,
    assignments: options.Set = None,
    scale: options.Scale = None,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    output: options.Output = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run placements side by side: time, speed-up, faults, migrations, and where the time goes.

    What is finished is kept: the same command goes on where it was stopped.
    """
    sink = Sink(as_json=as_json, quiet=quiet)
    workloads = options.listed(workload)
    options.require_source(scenario, workloads)
    planned = api.plan_comparison(
        scenario,
        workloads=workloads,
        placements=options.listed(placement) or api.DEFAULT_PLACEMENTS,
        baseline=baseline,
        prefetch=prefetch,
        eviction=eviction,
        node=node,
        scale=scale,
        seed=seed,
        overrides=assignments,
    )
    root = output or Path("runs") / planned.name
    with watching(quiet=quiet) as watch:
        comparison = planned.run(root, jobs=jobs, force=force, watch=watch)
    sink.document({"folder": str(root), **comparison.to_dict()})
    show(sink, comparison)
    sink.say(f"Results and pictures: {root}")


def show(sink: Sink, comparison: Comparison) -> None:
    """Tables of a comparison: one for each workload, and the speed-ups if there are several."""
    for workload in comparison.workloads:
        points = [point for point in comparison.points.to_dicts() if point["workload"] == workload]
        _show_workload(sink, workload, points)
    if len(comparison.workloads) > 1:
        show_speedups(sink, f"Speed-up over {comparison.baseline}", comparison)


def show_speedups(sink: Sink, title: str, comparison: Comparison) -> None:
    """Speed-ups by workload and variant, with geometric means."""
    table = comparison.speedups()
    rows = [[str(row[0]), *(f"{value:.2f}" for value in row[1:])] for row in table.iter_rows()]
    sink.table(title, table.columns, rows)


def _show_workload(sink: Sink, workload: str, points: Sequence[dict[str, Any]]) -> None:
    counts = [
        [
            point["variant"],
            milliseconds(point["time_ps"]),
            f"{point['speedup']:.2f}",
            *(f"{point[count]:,}" for count in ("faults", "migrations", "duplications", "collapses")),
        ]
        for point in points
    ]
    columns = ["placement", "time", "speed-up", "faults", "migrated", "duplicated", "collapsed"]
    sink.table(f"{workload}: what each placement does", columns, counts)
    splits = [measures.shares(point) for point in points]
    causes = [cause for cause in measures.CAUSES if any(split[cause] >= 0.0005 for split in splits)]
    shares = [
        [point["variant"], *(f"{split[cause]:.1%}" for cause in causes)]
        for point, split in zip(points, splits, strict=True)
    ]
    names = [measures.SHORT.get(cause, cause) for cause in causes]
    sink.table(f"{workload}: where the time of its accesses goes", ["placement", *names], shares)
