"""Samples of a probe: what was measured, row by row, and what it was measured on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import CalibrationError, DamagedError
from octavo.files import digest, links, manifest
from octavo.measured.calibrate.tables import COMMON, PARAMETERS, TABLES
from octavo.runs import folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SAMPLES_FORMAT = 1
_AGAIN = "measure it again with --force"


@dataclass(frozen=True)
class Origin:
    """What decides whether samples can stand for a new measurement; equal origins are the same measurement."""

    gpu: str
    """Name of the GPU, such as `NVIDIA H200`."""
    uuid: str
    driver: str
    effort: str
    """`quick` or `full`."""
    digest: str
    """Digest of the probe's sources."""
    gpus: int
    """GPUs in the machine."""

    def difference(self, other: Origin, but: str = "") -> str | None:
        """The first thing that differs, in words; `but` may differ."""
        names = {"digest": "version of the probe", "uuid": "GPU", "gpus": "number of GPUs"}
        for key, mine in asdict(self).items():
            theirs = asdict(other)[key]
            if mine != theirs and key != but:
                return f"{names.get(key, key)} `{mine}`, not `{theirs}`"
        return None


@dataclass(frozen=True)
class Activity:
    """Unified-memory records as CUPTI wrote them while the probe ran."""

    cupti: int
    """Version of the library's interface."""
    dropped: int
    """Records that CUPTI lost."""
    layout: str | None = None
    """Version of the records, such as `v3`, where it is known."""
    records: bytes = b""


@dataclass(frozen=True)
class Samples:
    """A finished probe."""

    probe: str
    table: pl.DataFrame
    origin: Origin
    date: str
    """Day on which it was measured, such as `2026-11-21`."""
    device: Mapping[str, Any] = field(default_factory=dict)
    """The GPU as its driver describes it."""
    host: Mapping[str, Any] = field(default_factory=dict)
    """What the host said about itself; empty in samples of older versions."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Series that could not be measured here, each with the reason."""
    activity: Activity | None = None

    def series(self, name: str) -> pl.DataFrame:
        """Rows of one series, in the order they were measured."""
        return self.table.filter(pl.col("series") == name)


def table_of(probe: str, columns: Mapping[str, Sequence[Any]], where: str) -> pl.DataFrame:
    """Columns as the engine hands them over, as a checked frame.

    Raises:
        CalibrationError: a column is missing, or of another type.

    """
    series = [_column(name, values, where) for name, values in columns.items()]
    try:
        frame = pl.DataFrame(series)
    except pl.exceptions.PolarsError:
        lengths = ", ".join(f"{name} {len(values)}" for name, values in columns.items())
        raise CalibrationError(f"{where}: expected columns of one length, found {lengths}") from None
    return checked(probe, frame, where)


def _column(name: str, values: Sequence[Any], where: str) -> pl.Series:
    kind = {**COMMON, **PARAMETERS}.get(name)
    try:
        return pl.Series(name, values, dtype=kind, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        found = ", ".join(sorted({type(value).__name__ for value in values}))
        raise CalibrationError(f"{where}: column `{name}`: expected {kind or 'one type'}, found {found}") from None


def checked(probe: str, table: pl.DataFrame, where: str) -> pl.DataFrame:
    """The table, once it is sure that fits can rely on its columns and parameters.

    Raises:
        CalibrationError: a column is missing or of another type, or a value is missing that its series must have.

    """
    for name, kind in COMMON.items():
        _check_column(table, name, kind, where)
    for name, series in TABLES[probe].items():
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
                    _AGAIN,
                )
        if series.timed and not (rows["seconds"] >= 0).all():
            found = rows["seconds"].min()
            raise CalibrationError(
                f"{where}: column `seconds`: expected times of 0 or more in series `{name}`, found {found!r}", _AGAIN
            )
    return table


def _check_column(table: pl.DataFrame, name: str, kind: type[pl.DataType], where: str) -> None:
    if name not in table.columns:
        names = ", ".join(table.columns)
        raise CalibrationError(f"{where}: expected a column `{name}`, found the columns {names}", _AGAIN)
    if (found := table[name].dtype) not in (kind, pl.Null):
        raise CalibrationError(f"{where}: column `{name}`: expected {kind.__name__}, found {found}", _AGAIN)


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
        _sidecar(directory, samples.probe).unlink(missing_ok=True)
        with folder.replaced_file(path) as temporary:
            samples.table.write_parquet(str(temporary), compression="zstd")
        _write_records(activity_file(directory, samples.probe), samples.activity)
        sidecar["files"] = {name: asdict(found) for name, found in _entries(directory, samples).items()}
    except OSError as error:
        raise CalibrationError(f"cannot write {path}: {error.strerror}", "choose another place with -o") from error
    folder.write_json(_sidecar(directory, samples.probe), {**sidecar, "check": _check(sidecar)})


def _entries(directory: Path, samples: Samples) -> dict[str, digest.Entry]:
    """Sizes and hashes of a probe's files, once they are on the disk."""
    paths = [directory / f"{samples.probe}.parquet"]
    if samples.activity is not None:
        paths.append(activity_file(directory, samples.probe))
    for path in paths:
        digest.sync(path)
    return {path.name: digest.entry(path) for path in paths}


def _check(sidecar: Mapping[str, Any]) -> str:
    """The hash of everything in a sidecar but itself."""
    return digest.of_text(json.dumps({key: value for key, value in sidecar.items() if key != "check"}, sort_keys=True))


