"""How well a set of runs agrees: errors of kernel time and counts, beside the goals."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from octavo_studies.validate.counts import COUNTS, WITHIN

NEAR = 0.15
"""Error of kernel time that tables count as near."""


@dataclass(frozen=True)
class Goals:
    """What is aimed at."""

    mape: float
    """Mean absolute error of kernel time, as a fraction."""
    worst: float = 0.5
    """Absolute error of kernel time that no row may exceed."""
    counts: float = WITHIN
    """Error of each count."""


GOALS = {1: Goals(mape=0.15), 4: Goals(mape=0.20)}
"""By number of GPUs."""


@dataclass(frozen=True)
class ByLaunch:
    """Runs whose launches are known, launch by launch: what sums over runs hide."""

    runs: int
    launches: int
    mape: float
    """Mean of the absolute relative errors of all launches."""
    net_mape: float
    """The same without the constant of each launch."""
    worst: float
    worst_launch: str
    of_runs: float
    """Mean over these runs of the differences of their launches, summed without their signs, over the run's time."""
    of_sums: float
    """Mean over these runs of the error of their sums: less by what cancels inside of runs."""


@dataclass(frozen=True)
class Summary:
    """A set of runs on one number of GPUs."""

    gpus: int
    with_unreliable: bool
    """Whether benchmarks are in it that the reference computes wrongly."""
    runs: int
    mape: float
    """Mean of the absolute relative errors of kernel time."""
    median: float
    """Median of the same."""
    worst: float
    """The error, with its sign, that is furthest from 0."""
    worst_run: str
    rank_correlation: float | None
    """Spearman's, of kernel times found and of the reference; none for a single run."""
    near: float
    """Share of the runs within 15 %."""
    net_mape: float
    """`mape` without the constant of each launch, on either side."""
    net_worst: float
    net_worst_run: str
    by_launch: ByLaunch | None
    """The same runs launch by launch; none if the reference has none of them."""
    counts: dict[str, dict[str, float]]
    """By count: `within` is the share of runs within 5 %, and `within_but_code` the same if the reference's instruction
    fetches may explain the difference. `total` is the error of the sums over all runs, absent if the reference has
    none."""

    @property
    def goals(self) -> Goals:
        """The goals of this number of GPUs."""
        return GOALS[self.gpus]

    def met(self) -> dict[str, bool]:
        """Each goal and whether it is met; a count meets its goal if every run does."""
        judged = [count.name for count in COUNTS if count.judged]
        return {
            "mape": self.mape <= self.goals.mape,
            "worst": abs(self.worst) <= self.goals.worst,
            **{name: self.counts[name]["within"] == 1.0 for name in judged},
        }

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON holds it."""
        return {**asdict(self), "goals": asdict(self.goals), "met": self.met()}


def summarise(rows: pl.DataFrame, launches: pl.DataFrame) -> list[Summary]:
    """One summary for each number of GPUs, and another one without unreliable runs where there are some."""
    found = []
    for (gpus,), part in rows.group_by("gpus", maintain_order=True):
        reliable = part.filter("reliable")
        if reliable.height:
            found.append(_summary(int(gpus), reliable, launches, with_unreliable=False))
        if reliable.height < part.height:
            found.append(_summary(int(gpus), part, launches, with_unreliable=True))
    return found


def _summary(gpus: int, rows: pl.DataFrame, launches: pl.DataFrame, *, with_unreliable: bool) -> Summary:
    errors, net = rows["kernel_time_error"].to_list(), rows["kernel_time_net_error"].to_list()
    worst, net_worst = _furthest(errors), _furthest(net)
    correlation = rows.select(pl.corr("kernel_time_ps", "kernel_time_reference_ps", method="spearman")).item()
    return Summary(
        gpus=gpus,
        with_unreliable=with_unreliable,
        runs=rows.height,
        mape=statistics.fmean(map(abs, errors)),
        median=statistics.median(map(abs, errors)),
        worst=errors[worst],
        worst_run=rows["name"][worst],
        rank_correlation=None if rows.height < 2 else float(correlation),
        near=sum(abs(error) <= NEAR for error in errors) / len(errors),
        net_mape=statistics.fmean(map(abs, net)),
        net_worst=net[net_worst],
        net_worst_run=rows["name"][net_worst],
        by_launch=_by_launch(rows, launches),
        counts={count.name: _agreement(rows, count.name) for count in COUNTS},
    )


def _furthest(errors: list[float]) -> int:
    return max(range(len(errors)), key=lambda index: abs(errors[index]))


def _by_launch(rows: pl.DataFrame, launches: pl.DataFrame) -> ByLaunch | None:
    runs = rows.filter(pl.col("launch_error").is_not_null())
    launches = launches.filter(pl.col("name").is_in(runs["name"].to_list()))
    if not runs.height:
        return None
    errors = launches["error"].to_list()
    worst = _furthest(errors)
    return ByLaunch(
        runs=runs.height,
        launches=launches.height,
        mape=statistics.fmean(map(abs, errors)),
        net_mape=statistics.fmean(map(abs, launches["net_error"].to_list())),
        worst=errors[worst],
        worst_launch=f"{launches['name'][worst]}, launch {launches['launch'][worst]} ({launches['kernel'][worst]})",
        of_runs=statistics.fmean(runs["launch_error"].to_list()),
        of_sums=statistics.fmean(map(abs, runs["kernel_time_error"].to_list())),
    )


def _agreement(rows: pl.DataFrame, name: str) -> dict[str, float]:
    within = [value is not None and abs(value) <= WITHIN for value in rows[f"{name}_error"]]
    reference = int(rows[f"{name}_reference"].sum())
    total = {"total": int(rows[name].sum()) / reference - 1.0} if reference else {}
    but_code = rows[f"{name}_within_but_code"].to_list()
    return {"within": sum(within) / len(within), "within_but_code": sum(but_code) / len(but_code), **total}
