"""Events over time, from the interval tables, in few enough bins to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.report import profiles
from octavo.runs import lending
from octavo.runs.levels import LEVELS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from octavo.report.runs import Run
    from octavo.runs.content import ProfileTable
    from octavo.runs.totals import TableName

_BINS = 160
"""The most bins of a run."""
_CELLS = 60_000
"""The most rows of the link and memory tables of all runs together."""
_MIN_BINS = 24
LINE_BYTES = 64
"""Bytes of a line in the engine's counts."""
_MILLISECOND = 1e9
"""Picoseconds of a millisecond."""

MOVES = {
    "migrations": "migration",
    "duplications": "duplication",
    "collapses": "write collapse",
    "prefetched": "prefetch",
    "evictions": "eviction",
}
"""Columns of the `intervals` table that count pages, and their names."""


def over_time(runs: Sequence[Run]) -> dict[str, list[dict[str, Any]]]:
    """Rows for the charts over time, from all tables that runs have."""
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in _CHARTS}
    for run in runs:
        for name, (table, key, draw) in _CHARTS.items():
            if table in run.result.tables:
                rows[name] += draw(run.number, _few(run.result.table(table), key, len(runs)))
        if not run.simulated and "events" in run.result.tables:
            found = _few(profiles.in_bins(run, _BINS), None, len(runs))
            rows["rates"] += _faults(run.number, found)
            rows["moves"] += _moves(run.number, found)
    return rows


def lent(runs: Sequence[Run]) -> dict[str, list[dict[str, Any]]]:
    """How much memory each GPU keeps for each other GPU: over time, and in total."""
    rows: dict[str, list[dict[str, Any]]] = {"lending": [], "lenders": []}
    for run in runs:
        if not run.simulated or not lending.recorded(run.result):
            continue
        for row in lending.by_pair(lending.over_time(run.result, _BINS)).to_dicts():
            span = _span({"from_ps": row["from_ps"], "time_ps": row["to_ps"]})
            rows["lending"].append(
                {"run": run.number, **span, "pair": row["pair"], "mebibytes": _round(row["bytes"] / (1 << 20))}
            )
        for row in lending.totals(run.result).to_dicts():
            pair = lending.called(row["keeper"], row["owner"])
            rows["lenders"].append(
                {"run": run.number, "pair": pair, **{name: row[name] for name in ("sent", "mean", "most")}}
            )
    return rows


