"""Which simulated pattern stands for which samples of a probe, and which samples have none."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.measurements.calibrate import patterns
from octavo.measurements.calibrate.probes import PROBES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from octavo.measurements.calibrate.measurement import Unit
    from octavo.measurements.calibrate.patterns import Node, Pattern
    from octavo.measurements.calibrate.samples import Samples

_MOST_LINES = 1 << 24
"""Lines of 64 bytes, or dependent loads, that a point may have: more take many seconds to simulate."""
_MOST_ACCESSES = 1 << 20
"""Accesses that stand for the probe's over the host link: the rate does not depend on how many there are."""
_MOST_PINNED = 1 << 30
"""Bytes of pinned memory that they lie in, unless there are more threads than that."""
_MOST_TOUCHED = 16 << 20
"""Bytes touched that stand for the roofline probe's structures: operations a second do not depend on how many."""
_A_THREAD = 4
"""Accesses of each thread at least, as many as are in flight."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Measurement:
    """One point of a series: its parameters, the median over repetitions, and the pattern that stands for it."""

    probe: str
    series: str
    point: str
    """Its parameters in words."""
    unit: Unit
    value: float
    pattern: Callable[[], Pattern]
    """Made when it is needed."""


@dataclass
class Chosen:
    """Compared points, and the number of skipped points of each series, by reason."""

    measurements: list[Measurement] = field(default_factory=list)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By `probe.series` and reason."""


@dataclass(frozen=True)
class _Kind:
    """How points of a series are compared."""

    parameters: tuple[str, ...]
    unit: Unit
    value: pl.Expr
    pattern: Callable[[Node, Row], Callable[[], Pattern] | str]
    """The pattern of a point, or why there is none."""


def choose(node: Node, probes: Iterable[Samples]) -> Chosen:
    """Every point of the series that the simulated node has a pattern for."""
    chosen = Chosen()
    for samples in probes:
        for series in samples.table["series"].unique(maintain_order=True).to_list():
            kind = KINDS.get((samples.probe, series))
            rows = samples.series(series)
            if kind is None:
                parameters = PROBES[samples.probe].series[series].parameters
                points = rows.select(name for name in parameters if name in rows.columns).n_unique()
                chosen.left_out[f"{samples.probe}.{series}", "the simulated node has no such pattern"] += points
            else:
                _add(chosen, node, samples.probe, series, kind, rows)
    return chosen


def _add(chosen: Chosen, node: Node, probe: str, series: str, kind: _Kind, rows: pl.DataFrame) -> None:
    points = rows.with_columns(value=kind.value).group_by(kind.parameters, maintain_order=True)
    for row in points.agg(pl.col("value").median(), pl.col("bytes", "count").first()).to_dicts():
        pattern = kind.pattern(node, row) if row["value"] and row["value"] > 0 else "nothing was measured"
        if isinstance(pattern, str):
            chosen.left_out[f"{probe}.{series}", pattern] += 1
            continue
        words = ", ".join(f"{name} {row[name]}" for name in kind.parameters)
        chosen.measurements.append(Measurement(probe, series, words, kind.unit, row["value"], pattern))


def _stream(node: Node, row: Row) -> Callable[[], Pattern] | str:
    if row["operation"] not in ("copy", "scale"):
        return "patterns of three buffers are not simulated"
    size = row["size"]
    if 4 * size > _MOST_LINES * patterns.LINE:
        return "too large to be simulated in seconds"
    return lambda: patterns.stream(node, size)


def _chase(node: Node, row: Row) -> Callable[[], Pattern] | str:
    footprint, stride = row["footprint"], row["stride"]
    places = footprint // stride
    if places * stride != footprint or places & (places - 1):
        return "only powers of two of places have a random order here"
    return lambda: patterns.chase(node, footprint, stride)


def _random_lines(node: Node, row: Row) -> Callable[[], Pattern] | str:
    footprint, line = row["footprint"], row["line"]
    if line < patterns.LINE:
        return "the simulated node has no parts of lines"
    if footprint & (footprint - 1):
        return "only powers of two of places have a random order here"
    # A line of 128 bytes is two of 64 in a row there, and two anywhere here: there are no row buffers.
    touches = min(footprint // patterns.LINE, _MOST_ACCESSES * 4)
    return lambda: patterns.random_lines(node, footprint, touches)


def _line_access(node: Node, row: Row) -> Callable[[], Pattern]:
    warps, width, stride = row["warps"], row["width"], row["stride"]
    touches = max(min(row["bytes"] // width, _MOST_ACCESSES, _MOST_PINNED // stride), _A_THREAD * 32 * warps)
    order = "random" if row["pattern"] == "random" else "ascending"
    write = row["operation"] == "write"
    return lambda: patterns.line_access(node, touches, warps, width=width, stride=stride, order=order, write=write)


def _demand(node: Node, row: Row) -> Callable[[], Pattern] | str:
    if row["direction"] != "to_gpu":
        return "the simulated patterns have no accesses by the CPU"
    size, stride, blocks = row["size"], row["stride"], row["blocks"]
    order = "random" if row["pattern"] == "random" else "ascending"
    return lambda: patterns.demand(node, size, stride, blocks, order)


def _roofline(node: Node, row: Row) -> Callable[[], Pattern]:
    touched = min(round(row["bytes"] * row["sigma"]), _MOST_TOUCHED)
    rho = int(row["rho"]) if row["placement"] == "host" else 0
    return lambda: patterns.roofline(node, touched, row["sigma"], row["alpha"], rho)


_RATE = pl.col("bytes") / pl.col("seconds")
_EACH = pl.col("seconds") / pl.col("count")
_REACHED = pl.col("count") / (pl.col("seconds") + pl.col("copy_seconds").fill_null(0.0))
_GRID = ("placement", "sigma", "alpha", "rho")
KINDS: dict[tuple[str, str], _Kind] = {
    ("memory", "stream"): _Kind(("operation", "size"), "B/s", _RATE, _stream),
    ("memory", "chase"): _Kind(("stride", "footprint"), "s", _EACH, _chase),
    ("memory", "random_lines"): _Kind(("footprint", "width", "line"), "B/s", _RATE, _random_lines),
    ("zero_copy", "zero_copy"): _Kind(("operation", "pattern", "width", "stride", "warps"), "B/s", _RATE, _line_access),
    ("managed", "demand"): _Kind(("direction", "pattern", "stride", "blocks", "size"), "s", pl.col("seconds"), _demand),
    ("roofline", "roofline"): _Kind(_GRID, "op/s", _REACHED, _roofline),
}
"""Series that have a pattern. Launches and copies are what the node's values are made of, without one."""