def beside(output: Path) -> Path:
    """Where the samples of a machine file lie."""
    return output.with_name(f"{output.stem}.samples")


def activity_file(directory: Path, probe: str) -> Path:
    """Where a probe's CUPTI records are, if it has any."""
    return directory / f"{probe}.activity.bin"


def _without_records(activity: Activity | None) -> dict[str, Any] | None:
    if activity is None:
        return None
    return {"cupti": activity.cupti, "dropped": activity.dropped, "layout": activity.layout}


def _write_records(path: Path, activity: Activity | None) -> None:
    if activity is None:
        path.unlink(missing_ok=True)
        return
    with folder.replaced_file(path) as temporary:
        assert temporary is not None  # noqa: S101 - a path was given
        temporary.write_bytes(activity.records)


def discard(directory: Path, probe: str) -> None:
    """A probe is no longer finished: it is about to be measured anew; raises `OutputError` as `write`."""
    _refuse_links(directory, probe)
    _sidecar(directory, probe).unlink(missing_ok=True)


def _refuse_links(directory: Path, probe: str) -> None:
    for file in (_sidecar(directory, probe), directory / f"{probe}.parquet", activity_file(directory, probe)):
        links.inside(directory, file.name)


def is_finished(directory: Path, probe: str) -> bool:
    """Whether a probe has finished samples."""
    return _sidecar(directory, probe).is_file()


def read(directory: Path, probe: str) -> Samples:
    """Read a finished probe.

    Raises:
        CalibrationError: it is not there, damaged, or of another format.

    """
    sidecar = _read_sidecar(_sidecar(directory, probe))
    _verify(directory, sidecar)
    path = directory / f"{probe}.parquet"
    try:
        table = pl.read_parquet(path, glob=False)
    except FileNotFoundError:
        raise CalibrationError(f"{path}: expected the samples of probe `{probe}`, found no file", _AGAIN) from None
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise CalibrationError(f"{path} is damaged: expected a Parquet table, found: {reason}", _AGAIN) from None
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
    """Make sure that files are what was written; samples of earlier versions and of `octavo-probe` do not say."""
    if "files" not in sidecar:
        return
    try:
        entries = {name: digest.Entry(**found) for name, found in sidecar["files"].items()}
        manifest.verify(directory, manifest.Manifest("samples", entries))
    except DamagedError as error:
        raise CalibrationError(error.message, _AGAIN) from None


def _activity(directory: Path, probe: str, about: dict[str, Any] | None) -> Activity | None:
    if about is None:
        return None
    path = activity_file(directory, probe)
    try:
        return Activity(**about, records=path.read_bytes())
    except OSError as error:
        raise CalibrationError(f"{path}: expected CUPTI records, found: {error.strerror}", _AGAIN) from None
    except TypeError:
        where, found = _sidecar(directory, probe), ", ".join(about)
        raise CalibrationError(
            f"{where}: key `activity`: expected cupti, dropped and layout, found {found}", _AGAIN
        ) from None


_SIDECAR: dict[str, type | tuple[type, ...]] = {
    "format": int,
    "probe": str,
    "date": str,
    "origin": dict,
    "device": dict,
    "skipped": dict,
    "activity": (dict, type(None)),
}


_EXPECTED = {
    "format": "a number",
    "probe": "a name",
    "date": "a date",
    "origin": "an object",
    "device": "an object",
    "skipped": "an object",
    "activity": "an object or null",
}


def _read_sidecar(path: Path) -> dict[str, Any]:
    try:
        sidecar = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CalibrationError(f"{path}: expected a finished probe, found no file", _AGAIN) from None
    except (OSError, ValueError) as error:
        raise CalibrationError(f"{path} is damaged: expected JSON, found {error}", _AGAIN) from None
    if not isinstance(sidecar, dict):
        raise CalibrationError(f"{path} is damaged: expected an object, found {type(sidecar).__name__}", _AGAIN)
    for key, kind in _SIDECAR.items():
        if key not in sidecar or not isinstance(sidecar[key], kind):
            found = type(sidecar[key]).__name__ if key in sidecar else "nothing"
            raise CalibrationError(f"{path}: key `{key}`: expected {_EXPECTED[key]}, found {found}", _AGAIN)
    if not isinstance(sidecar.get("host", {}), dict):
        raise CalibrationError(
            f"{path}: key `host`: expected an object, found {type(sidecar['host']).__name__}", _AGAIN
        )
    if sidecar["format"] != SAMPLES_FORMAT:
        raise CalibrationError(f"{path}: expected format {SAMPLES_FORMAT}, found {sidecar['format']}", _AGAIN)
    if set(sidecar["origin"]) != set(Origin.__dataclass_fields__):
        found = ", ".join(sidecar["origin"])
        expected = ", ".join(Origin.__dataclass_fields__)
        raise CalibrationError(f"{path}: key `origin`: expected {expected}, found {found}", _AGAIN)
    if not {"files", "check"}.isdisjoint(sidecar) and sidecar.get("check") != _check(sidecar):
        expected = sidecar.get("check", "of its own")
        raise CalibrationError(f"{path} is damaged: expected contents with `check` {expected}, found others", _AGAIN)
    return sidecar


def _sidecar(directory: Path, probe: str) -> Path:
    return directory / f"{probe}.json"
