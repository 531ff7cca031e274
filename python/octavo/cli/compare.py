"""`octavo compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
import typer

from octavo import api
from octavo.cli import dry_run as dry
from octavo.cli import former, options
from octavo.cli.complete import names as complete
from octavo.cli.run import milliseconds, show_own_strategies
from octavo.cli.sink import Sink
from octavo.runs import live, measures
from octavo.runs.progress import watching
from octavo.runs.replicates import names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.arguments import Arguments
    from octavo.runs.comparison import Comparison

EXAMPLES = options.examples(
    "octavo compare --workload fir --scale 0.0625",
    "octavo compare -w bfs-shoc -w stencil2d -p on-touch,grit,ideal --node grit-8gpu -o runs/eight",
    "octavo compare scenario.toml -p duplication,grit --baseline duplication --json",
    "octavo compare --workload fir --node cuda-sm90 --kind explicit,managed,pinned,system --scale 0.0625",
    "octavo compare --workload stencil2d -p on-touch,my_policy.py,other.py:Mine --scale 0.0625",
    "octavo compare --workload stencil2d -p on-touch,duplication,grit --executor instant",
    "octavo compare --workload fir --scale 1/16 --replicates 7",
    "octavo compare jobs.toml --alone --sharing free-for-all,quota",
)

Workloads = Annotated[
    list[str] | None,
    typer.Option(
        "--workload",
        "-w",
        autocompletion=complete("workloads"),
        callback=former.read,
        help="Workloads by name, repeated or separated by commas.",
    ),
]
Placements = Annotated[
    list[str] | None,
    typer.Option(
        "--placement",
        "-p",
        autocompletion=complete("placements"),
        help="Placements by name, or Python files, repeated or separated by commas; "
        f"{','.join(api.DEFAULT_PLACEMENTS)} if left out. "
        "With --kind: for managed memory; the scenario's own if left out.",
    ),
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        "-k",
        help="Compare whole programs by the kind of their buffers: explicit, managed, pinned, system, or recorded (of "
        "traces), repeated or separated by commas. launches runs the launches alone.",
    ),
]
Sharings = Annotated[
    list[str] | None,
    typer.Option(
        "--sharing",
        help="How much of another's memory a job may take, by name or Python file, repeated or separated by commas: "
        "free-for-all, quota. Combines with each of --placement and --kind; the scenario's placement if these are left "
        "out.",
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option("--baseline", help="Variant that speed-ups are relative to; the first if left out."),
]
Alone = Annotated[
    bool,
    typer.Option("--alone", help="Also run each job with the others idle, for slow-down, fairness and throughput."),
]


def compare(
    scenario: options.Source = None,
    workload: Workloads = None,
    placement: Placements = None,
    kind: Kinds = None,
    sharing: Sharings = None,
    executor: options.Executor = None,
    fidelity: options.Fidelity = None,
    baseline: Baseline = None,
    alone: Alone = False,
    replicates: options.Replicates = 1,
    watch_: options.Watch = False,
    prefetch: options.Prefetch = None,
    eviction: options.Eviction = None,
    demotion: options.Demotion = None,
    guard: options.Guard = None,
    node: options.Node = None,
    assignments: options.Set = None,
    scale: options.Scale = None,
    seed: options.Seed = None,
    workers: options.Workers = None,
    _memory_limit: options.MemoryLimit = None,
    _jobs: options.Jobs = None,
    output: options.Output = None,
    force: options.Force = False,
    dry_run: options.DryRun = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run placements, kinds of memory or ways to share it side by side: time, speed-up, faults, where time goes.

    Finished runs are kept: the same command resumes where it was stopped.
    """
    sink = Sink(as_json=as_json, quiet=quiet)
    workloads = options.listed(workload)
    options.require_source(scenario, workloads)
    named: Arguments = {
        "prefetch": prefetch,
        "eviction": eviction,
        "executor": executor,
        "fidelity": fidelity,
        "demotion": demotion,
        "guard": guard,
        "node": node,
        "scale": scale,
        "seed": seed,
        "overrides": assignments,
    }
    options.check_once(assignments, workload=workload, placement=placement, kind=kind, sharing=sharing, **named)
    planned = api.plan_comparison(
        scenario,
        workloads=workloads,
        placements=options.listed(placement) or None,
        kinds=options.listed(kind) or None,
        sharings=options.listed(sharing) or None,
        baseline=baseline,
        alone=alone,
        replicates=replicates,
        **named,
    )
    options.check_watch(watch=watch_, dry_run=dry_run)
    root = output or Path("runs") / planned.name
    if dry_run:
        dry.show(sink, planned.experiment.points(root), workers, force=force)
        return
    with watching(quiet=quiet) as watch, live.page(wanted=watch_) as page:
        comparison = planned.run(root, workers=workers, force=force, watch=page.beside(watch))
    sink.document({"folder": str(root), **comparison.to_dict()})
    show(sink, comparison)
    sink.say(f"{'Results and pictures' if comparison.has_time else 'Results'}: {root}")


def show(sink: Sink, comparison: Comparison) -> None:
    """Tables of a comparison: one for each workload, and the speed-ups if there are several and they have times."""
    if not comparison.has_time:
        for workload in comparison.workloads:
            _show_decisions(sink, comparison.points.filter(pl.col("workload") == workload).to_dicts())
        return
    whole = measures.has_phases(comparison.points)
    if whole:
        _show_phases(sink, comparison)
    for workload in comparison.workloads:
        points = [point for point in comparison.points.to_dicts() if point["workload"] == workload]
        if not whole:
            _show_counts(sink, workload, points)
        _show_shares(sink, workload, points)
    _show_replicates(sink, comparison)
    _show_sharing(sink, comparison)
    show_own_strategies(sink, next(iter(comparison.results.values())).scenario)
    if len(comparison.workloads) > 1:
        show_speedups(sink, f"Speed-up over {comparison.baseline}", comparison)


