"""The files of samples: a table, a sidecar that vouches for it, and the driver's records."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import CalibrationError, DamagedError, again
from octavo.files import compression, digest, disk, links, manifest, parquet
from octavo.measurements.calibrate import sidecar as sidecar_file
from octavo.measurements.calibrate.columns import COMMON, PARAMETERS
from octavo.measurements.calibrate.probes import PROBES
from octavo.measurements.calibrate.samples import Activity, Samples
from octavo.measurements.calibrate.sidecar import AGAIN, Origin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SAMPLES_FORMAT = sidecar_file.FORMAT
_MOST_BYTES = 1 << 30
"""The most bytes of records; our choice: ten million of them."""


def table_of(probe: str, columns: Mapping[str, Sequence[Any]], where: str) -> pl.DataFrame:
    """The engine's columns as a checked frame.

    Raises:
        CalibrationError: a column is missing, or of another type.

    """
    series = [_column(name, values, where) for name, values in columns.items()]
    try:
        frame = pl.DataFrame(series)
    except pl.exceptions.PolarsError:
        lengths = ", ".join(f"{name} {len(values)}" for name, values in columns.items())
        raise CalibrationError(
            f"{where}: expected columns of one length, found {lengths}", found=lengths, code="unexpected-value"
        ) from None
    return checked(probe, frame, where)


def _column(name: str, values: Sequence[Any], where: str) -> pl.Series:
    kind = {**COMMON, **PARAMETERS}.get(name)
    try:
        return pl.Series(name, values, dtype=kind, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        found = ", ".join(sorted({type(value).__name__ for value in values}))
        raise CalibrationError(
            f"{where}: column `{name}`: expected {kind or 'one type'}, found {found}",
            code="unexpected-value",
            key=name,
            found=found,
        ) from None


def checked(probe: str, table: pl.DataFrame, where: str) -> pl.DataFrame:
    """The table, after a check that fits can rely on its columns and parameters.

    Raises:
        CalibrationError: a column is missing or of another type, or a value is missing that its series must have.

    """
    for name, kind in COMMON.items():
        _check_column(table, name, kind, where)
    for name, series in PROBES[probe].series.items():
        rows = table.filter(pl.col("series") == name)
        if rows.is_empty():
            continue
        needed = [*series.parameters, "repetition", *(["seconds"] if series.timed else [])]
        for parameter in needed:
            _check_column(table, parameter, {**COMMON, **PARAMETERS}[parameter], where)
            if missing := rows[parameter].null_count():
                raise CalibrationError(
                    f"{where}: column `{parameter}`: expected a value in every row of series `{name}`, "
                    f"found {missing} of {rows.height} rows without one",
                    AGAIN,
                    code="unexpected-value",
                    key=parameter,
                    found=missing,
                )
        if series.timed and not (rows["seconds"] >= 0).all():
            found = rows["seconds"].min()
            raise CalibrationError(
                f"{where}: column `seconds`: expected times of 0 or more in series `{name}`, found {found!r}",
                AGAIN,
                code="unexpected-value",
                key="seconds",
                found=found,
            )
    return table


def _check_column(table: pl.DataFrame, name: str, kind: type[pl.DataType], where: str) -> None:
    if name not in table.columns:
        names = ", ".join(table.columns)
        raise CalibrationError(
            f"{where}: expected a column `{name}`, found the columns {names}",
            AGAIN,
            code="unexpected-value",
            key=name,
            expected=name,
            found=names,
        )
    if (found := table[name].dtype) not in (kind, pl.Null):
        raise CalibrationError(
            f"{where}: column `{name}`: expected {kind.__name__}, found {found}",
            AGAIN,
            code="unexpected-value",
            key=name,
            expected=kind.__name__,
            found=found,
        )


def write(directory: Path, samples: Samples) -> None:
    """Write table and sidecar; the sidecar comes last, says that the probe is finished, and vouches for its files.

    Raises:
        CalibrationError: the folder cannot be written to.
        OutputError: a symbolic link stands in place of a file of these.

    """
    path = directory / f"{samples.probe}.parquet"
    sidecar = {
        "format": SAMPLES_FORMAT,
        "probe": samples.probe,
        "date": samples.date,
        "origin": asdict(samples.origin),
        "device": dict(samples.device),
        "host": dict(samples.host),
        "skipped": dict(samples.skipped),
        "activity": _without_records(samples.activity),
    }
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _refuse_links(directory, samples.probe)
        sidecar_file.path_of(directory, samples.probe).unlink(missing_ok=True)
        with disk.replaced_file(path) as temporary:
            samples.table.write_parquet(str(temporary), compression="zstd")
        _write_records(activity_file(directory, samples.probe), samples.activity)
        sidecar["files"] = {name: asdict(found) for name, found in _entries(directory, samples).items()}
    except OSError as error:
        raise CalibrationError(
            f"cannot write {path}: {error.strerror}", "choose another place with -o", code="unwritable", file=path
        ) from error
    disk.write_json(sidecar_file.path_of(directory, samples.probe), {**sidecar, "check": sidecar_file.check(sidecar)})


def _entries(directory: Path, samples: Samples) -> dict[str, digest.Entry]:
    """Sizes and hashes of a probe's files, once they are on the disk."""
    paths = [directory / f"{samples.probe}.parquet"]
    if samples.activity is not None:
        paths.append(activity_file(directory, samples.probe))
    for path in paths:
        digest.sync(path)
    return {path.name: digest.entry(path) for path in paths}


