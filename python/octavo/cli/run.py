"""`octavo run`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from octavo import api
from octavo.cli import dry_run as dry
from octavo.cli import footprint, options, trust
from octavo.cli.complete import names as complete
from octavo.errors import ScenarioError
from octavo.runs import measures
from octavo.runs.execute import Point, execute
from octavo.runs.pressure import pressure
from octavo.runs.progress import watching
from octavo.runs.replicates import check, interval, replicate
from octavo.runs.room import room
from octavo.runs.slugs import slug
from octavo.scenarios.driver import driver
from octavo.scenarios.scenario import BY_LINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.arguments import Arguments
    from octavo.cli.sink import Sink
    from octavo.runs.pressure import Pressure
    from octavo.runs.replicates import Interval
    from octavo.runs.result import RunResult
    from octavo.scenarios.scenario import Scenario

EXAMPLES = options.examples(
    "octavo run fir --placement grit --scale 0.0625",
    "octavo run fir.trace --node grit-4gpu",
    "octavo run fir --node machine.toml",
    "octavo run --workload matrixmultiplication --scale 0.015625 --perfetto mm.pftrace",
    "octavo run --workload stencil2d --placement my_policy.py --set memory.placement.moves=4",
    "octavo run --workload fir --node cuda-sm90 --kind managed --scale 0.0625",
    "octavo run --workload stencil2d --placement grit --executor instant",
    "octavo run --workload stencil2d --placement grit --fidelity page",
    "octavo run jobs.toml --chart jobs.png",
    "octavo run fir --node cuda-sm90 --scale 0.0625 --lines fir.ldst.zst",
    "octavo run scenario.toml --set node.gpu_link.bandwidth=600GB/s -o runs/fast-links",
)

Perfetto = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Also write the run's timeline, for ui.perfetto.dev; a finished result is run again."
    ),
]
Lines = Annotated[
    Path | None,
    typer.Option(
        "--lines",
        metavar="FILE",
        help="Also write the lines that the GPU's memory reads and writes: a load-store trace of Ramulator 2, or a "
        "table with times (.csv); .gz and .zst are packed. A finished result is run again.",
    ),
]
Chart = Annotated[
    Path | None,
    typer.Option("--chart", metavar="FILE", help="Also draw the jobs over time: a .png, .svg or .pdf file."),
]
Placement = Annotated[
    str | None,
    typer.Option(
        "--placement", "-p", autocompletion=complete("placements"), help="Placement strategy by name, or a Python file."
    ),
]


def run(
    target: options.Target = None,
    workload: options.Workload = None,
    placement: Placement = None,
    sharing: options.Sharing = None,
    kind: options.Kind = None,
    common: options.Common = options.COMMON,
    kept: options.Kept = options.KEPT,
    perfetto: Perfetto = None,
    lines: Lines = None,
    chart: Chart = None,
    replicates: options.Replicates = 1,
    _memory_limit: options.MemoryLimit = None,
    dry_run: options.DryRun = False,
    said: options.Said = options.SAID,
) -> None:
    """Run one scenario and write its results to a folder: scenario, summary and Parquet tables."""
    sink = said.sink()
    scenario, workload = options.source(target, workload)
    named: Arguments = {
        **common.arguments(),
        "workload": workload,
        "placement": placement,
        "sharing": sharing,
        "kind": kind,
    }
    options.check_once(common.assignments, **named)
    resolved = api.scenario(scenario, **named)
    folder = kept.output or Path("runs") / slug(f"{resolved.label}-{resolved.system}-{resolved.digest}")
    points = [Point(resolved.label, resolved, folder), *_further(resolved, folder, replicates)]
    if dry_run:
        dry.show(sink, points, 1, force=kept.force)
        return
    if chart is not None:
        _check_chart(chart, resolved, {"lines": lines, "perfetto": perfetto})
    with watching(quiet=said.quiet) as watch:
        result = api.run(resolved, output=folder, force=kept.force, perfetto=perfetto, lines=lines, watch=watch)
    with watching(quiet=said.quiet or len(points) == 1) as watch:
        further = execute(points[1:], force=kept.force, watch=watch) if len(points) > 1 else []
    repeated = [result, *further] if further else []
    _show(sink, result, repeated, pressure(result))
    if chart is not None:
        result.plot().save(chart)
    if perfetto is not None:
        sink.say(f"Timeline: {perfetto}; open it in https://ui.perfetto.dev")
    if lines is not None:
        sink.say(f"Lines of memory: {lines}")


def _further(scenario: Scenario, folder: Path, count: int) -> list[Point]:
    """The replicates of a run beside it."""
    check(count, [scenario])
    named = folder.resolve() if folder.name in ("", "..") else folder
    root = named.with_name(f"{named.name}-replicates")
    return [
        Point(f"{scenario.label} replicate {number}", replicate(scenario, number), root / str(number))
        for number in range(1, count)
    ]


def _check_chart(chart: Path, scenario: Scenario, others: dict[str, Path | None]) -> None:
    """Make sure before the jobs run that they can be drawn, to a file that nothing else is written to."""
    from octavo.runs.pictures import check_target  # noqa: PLC0415 - few runs are drawn

    if not scenario.jobs:
        raise ScenarioError("--chart draws jobs, and the scenario has none", "write [[job]] tables", key="chart")
    if scenario.executor == "instant":
        raise ScenarioError(
            "--chart draws jobs over time, and the executor `instant` has none", "leave one of them out", key="chart"
        )
    for name, other in others.items():
        if other is not None and other.resolve() == chart.resolve():
            message = f"--chart, --{name}: expected two files, found {chart} for both"
            raise ScenarioError(message, code="conflict", key="chart", found=str(chart))
    check_target(chart)


def _show(sink: Sink, result: RunResult, repeated: Sequence[RunResult], found_pressure: Pressure) -> None:
    times = interval(one.summary["time_ps"] for one in repeated) if repeated else None
    found = {} if times is None else {"time_ps": asdict(times), "replicates": [str(one.folder) for one in repeated]}
    document = {"folder": str(result.folder), "summary": result.summary, "pressure": found_pressure.to_dict()}
    beside = room(result, found_pressure)
    told = {} if beside is None else {"room": beside.to_dict()}
    if sink.as_json:
        sink.document({**document, **found, **told, "nodes": trust.documents([result])})
    if not sink.human:
        return
    scenario = result.scenario
    point = measures.of_summary(scenario.workload, scenario.placement, result.summary)
    rows = [
        *([("simulated time", milliseconds(point["time_ps"]))] if result.has_time else []),
        *([] if times is None else [(f"median of {times.count} replicates", _spread(times))]),
        *((name.replace("_", " "), milliseconds(time)) for name, time in _phases(result, point).items() if time),
        *([] if scenario.fidelity == BY_LINE else [("fidelity", scenario.fidelity)]),
        *([] if (release := driver(scenario.values)) == "none" else [("driver", release)]),
        *found_pressure.rows(),
        ("line accesses", f"{point['lines']:,}"),
        *((name.replace("_", " "), f"{point[name]:,}") for name in ("far_faults", "protection_faults", "migrations")),
        *([] if result.has_time else _moved(point)),
        *((name, f"{count:,}") for name, count in _large_pages(result).items() if count),
        *(
            (f"time share: {cause.replace('_', ' ')}", f"{share:.1%}")
            for cause, share in measures.shares(point).items()
            if share
        ),
    ]
    sink.table(f"{scenario.label} under {scenario.system}", ["measure", "value"], rows)
    _show_jobs(sink, result)
    footprint.tell(sink, result, found_pressure)
    trust.tell(sink, [result])
    sink.say(f"Results: {result.folder}")


def _spread(times: Interval) -> str:
    return f"{times.median * 1e-9:.3f} ms ({times.low * 1e-9:.3f} – {times.high * 1e-9:.3f})"


def _moved(point: dict[str, Any]) -> list[tuple[str, str]]:
    """The most telling counts where there are no times."""
    names = ("duplications", "collapses", "evictions_written", "prefetched", "remote_gpu_lines", "remote_host_lines")
    return [(name.replace("_", " "), f"{point[name]:,}") for name in names if point[name]]


def _phases(result: RunResult, point: dict[str, Any]) -> dict[str, int]:
    return measures.phases(point) if "phases" in result.summary else {}


def _large_pages(result: RunResult) -> dict[str, int]:
    manager = result.totals["manager"]
    names = {
        "coalesced": "large pages made",
        "splintered": "large pages splintered",
        "pages_compacted": "pages compacted",
    }
    return {name: manager[key] for key, name in names.items()}


def _show_jobs(sink: Sink, result: RunResult) -> None:
    jobs = result.totals.get("jobs")
    if not jobs:
        return
    counts = ("faults", "migrations", "evictions", "remote_lines")
    rows = [
        (
            job["name"],
            _units(job["gpus"], job["units"]),
            *(_times(job) if result.has_time else [f"{job['lines']:,}"]),
            str(job["repetitions"]),
            *(f"{job[count]:,}" for count in counts),
        )
        for job in jobs
    ]
    names = [count.replace("_", " ") for count in counts]
    when = ["start", "first end", "time"] if result.has_time else ["line accesses"]
    sink.table("Jobs", ["job", "GPUs: units", *when, "ends", *names], rows)
    show_own_strategies(sink, result.scenario)


def _units(gpus: Sequence[int], units: Sequence[int]) -> str:
    """Compute units by GPU; abbreviated if all neighbours have the same number."""
    if len(gpus) > 1 and len(set(units)) == 1 and gpus[-1] - gpus[0] == len(gpus) - 1:
        return f"{gpus[0]}–{gpus[-1]}: {units[0]}"
    return " ".join(f"{gpu}:{count}" for gpu, count in zip(gpus, units, strict=True))


def _times(job: dict[str, Any]) -> list[str]:
    return [
        milliseconds(job["start_ps"]),
        "never" if job["first_end_ps"] is None else milliseconds(job["first_end_ps"]),
        "" if job["time_ps"] is None else milliseconds(job["time_ps"]),
    ]


def show_own_strategies(sink: Sink, scenario: Scenario) -> None:
    """Show the strategies of jobs that have their own."""
    own = scenario.own_strategies
    if own:
        sink.table("Jobs with strategies of their own", ["job", "strategies"], list(own.items()))


def milliseconds(picoseconds: int) -> str:
    """Simulated time for tables."""
    return f"{picoseconds * 1e-9:.3f} ms"
