"""Kernel launches one by one: a sum over a run hides errors of opposite sign."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from octavo.errors import ValidationError
from octavo.files import compression
from octavo.files.text import reason

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from octavo.runs.result import RunResult
    from octavo_studies.validate.reference import Row

CONSTANT_PS = 4_193_000
"""What the reference adds to each launch besides its work: 3600 cycles and both trips over PCIe, at 1 GHz
(validation/mgpusim-machine.md, section 6)."""

_MOST_BYTES = 64 << 20
"""Of the table; chosen: a thousand times the shipped one."""
_COLUMNS = ("benchmark", "parameters", "gpus", "launch", "kernel", "cycles")
_SCHEMA = {
    "name": pl.String,
    "benchmark": pl.String,
    "parameters": pl.String,
    "gpus": pl.Int64,
    "reliable": pl.Boolean,
    "launch": pl.Int64,
    "kernel": pl.String,
    "time_ps": pl.Int64,
    "time_reference_ps": pl.Int64,
    "error": pl.Float64,
    "net_error": pl.Float64,
}


@dataclass(frozen=True)
class Launch:
    """One launch of the reference."""

    kernel: str
    time_ps: int


Key = tuple[str, str, int]
Known = dict[Key, list[Launch]]


def load(results: Path) -> Known:
    """The launches that the table beside the results has, by benchmark, parameters and GPUs; none if there is none.

    The table may be packed with xz.

    Raises:
        ValidationError: it cannot be read, or is no such table.

    """
    path = compression.place(results.with_name(results.stem + "-launches.csv"))
    if not path.exists():
        return {}
    known: Known = {}
    try:
        text = compression.read(path, "a table of launches", _MOST_BYTES).decode()
        for row in csv.DictReader(io.StringIO(text, newline="")):
            missing = [column for column in _COLUMNS if row.get(column) is None]
            if missing:
                raise ValidationError(
                    f"{path} is not a table of launches: it lacks {', '.join(missing)}", code="missing", file=path
                )
            of_run = known.setdefault((row["benchmark"], row["parameters"], int(row["gpus"])), [])
            of_run.append(Launch(row["kernel"], int(row["cycles"]) * 1000))  # a cycle is 1 ns
    except (OSError, UnicodeDecodeError, csv.Error, ValueError) as error:
        raise ValidationError(
            f"cannot read the launches {path}: {reason(error)}", code="unreadable", file=path
        ) from None
    return known


def net(found: int, reference: int, launches: int) -> float:
    """Relative error of what is left of two times without the constant of each launch."""
    constant = launches * CONSTANT_PS
    return (found - constant) / (reference - constant) - 1.0


def compare(row: Row, result: RunResult, known: Known) -> list[dict[str, Any]]:
    """Each launch of a run beside the reference's; none if the reference's are not known.

    A run of a single launch needs no table: its sum is the launch.

    Raises:
        ValidationError: the two have other launches.

    """
    kernels = result.table("kernels")
    times = (kernels["ended_ps"] - kernels["began_ps"]).to_list()
    theirs = known.get((row.benchmark, row.parameters, row.gpus), [])
    if not theirs and len(times) == 1:
        theirs = [Launch(kernels["kernel"][0], row.kernel_time_ps)]
    if not theirs:
        return []
    _check(row, kernels["kernel"].to_list(), [one.kernel for one in theirs])
    named = {name: getattr(row, name) for name in ("name", "benchmark", "parameters", "gpus", "reliable")}
    return [
        {
            **named,
            "launch": number,
            "kernel": launch.kernel,
            "time_ps": time,
            "time_reference_ps": launch.time_ps,
            "error": time / launch.time_ps - 1.0,
            "net_error": net(time, launch.time_ps, 1),
        }
        for number, (time, launch) in enumerate(zip(times, theirs, strict=True), 1)
    ]


def _check(row: Row, ours: Sequence[str], theirs: Sequence[str]) -> None:
    if list(ours) != list(theirs):
        raise ValidationError(
            f"{row.label}: the trace has {len(ours)} launches, the reference {len(theirs)}, or of other kernels",
            "record the trace and the launches of the same point",
            code="conflict",
            expected=len(theirs),
            found=len(ours),
        )


def frame(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """The rows of all runs as a table."""
    return pl.DataFrame(rows, schema=_SCHEMA)


def of_run(row: Row, launches: Sequence[dict[str, Any]], found: int, count: int) -> dict[str, Any]:
    """What a run's row has of its launches: how many, the error net of their constants, and how far apart they are."""
    differences = sum(abs(one["time_ps"] - one["time_reference_ps"]) for one in launches)
    worst = max((one["error"] for one in launches), key=abs, default=None)
    return {
        "launches": count,
        "kernel_time_net_error": net(found, row.kernel_time_ps, count),
        "launch_error": differences / row.kernel_time_ps if launches else None,
        "launch_worst": worst,
    }
