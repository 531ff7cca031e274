"""The driver's records of a probe, as the events table that simulated runs write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from octavo.errors import CalibrationError, ProfileError
from octavo.files import disk
from octavo.measurements.activity import decode, table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from octavo.measurements.calibrate.samples import Samples


def events_file(directory: Path, probe: str) -> Path:
    """The file of a probe's events, beside its samples."""
    return directory / f"{probe}.events.parquet"


def events_of(samples: Samples) -> tuple[pl.DataFrame, list[str]]:
    """The events, with time 0 at the first of them, and notes about records that were lost or not understood.

    Raises:
        ProfileError: the records are not of a layout that is known.

    """
    if samples.activity is None:
        raise ValueError(f"nothing was recorded during `{samples.probe}`")
    found = decode(samples.activity.records, samples.activity.layout, dropped=samples.activity.dropped)
    events = table(found)
    return events, [f"{count} {note}" for note, count in found.notes.items()]


def write_events(directory: Path, probes: Iterable[Samples]) -> dict[str, str]:
    """Decode the driver's records; return what is left out by `probe.activity`, each with the reason.

    Raises:
        CalibrationError: the folder cannot be written to.

    """
    left_out = {}
    for samples in probes:
        path = events_file(directory, samples.probe)
        if samples.activity is None:
            path.unlink(missing_ok=True)
            continue
        try:
            table, notes = events_of(samples)
            with disk.replaced_file(path) as temporary:
                table.write_parquet(str(temporary), compression="zstd")
        except ProfileError as error:
            left_out[f"{samples.probe}.activity"] = error.message
        except OSError as error:
            raise CalibrationError(
                f"cannot write {path}: {error.strerror}", "choose another place with -o", code="unwritable", file=path
            ) from error
        else:
            left_out |= {f"{samples.probe}.activity": "; ".join(notes)} if notes else {}
    return left_out


def summary(probes: Iterable[Samples]) -> pl.DataFrame:
    """Events by probe, kind and cause: `rows`, `faults`, `bytes` and the median of `duration_ps`; may be empty."""
    tables = []
    for samples in probes:
        if samples.activity is None:
            continue
        try:
            table = events_of(samples)[0]
        except ProfileError:
            continue
        tables.append(
            table.group_by(pl.col("kind", "cause").cast(pl.String))
            .agg(
                rows=pl.len(),
                faults=pl.col("faults").sum(),
                bytes=pl.col("bytes").sum(),
                duration_ps=pl.col("duration_ps").median(),
            )
            .sort("kind", "cause")
            .select(pl.lit(samples.probe).alias("probe"), pl.all())
        )
    return pl.concat(tables) if tables else pl.DataFrame()
