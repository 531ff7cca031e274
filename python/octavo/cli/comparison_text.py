"""Comparisons as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.cli import footprint, trust
from octavo.cli.run import milliseconds, show_own_strategies
from octavo.runs import measures
from octavo.runs.pressure import pressure
from octavo.runs.replicates import names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octavo.cli.sink import Sink
    from octavo.runs.comparison import Comparison
    from octavo.runs.pressure import Pressure
    from octavo.runs.result import RunResult


def show(sink: Sink, comparison: Comparison, pressure_of: Mapping[str, Pressure]) -> None:
    """Tables of a comparison: one for each workload, and one of speed-ups if there are several workloads with times.

    The result of `pressures` for each workload follows.
    """
    _show_tables(sink, comparison)
    first = _first(comparison)
    for workload, found in pressure_of.items():
        sink.tell(f"{workload}: {found.sentence}")
        footprint.tell(sink, first[workload], found, of=f" on {workload}")
    trust.tell(sink, comparison.results.values())


def pressures(comparison: Comparison) -> dict[str, Pressure]:
    """How much of the GPUs' memory each workload takes."""
    first = _first(comparison)
    return {workload: pressure(first[workload]) for workload in comparison.workloads}


def _first(comparison: Comparison) -> dict[str, RunResult]:
    """The first result of each workload."""
    return {workload: result for (workload, _), result in reversed(list(comparison.results.items()))}


def _show_tables(sink: Sink, comparison: Comparison) -> None:
    if not comparison.has_time:
        for workload in comparison.workloads:
            _show_decisions(sink, _points(comparison, workload))
        return
    whole = measures.has_phases(comparison.points)
    if whole:
        _show_phases(sink, comparison)
    for workload in comparison.workloads:
        points = _points(comparison, workload)
        if not whole:
            _show_counts(sink, workload, points, _compared(comparison))
        _show_shares(sink, workload, points)
    _show_replicates(sink, comparison)
    _show_sharing(sink, comparison)
    show_own_strategies(sink, next(iter(comparison.results.values())).scenario)
    if len(comparison.workloads) > 1:
        show_speedups(sink, f"Speed-up over {comparison.baseline}", comparison)


def _points(comparison: Comparison, workload: str) -> list[dict[str, Any]]:
    """The points of a workload, with marks on bounds."""
    return [point for point in comparison.marked(comparison.points).to_dicts() if point["workload"] == workload]


def _show_replicates(sink: Sink, comparison: Comparison) -> None:
    """Medians with their intervals, and which variants are fastest as far as these tell."""
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
        for point in comparison.marked(comparison.points).to_dicts()
    ]
    columns = ["workload", "variant", "median time", "within", "speed-up", "within"]
    sink.table(f"Medians of {comparison.points['replicates'][0]} replicates", columns, rows)
    for workload in comparison.workloads:
        sink.tell(f"{workload}: fastest is {names(comparison.best(workload))}.")


def _show_sharing(sink: Sink, comparison: Comparison) -> None:
    """How much the jobs of a scenario slow each other down."""
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
    columns = ["variant", "job", "together", "alone", "slow-down", "ends", "faults", "migrated", "evicted"]
    sink.table("Jobs beside each other and alone (others idle, units and memory kept)", columns, rows)
    names = ("worst_slowdown", "fairness", "jain", "weighted_speedup")
    measured = [(row["variant"], *(f"{row[name]:.3f}" for name in names)) for row in sharing.to_dicts()]
    sink.table("Sharing", ["variant", "worst slow-down", "min/max", "Jain", "weighted speed-up"], measured)


def show_speedups(sink: Sink, title: str, comparison: Comparison) -> None:
    """Speed-ups by workload and variant, with geometric means; the longer of the two lists becomes the rows."""
    table = comparison.marked(comparison.speedups())
    columns = table.columns
    rows = [[str(row[0]), *(f"{value:.2f}" for value in row[1:])] for row in table.iter_rows()]
    if len(columns) > len(rows):
        columns, *rows = map(list, zip(["variant", *columns[1:]], *rows, strict=True))
    sink.table(title, columns, rows)


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
"""Counts of runs without time, and shorter names for them."""


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
    points = comparison.marked(comparison.points).to_dicts()
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
    """Bytes for tables; launches alone have no such count."""
    return "–" if count is None else f"{count / (1 << 20):.1f}"


def _compared(comparison: Comparison) -> str:
    """A word for what differs between the variants."""
    scenarios = [result.scenario for result in comparison.results.values()]
    if len({str(scenario.values["memory"].get("sharing")) for scenario in scenarios}) == 1:
        return "placement"
    return "sharing" if len({scenario.placement for scenario in scenarios}) == 1 else "variant"


def _show_counts(sink: Sink, workload: str, points: Sequence[dict[str, Any]], compared: str) -> None:
    counts = [
        [
            point["variant"],
            milliseconds(point["time_ps"]),
            f"{point['speedup']:.2f}",
            *(f"{point[count]:,}" for count in ("faults", "migrations", "duplications", "collapses")),
        ]
        for point in points
    ]
    columns = [compared, "time", "speed-up", "faults", "migrated", "duplicated", "collapsed"]
    sink.table(f"{workload}: what each {compared} does", columns, counts)


def _show_shares(sink: Sink, workload: str, points: Sequence[dict[str, Any]]) -> None:
    splits = [measures.shares(point) for point in points]
    causes = [cause for cause in measures.CAUSES if any(split[cause] >= 0.0005 for split in splits)]
    shares = [
        [point["variant"], *(f"{split[cause]:.1%}" for cause in causes)]
        for point, split in zip(points, splits, strict=True)
    ]
    names = [measures.SHORT.get(cause, cause) for cause in causes]
    sink.table(f"{workload}: where the time of its accesses goes", ["variant", *names], shares)