def _show_replicates(sink: Sink, comparison: Comparison) -> None:
    """Medians with their intervals, and who is fastest as far as they tell."""
    if not comparison.replicates:
        return
    rows = [
        (
            point["workload"],
            point["variant"],
            milliseconds(point["time_ps"]),
            measures.times(point).text,
            f"{point['speedup']:.2f}",
            f"{point['speedup_low']:.2f} – {point['speedup_high']:.2f}",
        )
        for point in comparison.points.to_dicts()
    ]
    columns = ["workload", "variant", "median time", "interval", "speed-up", "interval of it"]
    sink.table(f"Medians of {comparison.points['replicates'][0]} replicates", columns, rows)
    for workload in comparison.workloads:
        sink.tell(f"{workload}: fastest is {names(comparison.best(workload))}.")


def _show_sharing(sink: Sink, comparison: Comparison) -> None:
    """What the jobs of a scenario cost each other."""
    jobs, sharing = comparison.jobs, comparison.sharing
    if jobs is None or sharing is None:
        return
    rows = [
        (
            row["variant"],
            row["job"],
            milliseconds(row["time_ps"]),
            milliseconds(row["alone_ps"]),
            f"{row['slowdown']:.3f}",
            *(f"{row[name]:,}" for name in ("repetitions", "faults", "migrations", "evictions")),
        )
        for row in jobs.to_dicts()
    ]
    columns = ["variant", "job", "together", "alone", "slow-down", "ends", "faults", "migrations", "evictions"]
    sink.table("Jobs beside each other and alone (others idle, units and memory kept)", columns, rows)
    names = ("worst_slowdown", "fairness", "jain", "weighted_speedup")
    measured = [(row["variant"], *(f"{row[name]:.3f}" for name in names)) for row in sharing.to_dicts()]
    sink.table("Sharing", ["variant", "worst slow-down", "min/max", "Jain", "weighted speed-up"], measured)


def show_speedups(sink: Sink, title: str, comparison: Comparison) -> None:
    """Speed-ups by workload and variant, with geometric means."""
    table = comparison.speedups()
    rows = [[str(row[0]), *(f"{value:.2f}" for value in row[1:])] for row in table.iter_rows()]
    sink.table(title, table.columns, rows)


_DECISIONS = {
    "faults": "faults",
    "migrations": "migrated",
    "duplications": "duplicated",
    "collapses": "collapsed",
    "evictions_written": "evicted",
    "prefetched": "prefetched",
    "remote_gpu_lines": "lines of GPUs",
    "remote_host_lines": "lines of host",
}
"""Counts of runs without time, and shorter names of them."""


def _show_decisions(sink: Sink, points: Sequence[dict[str, Any]]) -> None:
    used = [count for count in _DECISIONS if any(point[count] for point in points)]
    rows = [[point["variant"], *(f"{point[count]:,}" for count in used)] for point in points]
    names = [_DECISIONS[count] for count in used]
    sink.table(f"{points[0]['workload']}: what each variant does, without time", ["variant", *names], rows)


_PHASES = {
    "allocation": "allocate",
    "host_initialisation": "initialise",
    "copies": "copies",
    "kernels": "kernels",
    "host_results": "results",
    "deallocation": "free",
    "other": "other",
}
"""Shorter names of phases, for narrow tables."""


def _show_phases(sink: Sink, comparison: Comparison) -> None:
    """Whole programs: what each kind does and where its time goes, one row for each workload and kind."""
    points = comparison.points.to_dicts()
    totals = [
        [
            point["workload"],
            point["variant"],
            milliseconds(point["time_ps"]),
            f"{point['speedup']:.2f}",
            f"{point['faults']:,}",
            *(_mebibytes(point[name]) for name in ("migrated_bytes", "copied_bytes")),
        ]
        for point in points
    ]
    columns = ["workload", "kind", "time", "speed-up", "faults", "MiB moved", "MiB copied"]
    sink.table(f"Whole programs, speed-up over {comparison.baseline}", columns, totals)
    found = [measures.phases(point) for point in points]
    used = [phase for phase in _PHASES if any(times[phase] for times in found)]
    rows = [
        [point["workload"], point["variant"], *(f"{times[phase] * 1e-9:.3f}" for phase in used)]
        for point, times in zip(points, found, strict=True)
    ]
    names = [_PHASES[phase] for phase in used]
    sink.table("Whole programs: milliseconds of each phase", ["workload", "kind", *names], rows)


def _mebibytes(count: int | None) -> str:
    """Bytes for tables; launches alone do not tell."""
    return "–" if count is None else f"{count / (1 << 20):.1f}"


def _show_counts(sink: Sink, workload: str, points: Sequence[dict[str, Any]]) -> None:
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


def _show_shares(sink: Sink, workload: str, points: Sequence[dict[str, Any]]) -> None:
    splits = [measures.shares(point) for point in points]
    causes = [cause for cause in measures.CAUSES if any(split[cause] >= 0.0005 for split in splits)]
    shares = [
        [point["variant"], *(f"{split[cause]:.1%}" for cause in causes)]
        for point, split in zip(points, splits, strict=True)
    ]
    names = [measures.SHORT.get(cause, cause) for cause in causes]
    sink.table(f"{workload}: where the time of its accesses goes", ["variant", *names], shares)