def beside(output: Path) -> Path:
    """The folder with the samples of a machine file."""
    return output.with_name(f"{output.stem}.samples")


def activity_file(directory: Path, probe: str) -> Path:
    """The file of a probe's CUPTI records, if it has any; it may be packed, as NAME.xz."""
    return directory / f"{probe}.activity.bin"


def _without_records(activity: Activity | None) -> dict[str, Any] | None:
    if activity is None:
        return None
    return {"cupti": activity.cupti, "dropped": activity.dropped, "layout": activity.layout}


def _write_records(path: Path, activity: Activity | None) -> None:
    path.with_name(f"{path.name}.xz").unlink(missing_ok=True)
    if activity is None:
        path.unlink(missing_ok=True)
        return
    with disk.replaced_file(path) as temporary:
        assert temporary is not None  # noqa: S101 - a path was given
        temporary.write_bytes(activity.records)


def discard(directory: Path, probe: str) -> None:
    """Mark a probe as unfinished, since it is about to be measured again; raises `OutputError` like `write`."""
    _refuse_links(directory, probe)
    sidecar_file.path_of(directory, probe).unlink(missing_ok=True)


def _refuse_links(directory: Path, probe: str) -> None:
    for file in (
        sidecar_file.path_of(directory, probe),
        directory / f"{probe}.parquet",
        activity_file(directory, probe),
    ):
        links.inside(directory, file.name)


def is_finished(directory: Path, probe: str) -> bool:
    """Whether a probe has finished samples."""
    return sidecar_file.path_of(directory, probe).is_file()


def read(directory: Path, probe: str) -> Samples:
    """Read a finished probe.

    Raises:
        CalibrationError: it is not there, damaged, or of another format.

    """
    sidecar = sidecar_file.read(sidecar_file.path_of(directory, probe))
    _verify(directory, sidecar)
    path = directory / f"{probe}.parquet"
    if not path.is_file():
        raise CalibrationError(
            f"{path}: expected the samples of probe `{probe}`, found no file", AGAIN, code="missing", file=path
        )
    try:
        table = parquet.read(path, AGAIN)
    except DamagedError as error:
        raise again(error, CalibrationError) from None
    return Samples(
        probe,
        checked(probe, table, str(path)),
        Origin(**sidecar["origin"]),
        sidecar["date"],
        sidecar["device"],
        sidecar.get("host", {}),
        sidecar["skipped"],
        _activity(directory, probe, sidecar["activity"]),
    )


def _verify(directory: Path, sidecar: Mapping[str, Any]) -> None:
    """Make sure that files are unchanged; samples of `octavo-probe` cannot be checked."""
    if "files" not in sidecar:
        return
    try:
        entries = {name: digest.Entry(**found) for name, found in sidecar["files"].items()}
        as_written = {
            name: found for name, found in entries.items() if compression.place(directory / name).name == name
        }
        manifest.verify(directory, manifest.Manifest("samples", as_written))
        for name in entries.keys() - as_written.keys():
            _verify_packed(compression.place(directory / name), entries[name])
    except DamagedError as error:
        raise again(error, CalibrationError, hint=AGAIN) from None


def _verify_packed(path: Path, expected: digest.Entry) -> None:
    content = _records(path)
    found = digest.Entry(len(content), digest.of_bytes(content))
    if found != expected:
        raise CalibrationError(
            f"{path} is damaged: expected {expected} in it, found {found}",
            AGAIN,
            code="damaged",
            file=path,
            expected=expected,
            found=found,
        )


def _records(path: Path) -> bytes:
    try:
        return compression.read(path, "CUPTI records", _MOST_BYTES)
    except OSError as error:
        raise CalibrationError(
            f"{path}: expected CUPTI records, found: {error.strerror}", AGAIN, code="unexpected-value", file=path
        ) from None


def _activity(directory: Path, probe: str, about: dict[str, Any] | None) -> Activity | None:
    if about is None:
        return None
    records = _records(compression.place(activity_file(directory, probe)))
    try:
        return Activity(**about, records=records)
    except TypeError:
        where, found = sidecar_file.path_of(directory, probe), ", ".join(about)
        raise CalibrationError(
            f"{where}: key `activity`: expected cupti, dropped and layout, found {found}",
            AGAIN,
            code="unexpected-value",
            key="activity",
            found=found,
        ) from None
