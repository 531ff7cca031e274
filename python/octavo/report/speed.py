"""Speed-ups, with published values beside ours, and where the time goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from octavo.report.publications import LABELS, published
from octavo.report.runs import PLACEMENT, differences
from octavo.runs import measures
from octavo.runs.baseline import check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octavo.report.runs import Run
    from octavo.runs.replicates import Interval

_USUAL = "on-touch"
"""The default baseline of comparisons among placements."""


def baseline(runs: Sequence[Run], named: str | None) -> str:
    """The baseline of speed-ups: the named variant, on-touch, or the first one.

    Raises:
        ScenarioError: no run is of the variant that is named.

    """
    variants = list(dict.fromkeys(run.variant for run in runs))
    check(named, variants)
    return named or next((run.variant for run in runs if run.placement == _USUAL), variants[0])


def speedups(runs: Sequence[Run], against: str) -> list[dict[str, Any]]:
    """One row for each run; `speedup` is `None` in a group without the baseline.

    With replicates, times are medians, and `low` and `high` follow from the ends of both intervals.
    """
    base = {run.group: run.time for run in runs if run.variant == against}
    return [_speedup(run, base.get(run.group), own=run.variant == against) for run in runs]


def _speedup(run: Run, base: Interval | None, *, own: bool) -> dict[str, Any]:
    time = run.time
    row: dict[str, Any] = {"run": run.number, "group": run.group, "variant": run.variant, "time_ms": time.median / 1e9}
    row |= {"low_ms": time.low / 1e9, "high_ms": time.high / 1e9, "replicates": time.count}
    row["speedup"] = base.median / time.median if base else None
    if base and not own and max(base.count, time.count) > 1:
        row |= {"low": base.low / time.high, "high": base.high / time.low}
    return row


def means(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The geometric mean of each variant's speed-ups, for variants that occur in every group."""
    groups = {row["group"] for row in rows}
    values: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["speedup"] is not None:
            values.setdefault(row["variant"], {})[row["group"]] = row["speedup"]
    return {name: measures.geometric_mean(found.values()) for name, found in values.items() if found.keys() == groups}


def beside_published(runs: Sequence[Run], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """GRIT's published numbers for these runs, beside their results; empty if there are none.

    The publication gives averages over its eight kernels and names the fastest uniform scheme of seven.
    """
    study = [run for run in runs if run.values["workload.name"] in LABELS and _is_plain(run)]
    if not study:
        return {}
    numbers = {run.number for run in study}
    own = [row for row in rows if row["run"] in numbers]
    placements = {run.variant: run.placement for run in study}
    found = {placements[variant]: mean for variant, mean in means(own).items()}
    averages = [
        {"of": "grit", "over": rival, "published": 1 + gain, "found": found["grit"] / found[rival]}
        for rival, gain in published().gain_of_grit_over.items()
        if "grit" in found and rival in found
    ]
    averages += [
        {"of": name, "over": _USUAL, "published": speed, "found": found[name] / found[_USUAL]}
        for name, speed in published().averages.items()
        if name in found and _USUAL in found
    ]
    fastest = _fastest(study)
    if not averages and not fastest:
        return {}
    return {
        "source": published().source,
        "kernels": sorted({LABELS[run.values["workload.name"]] for run in study}),
        "kernels_published": len(LABELS),
        "differs": [key for key in differences([run.values for run in study]) if key.startswith("node.")],
        "averages": averages,
        "fastest": fastest,
    }


def _is_plain(run: Run) -> bool:
    """Whether a run's variant is a placement and nothing else."""
    return run.variant == run.values[PLACEMENT]


def _fastest(study: Sequence[Run]) -> list[dict[str, Any]]:
    uniform = published().gain_of_grit_over
    rows = []
    for group in dict.fromkeys(run.group for run in study):
        times = {run.placement: run.time.median for run in study if run.group == group}
        kernel = next(LABELS[run.values["workload.name"]] for run in study if run.group == group)
        named = published().best_uniform_scheme.get(kernel)
        if named is not None and set(uniform) <= times.keys():
            rows.append({"kernel": group, "found": min(uniform, key=lambda name: times[name]), "published": named})
    return rows


def causes(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """One row for each simulated run and cause: its part of the run time, split like the accesses' time."""
    rows: list[dict[str, Any]] = []
    for run in runs:
        if not run.simulated:
            continue
        shares = measures.shares(run.summary["breakdown"])
        rows += [
            {
                "run": run.number,
                "group": run.group,
                "variant": run.variant,
                "cause": cause.replace("_", " "),
                "share": share,
                "time_ms": run.time.median / 1e9 * share,
                "order": order,
            }
            for order, (cause, share) in enumerate(shares.items())
        ]
    used = {row["cause"] for row in rows if row["share"] > 0}
    return [row for row in rows if row["cause"] in used]
