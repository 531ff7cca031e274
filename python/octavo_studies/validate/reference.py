"""The cached results of the reference, and the traces of the same programs."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from octavo.errors import ValidationError
from octavo.files.text import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

VERSION = "v4.2.0"
FILE = f"mgpusim-{VERSION}.csv"
GPUS = (1, 4)
UNRELIABLE = ("bitonicsort",)
"""Benchmarks that the reference computes wrongly."""

_TEXT = ("benchmark", "parameters", "error", "command")
_DECIMAL = (
    "kernel_time_s",
    "gpu_time_max_s",
    "l1v_mean_latency_ns",
    "l1s_mean_latency_ns",
    "l1i_mean_latency_ns",
    "l2_mean_latency_ns",
    "wall_s",
    "cpu_s",
    "peak_rss_mb",
)
_FOUND = ("hit", "miss", "mshr_hit")
_COUNTS = (
    "instructions",
    "vector_lines",
    *(f"{cache}_{what}" for cache in ("l1v_read", "l1v_write", "l1s_read", "l1i_read") for what in _FOUND),
    *(f"{cache}_{what}" for cache in ("l2_read", "l2_write") for what in _FOUND),
    *(f"{level}_tlb_{what}" for level in ("l1v", "l1s", "l1i", "l2") for what in _FOUND),
    "dram_reads",
    "dram_writes",
    "rdma_outgoing",
)
_COLUMNS = {*_TEXT, *_DECIMAL, *_COUNTS, "gpus"}


@dataclass(frozen=True)
class Row:
    """One run of the reference."""

    benchmark: str
    parameters: str
    gpus: int
    kernel_time_ps: int
    counts: dict[str, int]
    """By column of the table."""

    @property
    def name(self) -> str:
        """The run as a folder is named; traces are named so."""
        parameters = re.sub(r"[^\w.]+", "-", self.parameters.replace("-", "")).strip("-")
        gpus = f"{self.gpus}gpus" if self.gpus > 1 else ""
        return "-".join(part for part in (self.benchmark, parameters, gpus) if part)

    @property
    def label(self) -> str:
        """The run for people."""
        return f"{self.benchmark} {self.parameters}, {self.gpus} GPU{'s' if self.gpus > 1 else ''}"

    @property
    def reliable(self) -> bool:
        """Whether the reference computes the right result."""
        return self.benchmark not in UNRELIABLE


def shipped(name: str) -> Path:
    """A file of the folder `validation`: below the working folder, else in the checkout that Octavo runs from."""
    here = Path("validation") / name
    return here if here.exists() else checkout() / "validation" / name


def needed(name: str, option: str) -> Path:
    """The same, which must be there.

    Raises:
        ValidationError: it is not, as packages do not bring it.

    """
    found = shipped(name)
    if not found.exists():
        raise ValidationError(
            f"validation/{name} is not here: it is part of Octavo's repository, and not of its package",
            f"run this in a checkout of the repository, or name your own with {option}",
            code="missing",
            file=f"validation/{name}",
        )
    return found


def recorded() -> Path:
    """Where `make traces` records the programs: beside the shipped table."""
    return shipped(FILE).with_name("traces")


def checkout() -> Path:
    """The folder of the sources, if Octavo runs from there."""
    return Path(__file__).resolve().parents[3]


def load(path: Path) -> list[Row]:
    """Read a table of results; runs that failed are left out.

    Raises:
        ValidationError: it cannot be read, or is of another version of the reference.

    """
    version = re.search(r"v\d+\.\d+\.\d+", path.name)
    if version and version[0] != VERSION:
        raise ValidationError(
            f"{path} holds results of MGPUSim {version[0]}, expected {VERSION}",
            "presets, definitions and goals are those of that version",
            file=path,
            expected=VERSION,
            code="other-format",
            found=version[0],
        )
    try:
        reader = csv.DictReader(io.StringIO(read_text(path)))
        _check_columns(path, reader.fieldnames or [])
        return [_row(path, reader.line_num, values) for values in reader if not values["error"]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no CSV file"
        raise ValidationError(
            f"cannot read the reference {path}: {reason}",
            f"name a table like {FILE} with --reference",
            code="unreadable",
            file=path,
        ) from None


def choose(rows: Sequence[Row], gpus: Sequence[int], only: Sequence[str]) -> list[Row]:
    """The rows of these numbers of GPUs and these benchmarks, all of them if none are named.

    Raises:
        ValidationError: a benchmark or a number of GPUs is not there, or nothing is left.

    """
    known = sorted({row.benchmark for row in rows})
    for name in only:
        if name not in known:
            raise ValidationError(
                f"the reference has no benchmark `{name}`",
                f"it has {', '.join(known)}",
                code="unknown-name",
                found=name,
            )
    for count in gpus:
        if count not in GPUS:
            raise ValidationError(
                f"the reference has no runs on {count} GPUs", "it has 1 and 4", code="missing", key="gpus", found=count
            )
    chosen = [row for row in rows if row.gpus in (gpus or GPUS) and (not only or row.benchmark in only)]
    if not chosen:
        raise ValidationError("the reference has no such run", "leave out --only or --gpus")
    return chosen


def _check_columns(path: Path, columns: Sequence[str]) -> None:
    missing = sorted(_COLUMNS - set(columns))
    if missing:
        shown = ", ".join(missing[:4]) + (f" and {len(missing) - 4} more" if len(missing) > 4 else "")
        raise ValidationError(
            f"{path} is not a table of results of MGPUSim {VERSION}: it lacks {shown}",
            "its columns are described in validation/README.md",
            code="missing",
            file=path,
        )


def _row(path: Path, line: int, values: dict[str, str]) -> Row:
    try:
        counts = {name: int(values[name]) for name in _COUNTS}
        picoseconds = round(float(values["kernel_time_s"]) * 1e9) * 1000  # it has whole nanoseconds
        return Row(values["benchmark"], values["parameters"], int(values["gpus"]), picoseconds, counts)
    except (TypeError, ValueError) as error:
        raise ValidationError(
            f"{path}, line {line}: not a number: {error}", code="unexpected-value", file=path, line=line
        ) from None