def _few(table: pl.DataFrame, key: str | None, runs: int) -> pl.DataFrame:
    """A table in so few bins that the bins of all runs together can be drawn."""
    if key is None:
        return binned(table, [], _BINS)
    width = max(table[key].n_unique() * runs, 1)
    return binned(table, [key], max(min(_BINS, _CELLS // width), _MIN_BINS))


def binned(table: pl.DataFrame, keys: list[str], bins: int) -> pl.DataFrame:
    """Samples in at most `bins` bins: counts are summed, and `from_ps` to `time_ps` is the time of a bin.

    `memory_intervals` holds levels, not counts: its `bytes` are those at the end of a bin, for every processor.
    """
    times = table.select(pl.col("time_ps").unique().sort()).with_row_index("sample")
    step = max(-(-times.height // bins), 1)
    times = times.with_columns(bin=pl.col("sample") // step)
    levels = pl.col("bytes").last() if keys == ["processor"] else pl.exclude("time_ps", "from_ps", "bin", *keys).sum()
    edges = times.group_by("bin").agg(pl.col("time_ps").max()).sort("bin")
    edges = edges.with_columns(from_ps=pl.col("time_ps").shift(1, fill_value=0))
    sums = table.join(times.select("time_ps", "bin"), on="time_ps").group_by("bin", *keys, maintain_order=True)
    return sums.agg(levels).join(edges, on="bin").sort("bin", maintain_order=True)


def _span(row: dict[str, Any]) -> dict[str, float]:
    return {"from": _round(row["from_ps"] / _MILLISECOND), "to": _round(row["time_ps"] / _MILLISECOND)}


def _rates(run: int, table: pl.DataFrame) -> list[dict[str, Any]]:
    rows = []
    for row in table.to_dicts():
        milliseconds = max((row["time_ps"] - row["from_ps"]) / _MILLISECOND, 1e-9)
        remote = (row["remote_gpu_lines"] + row["remote_host_lines"]) * LINE_BYTES
        translations = max(row["translations"], 1)
        rows.append(
            {
                "run": run,
                **_span(row),
                "faults": _round(row["faults"] / milliseconds),
                "remote_bytes": _round(remote / milliseconds / 1e6),
                "lines": _round(row["lines"] / milliseconds),
                "l1_miss": _round(1 - row["l1_tlb_hits"] / translations) if row["translations"] else None,
                "walks": _round(row["walks"] / translations) if row["translations"] else None,
            }
        )
    return rows


def _faults(run: int, table: pl.DataFrame) -> list[dict[str, Any]]:
    """The rates that profiles of real programs have."""
    return [
        {
            "run": run,
            **_span(row),
            "faults": _round(row["faults"] / max((row["time_ps"] - row["from_ps"]) / _MILLISECOND, 1e-9)),
            **dict.fromkeys(("remote_bytes", "lines", "l1_miss", "walks")),
        }
        for row in table.to_dicts()
    ]


def _moves(run: int, table: pl.DataFrame) -> list[dict[str, Any]]:
    rows = []
    for row in table.to_dicts():
        milliseconds = max((row["time_ps"] - row["from_ps"]) / _MILLISECOND, 1e-9)
        rows += [
            {"run": run, **_span(row), "cause": cause, "pages": _round(row[name] / milliseconds)}
            for name, cause in MOVES.items()
            if table[name].sum()
        ]
    return rows


def _links(run: int, table: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            "run": run,
            **_span(row),
            "link": row["link"],
            "busy": _round(row["busy_ps"] / max(row["time_ps"] - row["from_ps"], 1)),
            "bytes": _round(row["bytes"] / max(row["time_ps"] - row["from_ps"], 1) * 1e3),
        }
        for row in table.to_dicts()
    ]


def _traffic(run: int, table: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            "run": run,
            **_span(row),
            "level": level,
            "bytes": _round(sum(row[name] for name in columns) / max(row["time_ps"] - row["from_ps"], 1) * 1e3),
        }
        for row in table.to_dicts()
        for level, columns in LEVELS.items()
    ]


def _memory(run: int, table: pl.DataFrame) -> list[dict[str, Any]]:
    return [
        {"run": run, **_span(row), "processor": row["processor"], "mebibytes": _round(row["bytes"] / (1 << 20))}
        for row in table.to_dicts()
    ]


def _host_faults(run: int, table: pl.DataFrame) -> list[dict[str, Any]]:
    rows = []
    for row in table.to_dicts():
        milliseconds = max((row["time_ps"] - row["from_ps"]) / _MILLISECOND, 1e-9)
        rows += [
            {"run": run, **_span(row), "kind": kind, "faults": _round(row[f"{kind}_faults"] / milliseconds)}
            for kind in ("minor", "major")
        ]
    return rows


def _round(value: float) -> float:
    """Five digits: as many as a chart can show, in little text."""
    return float(f"{value:.5g}")


_CHARTS: dict[str, tuple[TableName | ProfileTable, str | None, Callable[[int, pl.DataFrame], list[dict[str, Any]]]]] = {
    "rates": ("intervals", None, _rates),
    "moves": ("intervals", None, _moves),
    "links": ("link_intervals", "link", _links),
    "traffic": ("traffic_intervals", None, _traffic),
    "memory": ("memory_intervals", "processor", _memory),
    "host_faults": ("process_intervals", None, _host_faults),
}
"""Charts: the table of each, the column that separates its series, and the function that makes its rows."""
