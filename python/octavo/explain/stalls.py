"""Where the time of kernels goes: gaps between launches, and what their wavefronts do and wait for."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from octavo.runs.result import RunResult

TABLE: Final = "stalls"
GAP: Final = "gap"
"""Beside the stalls of the table: the time from the end of a launch's work to the end of the launch."""
_IN_SERIES = ("load", "remote")
"""Stalls whose waits are counted: data that an instruction needs before it can go on."""


@dataclass(frozen=True)
class Stalled:
    """A kernel's launches."""

    kernel: str
    launches: int
    time_ps: int
    """From the beginning of each to its end, summed."""
    share: float
    """Of the time of all kernels."""
    stalls: Mapping[str, float]
    """Share of each stall in its time, largest first: gaps between launches as they are, the rest as its wavefronts
    spend theirs."""
    in_series: float
    """How often a wavefront waits for loads, on average: these waits follow one another."""
    allocations: Mapping[str, float]
    """Share of each allocation in the time that wavefronts wait for lines, largest first."""


def of_kernels(result: RunResult) -> list[Stalled]:
    """The kernels of a run, longest first; empty where no wavefronts are followed (fidelity `page`)."""
    if TABLE not in result.tables:
        return []
    launched = (
        result.table("kernels")
        .with_columns(time_ps=pl.col("ended_ps") - pl.col("began_ps"))
        .group_by("kernel", maintain_order=True)
        .agg(pl.len().alias("launches"), pl.sum("time_ps", "run_ps", "wavefronts"))
        .sort("time_ps", descending=True, maintain_order=True)
    )
    rows = defaultdict(list)
    for row in result.table(TABLE).with_columns(pl.col("stall").cast(pl.String)).to_dicts():
        rows[row["kernel"]].append(row)
    total = max(int(launched["time_ps"].sum()), 1)
    return [_stalled(row, rows[row["kernel"]], total) for row in launched.to_dicts()]


def _stalled(launched: Mapping[str, Any], rows: Iterable[Mapping[str, Any]], total: int) -> Stalled:
    spent: dict[str, int] = defaultdict(int)
    waited: dict[str, int] = defaultdict(int)
    waits = 0
    for row in rows:
        spent[row["stall"]] += row["wavefront_ps"]
        waits += row["waits"] if row["stall"] in _IN_SERIES else 0
        if row["allocation"]:
            waited[row["allocation"]] += row["wavefront_ps"]
    time = launched["time_ps"]
    ran = launched["run_ps"] / max(time, 1) if sum(spent.values()) else 0.0
    return Stalled(
        kernel=launched["kernel"],
        launches=launched["launches"],
        time_ps=time,
        share=time / total,
        stalls=_falling({GAP: 1 - ran} | {stall: ran * part for stall, part in _parts(spent).items()}),
        in_series=waits / max(launched["wavefronts"], 1),
        allocations=_falling(_parts(waited)),
    )


def together(kernels: Iterable[Stalled]) -> dict[str, float]:
    """Share of each stall in the time of all kernels, largest first."""
    shares: dict[str, float] = defaultdict(float)
    for one in kernels:
        for stall, part in one.stalls.items():
            shares[stall] += one.share * part
    return _falling(shares)


def changes(first: Iterable[Stalled], second: Iterable[Stalled]) -> dict[str, float]:
    """Picoseconds that the second run's kernels spend more with each stall, largest change first."""
    spent: dict[str, float] = defaultdict(float)
    for kernels, sign in ((first, -1), (second, 1)):
        for one in kernels:
            for stall, part in one.stalls.items():
                spent[stall] += sign * one.time_ps * part
    return dict(sorted(spent.items(), key=lambda item: -abs(item[1])))


def _parts(values: Mapping[str, int]) -> dict[str, float]:
    total = sum(values.values())
    return {name: value / total for name, value in values.items()} if total else {}


def _falling(values: Mapping[str, float]) -> dict[str, float]:
    return {name: part for name, part in sorted(values.items(), key=lambda item: -item[1]) if part > 0}
