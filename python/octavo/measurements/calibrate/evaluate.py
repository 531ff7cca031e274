"""From the samples of all probes to measured values, and to the reasons for missing ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from octavo.measurements.calibrate.fits.estimate import Unfit
from octavo.measurements.calibrate.fits.rows import chosen
from octavo.measurements.calibrate.measurement import Measured
from octavo.measurements.calibrate.probes import PROBES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from octavo.measurements.calibrate.probes import Value
    from octavo.measurements.calibrate.samples import Samples


@dataclass
class Evaluation:
    """What samples say."""

    measured: dict[str, Measured] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    """Reasons by measured name, by `probe.series` for a series that was left out, or by probe if all of it was."""


def evaluate(probes: Iterable[Samples]) -> Evaluation:
    """Fit every value of the registry whose probe has samples."""
    found = Evaluation()
    for samples in probes:
        if samples.table.is_empty() and len(set(samples.skipped.values())) == 1:
            found.skipped[samples.probe] = next(iter(samples.skipped.values()))
            continue
        found.skipped |= {f"{samples.probe}.{series}": reason for series, reason in samples.skipped.items()}
        for value in PROBES[samples.probe].values:
            _evaluate(value, samples, found)
    return found


def _evaluate(value: Value, samples: Samples, found: Evaluation) -> None:
    rows = samples.series(value.series)
    if rows.is_empty() and value.series in samples.skipped:
        return
    if rows.is_empty():
        found.skipped[value.name] = f"the probe has no samples of series `{value.series}`"
        return
    for name, part in _parts(value, rows):
        try:
            estimate = value.estimate(_timed(value, _chosen(value, part, samples)), samples.device)
        except Unfit as reason:
            found.skipped[name] = str(reason)
            continue
        found.measured[name] = Measured(
            name,
            estimate.value,
            value.unit,
            estimate.low,
            estimate.high,
            estimate.repetitions,
            value.probe,
            estimate.note,
        )


def _chosen(value: Value, part: pl.DataFrame, samples: Samples) -> pl.DataFrame:
    """The rows for the value's parameters; if there are none, the probe may have said why."""
    try:
        return chosen(part, **value.where)
    except Unfit as reason:
        raise Unfit(samples.skipped.get(value.series, str(reason)), reason.code) from None


def _timed(value: Value, rows: pl.DataFrame) -> pl.DataFrame:
    """The rows, after a check that one can divide by their times."""
    if not PROBES[value.probe].series[value.series].brief and (none := rows.filter(pl.col("seconds") <= 0).height):
        raise Unfit(f"{none} of {rows.height} times are 0: shorter than the steps of the clock")
    return rows


def _parts(value: Value, rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows themselves, or the rows of each pair of GPUs."""
    if not value.each_pair:
        yield value.name, rows
        return
    for source, target in rows.select("source", "target").unique().sort("source", "target").iter_rows():
        pair = (pl.col("source") == source) & (pl.col("target") == target)
        yield f"{value.name}_{source}_{target}", rows.filter(pair)
