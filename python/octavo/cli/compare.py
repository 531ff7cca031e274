"""`octavo compare`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from octavo.cli import complete, options, trust
from octavo.cli import dry_run as dry
from octavo.cli import trend as trends
from octavo.errors import SimulationError
from octavo.policies.names import DEFAULT_PLACEMENTS
from octavo.runs.progress import watching

if TYPE_CHECKING:
    from octavo import comparisons
    from octavo.arguments import Arguments
    from octavo.cli.sink import Sink
    from octavo.runs.comparison import Comparison
    from octavo.runs.trend import Trend

EXAMPLES = options.examples(
    "octavo compare --workload fir --scale 0.0625",
    "octavo compare -w bfs-shoc -w stencil2d -p on-touch,grit,ideal --node grit-8gpu -o runs/eight",
    "octavo compare scenario.toml -p duplication,grit --baseline duplication --json",
    "octavo compare --workload fir --node cuda-sm90 --kind explicit,managed,pinned,system --scale 0.0625",
    "octavo compare --workload stencil2d -p on-touch,my_policy.py,other.py:Mine --scale 0.0625",
    "octavo compare --workload stencil2d -p on-touch,duplication,grit --executor instant",
    "octavo compare --workload fir --scale 1/16 --replicates 7",
    "octavo compare --workload fir --scale 1/16 --pictures svg,pdf --picture-width 3.5",
    "octavo compare jobs.toml --alone --sharing free-for-all,quota",
)

Workloads = Annotated[
    list[str] | None,
    typer.Option(
        "--workload",
        "-w",
        autocompletion=complete.names("workloads"),
        metavar="NAMES",
        help="Workloads by name, repeated or separated by commas.",
    ),
]
Placements = Annotated[
    list[str] | None,
    typer.Option(
        "--placement",
        "-p",
        autocompletion=complete.names("placements"),
        metavar="NAMES",
        help="Placements by name, or Python files, repeated or separated by commas; "
        f"{', '.join(DEFAULT_PLACEMENTS)} if left out. "
        "With --kind: for managed memory; the scenario's own if left out.",
    ),
]
Kinds = Annotated[
    list[options.KindName] | None,
    typer.Option(
        "--kind",
        "-k",
        autocompletion=complete.choices("Kind"),
        metavar="NAMES",
        help="Compare whole programs by the kind of their buffers: explicit, managed, pinned, system, or recorded (of "
        "traces), repeated or separated by commas. launches runs the launches alone.",
    ),
]
Sharings = Annotated[
    list[str] | None,
    typer.Option(
        "--sharing",
        autocompletion=complete.names("sharings"),
        metavar="NAMES",
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

Trends = Annotated[
    bool,
    typer.Option(
        "--trend", help="Also compare at a half and a quarter of the scale, and say whether the conclusion holds."
    ),
]


def compare(
    target: options.Target = None,
    workload: Workloads = None,
    placement: Placements = None,
    kind: Kinds = None,
    sharing: Sharings = None,
    baseline: Baseline = None,
    alone: Alone = False,
    replicates: options.Replicates = 1,
    trend: Trends = False,
    common: options.Common = options.COMMON,
    effort: options.Effort = options.EFFORT,
    kept: options.Kept = options.KEPT,
    drawn: options.Drawn = options.DRAWN,
    dry_run: options.DryRun = False,
    said: options.Said = options.SAID,
) -> None:
    """Run placements, kinds of memory or ways to share it side by side: time, speed-up, faults, where time goes.

    Finished runs are kept: the same command resumes where it was stopped.
    """
    from octavo import comparisons  # noqa: PLC0415 - slow to import

    sink = said.sink()
    scenario, workloads = options.sources(target, options.listed(workload))
    named = common.arguments()
    options.check_once(common.assignments, workload=workload, placement=placement, kind=kind, sharing=sharing, **named)
    plan = partial(
        comparisons.plan_comparison,
        scenario,
        workloads=workloads or None,
        placements=options.listed(placement) or None,
        kinds=options.listed(kind) or None,
        sharings=options.listed(sharing) or None,
        baseline=baseline,
        alone=alone,
        replicates=replicates,
    )
    planned = plan(**named)
    smaller = (
        trends.smaller(planned, lambda scale: plan(**cast("Arguments", {**named, "scale": scale}))) if trend else {}
    )
    wanted = planned.asked(drawn.formats, drawn.picture_width)
    root = kept.output or Path("runs") / planned.name
    if dry_run:
        dry.show(
            sink, [*planned.experiment.points(root), *trends.points(smaller, root)], effort.workers, force=kept.force
        )
        return
    how: dict[str, Any] = {"workers": effort.workers, "force": kept.force}
    try:
        with watching(quiet=said.quiet) as watch:
            comparison = planned.run(root, watch=watch, wanted=wanted, **how)
    except SimulationError:
        _show_finished(sink, planned, root)
        raise
    try:
        with watching(quiet=said.quiet or not smaller) as watch:
            followed = trends.follow(planned, comparison, smaller, root, watch=watch, **how) if trend else None
    except SimulationError:
        _show(sink, comparison, root, None)
        raise
    _show(sink, comparison, root, followed)


def _show(sink: Sink, comparison: Comparison, root: Path, trend: Trend | None) -> None:
    from octavo.cli.comparison_text import pressures, show  # noqa: PLC0415 - slow to import

    found = pressures(comparison)
    pressure = {name: one.to_dict() for name, one in found.items()}
    over_scales = {} if trend is None else {"trend": trend.to_dict()}
    if sink.as_json:
        nodes = trust.documents(comparison.results.values())
        sink.document(
            {"folder": str(root), **comparison.to_dict(), "pressure": pressure, "nodes": nodes, **over_scales}
        )
    show(sink, comparison, found)
    if trend is not None:
        trends.show(sink, trend, comparison.baseline)
    sink.say(f"{'Results and pictures' if comparison.has_time else 'Results'}: {root}")


def _show_finished(sink: Sink, planned: comparisons.PlannedComparison, root: Path) -> None:
    """The variants that could be simulated, if others could not; only a whole comparison is written."""
    from octavo.cli.comparison_text import pressures, show  # noqa: PLC0415 - slow to import

    finished = planned.finished(root) if sink.human else None
    if finished is not None:
        show(sink, finished, pressures(finished))
        sink.say(f"Variants of which a run failed are left out. Runs: {root}")
